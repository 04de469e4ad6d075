//! How the sidecar ends.

use std::process::ExitCode;

use permit_acp::StopReason;

/// Shown under the help.
pub(crate) const HELP: &str = "\
Exit codes:
  0  the agent's turn ended normally
  1  the sidecar could not do its part (configuration, files)
  2  the command line is not valid
  3  the turn ended early: cancelled, refused by the agent, or at a bound of the agent's
  4  the agent could not be started, failed or left
  5  the gateway refused the credential
  6  the execution was revoked, or replaced by a newer one of the same session";

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    TurnEnded,
    Failed,
    TurnCutShort,
    AgentFailed,
    CredentialRefused,
    Replaced,
}

impl Exit {
    pub(crate) fn of(reason: &StopReason) -> Self {
        match reason {
            StopReason::EndTurn => Self::TurnEnded,
            StopReason::Cancelled
            | StopReason::Refusal
            | StopReason::MaxTokens
            | StopReason::MaxTurnRequests
            | StopReason::Other(_) => Self::TurnCutShort,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::TurnEnded => 0,
            Exit::Failed => 1,
            Exit::TurnCutShort => 3,
            Exit::AgentFailed => 4,
            Exit::CredentialRefused => 5,
            Exit::Replaced => 6,
        })
    }
}
