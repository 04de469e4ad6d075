//! What any [`AuditStore`] must do, as tests (feature `conformance`).
//!
//! Implement [`Subject`] for your store in its tests, and let [`store_conformance!`] write one
//! test for each behaviour:
//!
//! ```
//! use std::sync::Arc;
//!
//! use permit_audit::conformance::Subject;
//! use permit_audit::{AuditStore, MemoryStore, store_conformance};
//!
//! struct Memory(Arc<MemoryStore>);
//!
//! #[async_trait::async_trait]
//! impl Subject for Memory {
//!     async fn open() -> Self {
//!         Self(Arc::default())
//!     }
//!
//!     fn store(&self) -> Arc<dyn AuditStore> {
//!         self.0.clone()
//!     }
//! }
//!
//! store_conformance!(Memory);
//! ```
//!
//! The tests are `#[tokio::test]`s with two worker threads: the crate that calls the macro needs
//! tokio with `macros` and `rt-multi-thread` among its dev-dependencies, and `async-trait` for
//! the [`Subject`]. The suite makes its grants as a gateway does, through the authenticator, the
//! attestor and the authorizer, over a directory of its own; it keeps its own time, in whole
//! microseconds, and its own ids, which ascend.
//!
//! [`store_conformance!`]: crate::store_conformance

#![allow(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a test suite fails by panicking"
)]

use std::sync::Arc;

use async_trait::async_trait;
use permit_domain::{SessionId, TaskId, UserId, WorkspaceId};

use crate::AuditStore;

mod bytes;
mod claims;
mod ends;
mod history;
mod messages;
mod world;

#[doc(hidden)]
pub use bytes::*;
#[doc(hidden)]
pub use claims::*;
#[doc(hidden)]
pub use ends::*;
#[doc(hidden)]
pub use history::*;
#[doc(hidden)]
pub use messages::*;

/// A store under test. It lives as long as its test; whatever it holds may go with it.
#[async_trait]
pub trait Subject: Sized + Send + Sync + 'static {
    /// A store without a row.
    async fn open() -> Self;

    /// The store.
    fn store(&self) -> Arc<dyn AuditStore>;

    /// Records a user, for a store that wants one. Each id comes once.
    async fn add_user(&self, _user: &UserId) {}

    /// Records a workspace of a user recorded before.
    async fn add_workspace(&self, _workspace: &WorkspaceId, _owner: &UserId) {}

    /// Records a task of a workspace recorded before.
    async fn add_task(&self, _task: &TaskId, _workspace: &WorkspaceId) {}

    /// Records a session of a task recorded before.
    async fn add_session(&self, _session: &SessionId, _task: &TaskId) {}
}

/// Writes a `#[tokio::test]` for each behaviour that an [`AuditStore`] must have, over a
/// [`Subject`]. See [`conformance`](crate::conformance) for what the calling crate needs.
#[macro_export]
macro_rules! store_conformance {
    ($subject:ty) => {
        $crate::__conformance_tests! { $subject:
            one_of_64_concurrent_claimers_wins,
            a_losing_claimer_learns_the_holder_and_appends_its_attempt,
            a_claim_its_message_and_its_attempt_are_recorded_together,
            a_claim_that_cannot_be_recorded_leaves_nothing,
            a_claim_needs_no_message,
            an_expired_message_does_not_bar_a_claim,
            the_same_request_id_in_another_session_is_another_request,
            a_claim_never_reopens,
            claims_among_finds_claims_in_any_state,
            open_claims_are_the_dispatching_ones_of_the_session,
            a_claim_ends_once_and_a_second_end_answers_the_recorded_one,
            a_message_follows_the_end_of_its_claim,
            an_indeterminate_end_is_sharpened_exactly_once,
            an_end_other_than_indeterminate_is_never_sharpened,
            an_end_of_an_unknown_claim_is_an_error,
            ending_one_claim_leaves_the_others,
            observing_inserts_a_pending_message_whole,
            observing_again_changes_nothing,
            observing_a_claimed_prompt_shows_its_claim,
            closing_expires_a_pending_message_and_appends_a_row_without_an_actor,
            closing_again_appends_nothing,
            closing_an_unknown_request_inserts_an_expired_message,
            closing_a_claimed_request_leaves_it_to_its_claim,
            closing_the_absent_spares_the_live_and_the_claimed,
            a_refused_attempt_is_appended_as_given,
            a_refusal_expires_only_a_pending_unclaimed_message,
            attempts_come_in_pages_in_their_order,
            a_page_after_a_foreign_row_is_an_error,
            unsettled_sessions_have_a_dispatching_claim_or_a_pending_message,
            the_bytes_of_odd_ids_survive,
            the_longest_ids_survive_and_differ_in_their_last_byte,
            odd_options_and_texts_of_a_message_survive,
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_tests {
    ($subject:ty: $($behaviour:ident),* $(,)?) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $behaviour() {
            $crate::conformance::$behaviour::<$subject>().await;
        }
    )*};
}
