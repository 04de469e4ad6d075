//! What a caller is, what its credential lets it do, and what acts without a caller.

use std::sync::Arc;

use permit_domain::{ActorKind, Source};
use permit_policy::{
    CompositionRoot, EndReason, ExternalMcpAttestor, MaintenanceGrant, MissingScope,
    SYNTHETIC_USER, Scope, Scopes, SessionScope as _,
};

use crate::fakes::{Credentials, caller, id};

#[tokio::test]
async fn a_caller_through_mcp_is_its_token_and_its_source_is_the_transports() {
    let alice = caller("alice", Scopes::ALL).await;
    assert_eq!(alice.user_id().as_str(), "alice");
    assert_eq!(alice.actor_kind(), ActorKind::PersonalAccessToken);
    assert_eq!(alice.source(), Source::ExternalMcp);
}

#[tokio::test]
async fn a_synthetic_caller_through_mcp_has_that_source_too() {
    let authenticator = Arc::new(Credentials::default()).disabled();
    let principal = authenticator.user(None).await.expect("anybody");
    let caller = ExternalMcpAttestor::new(&CompositionRoot::new()).attest(principal);
    assert_eq!(caller.user_id().as_str(), SYNTHETIC_USER);
    assert_eq!(caller.actor_kind(), ActorKind::Synthetic);
    assert_eq!(caller.source(), Source::ExternalMcp);
    assert!(caller.require(Scope::Resolve).is_ok());
}

#[tokio::test]
async fn a_caller_may_do_what_its_scopes_say_and_nothing_else() {
    let (list, resolve) = (Scope::List, Scope::Resolve);
    for (scopes, may_list, may_resolve) in [
        (vec![], false, false),
        (vec![list], true, false),
        (vec![resolve], false, true),
        (vec![resolve, list, list], true, true),
    ] {
        let caller = caller("alice", scopes.into_iter().collect()).await;
        let missing = |scope, may| {
            if may {
                Ok(())
            } else {
                Err(MissingScope(scope))
            }
        };
        assert_eq!(caller.require(list), missing(list, may_list));
        assert_eq!(caller.require(resolve), missing(resolve, may_resolve));
    }
    assert_eq!(
        MissingScope(resolve).to_string(),
        "the credential lacks the scope `resolve`"
    );
}

#[test]
fn a_scope_is_its_exact_name() {
    for scope in Scope::ALL {
        assert_eq!(Scope::parse(scope.as_str()), Some(scope));
        assert!(Scopes::ALL.contains(scope));
        assert!(!Scopes::default().contains(scope));
    }
    for odd in ["", "List", "list ", "admin", "*", "list,resolve"] {
        assert_eq!(Scope::parse(odd), None, "{odd:?}");
    }
    let names: Vec<_> = Scopes::ALL.iter().map(Scope::as_str).collect();
    assert_eq!(names, ["list", "resolve"]);
    assert_eq!(Scopes::ALL.iter().collect::<Scopes>(), Scopes::ALL);
}

#[test]
fn upkeep_of_a_session_names_that_session() {
    let grant = MaintenanceGrant::new(&CompositionRoot::new());
    let upkeep = grant.session(id("task-1"), id("session-1"));
    assert_eq!(upkeep.task_id().as_str(), "task-1");
    assert_eq!(upkeep.session_id().as_str(), "session-1");
}

#[test]
fn the_end_of_an_execution_has_a_stable_text() {
    for (reason, text) in [
        (EndReason::Exited, "exited"),
        (EndReason::Lost, "lost"),
        (EndReason::Replaced, "replaced"),
        (EndReason::Revoked, "revoked"),
    ] {
        assert_eq!(reason.as_str(), text);
    }
}
