//! The durable record of who chose what, when and how it ended (contract: Permission audit
//! projection). These are what a store gives back; what goes in passes through `permit-audit`.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::{
    Action, AttemptId, ClaimId, ExpiryReason, FailureCode, OfferedOption, OptionId, OptionKind,
    PendingId, PromptSnapshot, RequestId, SessionId, TaskId, ToolCallId, UserId,
};

/// Who acted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActorKind {
    /// A person at the session page.
    Browser,
    /// A client with a user's personal access token.
    PersonalAccessToken,
    /// An answer given beside the agent, on behalf of the credential's owner.
    Automation,
    /// The one user of an installation without authentication.
    Synthetic,
}

impl ActorKind {
    /// The kind as it is stored and shown.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Browser => "browser",
            Self::PersonalAccessToken => "personal_access_token",
            Self::Automation => "automation",
            Self::Synthetic => "synthetic",
        }
    }
}

/// The surface through which an actor came. A stored value only: what a caller's source is, its
/// transport attests (`permit-policy`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The session page.
    Web,
    /// The authenticated `/mcp` endpoint.
    ExternalMcp,
    /// The sidecar itself.
    Automation,
}

impl Source {
    /// The source as it is stored and shown.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Web => "web",
            Self::ExternalMcp => "external_mcp",
            Self::Automation => "automation",
        }
    }
}

/// How an attempt stands or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditResult {
    /// Claimed; the option is, or may be, on its way. Not terminal.
    Dispatching,
    /// The provider has the option.
    Accepted,
    /// The provider withdrew or replaced the request.
    Stale,
    /// The turn or the execution ended.
    Expired,
    /// The option did not reach the provider and will not, or the attempt was refused.
    Failed,
    /// Nobody can know whether the option reached the provider.
    Indeterminate,
}

impl AuditResult {
    /// The result as it is stored and shown.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dispatching => "dispatching",
            Self::Accepted => "accepted",
            Self::Stale => "stale",
            Self::Expired => "expired",
            Self::Failed => "failed",
            Self::Indeterminate => "indeterminate",
        }
    }
}

/// The one claim of a request, as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimRecord {
    /// The claim.
    pub claim_id: ClaimId,
    /// The task it belongs to.
    pub task_id: TaskId,
    /// The session it belongs to.
    pub session_id: SessionId,
    /// The exact generation.
    pub request_id: RequestId,
    /// The provider's id for it.
    pub pending_id: PendingId,
    /// The selected option.
    pub option_id: OptionId,
    /// What the option means.
    pub option_kind: OptionKind,
    /// Who selected it.
    pub actor_user_id: UserId,
    /// As what.
    pub actor_kind: ActorKind,
    /// Through which surface.
    pub source: Source,
    /// When it was selected, UTC.
    #[serde(with = "time::serde::rfc3339")]
    pub selected_at: OffsetDateTime,
    /// When its end was recorded, UTC; absent while dispatching.
    #[serde(
        default,
        with = "time::serde::rfc3339::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub finalized_at: Option<OffsetDateTime>,
    /// How it stands or ended.
    pub result: AuditResult,
}

/// One row of the append-only record: a refused attempt, a claim, or the end of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The row.
    pub attempt_id: AttemptId,
    /// The task it belongs to.
    pub task_id: TaskId,
    /// The session it belongs to.
    pub session_id: SessionId,
    /// The exact generation, as we stored it before; never a text of the caller's.
    pub request_id: RequestId,
    /// The provider's id for it, as we stored it before.
    pub pending_id: PendingId,
    /// The claim, when this row is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim_id: Option<ClaimId>,
    /// The option, only when the provider had offered it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option_id: Option<OptionId>,
    /// What the option means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option_kind: Option<OptionKind>,
    /// Who acted; absent when nobody did (a withdrawal, a recovery).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_user_id: Option<UserId>,
    /// As what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_kind: Option<ActorKind>,
    /// Through which surface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// How it stood when this row was written.
    pub result: AuditResult,
    /// What the caller was told, when it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<FailureCode>,
    /// When the caller selected, UTC; absent when nobody did.
    #[serde(
        default,
        with = "time::serde::rfc3339::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub selected_at: Option<OffsetDateTime>,
    /// When this row was written, UTC.
    #[serde(with = "time::serde::rfc3339")]
    pub recorded_at: OffsetDateTime,
}

/// How a permission message of the transcript stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageStatus {
    /// It waits.
    Pending,
    /// A claim is dispatching.
    Resolving,
    /// An allowing option was accepted.
    Approved,
    /// A rejecting option was accepted.
    Rejected,
    /// An option of a kind we do not know was accepted.
    Resolved,
    /// It can no longer be answered.
    Expired,
    /// A claim ended and nobody can know whether its option arrived.
    OutcomeUnknown,
}

impl MessageStatus {
    /// The status as it is stored and shown.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Resolving => "resolving",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Resolved => "resolved",
            Self::Expired => "expired",
            Self::OutcomeUnknown => "outcome_unknown",
        }
    }

    /// The status of a message whose claim stands or ended like this.
    #[must_use]
    pub fn of_claim(result: AuditResult, kind: &OptionKind) -> Self {
        match result {
            AuditResult::Dispatching => Self::Resolving,
            AuditResult::Accepted if kind.allows() => Self::Approved,
            AuditResult::Accepted if kind.rejects() => Self::Rejected,
            AuditResult::Accepted => Self::Resolved,
            AuditResult::Stale | AuditResult::Expired | AuditResult::Failed => Self::Expired,
            AuditResult::Indeterminate => Self::OutcomeUnknown,
        }
    }
}

/// A `permission_request` message of a session's transcript. It remembers; it never makes a
/// prompt answerable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The task it belongs to.
    pub task_id: TaskId,
    /// The session it belongs to.
    pub session_id: SessionId,
    /// The generation.
    pub request_id: RequestId,
    /// The provider's id for it.
    pub pending_id: PendingId,
    /// The provider's id for the tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<ToolCallId>,
    /// The title as shown; empty for a prompt that was gone before it was seen.
    pub title: String,
    /// The action as shown; absent for a prompt that was gone before it was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// The options as offered.
    pub options: Vec<OfferedOption>,
    /// When the prompt opened, UTC.
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
    /// How it stands.
    pub status: MessageStatus,
    /// Why it can no longer be answered, when it expired without a claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiry_reason: Option<ExpiryReason>,
}

impl Message {
    /// The message of a prompt that waits.
    #[must_use]
    pub fn waiting(task_id: TaskId, session_id: SessionId, prompt: PromptSnapshot) -> Self {
        Self {
            task_id,
            session_id,
            request_id: prompt.request_id,
            pending_id: prompt.pending_id,
            tool_call_id: prompt.tool_call_id,
            title: prompt.title,
            action: Some(prompt.action),
            options: prompt.options,
            created_at: prompt.created_at,
            status: MessageStatus::Pending,
            expiry_reason: None,
        }
    }
}
