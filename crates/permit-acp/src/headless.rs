//! One turn with an agent process of our own.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use permit_domain::IdSource;
use permit_registry::Registry;
use tokio::io::AsyncRead;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::call::CallError;
use crate::driver::{DriverError, connect};
use crate::event::{AgentEvent, EventSink};
use crate::line::LineReader;
use crate::process::{AgentCommand, AgentProcess};
use crate::turn::{StopReason, TurnError, TurnSettings};

/// The longest line of the agent's standard error that is passed on.
const MAX_STDERR_LINE: usize = 64 * 1024;

/// How long what an agent wrote may take to be read once it has ended, and what we wrote to be
/// taken.
const DRAINING: Duration = Duration::from_secs(1);

/// Why a turn with an agent process came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum HeadlessError {
    /// The agent could not be started.
    #[error("the agent could not be started: {0}")]
    Start(#[source] std::io::Error),
    /// The agent's process ended before the turn did.
    #[error("the agent ended in the middle of the turn ({0})")]
    Exited(ExitStatus),
    /// The agent can no longer be understood or answered.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// The agent closed its output in the middle of the turn.
    #[error("the agent closed its output in the middle of the turn")]
    Closed,
    /// The turn failed.
    #[error(transparent)]
    Turn(#[from] TurnError),
}

/// Starts an agent, runs one turn, and ends the agent. However it ends, no prompt of the agent
/// waits any longer, and neither it nor what it started in its process group runs on.
///
/// # Errors
/// [`HeadlessError`] when the agent cannot be started, fails or leaves.
pub async fn run_turn(
    agent: &AgentCommand,
    settings: TurnSettings,
    registry: Registry,
    ids: Arc<dyn IdSource>,
    events: EventSink,
    interrupt: &CancellationToken,
) -> Result<StopReason, HeadlessError> {
    let (mut process, streams) = AgentProcess::start(agent).map_err(HeadlessError::Start)?;
    let (connection, driver) =
        connect(streams.stdout, streams.stdin, registry, ids, events.clone());
    let stderr = tokio::spawn(pass_on(streams.stderr, events.clone()));
    let mut driving = Box::pin(driver.run());
    let turn = connection.turn(settings, &events, interrupt);
    tokio::pin!(turn);
    let first = tokio::select! {
        biased;
        outcome = &mut turn => First::Turn(outcome),
        ended = &mut driving => First::Driver(ended),
        _ = process.wait() => First::Exit,
    };
    let mut failure = None;
    let outcome = match first {
        First::Turn(outcome) => {
            // What still waits expires now, not when the process has ended.
            drop(driving);
            outcome
        }
        First::Driver(ended) => {
            failure = ended.err();
            turn.await
        }
        First::Exit => {
            // What it wrote before it left still counts.
            let ended = timeout(DRAINING, &mut driving).await;
            failure = ended.ok().and_then(Result::err);
            drop(driving);
            turn.await
        }
    };
    let _ = timeout(DRAINING, connection.close()).await;
    let status = process.stop().await;
    let _ = timeout(DRAINING, stderr).await;
    match outcome {
        Err(TurnError::Call {
            error: CallError::Closed,
            ..
        }) => Err(match (failure, status) {
            (Some(failure), _) => failure.into(),
            (None, Some(status)) => HeadlessError::Exited(status),
            (None, None) => HeadlessError::Closed,
        }),
        outcome => Ok(outcome?),
    }
}

/// What ends first. When the agent's side ends, so does the turn: its calls are not answered any
/// more.
enum First {
    Turn(Result<StopReason, TurnError>),
    Driver(Result<(), DriverError>),
    Exit,
}

/// Passes the agent's standard error on, line by line.
async fn pass_on(stderr: impl AsyncRead + Unpin, events: EventSink) {
    let mut lines = LineReader::new(stderr, MAX_STDERR_LINE);
    while let Ok(Some(line)) = lines.next().await {
        let line = String::from_utf8_lossy(&line).into_owned();
        events.send(AgentEvent::Stderr(line));
    }
}
