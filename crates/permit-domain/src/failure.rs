//! The stable failure codes (contract: API surface).

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a list or a resolution was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCode {
    /// Missing, foreign or mismatched task or session; all three look the same.
    TaskOrSessionNotFound,
    /// The request identity was never visible in this session.
    PermissionNotFound,
    /// The provider withdrew or replaced the exact request, or its turn or execution ended.
    PermissionStale,
    /// The exact request has a terminal audit result.
    PermissionAlreadyResolved,
    /// Another caller holds the request's claim.
    PermissionResolutionInProgress,
    /// The option is not in the immutable live option set.
    PermissionOptionNotOffered,
    /// The attempt could not be recorded, so that no option was sent.
    PermissionAuditFailed,
    /// The live request disappeared after the claim, or its end could not be recorded.
    PermissionDeliveryFailed,
    /// The live state could not be read. Ours: the contract asks for a descriptive failure and
    /// names no code.
    PermissionRuntimeUnavailable,
}

impl FailureCode {
    /// Every code, in the contract's order.
    pub const ALL: [Self; 9] = [
        Self::TaskOrSessionNotFound,
        Self::PermissionNotFound,
        Self::PermissionStale,
        Self::PermissionAlreadyResolved,
        Self::PermissionResolutionInProgress,
        Self::PermissionOptionNotOffered,
        Self::PermissionAuditFailed,
        Self::PermissionDeliveryFailed,
        Self::PermissionRuntimeUnavailable,
    ];

    /// The code as programs read it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TaskOrSessionNotFound => "task_or_session_not_found",
            Self::PermissionNotFound => "permission_not_found",
            Self::PermissionStale => "permission_stale",
            Self::PermissionAlreadyResolved => "permission_already_resolved",
            Self::PermissionResolutionInProgress => "permission_resolution_in_progress",
            Self::PermissionOptionNotOffered => "permission_option_not_offered",
            Self::PermissionAuditFailed => "permission_audit_failed",
            Self::PermissionDeliveryFailed => "permission_delivery_failed",
            Self::PermissionRuntimeUnavailable => "permission_runtime_unavailable",
        }
    }

    /// The sentence that people read: what happened and what to do.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::TaskOrSessionNotFound => "No such task or session.",
            Self::PermissionNotFound => {
                "No such permission request in this session. List the pending permissions again."
            }
            Self::PermissionStale => {
                "The agent withdrew or replaced this request, or its turn ended. Nothing was sent. List the pending permissions again."
            }
            Self::PermissionAlreadyResolved => {
                "This request was already resolved. Nothing further was sent."
            }
            Self::PermissionResolutionInProgress => {
                "Another caller is resolving this request. Nothing further was sent."
            }
            Self::PermissionOptionNotOffered => {
                "The agent did not offer this option for this request. Nothing was sent. Choose one of the listed options."
            }
            Self::PermissionAuditFailed => {
                "The attempt could not be recorded, so nothing was sent. Try again."
            }
            Self::PermissionDeliveryFailed => {
                "The resolution was recorded, but its delivery to the agent did not complete. It will not be repeated."
            }
            Self::PermissionRuntimeUnavailable => {
                "The agent's live state cannot be read at the moment. Nothing was sent. Try again shortly."
            }
        }
    }
}

impl fmt::Display for FailureCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_serializes_as_its_stable_text() {
        for code in FailureCode::ALL {
            assert_eq!(
                serde_json::to_string(&code).expect("json"),
                format!("\"{code}\"")
            );
        }
    }
}
