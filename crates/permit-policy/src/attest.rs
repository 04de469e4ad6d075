//! Callers, and the transports that attest them.

use permit_domain::{ActorKind, Source, UserId};

use crate::{Principal, Scope};

/// The witness of the place where a program is put together. Only the binaries (and tests) make
/// one; `cargo xtask layers` holds everything else to that.
#[derive(Debug)]
pub struct CompositionRoot(());

impl CompositionRoot {
    /// Says that this code composes the program and decides which part plays which role.
    #[must_use]
    #[expect(
        clippy::new_without_default,
        reason = "a default would hide where it is made"
    )]
    pub fn new() -> Self {
        Self(())
    }
}

/// A user at a surface: what every use case is asked by.
///
/// It exists only where a transport's attestor made it of an authenticated principal, so that
/// neither the actor kind nor the source can be supplied from outside (invariant I2). It can be
/// neither cloned nor serialized.
#[derive(Debug)]
pub struct Caller {
    principal: Principal,
    source: Source,
}

impl Caller {
    /// The user.
    #[must_use]
    pub fn user_id(&self) -> &UserId {
        self.principal.user_id()
    }

    /// As what the user acts.
    #[must_use]
    pub fn actor_kind(&self) -> ActorKind {
        self.principal.actor_kind()
    }

    /// The surface, as its transport attested it.
    #[must_use]
    pub fn source(&self) -> Source {
        self.source
    }

    /// Checks that the caller's credential carries a scope.
    ///
    /// # Errors
    /// [`MissingScope`] when it does not.
    pub fn require(&self, scope: Scope) -> Result<(), MissingScope> {
        if self.principal.scopes().contains(scope) {
            Ok(())
        } else {
            Err(MissingScope(scope))
        }
    }
}

/// The caller's credential lacks a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the credential lacks the scope `{}`", .0.as_str())]
pub struct MissingScope(pub Scope);

/// Attests that a call came through the authenticated `/mcp` endpoint. The composition root gives
/// it to that transport and to nobody else.
#[derive(Debug)]
pub struct ExternalMcpAttestor(());

impl ExternalMcpAttestor {
    /// Made once, for the `/mcp` transport.
    #[must_use]
    pub fn new(_root: &CompositionRoot) -> Self {
        Self(())
    }

    /// The caller behind an authenticated call.
    #[must_use]
    pub fn attest(&self, principal: Principal) -> Caller {
        Caller {
            principal,
            source: Source::ExternalMcp,
        }
    }
}
