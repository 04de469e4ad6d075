//! Records, ownership and credentials.

use permit_audit::Closed;
use permit_domain::{DeliverReply, ExpiryReason, UserId};
use permit_policy::{
    Authenticator, CredentialKind, Denied, Directory as _, NotAuthorized, SYNTHETIC_USER, Scope,
    Scopes,
};
use permit_sqlite::{AdminError, AuditCursor, NewAccessToken, NewExecutionCredential};
use time::Duration;

use crate::gateway::{Gateway, Noon, SESSIONS, TASK, id, noon, prompt, secret};

/// Given tasks and sessions of two users, then each owns their own, and a session only with its own
/// task; nobody owns what does not exist.
#[tokio::test]
async fn a_user_owns_the_tasks_of_their_workspaces() {
    let gateway = Gateway::open().await;
    let (store, grant) = (&gateway.store, &gateway.grant);
    let added = store.add_user(grant, id("bob"), "Bob".to_owned()).await;
    added.expect("added");
    let added = store.add_workspace(grant, id("workspace-2"), id("bob"), String::new());
    added.await.expect("added");
    for (task, workspace) in [("task-2", "workspace-2"), ("task-3", "workspace-1")] {
        let added = store.add_task(grant, id(task), id(workspace), String::new());
        added.await.expect("added");
    }
    let added = store.add_session(grant, id("session-c"), id("task-2"), String::new());
    added.await.expect("added");

    for (user, task, owns) in [
        ("alice", TASK, true),
        ("alice", "task-3", true),
        ("alice", "task-2", false),
        ("bob", "task-2", true),
        ("bob", TASK, false),
        ("alice", "task-9", false),
        ("carol", TASK, false),
        ("ALICE", TASK, false),
        (SYNTHETIC_USER, TASK, false),
    ] {
        let owned = store.owns_task(&id(user), &id(task)).await;
        assert_eq!(owned.expect("read"), owns, "{user} {task}");
    }
    for (user, task, session, owns) in [
        ("alice", TASK, "session-a", true),
        ("alice", "task-3", "session-a", false),
        ("alice", "task-2", "session-c", false),
        ("alice", TASK, "session-c", false),
        ("bob", "task-2", "session-c", true),
        ("bob", TASK, "session-a", false),
        ("bob", "task-2", "session-9", false),
    ] {
        let owned = store.owns_session(&id(user), &id(task), &id(session)).await;
        assert_eq!(owned.expect("read"), owns, "{user} {task} {session}");
    }
    let caller = gateway.caller().await;
    let task = gateway.authorizer().task(&caller, &id(TASK)).await;
    let sessions = store.sessions_of(&task.expect("authorized")).await;
    assert_eq!(sessions.expect("read"), SESSIONS.map(id));
    let foreign = gateway.authorizer().task(&caller, &id("task-2")).await;
    assert!(matches!(foreign, Err(NotAuthorized::NotFound)));
}

/// Given a new database, then the synthetic user is there and can own a workspace.
#[tokio::test]
async fn the_synthetic_user_exists() {
    let gateway = Gateway::open().await;
    let (store, grant) = (&gateway.store, &gateway.grant);
    let synthetic: UserId = id(SYNTHETIC_USER);
    let added = store
        .add_user(grant, synthetic.clone(), String::new())
        .await;
    assert!(matches!(added, Err(AdminError::Duplicate)));
    let added = store.add_workspace(grant, id("workspace-2"), synthetic.clone(), String::new());
    added.await.expect("added");
    let added = store.add_task(grant, id("task-2"), id("workspace-2"), String::new());
    added.await.expect("added");
    let owned = store.owns_task(&synthetic, &id("task-2")).await;
    assert!(owned.expect("read"));
    let shared = std::sync::Arc::new(store.clone());
    let open = Authenticator::disabled(&gateway.root, shared, std::sync::Arc::new(Noon));
    let principal = open.user(None).await.expect("everybody is let in");
    assert_eq!(principal.user_id(), &synthetic);
}

