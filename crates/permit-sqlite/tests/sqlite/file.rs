//! The file: who may read it, which versions it takes, and what cannot be changed in it.

use std::os::unix::fs::PermissionsExt as _;

use permit_domain::DeliverReply;
use permit_policy::CredentialKind;
use permit_sqlite::{OpenError, SqliteStore};
use rusqlite::Connection;

use crate::gateway::{Gateway, SESSIONS, prompt, secret};

/// Given a umask that protects nothing, then the database and its companions are their owner's.
#[tokio::test]
async fn the_files_are_for_their_owner_alone() {
    let umask = rustix::process::umask(rustix::fs::Mode::empty());
    let gateway = Gateway::open().await;
    gateway.claim(&prompt("request-1")).await.expect("claimed");
    rustix::process::umask(umask);
    assert_eq!(modes(&gateway), [0o600; 3]);
}

/// Given a database that others may read, when it is opened, then they no longer may.
#[tokio::test]
async fn an_open_door_is_closed() {
    let gateway = Gateway::open().await;
    gateway.store.close().await;
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(gateway.path(), open).expect("changed");
    let _store = SqliteStore::open(gateway.path()).expect("opened");
    assert_eq!(modes(&gateway), [0o600; 3]);
}

/// Given a database of a newer version, when it is opened, then it is refused and not touched.
#[tokio::test]
async fn a_newer_database_is_refused_and_untouched() {
    let gateway = Gateway::open().await;
    gateway.store.close().await;
    let intruder = gateway.intruder();
    intruder
        .pragma_update(None, "user_version", 99)
        .expect("set");
    intruder.close().expect("closed");
    let before = std::fs::read(gateway.path()).expect("read");

    let refused = SqliteStore::open(gateway.path()).err().expect("refused");
    assert!(matches!(refused, OpenError::Newer { found: 99, .. }));
    assert!(refused.to_string().contains("99"));
    assert_eq!(std::fs::read(gateway.path()).expect("read"), before);
}

/// Given a newer database whose log was not yet written back, then the log is left as it is too.
#[tokio::test]
async fn a_newer_databases_log_is_untouched() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("newer.db");
    let newer = Connection::open(&path).expect("opened");
    newer
        .execute_batch(
            "PRAGMA journal_mode = WAL; CREATE TABLE theirs (x); PRAGMA user_version = 7;",
        )
        .expect("made");
    let before = std::fs::read(dir.path().join("newer.db-wal")).expect("read");
    assert!(!before.is_empty());
    let refused = SqliteStore::open(&path).err().expect("refused");
    assert!(matches!(refused, OpenError::Newer { found: 7, .. }));
    let after = std::fs::read(dir.path().join("newer.db-wal")).expect("read");
    assert_eq!(after, before);
}

/// Given another program's database, or no database at all, when it is opened, then it is refused
/// and not touched.
#[tokio::test]
async fn what_is_not_ours_is_refused_and_untouched() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("theirs.db");
    let theirs = Connection::open(&path).expect("opened");
    theirs
        .execute_batch("CREATE TABLE theirs (x)")
        .expect("made");
    theirs.close().expect("closed");
    let before = std::fs::read(&path).expect("read");
    let refused = SqliteStore::open(&path).err().expect("refused");
    assert!(matches!(refused, OpenError::Foreign));
    assert_eq!(std::fs::read(&path).expect("read"), before);

    let path = dir.path().join("notes.txt");
    let notes = "not a database ".repeat(100);
    std::fs::write(&path, &notes).expect("written");
    assert!(SqliteStore::open(&path).is_err());
    assert_eq!(std::fs::read_to_string(&path).expect("read"), notes);
}

/// Given a store with a claim, an end and a prompt, when it is closed and opened again, then all of
/// it is there, and the claim still bars.
#[tokio::test]
async fn opening_again_finds_everything() {
    let gateway = Gateway::open().await;
    let claimed = gateway.claim(&prompt("request-1")).await.expect("claimed");
    let ended = gateway
        .log
        .finalize(claimed.delivered(DeliverReply::Delivered));
    let ended = ended.await.expect("recorded").record().clone();
    let sidecar = gateway.sidecar(SESSIONS[0]).await;
    let seen = gateway.log.observe(&sidecar, &[prompt("request-2")]).await;
    seen.expect("recorded");
    gateway.store.close().await;

    let store = SqliteStore::open(gateway.path()).expect("opened");
    let gateway = Gateway::around(store, gateway.dir);
    let grant = gateway.session(SESSIONS[0]).await;
    let request = prompt("request-1").request_id;
    let known = gateway.log.known(&grant, &request);
    assert_eq!(known.await.expect("read").claim, Some(ended));
    assert!(gateway.claim(&prompt("request-1")).await.is_err());
    assert!(gateway.knows(&prompt("request-2")).await);
}

