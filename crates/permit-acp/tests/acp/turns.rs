//! Turns of the example agent, from the prompt to the end.

use permit_acp::{AgentEvent, HeadlessError, StopReason, TurnError};
use permit_domain::{ActionType, DeliverReply, ExpiryReason};
use permit_registry::Limits;

use crate::agent::{Session, eventually};

#[tokio::test]
async fn an_allowed_command_runs_and_the_turn_goes_on() {
    let mut session = Session::start("echo made > file\necho second > other");
    let prompt = session.prompt().await;
    assert_eq!(prompt.action.action_type, ActionType::Command);
    assert_eq!(prompt.action.command.as_deref(), Some("echo made > file"));
    assert_eq!(prompt.pending_id.as_str(), "0");
    assert_eq!(
        prompt.tool_call_id.as_ref().map(|id| id.as_str()),
        Some("call-0")
    );
    let kinds: Vec<_> = prompt.options.iter().map(|o| o.kind.as_str()).collect();
    assert_eq!(kinds, ["allow_once", "reject_once"]);
    assert!(!session.dir.path().join("file").exists());
    let reply = session.deliver(&prompt, "allow-once").await;
    assert_eq!(reply, DeliverReply::Delivered);
    let prompt = session.prompt().await;
    assert_eq!(prompt.pending_id.as_str(), "1");
    session.deliver(&prompt, "reject-once").await;
    let ended = session.end().await;
    assert_eq!(ended.outcome.expect("an end"), StopReason::EndTurn);
    let file = std::fs::read_to_string(ended.dir.path().join("file"));
    assert_eq!(file.expect("it ran"), "made\n");
    assert!(!ended.dir.path().join("other").exists());
    assert!(ended.said.contains("(rejected: echo second > other)"));
}

#[tokio::test]
async fn an_option_that_was_not_offered_reaches_nobody() {
    let mut session = Session::start("touch file");
    let prompt = session.prompt().await;
    for option in ["allow", "Allow-once", "", "allow_once"] {
        let reply = session.deliver(&prompt, option).await;
        assert_eq!(reply, DeliverReply::Refused, "{option}");
    }
    session.deliver(&prompt, "reject-once").await;
    let ended = session.end().await;
    assert!(!ended.dir.path().join("file").exists());
}

#[tokio::test]
async fn parallel_prompts_are_answered_each_by_its_own() {
    let mut session = Session::start("#parallel touch a ;; touch b ;; touch c");
    let prompts = session.prompts(3).await;
    for (index, option) in [(2, "allow-once"), (0, "allow-once"), (1, "reject-once")] {
        let reply = session.deliver(&prompts[index], option).await;
        assert_eq!(reply, DeliverReply::Delivered);
    }
    let ended = session.end().await;
    let made = ["a", "b", "c"].map(|name| ended.dir.path().join(name).exists());
    assert_eq!(made, [true, false, true]);
}

#[tokio::test]
async fn a_withdrawn_request_is_gone_and_still_answered() {
    for directive in ["#withdraw", "#fail"] {
        let mut session = Session::start(&format!("{directive} touch file\n#say \"after\""));
        let prompt = session.prompt().await;
        session.open_gate();
        session.prompts(0).await;
        let reply = session.deliver(&prompt, "allow-once").await;
        assert_eq!(reply, DeliverReply::Gone(ExpiryReason::Withdrawn));
        let ended = session.end().await;
        assert!(ended.said.contains("(withdrawn)\nafter"), "{}", ended.said);
        assert!(!ended.dir.path().join("file").exists());
    }
}

#[tokio::test]
async fn the_end_of_the_turn_expires_what_still_waits() {
    let mut session = Session::start("#leave touch file");
    let prompt = session.prompt().await;
    session.open_gate();
    session.prompts(0).await;
    let reply = session.deliver(&prompt, "allow-once").await;
    assert_eq!(reply, DeliverReply::Gone(ExpiryReason::TurnEnded));
    let ended = session.end().await;
    assert_eq!(ended.outcome.expect("an end"), StopReason::EndTurn);
}

