//! What the sidecar sends.

use permit_domain::{ClaimId, DeliverReply, ExpiryReason, PendingId, RequestId, Seq, SettleReply};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::Prompt;

/// The parameter of `link_sync`: what changed in the registry, or everything in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sync {
    /// The epoch of this attach.
    pub epoch: u64,
    /// The point in the registry's history that the report leads to.
    pub seq: Seq,
    /// Whether the report is everything: a prompt that it does not name is gone. The first report
    /// of an attach is.
    pub full: bool,
    /// Whether the next call goes on with the same report.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
    /// The prompts that opened and still wait.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opened: Vec<Prompt>,
    /// The prompts that ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<Closed>,
    /// The consumed prompts whose end is not acknowledged, when full.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consumed: Vec<Consumed>,
}

/// A prompt that can no longer be answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Closed {
    /// The generation.
    pub request_id: RequestId,
    /// The provider's id for it.
    pub pending_id: PendingId,
    /// When it had opened, UTC.
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
    /// Why it ended.
    pub reason: ExpiryReason,
    /// When in the registry's history it ended.
    pub seq: Seq,
}

/// A prompt that a claim has consumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consumed {
    /// The generation.
    pub request_id: RequestId,
    /// The claim.
    pub claim_id: ClaimId,
    /// What became of it; absent while its answer is being written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<DeliverReply>,
}

/// The parameter of `link_answer`: the answer to one command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The epoch of this attach.
    pub epoch: u64,
    /// The command.
    pub id: u64,
    /// The point in the registry's history at which the answer was taken.
    pub seq: Seq,
    /// The answer.
    pub body: AnswerBody,
}

/// The answers, each to the command of its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerBody {
    /// Every waiting prompt.
    List(Vec<Prompt>),
    /// What is known of one request.
    Find(Found),
    /// What became of an order.
    Deliver(DeliverReply),
    /// What became of a claim.
    Settle(SettleReply),
    /// The answer does not fit a message.
    TooLarge,
}

/// What is known of one request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// It waits.
    Live(Box<Prompt>),
    /// It does not; with the reason, when it is remembered.
    Closed(Option<ExpiryReason>),
}

/// The parameter of `link_detach`: the execution is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Detach {
    /// The epoch of this attach.
    pub epoch: u64,
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn a_sidecar_can_name_neither_a_session_nor_who_acted_nor_a_result() {
        for field in ["task_id", "session_id", "source", "actor_user_id", "claims"] {
            let mut sync = json!({"epoch": 1, "seq": 1, "full": true});
            let mut answer = json!({"epoch": 1, "id": 1, "seq": 1, "body": {"list": []}});
            let mut consumed = json!({"request_id": "r", "claim_id": "c", "reply": "delivered"});
            let mut detach = json!({"epoch": 1});
            assert!(from_value::<Sync>(sync.clone()).is_ok());
            assert!(from_value::<Answer>(answer.clone()).is_ok());
            assert!(from_value::<Consumed>(consumed.clone()).is_ok());
            assert!(from_value::<Detach>(detach.clone()).is_ok());
            for frame in [&mut sync, &mut answer, &mut consumed, &mut detach] {
                frame[field] = json!("x");
            }
            assert!(from_value::<Sync>(sync).is_err(), "{field}");
            assert!(from_value::<Answer>(answer).is_err(), "{field}");
            assert!(from_value::<Consumed>(consumed).is_err(), "{field}");
            assert!(from_value::<Detach>(detach).is_err(), "{field}");
        }
    }
}
