//! A TCP wire to the gateway that can be cut and laid anew.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Whoever connects to `address` reaches the gateway, as long as the wire is whole.
#[derive(Clone)]
pub(crate) struct Wire {
    pub(crate) address: SocketAddr,
    target: Arc<Mutex<Option<SocketAddr>>>,
    cuts: watch::Sender<u64>,
    stalled: watch::Sender<bool>,
}

impl Wire {
    pub(crate) async fn to(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let wire = Self {
            address: listener.local_addr().expect("an address"),
            target: Arc::new(Mutex::new(Some(target))),
            cuts: watch::Sender::new(0),
            stalled: watch::Sender::new(false),
        };
        let laid = wire.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(laid.clone().carry(stream));
            }
        });
        wire
    }

    /// Breaks every connection; new ones are refused until the wire is laid again.
    pub(crate) fn cut(&self) {
        *self.target.lock().expect("a lock") = None;
        self.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// Carries nothing any more, and tells neither end.
    pub(crate) fn stall(&self) {
        *self.target.lock().expect("a lock") = None;
        self.stalled.send_replace(true);
    }

    pub(crate) fn lay(&self, target: SocketAddr) {
        *self.target.lock().expect("a lock") = Some(target);
    }

    async fn carry(self, mut near: TcpStream) {
        let mut cuts = self.cuts.subscribe();
        let mut stalled = self.stalled.subscribe();
        let target = *self.target.lock().expect("a lock");
        let Some(target) = target else {
            return;
        };
        let Ok(mut far) = TcpStream::connect(target).await else {
            return;
        };
        let stalls = async {
            let _ = stalled.wait_for(|stalled| *stalled).await;
        };
        tokio::select! {
            _ = copy_bidirectional(&mut near, &mut far) => return,
            _ = cuts.changed() => return,
            () = stalls => {}
        }
        // Both sockets stay open.
        let _ = cuts.changed().await;
    }
}
