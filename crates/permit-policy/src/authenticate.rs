//! From a bearer secret to a principal.

use std::sync::Arc;

use permit_domain::{ActorKind, Clock, CredentialId, UserId};
use time::OffsetDateTime;

use crate::{
    CompositionRoot, CredentialKind, CredentialStore, ExecutionGrant, SYNTHETIC_USER, Secret,
    SecretHash, StoreUnavailable,
};

/// What a personal access token may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Listing pending permissions.
    List,
    /// Resolving a permission.
    Resolve,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 2] = [Self::List, Self::Resolve];

    /// The scope as it is stored and shown.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Resolve => "resolve",
        }
    }

    /// The scope of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == name)
    }
}

/// A set of scopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scopes {
    list: bool,
    resolve: bool,
}

impl Scopes {
    /// Every scope.
    pub const ALL: Self = Self {
        list: true,
        resolve: true,
    };

    /// Whether the set holds a scope.
    #[must_use]
    pub const fn contains(self, scope: Scope) -> bool {
        match scope {
            Scope::List => self.list,
            Scope::Resolve => self.resolve,
        }
    }

    /// The scopes of the set, in a fixed order.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL
            .into_iter()
            .filter(move |scope| self.contains(*scope))
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        let mut set = Self::default();
        for scope in scopes {
            match scope {
                Scope::List => set.list = true,
                Scope::Resolve => set.resolve = true,
            }
        }
        set
    }
}

/// A personal access token as stored.
#[derive(Clone, Debug)]
pub struct AccessToken {
    /// Its public handle.
    pub credential_id: CredentialId,
    /// What the presented secret must hash to.
    pub hash: SecretHash,
    /// Whose it is; its only authority.
    pub user_id: UserId,
    /// What it may be used for.
    pub scopes: Scopes,
    /// When it ceases to work, UTC; never when absent.
    pub expires_at: Option<OffsetDateTime>,
    /// When it was revoked, UTC.
    pub revoked_at: Option<OffsetDateTime>,
}

/// A user whose identity has been checked. Only the [`Authenticator`] makes one.
#[derive(Debug)]
pub struct Principal {
    user_id: UserId,
    actor_kind: ActorKind,
    scopes: Scopes,
}

impl Principal {
    /// The user.
    #[must_use]
    pub fn user_id(&self) -> &UserId {
        &self.user_id
    }

    /// As what the user acts.
    #[must_use]
    pub fn actor_kind(&self) -> ActorKind {
        self.actor_kind
    }

    /// What the credential may be used for.
    #[must_use]
    pub fn scopes(&self) -> Scopes {
        self.scopes
    }
}

/// Why a credential opened nothing.
#[derive(Debug, thiserror::Error)]
pub enum Denied {
    /// Missing, malformed, unknown, expired or revoked; all look the same from outside.
    #[error("the credential is not valid")]
    Invalid,
    /// The store could not be asked.
    #[error(transparent)]
    Unavailable(#[from] StoreUnavailable),
}

/// Checks credentials. Every check reads the store, so that revocation and expiry act on the very
/// next request.
pub struct Authenticator {
    store: Arc<dyn CredentialStore>,
    clock: Arc<dyn Clock>,
    synthetic: Option<UserId>,
}

impl Authenticator {
    /// Users must present a personal access token.
    #[must_use]
    pub fn required(store: Arc<dyn CredentialStore>, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            clock,
            synthetic: None,
        }
    }

    /// Every user is the synthetic one. Sidecars authenticate all the same.
    #[must_use]
    pub fn disabled(
        _root: &CompositionRoot,
        store: Arc<dyn CredentialStore>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            store,
            clock,
            synthetic: UserId::parse(SYNTHETIC_USER).ok(),
        }
    }

    /// Whether users need no credential.
    #[must_use]
    pub fn is_disabled(&self) -> bool {
        self.synthetic.is_some()
    }

    /// The user behind a personal access token, or the synthetic one.
    ///
    /// # Errors
    /// [`Denied`] when authentication is required and the token is not valid or cannot be looked
    /// up.
    pub async fn user(&self, bearer: Option<&Secret>) -> Result<Principal, Denied> {
        if let Some(user_id) = &self.synthetic {
            return Ok(Principal {
                user_id: user_id.clone(),
                actor_kind: ActorKind::Synthetic,
                scopes: Scopes::ALL,
            });
        }
        let hash = presented(bearer, CredentialKind::PersonalAccessToken)?;
        let token = self.store.access_token(&hash).await?;
        let token = token.ok_or(Denied::Invalid)?;
        self.check(&hash, &token.hash, token.expires_at, token.revoked_at)?;
        Ok(Principal {
            user_id: token.user_id,
            actor_kind: ActorKind::PersonalAccessToken,
            scopes: token.scopes,
        })
    }

    /// The session behind a sidecar's credential.
    ///
    /// # Errors
    /// [`Denied`] when the credential is not valid or cannot be looked up.
    pub async fn execution(&self, bearer: Option<&Secret>) -> Result<ExecutionGrant, Denied> {
        let hash = presented(bearer, CredentialKind::Execution)?;
        let credential = self.store.execution_credential(&hash).await?;
        let credential = credential.ok_or(Denied::Invalid)?;
        self.check(
            &hash,
            &credential.hash,
            credential.expires_at,
            credential.revoked_at,
        )?;
        Ok(ExecutionGrant::of(credential))
    }

    fn check(
        &self,
        presented: &SecretHash,
        stored: &SecretHash,
        expires_at: Option<OffsetDateTime>,
        revoked_at: Option<OffsetDateTime>,
    ) -> Result<(), Denied> {
        let expired = expires_at.is_some_and(|at| at <= self.clock.now());
        if presented == stored && !expired && revoked_at.is_none() {
            Ok(())
        } else {
            Err(Denied::Invalid)
        }
    }
}

fn presented(bearer: Option<&Secret>, kind: CredentialKind) -> Result<SecretHash, Denied> {
    bearer
        .filter(|secret| secret.is_of(kind))
        .map(Secret::hash)
        .ok_or(Denied::Invalid)
}
