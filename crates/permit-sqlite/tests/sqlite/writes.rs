//! The writer: groups, refusals, and what a caller may give up.

use std::time::{Duration, Instant};

use permit_audit::ClaimError;
use permit_domain::PromptSnapshot;
use permit_policy::StoreUnavailable;
use permit_sqlite::{AdminError, Fault, Limits};
use rusqlite::Connection;
use tokio::task::JoinHandle;

use crate::gateway::{Gateway, id, prompt};

const SHORT: Limits = Limits {
    waiting_writes: 1024,
    waiting_reads: 1024,
    group: 256,
    readers: 2,
    deadline: Duration::from_millis(300),
};

/// Given 64 claims that wait together, then they are one commit.
#[tokio::test]
async fn what_waits_together_is_committed_together() {
    let gateway = Gateway::open().await;
    let before = gateway.store.stats();
    let lock = lock(&gateway);
    let claims = start_claims(&gateway, &prompts(64)).await;
    release(lock);
    for claim in claims {
        claim.await.expect("ran").expect("claimed");
    }
    let after = gateway.store.stats();
    assert_eq!(after.commands - before.commands, 64);
    assert_eq!(after.commits - before.commits, 1);
}

/// Given a group larger than its bound, then it takes as many commits as it must.
#[tokio::test]
async fn a_group_is_bounded() {
    let limits = Limits {
        group: 16,
        ..Limits::default()
    };
    let gateway = Gateway::open_with(limits).await;
    let before = gateway.store.stats();
    let lock = lock(&gateway);
    let claims = start_claims(&gateway, &prompts(64)).await;
    release(lock);
    for claim in claims {
        claim.await.expect("ran").expect("claimed");
    }
    assert_eq!(gateway.store.stats().commits - before.commits, 4);
}

/// Given a group in which one command fails, then the others take effect.
#[tokio::test]
async fn a_failing_command_does_not_spoil_its_group() {
    let gateway = Gateway::open().await;
    let before = gateway.store.stats();
    let lock = lock(&gateway);
    let prompts = prompts(2);
    let store = gateway.store.clone();
    let grant = permit_policy::MaintenanceGrant::new(&gateway.root);
    let first = start_claims(&gateway, &prompts[..1]).await;
    let failing = tokio::spawn(async move {
        store
            .add_task(&grant, id("task-2"), id("no-such-workspace"), String::new())
            .await
    });
    tokio::task::yield_now().await;
    let second = start_claims(&gateway, &prompts[1..]).await;
    release(lock);

    let refused = failing.await.expect("ran");
    assert!(matches!(refused, Err(AdminError::UnknownWorkspace)));
    for claim in first.into_iter().chain(second) {
        claim.await.expect("ran").expect("claimed");
    }
    assert_eq!(gateway.store.stats().commits - before.commits, 1);
    for prompt in &prompts {
        assert!(gateway.knows(prompt).await);
    }
}

/// Given a claim whose caller goes away before the writer takes it, then nothing is written.
#[tokio::test]
async fn a_claim_dropped_before_it_began_writes_nothing() {
    let gateway = Gateway::open().await;
    let lock = lock(&gateway);
    let prompts = prompts(3);
    let claims = start_claims(&gateway, &prompts).await;
    claims[0].abort();
    claims[2].abort();
    tokio::task::yield_now().await;
    release(lock);

    let mut claims = claims.into_iter();
    for kept in [false, true, false] {
        let claim = claims.next().expect("three").await;
        assert_eq!(claim.is_ok(), kept);
    }
    gateway.store.ping().await.expect("the store goes on");
    let mut known = Vec::new();
    for prompt in &prompts {
        known.push(gateway.knows(prompt).await);
    }
    assert_eq!(known, [false, true, false]);
}

