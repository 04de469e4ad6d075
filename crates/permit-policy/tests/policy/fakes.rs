//! Ports that remember how often they were asked.

use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use permit_domain::{Clock, SessionId, TaskId, UserId};
use permit_policy::{
    AccessToken, Authenticator, Caller, CompositionRoot, CredentialStore, Directory,
    ExecutionCredential, ExternalMcpAttestor, Scopes, Secret, SecretHash, StoreUnavailable,
    TaskGrant,
};
use time::OffsetDateTime;
use time::macros::datetime;

/// What every clock here shows.
pub(crate) const NOW: OffsetDateTime = datetime!(2026-08-11 12:00 UTC);

pub(crate) struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> OffsetDateTime {
        NOW
    }
}

/// Credentials, found by hash.
#[derive(Default)]
pub(crate) struct Credentials {
    pub(crate) tokens: Vec<(SecretHash, AccessToken)>,
    pub(crate) executions: Vec<(SecretHash, ExecutionCredential)>,
    pub(crate) broken: bool,
    pub(crate) asked: AtomicUsize,
}

impl Credentials {
    pub(crate) fn lookups(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    pub(crate) fn required(self: &Arc<Self>) -> Authenticator {
        Authenticator::required(Arc::clone(self) as _, Arc::new(FixedClock))
    }

    pub(crate) fn disabled(self: &Arc<Self>) -> Authenticator {
        let root = CompositionRoot::new();
        Authenticator::disabled(&root, Arc::clone(self) as _, Arc::new(FixedClock))
    }

    fn find<T: Clone>(
        &self,
        among: &[(SecretHash, T)],
        hash: &SecretHash,
    ) -> Result<Option<T>, StoreUnavailable> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if self.broken {
            return Err(StoreUnavailable::new("disk I/O error in /var/lib/x.db"));
        }
        let found = among.iter().find(|(stored, _)| stored == hash);
        Ok(found.map(|(_, credential)| credential.clone()))
    }
}

#[async_trait]
impl CredentialStore for Credentials {
    async fn access_token(
        &self,
        hash: &SecretHash,
    ) -> Result<Option<AccessToken>, StoreUnavailable> {
        self.find(&self.tokens, hash)
    }

    async fn execution_credential(
        &self,
        hash: &SecretHash,
    ) -> Result<Option<ExecutionCredential>, StoreUnavailable> {
        self.find(&self.executions, hash)
    }
}

/// Tasks with their owner and sessions.
#[derive(Default)]
pub(crate) struct Tasks {
    pub(crate) tasks: Vec<(&'static str, &'static str, Vec<&'static str>)>,
    pub(crate) broken: bool,
    pub(crate) questions: Mutex<Vec<&'static str>>,
}

impl Tasks {
    /// Every question asked since the last look.
    pub(crate) fn asked(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.questions.lock().expect("a test"))
    }

    fn sessions(&self, task_id: &TaskId) -> Option<(&'static str, &[&'static str])> {
        let mut tasks = self.tasks.iter();
        let (owner, _, sessions) = tasks.find(|(_, task, _)| *task == task_id.as_str())?;
        Some((owner, sessions))
    }

    fn ask(&self, question: &'static str) -> Result<(), StoreUnavailable> {
        self.questions.lock().expect("a test").push(question);
        if self.broken {
            return Err(StoreUnavailable::new("disk I/O error in /var/lib/x.db"));
        }
        Ok(())
    }
}

#[async_trait]
impl Directory for Tasks {
    async fn owns_task(
        &self,
        user_id: &UserId,
        task_id: &TaskId,
    ) -> Result<bool, StoreUnavailable> {
        self.ask("owns_task")?;
        let found = self.sessions(task_id);
        Ok(found.is_some_and(|(owner, _)| owner == user_id.as_str()))
    }

    async fn owns_session(
        &self,
        user_id: &UserId,
        task_id: &TaskId,
        session_id: &SessionId,
    ) -> Result<bool, StoreUnavailable> {
        self.ask("owns_session")?;
        let found = self.sessions(task_id);
        Ok(found.is_some_and(|(owner, sessions)| {
            owner == user_id.as_str() && sessions.contains(&session_id.as_str())
        }))
    }

    async fn sessions_of(&self, task: &TaskGrant) -> Result<Vec<SessionId>, StoreUnavailable> {
        self.ask("sessions_of")?;
        let found = self.sessions(task.task_id());
        Ok(found.map_or_else(Vec::new, |(_, sessions)| {
            sessions.iter().copied().map(id).collect()
        }))
    }
}

/// A caller through `/mcp` with a personal access token.
pub(crate) async fn caller(user: &str, scopes: Scopes) -> Caller {
    let secret = Secret::presented("kandev_pat_of_a_caller");
    let hash = secret.hash();
    let store = Arc::new(Credentials {
        tokens: vec![(hash, token(hash, user, scopes))],
        ..Credentials::default()
    });
    let principal = store.required().user(Some(&secret)).await.expect("valid");
    ExternalMcpAttestor::new(&CompositionRoot::new()).attest(principal)
}

/// A token that works.
pub(crate) fn token(hash: SecretHash, user: &str, scopes: Scopes) -> AccessToken {
    AccessToken {
        credential_id: id("token-1"),
        hash,
        user_id: id(user),
        scopes,
        expires_at: None,
        revoked_at: None,
    }
}

pub(crate) fn id<T: TryFrom<String, Error: Debug>>(text: &str) -> T {
    T::try_from(text.to_owned()).expect("an id")
}
