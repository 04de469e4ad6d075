//! One run: the agent, the registry, the link and the terminal, put together and taken apart.

use std::sync::Arc;
use std::time::Duration;

use permit_acp::{
    AgentCommand, CallError, EventSink, HeadlessError, StopReason, TurnError, TurnSettings,
    event_channel, run_turn,
};
use permit_projection::visible_line;
use permit_registry::Registry;
use permit_system::TimeOrderedIds;
use permit_uplink::{LinkState, UplinkEnd};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::exit::Exit;
use crate::screen;
use crate::setup::Setup;

/// How long the gateway may take to hear how it ended.
const LEAVING: Duration = Duration::from_secs(5);

/// How many lines of our own may wait to be shown.
const NOTES: usize = 256;

/// Runs until the agent's turn or the execution ends, or the user ends it.
pub(crate) async fn run(setup: Setup) -> Exit {
    let Setup {
        registry,
        uplink,
        agent,
        turn,
        notes: first,
    } = setup;
    let (events, shown) = event_channel();
    let (notes, noted) = channel(NOTES);
    let screen = tokio::spawn(screen::show(shown, registry.events(), noted));
    for note in &first {
        say(&notes, note);
    }
    let leave = CancellationToken::new();
    let watching = tokio::spawn(tell_of_link(uplink.state(), notes.clone()));
    let mut link = Link {
        state: uplink.state(),
        ended: tokio::spawn(uplink.run(leave.clone().cancelled_owned())),
    };
    let exit = until_first_end((agent, turn), &registry, events, &mut link, &notes).await;
    registry.end_execution();
    leave.cancel();
    if !link.ended.is_finished() && timeout(LEAVING, &mut link.ended).await.is_err() {
        say(&notes, "the gateway was not told that this ended");
    }
    watching.abort();
    drop(notes);
    // The terminal shows what is left, unless nobody reads it.
    let _ = timeout(LEAVING, screen).await;
    exit
}

struct Link {
    state: watch::Receiver<LinkState>,
    ended: JoinHandle<UplinkEnd>,
}

async fn until_first_end(
    (agent, settings): (AgentCommand, TurnSettings),
    registry: &Registry,
    events: EventSink,
    link: &mut Link,
    notes: &Sender<String>,
) -> Exit {
    let mut signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(error) => {
            say(notes, &format!("signals cannot be heard: {error}"));
            return Exit::Failed;
        }
    };
    let mut state = link.state.clone();
    tokio::select! {
        biased;
        end = &mut link.ended => return told(end.ok(), notes),
        Ok(_) = state.wait_for(|state| *state == LinkState::Attached) => {}
        () = signals.next() => return Exit::TurnCutShort,
    }
    let interrupt = CancellationToken::new();
    let turn = run_turn(
        &agent,
        settings,
        registry.clone(),
        Arc::new(TimeOrderedIds),
        events,
        &interrupt,
    );
    tokio::pin!(turn);
    let cut_short = tokio::select! {
        // The end of the link cancels the prompts, and so may end the turn as well.
        biased;
        end = &mut link.ended => told(end.ok(), notes),
        outcome = &mut turn => return of_turn(outcome, notes),
        () = signals.next() => {
            say(notes, "interrupted: cancelling the turn (once more to stop at once)");
            Exit::TurnCutShort
        }
    };
    if cut_short != Exit::TurnCutShort {
        // Nobody can answer any more.
        registry.end_execution();
    }
    interrupt.cancel();
    tokio::select! {
        // Why it ended matters more than how.
        _ = &mut turn => {}
        () = signals.next() => {}
    }
    cut_short
}

fn told(end: Option<UplinkEnd>, notes: &Sender<String>) -> Exit {
    let (exit, text) = match end {
        Some(UplinkEnd::Unauthorized) => (
            Exit::CredentialRefused,
            "the gateway does not know the credential",
        ),
        Some(UplinkEnd::Replaced) => (
            Exit::Replaced,
            "this execution is over: a newer one took its session",
        ),
        Some(UplinkEnd::Revoked) => (
            Exit::Replaced,
            "this execution is over: its credential was revoked or ran out",
        ),
        Some(UplinkEnd::Incompatible) => (
            Exit::Failed,
            "the gateway speaks another version of the link",
        ),
        Some(UplinkEnd::ShutDown) | None => (Exit::Failed, "the link to the gateway ended"),
    };
    say(notes, text);
    exit
}

fn of_turn(outcome: Result<StopReason, HeadlessError>, notes: &Sender<String>) -> Exit {
    match outcome {
        Ok(reason) => {
            let text = match &reason {
                StopReason::EndTurn => "the turn ended".to_owned(),
                StopReason::Cancelled => "the turn was cancelled".to_owned(),
                StopReason::Refusal => "the agent refused to go on".to_owned(),
                StopReason::MaxTokens => "the agent ran out of tokens".to_owned(),
                StopReason::MaxTurnRequests => "the agent made too many requests".to_owned(),
                StopReason::Other(other) => format!("the turn ended: {}", visible_line(other)),
            };
            say(notes, &text);
            Exit::of(&reason)
        }
        Err(error) => {
            say(notes, &error.to_string());
            if let HeadlessError::Turn(error) = &error {
                advise(error, notes);
            }
            if matches!(error, HeadlessError::Turn(TurnError::NoSuchMode { .. })) {
                return Exit::Failed;
            }
            Exit::AgentFailed
        }
    }
}

fn advise(error: &TurnError, notes: &Sender<String>) {
    match error {
        TurnError::NoSuchMode { available } => {
            let modes: Vec<_> = available.iter().map(|mode| visible_line(mode)).collect();
            say(notes, &format!("its modes: {}", modes.join(", ")));
        }
        TurnError::Call {
            error: CallError::Refused { message, .. },
            ..
        } => say(notes, &format!("the agent says: {}", visible_line(message))),
        TurnError::Call { .. }
        | TurnError::Version(_)
        | TurnError::TimedOut(_)
        | TurnError::Interrupted => {}
    }
}

/// Says when the link comes and goes.
async fn tell_of_link(mut state: watch::Receiver<LinkState>, notes: Sender<String>) {
    loop {
        let now = *state.borrow_and_update();
        say(
            &notes,
            match now {
                LinkState::Connecting => "connecting to the gateway",
                LinkState::Unreachable => {
                    "cannot reach the gateway: is it running, and is --gateway its address without a path? trying again"
                }
                LinkState::Attached => "attached to the gateway",
                LinkState::Away => "the gateway is away: nothing can be answered until it is back",
            },
        );
        if state.changed().await.is_err() {
            return;
        }
    }
}

fn say(notes: &Sender<String>, note: &str) {
    // The terminal may be gone, or nobody reads it.
    let _ = notes.try_send(note.to_owned());
}

/// The signals by which a user ends this.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}
