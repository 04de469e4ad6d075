//! Which execution owns a session, and at which epoch.

use permit_domain::ExecutionId;
use permit_policy::{
    CredentialKind, EndReason, ExecutionGrant, ExecutionStore as _, NewExecution, Resumed,
    SecretHash, SessionScope as _,
};
use time::Duration;

use crate::gateway::{Gateway, SESSIONS, id, noon, secret};

const A: &str = SESSIONS[0];
const B: &str = SESSIONS[1];

/// Given a session with an open execution, when a new one opens, then it replaces the old one, in
/// that session alone.
#[tokio::test]
async fn a_new_execution_replaces_the_open_one() {
    let gateway = Gateway::open().await;
    let (a, b) = (gateway.sidecar(A).await, gateway.sidecar(B).await);
    assert_eq!(open(&gateway, &a, "run-1").await, None);
    assert_eq!(open(&gateway, &b, "run-2").await, None);
    assert_eq!(open(&gateway, &a, "run-3").await, Some(id("run-1")));

    let records = gateway.store.open_executions(&gateway.grant).await;
    let open: Vec<_> = records
        .expect("read")
        .into_iter()
        .map(|record| {
            (
                String::from(record.execution_id),
                record.session_id,
                record.epoch,
            )
        })
        .collect();
    let expected = [("run-3", A), ("run-2", B)];
    assert_eq!(
        open,
        expected.map(|(run, session)| (run.to_owned(), id(session), 1))
    );
    let resumed = resume(&gateway, &a, "run-1").await;
    assert_eq!(resumed, Resumed::Ended(EndReason::Replaced));
}

/// Given an open execution, when it attaches again, then its epoch rises each time.
#[tokio::test]
async fn a_resumed_execution_has_a_higher_epoch() {
    let gateway = Gateway::open().await;
    let a = gateway.sidecar(A).await;
    open(&gateway, &a, "run-1").await;
    for epoch in 2..5 {
        let was_ended = false;
        let resumed = resume(&gateway, &a, "run-1").await;
        assert_eq!(resumed, Resumed::Resumed { epoch, was_ended });
    }
}

/// Given an execution of another session, an unknown one, or another's secret, when it is resumed,
/// then all look the same, and nothing changes.
#[tokio::test]
async fn only_an_execution_itself_resumes_it() {
    let gateway = Gateway::open().await;
    let (a, b) = (gateway.sidecar(A).await, gateway.sidecar(B).await);
    open(&gateway, &a, "run-1").await;
    assert_eq!(resume(&gateway, &b, "run-1").await, Resumed::Unknown);
    assert_eq!(resume(&gateway, &a, "run-9").await, Resumed::Unknown);
    let wrong = secret(CredentialKind::ExecutionSecret, 99).hash();
    let resumed = gateway
        .store
        .resume_execution(&a, &id("run-1"), &wrong)
        .await;
    assert_eq!(resumed.expect("asked"), Resumed::Unknown);
    end(&gateway, &a, "run-1", 1, EndReason::Exited).await;
    let resumed = gateway
        .store
        .resume_execution(&a, &id("run-1"), &wrong)
        .await;
    assert_eq!(resumed.expect("asked"), Resumed::Unknown);
}

/// Given executions that ended for each reason, when they come back, then only a lost one that is
/// still the newest is revived.
#[tokio::test]
async fn only_a_lost_execution_without_a_successor_comes_back() {
    let gateway = Gateway::open().await;
    let a = gateway.sidecar(A).await;
    for (run, reason) in [
        ("run-1", EndReason::Exited),
        ("run-2", EndReason::Revoked),
        ("run-3", EndReason::Replaced),
    ] {
        open(&gateway, &a, run).await;
        assert!(end(&gateway, &a, run, 1, reason).await);
        assert_eq!(resume(&gateway, &a, run).await, Resumed::Ended(reason));
    }
    open(&gateway, &a, "run-4").await;
    assert!(end(&gateway, &a, "run-4", 1, EndReason::Lost).await);
    let (epoch, was_ended) = (2, true);
    let resumed = resume(&gateway, &a, "run-4").await;
    assert_eq!(resumed, Resumed::Resumed { epoch, was_ended });

    assert!(end(&gateway, &a, "run-4", 2, EndReason::Lost).await);
    assert_eq!(open(&gateway, &a, "run-5").await, None);
    let resumed = resume(&gateway, &a, "run-4").await;
    assert_eq!(resumed, Resumed::Ended(EndReason::Replaced));
    assert!(end(&gateway, &a, "run-5", 1, EndReason::Exited).await);
    let resumed = resume(&gateway, &a, "run-4").await;
    assert_eq!(resumed, Resumed::Ended(EndReason::Replaced));
}

