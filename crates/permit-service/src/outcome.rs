//! What a caller is told.

use permit_audit::Accepted;
use permit_domain::{
    AuditResult, ClaimRecord, FailureCode, OptionId, OptionKind, Outcome, PendingId, RequestId,
    SessionId, Source, TaskId,
};
use permit_policy::{MissingScope, NotAuthorized, StoreUnavailable};
use serde::Serialize;

/// Why a call gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The caller's credential is not made for this.
    #[error(transparent)]
    MissingScope(#[from] MissingScope),
    /// One of the stable failure codes.
    #[error("{}", .0.code)]
    Refused(Box<Refused>),
}

/// A refusal with its stable code and what a client can use beside it.
#[derive(Debug, Serialize)]
pub struct Refused {
    /// The stable code.
    pub code: FailureCode,
    /// Whether the provider got the option; only after a claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// What is recorded of the request that was resolved before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
    /// The session that could not be listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}

/// The recorded resolution of a request.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Recorded {
    /// How it stands or ended.
    pub result: AuditResult,
    /// The option that was selected.
    pub option_id: OptionId,
    /// What it means.
    pub option_kind: OptionKind,
}

impl From<FailureCode> for Failure {
    fn from(code: FailureCode) -> Self {
        Self::Refused(Box::new(Refused {
            code,
            outcome: None,
            recorded: None,
            session_id: None,
        }))
    }
}

impl Failure {
    /// Another claim holds, or held, the request.
    pub(crate) fn held_by(record: &ClaimRecord) -> Self {
        let (code, recorded) = match record.result {
            AuditResult::Dispatching => (FailureCode::PermissionResolutionInProgress, None),
            AuditResult::Accepted
            | AuditResult::Stale
            | AuditResult::Expired
            | AuditResult::Failed
            | AuditResult::Indeterminate => (
                FailureCode::PermissionAlreadyResolved,
                Some(Recorded {
                    result: record.result,
                    option_id: record.option_id.clone(),
                    option_kind: record.option_kind.clone(),
                }),
            ),
        };
        Self::Refused(Box::new(Refused {
            code,
            outcome: None,
            recorded,
            session_id: None,
        }))
    }

    /// The claim did not end as accepted, or its end could not be recorded.
    pub(crate) fn delivery(outcome: Outcome) -> Self {
        Self::Refused(Box::new(Refused {
            code: FailureCode::PermissionDeliveryFailed,
            outcome: Some(outcome),
            recorded: None,
            session_id: None,
        }))
    }

    /// A session could not be listed.
    pub(crate) fn unlisted(session_id: &SessionId) -> Self {
        Self::Refused(Box::new(Refused {
            code: FailureCode::PermissionRuntimeUnavailable,
            outcome: None,
            recorded: None,
            session_id: Some(session_id.clone()),
        }))
    }

    /// Something could not be read before any claim: nothing was sent.
    pub(crate) fn unread(cause: &StoreUnavailable) -> Self {
        tracing::error!(cause = ?cause, "the store could not be read");
        FailureCode::PermissionRuntimeUnavailable.into()
    }

    /// Something could not be recorded: nothing was sent.
    pub(crate) fn unrecorded(cause: &StoreUnavailable) -> Self {
        tracing::error!(cause = ?cause, "an attempt could not be recorded");
        FailureCode::PermissionAuditFailed.into()
    }
}

impl From<NotAuthorized> for Failure {
    fn from(refusal: NotAuthorized) -> Self {
        match refusal {
            NotAuthorized::NotFound => FailureCode::TaskOrSessionNotFound.into(),
            NotAuthorized::Unavailable(cause) => Self::unread(&cause),
        }
    }
}

/// The success answer of a resolution. It exists only for an accepted claim.
#[derive(Debug, Serialize)]
pub struct Resolved {
    task_id: TaskId,
    session_id: SessionId,
    request_id: RequestId,
    pending_id: PendingId,
    option_id: OptionId,
    option_kind: OptionKind,
    source: Source,
    status: &'static str,
}

impl From<Accepted> for Resolved {
    fn from(accepted: Accepted) -> Self {
        let record = accepted.into_record();
        Self {
            task_id: record.task_id,
            session_id: record.session_id,
            request_id: record.request_id,
            pending_id: record.pending_id,
            option_id: record.option_id,
            option_kind: record.option_kind,
            source: record.source,
            status: "resolved",
        }
    }
}
