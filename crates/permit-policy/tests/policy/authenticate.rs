//! What a credential opens.

use std::sync::Arc;

use permit_domain::ActorKind;
use permit_policy::{
    AccessToken, Denied, ExecutionCredential, SYNTHETIC_USER, Scope, Scopes, Secret, SecretHash,
    SessionScope as _,
};
use time::{Duration, OffsetDateTime};

use crate::fakes::{Credentials, NOW, id, token};

const TOKEN: &str = "kandev_pat_0123";
const EXECUTION: &str = "kandev_exec_0123";
const INSTANT: Duration = Duration::nanoseconds(1);

#[tokio::test]
async fn a_valid_token_is_its_user_with_its_scopes() {
    let scopes = Scopes::from_iter([Scope::List]);
    let store = tokens(TOKEN, |token| token.scopes = scopes);
    let principal = user(&store, Some(TOKEN)).await.expect("valid");
    assert_eq!(principal.user_id().as_str(), "alice");
    assert_eq!(principal.actor_kind(), ActorKind::PersonalAccessToken);
    assert_eq!(principal.scopes(), scopes);
    assert_eq!(store.lookups(), 1);
    assert!(!store.required().is_disabled());
}

#[tokio::test]
async fn a_valid_execution_credential_is_its_stored_session() {
    let store = executions(EXECUTION, |_| {});
    let grant = execution(&store, Some(EXECUTION)).await.expect("valid");
    assert_eq!(grant.task_id().as_str(), "task-1");
    assert_eq!(grant.session_id().as_str(), "session-1");
    assert_eq!(grant.owner_id().as_str(), "alice");
    assert_eq!(grant.credential_id().as_str(), "execution-1");
    assert_eq!(store.lookups(), 1);
}

#[tokio::test]
async fn what_is_no_valid_token_is_denied_alike() {
    let other = Secret::presented("kandev_pat_other").hash();
    let overlong = format!("kandev_pat_{}", "a".repeat(246));
    assert_eq!(overlong.len(), 257);
    for (why, store, presented) in [
        ("missing", tokens(TOKEN, |_| {}), None),
        ("empty", tokens("", |_| {}), Some("")),
        ("no prefix", tokens("0123", |_| {}), Some("0123")),
        (
            "nothing but the prefix",
            tokens("kandev_pat_", |_| {}),
            Some("kandev_pat_"),
        ),
        (
            "another case",
            tokens("KANDEV_PAT_1", |_| {}),
            Some("KANDEV_PAT_1"),
        ),
        (
            "a space before",
            tokens(" kandev_pat_1", |_| {}),
            Some(" kandev_pat_1"),
        ),
        ("unknown", tokens(TOKEN, |_| {}), Some("kandev_pat_9999")),
        (
            "one byte more",
            tokens(TOKEN, |_| {}),
            Some("kandev_pat_01234"),
        ),
        (
            "overlong",
            tokens(&overlong, |_| {}),
            Some(overlong.as_str()),
        ),
        (
            "expires now",
            tokens(TOKEN, |t| t.expires_at = Some(NOW)),
            Some(TOKEN),
        ),
        (
            "expired",
            tokens(TOKEN, |t| t.expires_at = Some(NOW - INSTANT)),
            Some(TOKEN),
        ),
        (
            "revoked",
            tokens(TOKEN, |t| t.revoked_at = Some(NOW - INSTANT)),
            Some(TOKEN),
        ),
        (
            "revoked now",
            tokens(TOKEN, |t| t.revoked_at = Some(NOW)),
            Some(TOKEN),
        ),
        (
            "found under another hash",
            tokens(TOKEN, |t| t.hash = other),
            Some(TOKEN),
        ),
    ] {
        check_invalid(why, user(&store, presented).await);
    }
}

#[tokio::test]
async fn what_is_no_valid_execution_credential_is_denied_alike() {
    let overlong = format!("kandev_exec_{}", "a".repeat(245));
    let other = Secret::presented("kandev_exec_other").hash();
    for (why, store, presented) in [
        ("missing", executions(EXECUTION, |_| {}), None),
        ("no prefix", executions("0123", |_| {}), Some("0123")),
        (
            "unknown",
            executions(EXECUTION, |_| {}),
            Some("kandev_exec_9"),
        ),
        (
            "overlong",
            executions(&overlong, |_| {}),
            Some(overlong.as_str()),
        ),
        (
            "expires now",
            executions(EXECUTION, |c| c.expires_at = Some(NOW)),
            Some(EXECUTION),
        ),
        (
            "revoked",
            executions(EXECUTION, |c| c.revoked_at = Some(NOW)),
            Some(EXECUTION),
        ),
        (
            "found under another hash",
            executions(EXECUTION, |c| c.hash = other),
            Some(EXECUTION),
        ),
    ] {
        check_invalid(why, execution(&store, presented).await);
    }
}

#[tokio::test]
async fn a_credential_works_until_the_very_instant_it_expires() {
    let at: Option<OffsetDateTime> = Some(NOW + INSTANT);
    let store = tokens(TOKEN, |token| token.expires_at = at);
    assert!(user(&store, Some(TOKEN)).await.is_ok());
    let store = executions(EXECUTION, |credential| credential.expires_at = at);
    assert!(execution(&store, Some(EXECUTION)).await.is_ok());
}

#[tokio::test]
async fn the_longest_secret_that_is_looked_at_works() {
    let longest = format!("kandev_pat_{}", "a".repeat(245));
    assert_eq!(longest.len(), 256);
    let store = tokens(&longest, |_| {});
    assert!(user(&store, Some(&longest)).await.is_ok());
}