/// Given records that lack what they belong to, or that are there already, then each is refused by
/// name, and the first one stays.
#[tokio::test]
async fn a_record_needs_its_parent_and_an_id_of_its_own() {
    let gateway = Gateway::open().await;
    let (store, grant) = (&gateway.store, &gateway.grant);
    let none = String::new;
    let refused = store.add_workspace(grant, id("workspace-2"), id("bob"), none());
    assert!(matches!(refused.await, Err(AdminError::UnknownUser)));
    let refused = store.add_task(grant, id("task-2"), id("workspace-2"), none());
    assert!(matches!(refused.await, Err(AdminError::UnknownWorkspace)));
    let refused = store.add_session(grant, id("session-c"), id("task-2"), none());
    assert!(matches!(refused.await, Err(AdminError::UnknownTask)));

    let refused = store.add_user(grant, id("alice"), none());
    assert!(matches!(refused.await, Err(AdminError::Duplicate)));
    let refused = store.add_workspace(grant, id("workspace-1"), id("alice"), none());
    assert!(matches!(refused.await, Err(AdminError::Duplicate)));
    let refused = store.add_task(grant, id(TASK), id("workspace-1"), none());
    assert!(matches!(refused.await, Err(AdminError::Duplicate)));
    let refused = store.add_session(grant, id(SESSIONS[0]), id(TASK), none());
    assert!(matches!(refused.await, Err(AdminError::Duplicate)));
}

/// Given access tokens, then they are listed without their hashes, in pages, and open what they
/// should, until they are revoked or expire.
#[tokio::test]
async fn an_access_token_opens_until_it_is_revoked_or_expires() {
    let gateway = Gateway::open().await;
    let (store, grant) = (&gateway.store, &gateway.grant);
    let token = |handle: &str, byte, expires_at| NewAccessToken {
        credential_id: id(handle),
        hash: secret(CredentialKind::PersonalAccessToken, byte).hash(),
        user_id: id("alice"),
        scopes: [Scope::List].into_iter().collect(),
        label: format!("label of {handle}"),
        created_at: noon(),
        expires_at,
    };
    let later = noon() + Duration::microseconds(1);
    for new in [
        token("token-2", 2, Some(later)),
        token("token-3", 3, Some(noon())),
    ] {
        store.add_access_token(grant, new).await.expect("added");
    }
    let open = async |byte| {
        let secret = secret(CredentialKind::PersonalAccessToken, byte);
        gateway.authenticator().user(Some(&secret)).await
    };
    assert_eq!(open(1).await.expect("valid").scopes(), Scopes::ALL);
    let principal = open(2).await.expect("valid");
    assert_eq!(principal.user_id(), &id("alice"));
    assert!(!principal.scopes().contains(Scope::Resolve));
    assert!(matches!(open(3).await, Err(Denied::Invalid)));
    assert!(matches!(open(4).await, Err(Denied::Invalid)));

    store
        .revoke_access_token(grant, &id("token-2"), noon())
        .await
        .expect("revoked");
    let again = store
        .revoke_access_token(grant, &id("token-2"), later)
        .await;
    again.expect("revoked before");
    assert!(matches!(open(2).await, Err(Denied::Invalid)));

    let first = store.access_tokens(grant, None, 2).await.expect("read");
    let after = first.last().map(|token| token.credential_id.clone());
    let rest = store
        .access_tokens(grant, after.as_ref(), 2)
        .await
        .expect("read");
    let listed: Vec<_> = first
        .iter()
        .chain(&rest)
        .map(|token| (token.credential_id.as_str(), token.revoked_at))
        .collect();
    let expected = [
        ("token-1", None),
        ("token-2", Some(noon())),
        ("token-3", None),
    ];
    assert_eq!(listed, expected);
    assert_eq!(first[1].label, "label of token-2");
    assert_eq!(first[1].expires_at, Some(later));

    let unknown = store
        .revoke_access_token(grant, &id("token-9"), noon())
        .await;
    assert!(matches!(unknown, Err(AdminError::UnknownCredential)));
    let mut orphan = token("token-4", 4, None);
    orphan.user_id = id("nobody");
    let refused = store.add_access_token(grant, orphan).await;
    assert!(matches!(refused, Err(AdminError::UnknownUser)));
    for taken in [token("token-4", 2, None), token("token-2", 4, None)] {
        let refused = store.add_access_token(grant, taken).await;
        assert!(matches!(refused, Err(AdminError::Duplicate)));
    }
}

