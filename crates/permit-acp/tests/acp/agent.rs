//! A session with the example agent or with a script, and a registry that is answered by hand.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use permit_acp::{
    AgentCommand, AgentEvent, HeadlessError, StopReason, TurnSettings, event_channel, run_turn,
};
use permit_domain::{ClaimId, DeliverOrder, DeliverReply, OptionId, PromptSnapshot};
use permit_registry::{Limits, Registry};
use permit_system::{SystemClock, TimeOrderedIds};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Far beyond what any of this takes: only a hang runs into it.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Session {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) registry: Registry,
    pub(crate) interrupt: CancellationToken,
    turn: JoinHandle<Result<StopReason, HeadlessError>>,
    events: tokio::sync::mpsc::Receiver<AgentEvent>,
    claims: u32,
}

/// What is left of a session when it has ended.
pub(crate) struct Ended {
    pub(crate) outcome: Result<StopReason, HeadlessError>,
    pub(crate) said: String,
    pub(crate) events: Vec<AgentEvent>,
    pub(crate) dir: tempfile::TempDir,
}

impl Session {
    pub(crate) fn start(prompt: &str) -> Self {
        Self::with(prompt, None, Limits::default())
    }

    pub(crate) fn with(prompt: &str, mode: Option<&str>, limits: Limits) -> Self {
        Self::of(example_agent(), Vec::new(), prompt, mode, limits)
    }

    /// An agent that is nothing but these lines of a shell.
    pub(crate) fn script(script: &str) -> Self {
        let args = vec!["-c".to_owned(), script.to_owned()];
        Self::of("sh".into(), args, "go", None, Limits::default())
    }

    pub(crate) fn missing() -> Self {
        let nowhere = "/nonexistent/agent".into();
        Self::of(nowhere, Vec::new(), "go", None, Limits::default())
    }

    fn of(
        program: PathBuf,
        args: Vec<String>,
        prompt: &str,
        mode: Option<&str>,
        limits: Limits,
    ) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let registry = Registry::new(limits, Arc::new(SystemClock), Arc::new(TimeOrderedIds));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let gate = dir.path().join("gate").into_os_string();
        let command = AgentCommand {
            program: program.into(),
            args: args.into_iter().map(Into::into).collect(),
            cwd: dir.path().to_owned(),
            env: vec![("PATH".into(), path), ("EXAMPLE_AGENT_GATE".into(), gate)],
            user: None,
        };
        let settings = TurnSettings {
            cwd: dir.path().to_owned(),
            mode: mode.map(str::to_owned),
            prompt: prompt.to_owned(),
        };
        let (sink, events) = event_channel();
        let interrupt = CancellationToken::new();
        let (ours, token) = (registry.clone(), interrupt.clone());
        let turn = tokio::spawn(async move {
            let ids = Arc::new(TimeOrderedIds);
            run_turn(&command, settings, ours, ids, sink, &token).await
        });
        Self {
            dir,
            registry,
            interrupt,
            turn,
            events,
            claims: 0,
        }
    }

    /// Waits until so many prompts wait, and gives them.
    pub(crate) async fn prompts(&self, count: usize) -> Vec<PromptSnapshot> {
        let mut changed = self.registry.changed();
        let waiting = async {
            loop {
                let (_, prompts) = self.registry.list();
                if prompts.len() == count {
                    return prompts;
                }
                changed.changed().await.expect("the registry lives");
            }
        };
        timeout(PATIENCE, waiting).await.expect("prompts")
    }

    pub(crate) async fn prompt(&self) -> PromptSnapshot {
        self.prompts(1).await.remove(0)
    }

    pub(crate) async fn deliver(&mut self, prompt: &PromptSnapshot, option: &str) -> DeliverReply {
        self.claims += 1;
        let order = DeliverOrder {
            claim_id: ClaimId::parse(format!("claim-{}", self.claims)).expect("an id"),
            request_id: prompt.request_id.clone(),
            pending_id: prompt.pending_id.clone(),
            option_id: OptionId::offered(option),
        };
        let delivered = self.registry.deliver(&order);
        timeout(PATIENCE, delivered).await.expect("a reply")
    }

    /// Lets the example agent go on after asking.
    pub(crate) fn open_gate(&self) {
        std::fs::write(self.dir.path().join("gate"), "").expect("written");
    }

    pub(crate) async fn end(mut self) -> Ended {
        let ended = timeout(PATIENCE, self.turn).await.expect("an end");
        let outcome = ended.expect("no panic");
        let (mut said, mut events) = (String::new(), Vec::new());
        while let Some(event) = self.events.recv().await {
            if let AgentEvent::Text(text) = &event {
                said.push_str(text);
            }
            events.push(event);
        }
        assert!(self.registry.list().1.is_empty(), "nothing waits any more");
        Ended {
            outcome,
            said,
            events,
            dir: self.dir,
        }
    }
}

/// Cargo builds examples before it runs tests.
fn example_agent() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let target = test.ancestors().nth(2).expect("a target directory");
    target.join("examples/example_agent")
}

/// Waits until something holds that nothing tells of.
pub(crate) async fn eventually(holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, waiting).await.expect("it comes to hold");
}