/// Given an execution that attached again, when its former attach reports a loss, then nothing
/// ends; and nothing ends twice.
#[tokio::test]
async fn an_end_of_an_older_epoch_is_ignored() {
    let gateway = Gateway::open().await;
    let (a, b) = (gateway.sidecar(A).await, gateway.sidecar(B).await);
    open(&gateway, &a, "run-1").await;
    resume(&gateway, &a, "run-1").await;
    assert!(!end(&gateway, &a, "run-1", 1, EndReason::Lost).await);
    assert!(!end(&gateway, &b, "run-1", 2, EndReason::Lost).await);
    assert!(end(&gateway, &a, "run-1", 2, EndReason::Exited).await);
    assert!(!end(&gateway, &a, "run-1", 2, EndReason::Lost).await);
    let open = gateway.store.open_executions(&gateway.grant).await;
    assert!(open.expect("read").is_empty());
}

/// Given an execution's id that is taken, when another opens with it, then it is an error, and the
/// session's execution goes on.
#[tokio::test]
async fn an_id_that_is_taken_opens_nothing() {
    let gateway = Gateway::open().await;
    let (a, b) = (gateway.sidecar(A).await, gateway.sidecar(B).await);
    open(&gateway, &a, "run-1").await;
    open(&gateway, &b, "run-2").await;
    let taken = gateway.store.open_execution(&b, new("run-1")).await;
    assert!(taken.is_err());
    let (epoch, was_ended) = (2, false);
    let resumed = resume(&gateway, &b, "run-2").await;
    assert_eq!(resumed, Resumed::Resumed { epoch, was_ended });
}

/// Given a credential, then it works until it expires or is revoked, whichever comes first.
#[tokio::test]
async fn a_credential_works_until_it_expires_or_is_revoked() {
    let gateway = Gateway::open().await;
    let a = gateway.sidecar(A).await;
    let works = async |at| {
        let works = gateway.store.credential_works(&a, at).await;
        works.expect("read")
    };
    assert!(works(noon()).await);
    let expires = "UPDATE execution_credentials SET expires_at = ?1 WHERE session_id = ?2";
    let micros = (noon().unix_timestamp() + 60) * 1_000_000;
    let changed = gateway.intruder().execute(expires, (micros, A));
    assert_eq!(changed, Ok(1));
    assert!(works(noon() + Duration::seconds(59)).await);
    assert!(!works(noon() + Duration::seconds(60)).await);

    let (grant, credential) = (&gateway.grant, a.credential_id());
    let revoked = gateway
        .store
        .revoke_execution_credential(grant, credential, noon());
    revoked.await.expect("revoked");
    assert!(!works(noon()).await);
    let b = gateway.sidecar(B).await;
    assert!(
        gateway
            .store
            .credential_works(&b, noon())
            .await
            .expect("read")
    );
}

fn new(run: &str) -> NewExecution {
    NewExecution {
        execution_id: id(run),
        secret_hash: hash(),
        started_at: noon(),
    }
}

fn hash() -> SecretHash {
    secret(CredentialKind::ExecutionSecret, 1).hash()
}

async fn open(gateway: &Gateway, grant: &ExecutionGrant, run: &str) -> Option<ExecutionId> {
    let opened = gateway.store.open_execution(grant, new(run)).await;
    opened.expect("recorded")
}

async fn resume(gateway: &Gateway, grant: &ExecutionGrant, run: &str) -> Resumed {
    let (run, hash) = (id(run), hash());
    let resumed = gateway.store.resume_execution(grant, &run, &hash);
    resumed.await.expect("asked")
}

async fn end(
    gateway: &Gateway,
    grant: &ExecutionGrant,
    run: &str,
    epoch: u64,
    reason: EndReason,
) -> bool {
    let (task, session) = (grant.task_id().clone(), grant.session_id().clone());
    let scope = gateway.grant.session(task, session);
    let run = id(run);
    let ended = gateway
        .store
        .end_execution(&scope, &run, epoch, reason, noon());
    ended.await.expect("recorded")
}
