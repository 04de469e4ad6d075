//! Odd requests and odd agents: nothing is lost, and nothing is answered that should not be.

use permit_acp::{HeadlessError, StopReason, TurnError};
use permit_domain::DeliverReply;

use crate::agent::Session;

#[tokio::test]
async fn odd_options_are_listed_and_only_the_sound_ones_can_be_selected() {
    let options = r#"[{"optionId":7,"name":"Seven","kind":"allow_once"},
        {"name":"None","kind":"allow_once"},
        {"optionId":"twice","name":"A","kind":"allow_once"},
        {"optionId":"twice","name":"B","kind":"reject_once"},
        {"optionId":"new","name":"C","kind":"allow_for_a_day"}]"#
        .replace('\n', "");
    let mut session = Session::start(&format!("#options {options}\ntouch file"));
    let prompt = session.prompt().await;
    let listed = prompt.options.iter();
    let listed: Vec<_> = listed
        .map(|o| (o.option_id.as_str(), o.kind.as_str()))
        .collect();
    assert_eq!(
        listed,
        [
            ("", "allow_once"),
            ("", "allow_once"),
            ("twice", "allow_once"),
            ("twice", "reject_once"),
            ("new", "allow_for_a_day"),
        ]
    );
    for option in ["", "7", "twice"] {
        let reply = session.deliver(&prompt, option).await;
        assert_eq!(reply, DeliverReply::Refused, "{option}");
    }
    assert_eq!(
        session.deliver(&prompt, "new").await,
        DeliverReply::Delivered
    );
    session.end().await;
}

#[tokio::test]
async fn a_request_without_options_or_details_is_listed() {
    let session = Session::start("#options {}\n#bare touch file");
    let prompt = session.prompt().await;
    assert!(prompt.options.is_empty());
    // The tool call's details came before.
    assert_eq!(prompt.action.command.as_deref(), Some("touch file"));
    session.interrupt.cancel();
    session.end().await;
}

#[tokio::test]
async fn request_ids_keep_their_type() {
    for (id, listed) in [
        ("0", "0"),
        ("\"0\"", "0"),
        ("\"a\\u0041\"", "aA"),
        ("-7", "-7"),
    ] {
        let mut session = Session::start(&format!("#id {id}\ntouch file"));
        let prompt = session.prompt().await;
        assert_eq!(prompt.pending_id.as_str(), listed);
        session.deliver(&prompt, "allow-once").await;
        let ended = session.end().await;
        assert!(ended.dir.path().join("file").exists(), "{id}");
    }
}

#[tokio::test]
async fn an_id_that_cannot_be_listed_gets_a_fallback_and_is_answered_as_it_is() {
    let mut session = Session::start("#id null\ntouch file\n#id \"\"\ntouch other");
    let first = session.prompt().await;
    session.deliver(&first, "allow-once").await;
    let second = session.prompt().await;
    session.deliver(&second, "allow-once").await;
    assert_ne!(first.pending_id, second.pending_id);
    for prompt in [&first, &second] {
        assert!(prompt.pending_id.as_str().starts_with("fallback-"));
    }
    let ended = session.end().await;
    assert!(ended.dir.path().join("file").exists() && ended.dir.path().join("other").exists());
}

#[tokio::test]
async fn a_reused_id_is_a_new_request() {
    let mut session = Session::start("#id 5\ntouch file\n#id 5\ntouch other");
    let first = session.prompt().await;
    session.deliver(&first, "allow-once").await;
    let second = session.prompt().await;
    assert_eq!(first.pending_id, second.pending_id);
    assert_ne!(first.request_id, second.request_id);
    let late = session.deliver(&first, "reject-once").await;
    assert_eq!(late, DeliverReply::Refused);
    session.deliver(&second, "reject-once").await;
    let ended = session.end().await;
    assert!(ended.dir.path().join("file").exists() && !ended.dir.path().join("other").exists());
}

#[tokio::test]
async fn what_is_no_message_is_passed_over() {
    let session = Session::script(concat!(
        "echo hello; echo '[]'; echo '{}'; read a; ",
        r#"echo '{"jsonrpc":"2.0","id":99,"result":{}}'; "#,
        r#"echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}'; read b; "#,
        r#"echo '{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}'; read c; "#,
        r#"echo '{"jsonrpc":"2.0","method":"session/update"}'; "#,
        r#"echo '{"jsonrpc":"2.0","method":"session/update","params":{"update":7}}'; "#,
        r#"echo '{"jsonrpc":"2.0","id":2,"result":{"stopReason":"odd"}}'"#,
    ));
    let ended = session.end().await;
    let reason = ended.outcome.expect("an end");
    assert_eq!(reason, StopReason::Other("odd".to_owned()));
}

#[tokio::test]
async fn an_agent_of_another_version_or_with_an_error_is_told_apart() {
    let session = Session::script(
        r#"read a; echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2}}'; read b"#,
    );
    assert!(matches!(
        session.end().await.outcome,
        Err(HeadlessError::Turn(TurnError::Version(2)))
    ));
    let session = Session::script(concat!(
        r#"read a; echo '{"jsonrpc":"2.0","id":0,"error":{"code":-32000,"message":"sign in"}}'; "#,
        "read b",
    ));
    assert!(matches!(
        session.end().await.outcome,
        Err(HeadlessError::Turn(TurnError::Call { .. }))
    ));
    let session = Session::script("exit 3");
    assert!(matches!(
        session.end().await.outcome,
        Err(HeadlessError::Exited(status)) if status.code() == Some(3)
    ));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error() {
    let session = Session::missing();
    assert!(matches!(
        session.end().await.outcome,
        Err(HeadlessError::Start(_))
    ));
}
