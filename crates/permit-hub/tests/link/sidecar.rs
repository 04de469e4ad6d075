//! A sidecar with an uplink, a registry and a provider.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use permit_domain::{
    Action, ActionType, OfferedOption, OptionId, OptionKind, PendingId, RequestId,
};
use permit_policy::Secret;
use permit_projection::Projected;
use permit_registry::{AnswerError, Go, Limits, NewPrompt, Registry, Responder};
use permit_system::{SystemClock, TimeOrderedIds};
use permit_uplink::{Config, LinkState, Timings, Uplink, UplinkEnd};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::gateway::PATIENCE;

/// What the provider was told.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// An answer is about to be written.
    Writing(String),
    /// It was written.
    Selected(String),
    Cancelled,
}

pub(crate) struct Sidecar {
    pub(crate) registry: Registry,
    pub(crate) state: watch::Receiver<LinkState>,
    pub(crate) ended: JoinHandle<UplinkEnd>,
    /// The provider reads an answer for each permit.
    pub(crate) reads: Arc<Semaphore>,
    leave: CancellationToken,
    telling: mpsc::UnboundedSender<Told>,
    told: mpsc::UnboundedReceiver<Told>,
}

impl Sidecar {
    /// Starts a sidecar whose provider reads at once.
    pub(crate) fn start(gateway: SocketAddr, credential: &str) -> Self {
        let timings = Timings {
            first_retry: Duration::from_millis(5),
            longest_retry: Duration::from_millis(50),
            ..Timings::default()
        };
        Self::with(timings, gateway, credential)
    }

    pub(crate) fn with(timings: Timings, gateway: SocketAddr, credential: &str) -> Self {
        let registry = Registry::new(
            Limits::default(),
            Arc::new(SystemClock),
            Arc::new(TimeOrderedIds),
        );
        let config = Config {
            gateway: format!("http://{gateway}"),
            credential: Secret::presented(credential),
            timings,
        };
        let uplink = Uplink::new(config, registry.clone()).expect("an address");
        let leave = CancellationToken::new();
        let (telling, told) = mpsc::unbounded_channel();
        Self {
            registry,
            state: uplink.state(),
            ended: tokio::spawn(uplink.run(leave.clone().cancelled_owned())),
            reads: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
            leave,
            telling,
            told,
        }
    }

    /// The provider reads nothing until it is given a permit.
    pub(crate) fn whose_provider_waits(mut self) -> Self {
        self.reads = Arc::new(Semaphore::new(0));
        self
    }

    pub(crate) async fn attached(mut self) -> Self {
        self.until(LinkState::Attached).await;
        self
    }

    pub(crate) async fn until(&mut self, wanted: LinkState) {
        let reached = self.state.wait_for(|state| *state == wanted);
        timeout(PATIENCE, reached)
            .await
            .expect("in time")
            .expect("it runs");
    }

    /// The provider asks for permission.
    pub(crate) fn ask(&self, pending: &str) -> RequestId {
        let option = |id: &str, kind: &str| OfferedOption {
            option_id: OptionId::offered(id),
            name: id.to_owned(),
            kind: OptionKind::new(kind),
        };
        let prompt = NewPrompt {
            provider_session: "provider-session".to_owned(),
            provider_request: pending.to_owned(),
            pending_id: PendingId::parse(pending).expect("an id"),
            tool_call_id: None,
            projected: Projected {
                title: format!("Run {pending}"),
                action: Action::new(ActionType::Command),
                options: vec![
                    option("allow", "allow_once"),
                    option("reject", "reject_once"),
                ],
            },
            responder: Box::new(Provider {
                telling: self.telling.clone(),
                reads: self.reads.clone(),
            }),
        };
        let opened = self.registry.open(prompt);
        opened.unwrap_or_else(|refused| panic!("{}", refused.why))
    }

    /// What the provider is told next.
    pub(crate) async fn told(&mut self) -> Told {
        let told = timeout(PATIENCE, self.told.recv()).await;
        told.expect("in time").expect("it runs")
    }

    /// Whether the provider has been told nothing more.
    pub(crate) fn was_told_nothing_more(&mut self) -> bool {
        self.told.try_recv().is_err()
    }

    pub(crate) fn leave(&self) {
        self.leave.cancel();
    }

    pub(crate) async fn end(&mut self) -> UplinkEnd {
        let ended = timeout(PATIENCE, &mut self.ended).await;
        ended.expect("in time").expect("no panic")
    }
}

impl Drop for Sidecar {
    fn drop(&mut self) {
        self.ended.abort();
    }
}

struct Provider {
    telling: mpsc::UnboundedSender<Told>,
    reads: Arc<Semaphore>,
}

#[async_trait]
impl Responder for Provider {
    async fn select(self: Box<Self>, option_id: &OptionId, go: Go) -> Result<(), AnswerError> {
        if !go.ahead() {
            return Err(AnswerError::NothingWritten);
        }
        let option = option_id.as_str().to_owned();
        let _ = self.telling.send(Told::Writing(option.clone()));
        self.reads.acquire().await.expect("open").forget();
        let _ = self.telling.send(Told::Selected(option));
        Ok(())
    }

    fn cancel(self: Box<Self>) {
        let _ = self.telling.send(Told::Cancelled);
    }
}
