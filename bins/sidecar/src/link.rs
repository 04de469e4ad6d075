//! The link to the gateway, as a run sees it.

use permit_registry::Registry;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

/// Where the link stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkState {
    Connecting,
    Attached,
}

/// Why the link ended for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(dead_code, reason = "until the link is in place")]
pub(crate) enum LinkEnd {
    CredentialRefused,
    Replaced,
    Closed,
}

pub(crate) struct Link {
    pub(crate) state: watch::Receiver<LinkState>,
    pub(crate) ended: tokio::task::JoinHandle<LinkEnd>,
}

impl Link {
    /// Attaches to the gateway and keeps attached until `shutdown`.
    pub(crate) fn start(
        _gateway: &str,
        _credential: Zeroizing<String>,
        _registry: Registry,
        shutdown: CancellationToken,
    ) -> Self {
        let (state, receiver) = watch::channel(LinkState::Connecting);
        let ended = tokio::spawn(async move {
            let _state = state;
            shutdown.cancelled().await;
            LinkEnd::Closed
        });
        Self {
            state: receiver,
            ended,
        }
    }
}
