//! What a method knows of the call it serves.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jsonrpsee_core::server::Extensions;
use jsonrpsee_types::ErrorObjectOwned;
use permit_policy::{Caller, MissingScope, Scope};

use crate::code::{INSUFFICIENT_SCOPE, internal};
use crate::revision::Revision;

/// One call: the revision it speaks and who makes it. It travels in the request's extensions.
pub(crate) struct Call {
    pub(crate) revision: Revision,
    caller: Mutex<Option<Caller>>,
    missing_scope: OnceLock<Scope>,
}

impl Call {
    pub(crate) fn new(revision: Revision, caller: Caller) -> Self {
        Self {
            revision,
            caller: Mutex::new(Some(caller)),
            missing_scope: OnceLock::new(),
        }
    }

    /// The call in a request's extensions.
    pub(crate) fn of(extensions: &Extensions) -> Result<&Self, ErrorObjectOwned> {
        let call = extensions.get::<Arc<Self>>();
        call.map(Arc::as_ref).ok_or_else(internal)
    }

    /// Takes the caller, of whom there is one.
    pub(crate) fn take_caller(&self) -> Result<Caller, ErrorObjectOwned> {
        let mut caller = self.caller.lock().unwrap_or_else(PoisonError::into_inner);
        caller.take().ok_or_else(internal)
    }

    /// The error for a credential without a scope; the front makes an HTTP status of it.
    pub(crate) fn lacks(&self, MissingScope(scope): MissingScope) -> ErrorObjectOwned {
        let scope = *self.missing_scope.get_or_init(|| scope);
        let message = format!("The credential lacks the scope `{}`.", scope.as_str());
        let details = serde_json::json!({"error": "insufficient_scope", "scope": scope.as_str()});
        ErrorObjectOwned::owned(INSUFFICIENT_SCOPE, message, Some(details))
    }

    /// The scope that was missing, if one was.
    pub(crate) fn missing_scope(&self) -> Option<Scope> {
        self.missing_scope.get().copied()
    }
}
