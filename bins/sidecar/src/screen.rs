//! The task that writes to the terminal.

use std::time::Duration;

use permit_acp::AgentEvent;
use permit_domain::Clock as _;
use permit_projection::visible;
use permit_registry::RegistryEvent;
use permit_system::SystemClock;
use tokio::io::{AsyncWriteExt, stdout};
use tokio::sync::{broadcast, mpsc};
use tokio::time::{MissedTickBehavior, interval};

use crate::terminal::Terminal;

/// How often the person is reminded of what waits.
const REMIND: Duration = Duration::from_secs(60);

/// Shows everything until the agent's events end and the notes do.
pub(crate) async fn show(
    mut agent: mpsc::Receiver<AgentEvent>,
    mut registry: broadcast::Receiver<RegistryEvent>,
    mut notes: mpsc::Receiver<String>,
) {
    let mut terminal = Terminal::default();
    let mut reminder = interval(REMIND);
    reminder.set_missed_tick_behavior(MissedTickBehavior::Skip);
    reminder.reset();
    let (mut agent_ended, mut notes_ended) = (false, false);
    while !(agent_ended && notes_ended) {
        tokio::select! {
            biased;
            note = notes.recv(), if !notes_ended => match note {
                Some(note) => terminal.line(&format!("-- {}", visible(&note))),
                None => notes_ended = true,
            },
            event = registry.recv() => match event {
                Ok(event) => {
                    log(&event);
                    terminal.registry(event, SystemClock.now());
                }
                Err(broadcast::error::RecvError::Lagged(count)) => {
                    terminal.line(&format!("-- {count} changes of prompts are not shown"));
                }
                Err(broadcast::error::RecvError::Closed) => {}
            },
            event = agent.recv(), if !agent_ended => match event {
                Some(event) => terminal.agent(event),
                None => agent_ended = true,
            },
            _ = reminder.tick() => terminal.remind(SystemClock.now()),
        }
        write(&terminal.take()).await;
    }
    terminal.finish();
    while let Ok(event) = registry.try_recv() {
        log(&event);
        terminal.registry(event, SystemClock.now());
    }
    write(&terminal.take()).await;
}

/// Ids and results only: what the agent calls things is not for the log.
fn log(event: &RegistryEvent) {
    match event {
        RegistryEvent::Opened(prompt) => tracing::info!(
            request_id = %prompt.request_id,
            action = ?prompt.action.action_type,
            options = prompt.options.len(),
            "a prompt waits"
        ),
        RegistryEvent::Closed { request_id, reason } => {
            tracing::info!(%request_id, ?reason, "a prompt waits no longer");
        }
        RegistryEvent::Answered {
            request_id, reply, ..
        } => tracing::info!(%request_id, ?reply, "a prompt was answered"),
    }
}

/// A terminal that is gone is no reason to stop the agent.
async fn write(text: &str) {
    if !text.is_empty() {
        let mut out = stdout();
        let _ = out.write_all(text.as_bytes()).await;
        let _ = out.flush().await;
    }
}

/// Tells of a failure before there is anything to show.
#[expect(clippy::print_stderr, reason = "this is what the operator reads")]
pub(crate) fn error(text: &str) {
    eprintln!("permit-sidecar: {}", visible(text));
}