#[tokio::test]
async fn a_secret_of_one_kind_never_opens_the_look_up_of_another() {
    let overlong = format!("kandev_pat_{}", "a".repeat(1000));
    for secret in [TOKEN, EXECUTION, "kandev_exs_0123", "bearer", "", &overlong] {
        // Every look-up would find it, if it were asked.
        let mut store = tokens_of(secret, |_| {});
        store.executions = executions_of(secret, |_| {}).executions;
        let store = Arc::new(store);
        if secret != TOKEN {
            check_invalid(secret, user(&store, Some(secret)).await);
        }
        if secret != EXECUTION {
            check_invalid(secret, execution(&store, Some(secret)).await);
        }
        assert_eq!(store.lookups(), 0, "{secret}");
    }
}

#[tokio::test]
async fn a_missing_credential_asks_no_store() {
    let store = tokens(TOKEN, |_| {});
    check_invalid("missing", user(&store, None).await);
    check_invalid("missing", execution(&store, None).await);
    assert_eq!(store.lookups(), 0);
}

#[tokio::test]
async fn a_store_that_fails_says_unavailable_and_not_why() {
    let store = Arc::new(Credentials {
        broken: true,
        ..tokens_of(TOKEN, |_| {})
    });
    let denied = user(&store, Some(TOKEN)).await.expect_err("broken");
    assert!(matches!(denied, Denied::Unavailable(_)));
    assert_eq!(denied.to_string(), "the store is unavailable");
    let denied = execution(&store, Some(EXECUTION))
        .await
        .expect_err("broken");
    assert!(matches!(denied, Denied::Unavailable(_)));
    assert_eq!(denied.to_string(), "the store is unavailable");
}

#[tokio::test]
async fn without_authentication_everybody_is_the_synthetic_user_and_no_store_is_asked() {
    let store = Arc::new(Credentials {
        broken: true,
        ..tokens_of(TOKEN, |_| {})
    });
    let authenticator = store.disabled();
    assert!(authenticator.is_disabled());
    for presented in [
        None,
        Some(""),
        Some("nonsense"),
        Some(TOKEN),
        Some(EXECUTION),
    ] {
        let secret = presented.map(Secret::presented);
        let principal = authenticator.user(secret.as_ref()).await.expect("anybody");
        assert_eq!(principal.user_id().as_str(), SYNTHETIC_USER);
        assert_eq!(principal.actor_kind(), ActorKind::Synthetic);
        assert_eq!(principal.scopes(), Scopes::ALL);
    }
    assert_eq!(store.lookups(), 0);
}

#[tokio::test]
async fn without_authentication_a_sidecar_needs_its_credential_all_the_same() {
    let store = executions(EXECUTION, |_| {});
    let authenticator = store.disabled();
    check_invalid("missing", authenticator.execution(None).await);
    let token = Secret::presented(TOKEN);
    check_invalid("a token", authenticator.execution(Some(&token)).await);
    let secret = Secret::presented(EXECUTION);
    assert!(authenticator.execution(Some(&secret)).await.is_ok());
}

#[tokio::test]
async fn every_request_asks_the_store_anew() {
    let store = tokens(TOKEN, |_| {});
    for lookups in 1..=3 {
        assert!(user(&store, Some(TOKEN)).await.is_ok());
        assert_eq!(store.lookups(), lookups);
    }
}

async fn user(
    store: &Arc<Credentials>,
    presented: Option<&str>,
) -> Result<permit_policy::Principal, Denied> {
    let secret = presented.map(Secret::presented);
    store.required().user(secret.as_ref()).await
}

async fn execution(
    store: &Arc<Credentials>,
    presented: Option<&str>,
) -> Result<permit_policy::ExecutionGrant, Denied> {
    let secret = presented.map(Secret::presented);
    store.required().execution(secret.as_ref()).await
}

/// Denied in the one way that tells nothing.
fn check_invalid<T>(why: &str, answer: Result<T, Denied>) {
    let Err(denied) = answer else {
        panic!("{why}: it opened something");
    };
    assert!(matches!(denied, Denied::Invalid), "{why}: {denied:?}");
    assert_eq!(denied.to_string(), "the credential is not valid", "{why}");
}

fn tokens(secret: &str, change: impl FnOnce(&mut AccessToken)) -> Arc<Credentials> {
    Arc::new(tokens_of(secret, change))
}

fn executions(secret: &str, change: impl FnOnce(&mut ExecutionCredential)) -> Arc<Credentials> {
    Arc::new(executions_of(secret, change))
}

fn tokens_of(secret: &str, change: impl FnOnce(&mut AccessToken)) -> Credentials {
    let hash = Secret::presented(secret).hash();
    let mut token = token(hash, "alice", Scopes::ALL);
    change(&mut token);
    Credentials {
        tokens: vec![(hash, token)],
        ..Credentials::default()
    }
}

fn executions_of(secret: &str, change: impl FnOnce(&mut ExecutionCredential)) -> Credentials {
    let hash: SecretHash = Secret::presented(secret).hash();
    let mut credential = ExecutionCredential {
        credential_id: id("execution-1"),
        hash,
        task_id: id("task-1"),
        session_id: id("session-1"),
        owner_id: id("alice"),
        expires_at: None,
        revoked_at: None,
    };
    change(&mut credential);
    Credentials {
        executions: vec![(hash, credential)],
        ..Credentials::default()
    }
}