/// Given a database that another process keeps locked, when a claim's deadline passes, then it is
/// an error, no row appears, not even later, and the store goes on once it can.
#[tokio::test]
async fn a_locked_database_is_an_error_in_time_and_writes_nothing() {
    let gateway = Gateway::open_with(SHORT).await;
    let lock = lock(&gateway);
    let prompt = prompt("request-1");
    let selection = gateway.select(&prompt).await;
    let asked = Instant::now();
    let claim = gateway.log.claim(selection).await;
    assert!(asked.elapsed() < SHORT.deadline * 4);
    let Err(ClaimError::Unavailable(cause)) = claim else {
        panic!("the claim must not be recorded");
    };
    assert!(matches!(fault(&cause), Fault::TimedOut));
    assert!(gateway.store.ping().await.is_err());

    release(lock);
    gateway.store.ping().await.expect("the store goes on");
    assert!(!gateway.knows(&prompt).await);
    gateway.claim(&prompt).await.expect("claimed");
}

/// Given a full queue, when another write comes, then it is refused at once.
#[tokio::test]
async fn a_full_queue_refuses_and_drops_nothing_in_silence() {
    let limits = Limits {
        waiting_writes: 2,
        ..Limits::default()
    };
    let gateway = Gateway::open_with(limits).await;
    let lock = lock(&gateway);
    let claims = start_claims(&gateway, &prompts(10)).await;
    release(lock);
    let (mut claimed, mut refused) = (0, 0);
    for claim in claims {
        match claim.await.expect("ran") {
            Ok(_) => claimed += 1,
            Err(ClaimError::Unavailable(cause)) => {
                assert!(matches!(fault(&cause), Fault::QueueFull));
                refused += 1;
            }
            Err(ClaimError::Lost { .. }) => panic!("nobody else claims"),
        }
    }
    // Two wait, and one may already be in the writer's hand.
    assert!((2..=3).contains(&claimed), "{claimed} claimed");
    assert_eq!(claimed + refused, 10);
}

/// Given a database that another process keeps locked, then reads go on.
#[tokio::test]
async fn reading_does_not_wait_for_the_writer() {
    let gateway = Gateway::open_with(SHORT).await;
    let prompt = prompt("request-1");
    gateway.claim(&prompt).await.expect("claimed");
    let lock = lock(&gateway);
    assert!(gateway.knows(&prompt).await);
    release(lock);
}

/// Given writes that wait, when the store is closed, then they are carried out, and later ones are
/// refused.
#[tokio::test]
async fn closing_carries_out_what_waits() {
    let gateway = Gateway::open().await;
    let lock = lock(&gateway);
    let claims = start_claims(&gateway, &prompts(5)).await;
    let store = gateway.store.clone();
    let closing = tokio::spawn(async move { store.close().await });
    tokio::task::yield_now().await;
    release(lock);
    closing.await.expect("closed");
    for claim in claims {
        claim.await.expect("ran").expect("claimed");
    }
    let late = gateway.store.ping().await.expect_err("closed");
    assert!(matches!(fault(&late), Fault::Closed));
    assert_eq!(
        std::fs::read_dir(gateway.dir.path()).expect("read").count(),
        1,
        "the log is gone with the last connection"
    );
}

fn prompts(count: usize) -> Vec<PromptSnapshot> {
    (0..count)
        .map(|n| prompt(&format!("request-{n:03}")))
        .collect()
}

type Claiming = JoinHandle<Result<permit_audit::Claimed, ClaimError>>;

/// Starts one claim for each prompt; when this returns, each of them waits for the writer.
async fn start_claims(gateway: &Gateway, prompts: &[PromptSnapshot]) -> Vec<Claiming> {
    let mut claims = Vec::new();
    for prompt in prompts {
        let selection = gateway.select(prompt).await;
        let log = gateway.log.clone();
        claims.push(tokio::spawn(async move { log.claim(selection).await }));
    }
    // On this one thread, every task has run up to its wait once this one runs again.
    tokio::task::yield_now().await;
    claims
}

/// Takes the write lock, as another process may.
fn lock(gateway: &Gateway) -> Connection {
    let connection = gateway.intruder();
    connection.execute_batch("BEGIN IMMEDIATE").expect("locked");
    connection
}

fn release(lock: Connection) {
    lock.execute_batch("ROLLBACK").expect("released");
}

fn fault(error: &StoreUnavailable) -> &Fault {
    let source = std::error::Error::source(error).expect("a cause");
    source.downcast_ref().expect("a fault")
}
