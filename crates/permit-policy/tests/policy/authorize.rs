//! What a caller may touch (invariant I1).

use std::sync::Arc;

use permit_policy::{Authorized, Authorizer, Caller, NotAuthorized, Scopes, SessionScope as _};

use crate::fakes::{Tasks, caller, id};

#[tokio::test]
async fn an_owner_is_granted_the_task_and_its_session() {
    let (tasks, authorizer, alice) = given().await;

    let task = authorizer.authorize(&alice, &id("task-1"), None).await;
    let Ok(Authorized::Task(grant)) = task else {
        panic!("{task:?}");
    };
    assert_eq!(grant.task_id().as_str(), "task-1");
    assert_eq!(tasks.asked(), ["owns_task"]);

    let session = id("session-1b");
    let session = authorizer
        .authorize(&alice, &id("task-1"), Some(&session))
        .await;
    let Ok(Authorized::Session(grant)) = session else {
        panic!("{session:?}");
    };
    assert_eq!(grant.task_id().as_str(), "task-1");
    assert_eq!(grant.session_id().as_str(), "session-1b");
    assert_eq!(tasks.asked(), ["owns_session"]);
}

#[tokio::test]
async fn unknown_foreign_and_mismatched_ids_look_the_same_and_cost_the_same() {
    let (tasks, authorizer, alice) = given().await;
    for (why, task, session) in [
        ("unknown task", "nowhere", None),
        ("foreign task", "task-2", None),
        ("unknown task, known session", "nowhere", Some("session-1a")),
        ("unknown session", "task-1", Some("nowhere")),
        ("foreign task and session", "task-2", Some("session-2a")),
        ("own task, foreign session", "task-1", Some("session-2a")),
        ("foreign task, own session", "task-2", Some("session-1a")),
        (
            "own task, session of another own task",
            "task-1",
            Some("session-3a"),
        ),
        ("ids that differ in case", "Task-1", Some("Session-1a")),
    ] {
        let session = session.map(id);
        let answer = authorizer
            .authorize(&alice, &id(task), session.as_ref())
            .await;
        let Err(refused) = answer else {
            panic!("{why}: {answer:?}");
        };
        assert!(matches!(refused, NotAuthorized::NotFound), "{why}");
        assert_eq!(refused.to_string(), "no such task or session", "{why}");
        let expected = if session.is_some() {
            "owns_session"
        } else {
            "owns_task"
        };
        assert_eq!(tasks.asked(), [expected], "{why}");
    }
}

#[tokio::test]
async fn the_user_decides_and_not_the_scopes_or_the_name_of_an_admin() {
    let (_, authorizer, _) = given().await;
    for stranger in ["admin", "root", "synthetic", "Alice", "alice "] {
        let stranger = caller(stranger, Scopes::ALL).await;
        let answer = authorizer.task(&stranger, &id("task-1")).await;
        assert!(matches!(answer, Err(NotAuthorized::NotFound)));
    }
    let alice = caller("alice", Scopes::default()).await;
    assert!(authorizer.task(&alice, &id("task-1")).await.is_ok());
}

#[tokio::test]
async fn a_directory_that_fails_is_unavailable_and_not_an_unknown_task() {
    let tasks = Arc::new(Tasks {
        broken: true,
        ..Tasks::default()
    });
    let authorizer = Authorizer::new(Arc::clone(&tasks) as _);
    let alice = caller("alice", Scopes::ALL).await;
    let session = id("session-1a");
    for session in [None, Some(&session)] {
        let answer = authorizer.authorize(&alice, &id("task-1"), session).await;
        let Err(refused) = answer else {
            panic!("{answer:?}");
        };
        assert!(matches!(refused, NotAuthorized::Unavailable(_)));
        assert_eq!(refused.to_string(), "the store is unavailable");
        assert_eq!(tasks.asked().len(), 1);
    }
}

#[tokio::test]
async fn a_granted_task_gives_grants_of_its_own_sessions_in_order() {
    let (tasks, authorizer, alice) = given().await;
    let task = authorizer.task(&alice, &id("task-1")).await.expect("own");
    tasks.asked();
    let sessions = authorizer.sessions(&task).await.expect("a directory");
    let named: Vec<_> = sessions
        .iter()
        .map(|grant| (grant.task_id().as_str(), grant.session_id().as_str()))
        .collect();
    assert_eq!(named, [("task-1", "session-1a"), ("task-1", "session-1b")]);
    assert_eq!(tasks.asked(), ["sessions_of"]);
}

#[tokio::test]
async fn a_granted_task_without_sessions_gives_none() {
    let (_, authorizer, alice) = given().await;
    let task = authorizer.task(&alice, &id("task-4")).await.expect("own");
    assert!(
        authorizer
            .sessions(&task)
            .await
            .expect("a directory")
            .is_empty()
    );
}

#[tokio::test]
async fn sessions_that_cannot_be_read_are_an_error_and_not_an_empty_list() {
    let (_, authorizer, alice) = given().await;
    let task = authorizer.task(&alice, &id("task-1")).await.expect("own");
    let broken = Authorizer::new(Arc::new(Tasks {
        broken: true,
        ..Tasks::default()
    }));
    assert!(broken.sessions(&task).await.is_err());
}

/// Alice owns three tasks, Bob one.
async fn given() -> (Arc<Tasks>, Authorizer, Caller) {
    let tasks = Arc::new(Tasks {
        tasks: vec![
            ("alice", "task-1", vec!["session-1a", "session-1b"]),
            ("bob", "task-2", vec!["session-2a"]),
            ("alice", "task-3", vec!["session-3a"]),
            ("alice", "task-4", vec![]),
        ],
        ..Tasks::default()
    });
    let authorizer = Authorizer::new(Arc::clone(&tasks) as _);
    (tasks, authorizer, caller("alice", Scopes::ALL).await)
}