/// Given a sidecar's credential, then it serves its session for the workspace's owner, until it is
/// revoked, and a user's token never passes for one.
#[tokio::test]
async fn an_execution_credential_serves_one_session_until_it_is_revoked() {
    let gateway = Gateway::open().await;
    let (store, grant) = (&gateway.store, &gateway.grant);
    let sidecar = gateway.sidecar(SESSIONS[1]).await;
    assert_eq!(sidecar.owner_id(), &id("alice"));
    let token = secret(CredentialKind::PersonalAccessToken, 1);
    let denied = gateway.authenticator().execution(Some(&token)).await;
    assert!(matches!(denied, Err(Denied::Invalid)));

    let listed = store
        .execution_credentials(grant, None, 10)
        .await
        .expect("read");
    let sessions: Vec<_> = listed.iter().map(|one| one.session_id.as_str()).collect();
    assert_eq!(sessions, SESSIONS);
    assert!(
        listed
            .iter()
            .all(|one| one.task_id == id(TASK) && one.label == "sidecar")
    );

    let handle = sidecar.credential_id();
    let revoked = store
        .revoke_execution_credential(grant, handle, noon())
        .await;
    revoked.expect("revoked");
    let credential = secret(CredentialKind::Execution, 1);
    let denied = gateway.authenticator().execution(Some(&credential)).await;
    assert!(matches!(denied, Err(Denied::Invalid)));
    let unknown = store
        .revoke_execution_credential(grant, &id("token-1"), noon())
        .await;
    assert!(matches!(unknown, Err(AdminError::UnknownCredential)));
    let orphan = NewExecutionCredential {
        credential_id: id("credential-9"),
        hash: secret(CredentialKind::Execution, 9).hash(),
        session_id: id("session-9"),
        label: String::new(),
        created_at: noon(),
        expires_at: None,
    };
    let refused = store.add_execution_credential(grant, orphan).await;
    assert!(matches!(refused, Err(AdminError::UnknownSession)));
}

/// Given the record of a task, when it is read in pages, then each row comes once, in a fixed order.
#[tokio::test]
async fn the_record_of_a_task_comes_in_pages() {
    let gateway = Gateway::open().await;
    for session in SESSIONS.into_iter().rev() {
        let sidecar = gateway.sidecar(session).await;
        let prompts: Vec<_> = (0..5).map(|n| prompt(&format!("request-{n}"))).collect();
        let seen = gateway.log.observe(&sidecar, &prompts).await;
        seen.expect("recorded");
        let closed = prompts[..3].iter().map(|prompt| Closed {
            request_id: prompt.request_id.clone(),
            pending_id: prompt.pending_id.clone(),
            created_at: prompt.created_at,
            reason: ExpiryReason::Withdrawn,
        });
        let closed: Vec<_> = closed.collect();
        let closed = gateway.log.close(&sidecar, &closed).await;
        closed.expect("recorded");
    }
    let claimed = gateway.claim(&prompt("request-4")).await.expect("claimed");
    let ended = gateway
        .log
        .finalize(claimed.delivered(DeliverReply::Delivered));
    ended.await.expect("recorded");

    let whole = page(&gateway, &AuditCursor::default(), 100).await;
    assert_eq!(whole.next, None);
    let of: Vec<_> = whole
        .messages
        .iter()
        .map(|message| format!("{} {}", message.session_id, message.request_id))
        .collect();
    let expected = SESSIONS.map(|s| (0..5).map(move |n| format!("{s} request-{n}")));
    assert_eq!(of, expected.into_iter().flatten().collect::<Vec<_>>());
    assert_eq!((whole.claims.len(), whole.attempts.len()), (1, 8));

    let (mut pieces, mut cursor) = (
        permit_sqlite::TaskAudit::default(),
        Some(AuditCursor::default()),
    );
    while let Some(from) = cursor {
        let piece = page(&gateway, &from, 3).await;
        pieces.messages.extend(piece.messages);
        pieces.claims.extend(piece.claims);
        pieces.attempts.extend(piece.attempts);
        cursor = piece.next;
    }
    assert_eq!(pieces, whole);
    let (store, grant) = (&gateway.store, &gateway.grant);
    let (task, from) = (id("task-9"), AuditCursor::default());
    let unknown = store.audit_of_task(grant, &task, &from, 10);
    assert!(matches!(unknown.await, Err(AdminError::UnknownTask)));
}

async fn page(gateway: &Gateway, from: &AuditCursor, count: usize) -> permit_sqlite::TaskAudit {
    let (store, grant) = (&gateway.store, &gateway.grant);
    let page = store.audit_of_task(grant, &id(TASK), from, count).await;
    page.expect("read")
}