/// Given two handles of one file, as a command line beside the gateway has, then both work.
#[tokio::test]
async fn a_second_handle_sees_and_changes_the_same() {
    let gateway = Gateway::open().await;
    let second = SqliteStore::open(gateway.path()).expect("opened");
    gateway.claim(&prompt("request-1")).await.expect("claimed");
    let other = Gateway::around(second, tempfile::tempdir().expect("a directory"));
    assert!(other.claim(&prompt("request-1")).await.is_err());
    other.claim(&prompt("request-2")).await.expect("claimed");
    assert!(gateway.knows(&prompt("request-2")).await);
}

/// Given attempts and claims, then no statement changes or deletes an attempt, and none reopens,
/// changes or deletes a claim.
#[tokio::test]
async fn the_record_cannot_be_changed() {
    let gateway = Gateway::open().await;
    gateway.claim(&prompt("request-1")).await.expect("claimed");
    let claimed = gateway.claim(&prompt("request-2")).await.expect("claimed");
    let ended = gateway
        .log
        .finalize(claimed.delivered(DeliverReply::Delivered));
    ended.await.expect("recorded");
    let intruder = gateway.intruder();
    for forbidden in [
        "UPDATE attempts SET result = 'accepted'",
        "UPDATE attempts SET actor_user_id = 'mallory' WHERE seq = 1",
        "DELETE FROM attempts",
        "DELETE FROM claims",
        "UPDATE claims SET result = 'dispatching', finalized_at = NULL WHERE result = 'accepted'",
        "UPDATE claims SET result = 'failed' WHERE result = 'accepted'",
        "UPDATE claims SET actor_user_id = 'mallory'",
        "UPDATE claims SET option_id = x'00'",
        "UPDATE claims SET finalized_at = 1 WHERE result = 'dispatching'",
    ] {
        assert!(intruder.execute(forbidden, []).is_err(), "{forbidden}");
    }
}

/// Given a row that this crate would not write, when it is read, then it is an error.
#[tokio::test]
async fn a_corrupt_row_is_an_error() {
    let gateway = Gateway::open().await;
    let sidecar = gateway.sidecar(SESSIONS[0]).await;
    let corruptions = [
        "status = 'open'",
        "created_at = 9223372036854775807",
        "options = '[{}]'",
        "pending_id = x'ff'",
        "pending_id = x''",
        "action = 'run'",
        "expiry_reason = 'bored'",
    ];
    for (n, corruption) in corruptions.into_iter().enumerate() {
        let prompt = prompt(&format!("request-{n}"));
        let seen = gateway.log.observe(&sidecar, std::slice::from_ref(&prompt));
        seen.await.expect("recorded");
        let sql = format!("UPDATE messages SET {corruption} WHERE request_id = ?1");
        let changed = gateway
            .intruder()
            .execute(&sql, [prompt.request_id.as_str()]);
        assert_eq!(changed, Ok(1));
        let grant = gateway.session(SESSIONS[0]).await;
        let known = gateway.log.known(&grant, &prompt.request_id).await;
        assert!(known.is_err(), "{corruption}");
    }
}

/// Given credentials, then no file of the database holds a secret.
#[tokio::test]
async fn no_file_holds_a_secret() {
    let gateway = Gateway::open().await;
    gateway.claim(&prompt("request-1")).await.expect("claimed");
    for (kind, byte) in [
        (CredentialKind::PersonalAccessToken, 1),
        (CredentialKind::Execution, 0),
    ] {
        let secret = secret(kind, byte);
        let random = secret.expose().trim_start_matches(kind.prefix());
        for entry in std::fs::read_dir(gateway.dir.path()).expect("read") {
            let bytes = std::fs::read(entry.expect("read").path()).expect("read");
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains(random));
        }
    }
}

fn modes(gateway: &Gateway) -> [u32; 3] {
    ["", "-wal", "-shm"].map(|suffix| {
        let mut path = gateway.path().into_os_string();
        path.push(suffix);
        let metadata = std::fs::metadata(path).expect("it exists");
        metadata.permissions().mode() & 0o777
    })
}
