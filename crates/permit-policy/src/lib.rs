//! Who may do what: callers and how they came, the authorizer and its grants, and the ports
//! behind them.
//!
//! Facts are types here. A [`Caller`] exists only where a transport's attestor saw an
//! authenticated principal (invariant I2); a [`TaskGrant`] or [`SessionGrant`] exists only where
//! the [`Authorizer`] allowed it (invariant I1). None of them can be cloned, printed in full,
//! serialized or written as a literal.

mod attest;
mod authenticate;
mod authorize;
mod execution;
mod ports;
mod scope;
mod secret;

pub use attest::{Caller, CompositionRoot, ExternalMcpAttestor, MissingScope};
pub use authenticate::{AccessToken, Authenticator, Denied, Principal, Scope, Scopes};
pub use authorize::{Authorized, Authorizer, NotAuthorized, SessionGrant, TaskGrant};
pub use execution::{
    EndReason, ExecutionCredential, ExecutionGrant, ExecutionRecord, MaintenanceGrant,
    NewExecution, Resumed, SessionUpkeep,
};
pub use ports::{CredentialStore, Directory, ExecutionStore, StoreUnavailable};
pub use scope::{SessionScope, Upkeep};
pub use secret::{CredentialKind, Secret, SecretHash, SecretSource};

/// The user every caller is when authentication is disabled.
pub const SYNTHETIC_USER: &str = "synthetic";
