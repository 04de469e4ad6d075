//! The uplink and its way back to the gateway.

use std::future::Future;
use std::pin::pin;

use permit_domain::ExecutionId;
use permit_link::{Execution, ExecutionSecret, LinkError};
use permit_policy::Secret;
use permit_registry::Registry;
use tokio::sync::watch;
use tokio::time::sleep;
use url::Url;

use crate::attached::Left;
use crate::backoff::Backoff;
use crate::config::{Config, Timings};
use crate::connect::{NotAttached, attach};
use crate::gateway::{InvalidGateway, link_url};

/// How the link stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// It has not attached yet.
    Connecting,
    /// It has not attached yet, and the last attempt failed. It tries again.
    Unreachable,
    /// It is attached and everything is reported: the prompts can be answered through the gateway.
    Attached,
    /// It was attached and tries to come back.
    Away,
}

/// Why the link ended for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UplinkEnd {
    /// Another execution took the session, or this one is over for another reason.
    Replaced,
    /// The credential was revoked or ran out.
    Revoked,
    /// The gateway does not know the credential.
    Unauthorized,
    /// The gateway speaks another version of the link.
    Incompatible,
    /// It was told to.
    ShutDown,
}

/// The link of one sidecar to its gateway.
pub struct Uplink {
    pub(crate) registry: Registry,
    pub(crate) timings: Timings,
    pub(crate) state: watch::Sender<LinkState>,
    url: Url,
    credential: Secret,
}

/// What an execution needs to come back. It is kept in memory only.
struct Opened {
    execution_id: ExecutionId,
    secret: ExecutionSecret,
}

impl Uplink {
    /// A link that is not connected yet.
    ///
    /// # Errors
    /// [`InvalidGateway`] when the address cannot, or must not, be dialled.
    pub fn new(config: Config, registry: Registry) -> Result<Self, InvalidGateway> {
        Ok(Self {
            registry,
            timings: config.timings,
            state: watch::Sender::new(LinkState::Connecting),
            url: link_url(&config.gateway)?,
            credential: config.credential,
        })
    }

    /// How the link stands, from now on.
    #[must_use]
    pub fn state(&self) -> watch::Receiver<LinkState> {
        self.state.subscribe()
    }

    /// Keeps the registry attached until `shutdown` completes or the execution is over. Either
    /// way the registry's execution has ended then: its prompts are cancelled, and no further one
    /// is listed.
    pub async fn run(self, shutdown: impl Future<Output = ()> + Send) -> UplinkEnd {
        let end = self.until_over(shutdown).await;
        self.registry.end_execution();
        tracing::info!(?end, "the link ended");
        end
    }

    async fn until_over(&self, shutdown: impl Future<Output = ()> + Send) -> UplinkEnd {
        let mut shutdown = pin!(shutdown);
        let mut backoff = Backoff::new(&self.timings);
        let mut opened: Option<Opened> = None;
        let mut forgotten = false;
        loop {
            let execution = opened.as_ref().map_or(Execution::New, Opened::resume);
            let attaching = attach(&self.url, &self.credential, execution, &self.timings);
            let attached = tokio::select! {
                attached = attaching => attached,
                () = &mut shutdown => return UplinkEnd::ShutDown,
            };
            match attached {
                Ok(mut attached) => {
                    let welcome = &mut attached.welcome;
                    tracing::info!(
                        session = %welcome.session_id,
                        execution = %welcome.execution_id,
                        epoch = welcome.epoch,
                        relist = welcome.relist,
                        "attached to the gateway"
                    );
                    if welcome.relist || std::mem::take(&mut forgotten) {
                        self.registry.relist();
                    }
                    if let Some(secret) = welcome.execution_secret.take() {
                        opened = Some(Opened {
                            execution_id: welcome.execution_id.clone(),
                            secret,
                        });
                    }
                    match self.serve(attached, shutdown.as_mut()).await {
                        Left::Over(end) => return end,
                        // An attach whose first report fails over and over is none.
                        Left::Away => {
                            if self.state.send_replace(LinkState::Away) == LinkState::Attached {
                                backoff.reset();
                            }
                        }
                    }
                }
                Err(NotAttached::Refused(LinkError::UnknownExecution)) if opened.is_some() => {
                    tracing::warn!("the gateway forgot the execution: a new one is opened");
                    opened = None;
                    forgotten = true;
                }
                Err(refusal) => {
                    if let Some(end) = final_end(refusal) {
                        return end;
                    }
                }
            }
            self.state.send_if_modified(|state| {
                let first = *state == LinkState::Connecting;
                if first {
                    *state = LinkState::Unreachable;
                }
                first
            });
            let pause = backoff.next();
            tracing::debug!(?pause, "the gateway is dialled again");
            tokio::select! {
                () = sleep(pause) => {}
                () = &mut shutdown => return UplinkEnd::ShutDown,
            }
        }
    }
}

impl Opened {
    fn resume(&self) -> Execution {
        Execution::Resume {
            execution_id: self.execution_id.clone(),
            secret: self.secret.clone(),
        }
    }
}

/// What makes another attempt useless.
fn final_end(refusal: NotAttached) -> Option<UplinkEnd> {
    match refusal {
        NotAttached::Unauthorized => Some(UplinkEnd::Unauthorized),
        NotAttached::Refused(LinkError::Replaced | LinkError::Exited) => Some(UplinkEnd::Replaced),
        NotAttached::Refused(LinkError::Revoked) => Some(UplinkEnd::Revoked),
        NotAttached::Refused(LinkError::Protocol) => Some(UplinkEnd::Incompatible),
        NotAttached::Refused(
            LinkError::AlreadyAttached
            | LinkError::NotAttached
            | LinkError::Fenced
            | LinkError::UnknownExecution
            | LinkError::Busy
            | LinkError::OutOfOrder
            | LinkError::Unavailable
            | LinkError::ShuttingDown,
        )
        | NotAttached::Unreachable => None,
    }
}