#[tokio::test]
async fn the_end_of_the_process_expires_what_still_waits() {
    let mut session = Session::start("#exit touch file");
    let prompt = session.prompt().await;
    session.open_gate();
    session.prompts(0).await;
    let reply = session.deliver(&prompt, "allow-once").await;
    assert_eq!(reply, DeliverReply::Gone(ExpiryReason::TurnEnded));
    let ended = session.end().await;
    let Err(HeadlessError::Exited(status)) = ended.outcome else {
        panic!("the agent left");
    };
    assert_eq!(status.code(), Some(7));
}

#[tokio::test]
async fn an_answer_to_an_agent_that_does_not_listen_says_that_nothing_was_written() {
    let mut session = Session::start("#deaf touch file");
    let prompt = session.prompt().await;
    session.open_gate();
    let closed = session.dir.path().join("deaf");
    eventually(|| closed.exists()).await;
    let reply = session.deliver(&prompt, "allow-once").await;
    assert_eq!(reply, DeliverReply::NotWritten);
    session.interrupt.cancel();
    session.end().await;
}

#[tokio::test]
async fn an_interrupt_cancels_the_turn_and_what_still_waits() {
    let mut session = Session::start("touch file\ntouch other");
    let prompt = session.prompt().await;
    session.interrupt.cancel();
    session.prompts(0).await;
    let reply = session.deliver(&prompt, "allow-once").await;
    assert_eq!(reply, DeliverReply::Gone(ExpiryReason::TurnEnded));
    let ended = session.end().await;
    assert_eq!(ended.outcome.expect("an end"), StopReason::Cancelled);
    assert!(ended.said.contains("(cancelled: touch file)"));
    assert!(!ended.dir.path().join("other").exists());
}

#[tokio::test]
async fn the_asking_mode_is_set_and_reported_and_an_auto_mode_asks_nothing() {
    let mut session = Session::start("true");
    let prompt = session.prompt().await;
    session.deliver(&prompt, "allow-once").await;
    assert_eq!(modes(&session.end().await.events), ["default"]);

    let session = Session::with("touch file", Some("auto"), Limits::default());
    let ended = session.end().await;
    assert_eq!(modes(&ended.events), ["auto"]);
    assert!(ended.dir.path().join("file").exists());

    let session = Session::with("touch file", Some("yolo"), Limits::default());
    let ended = session.end().await;
    let Err(HeadlessError::Turn(TurnError::NoSuchMode { available })) = ended.outcome else {
        panic!("there is no such mode");
    };
    assert_eq!(available, ["default", "auto"]);
    assert!(!ended.dir.path().join("file").exists());
}

fn modes(events: &[AgentEvent]) -> Vec<&str> {
    let modes = events.iter().filter_map(|event| {
        if let AgentEvent::Mode { current, .. } = event {
            Some(current.as_str())
        } else {
            None
        }
    });
    modes.collect()
}

#[tokio::test]
async fn a_prompt_beyond_the_bound_is_answered_cancelled() {
    let limits = Limits {
        live: 1,
        ..Limits::default()
    };
    let mut session = Session::with("#parallel touch a ;; touch b", None, limits);
    let prompt = session.prompt().await;
    eventually(|| session.registry.refused() == 1).await;
    session.deliver(&prompt, "allow-once").await;
    let ended = session.end().await;
    assert!(ended.said.contains("(cancelled: touch b)"));
    let refusals = ended.events.iter();
    let refusals = refusals.filter(|event| matches!(event, AgentEvent::PromptRefused(_)));
    assert_eq!(refusals.count(), 1);
    assert!(ended.dir.path().join("a").exists() && !ended.dir.path().join("b").exists());
}

#[tokio::test]
async fn what_the_client_does_not_do_is_declined() {
    let session = Session::start("#read /etc/hosts");
    let ended = session.end().await;
    assert_eq!(ended.said, "(read: -32601)\n");
}
