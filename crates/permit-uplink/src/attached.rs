//! One connection from its welcome to its end.

use std::pin::Pin;
use std::time::Duration;

use permit_link::{DETACH, Detach, Goodbye, GoodbyeReason, MAX_COMMANDS, ToSidecar};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::call::{CallFailed, call};
use crate::commands::carry_out;
use crate::connect::Attached;
use crate::report::report;
use crate::uplink::{Uplink, UplinkEnd};

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// It broke, or the gateway asks to come back.
    Away,
    /// The execution is over.
    Over(UplinkEnd),
}

impl Uplink {
    /// Serves an attached connection until it ends, or until `shutdown`.
    pub(crate) async fn serve(
        &self,
        attached: Attached,
        mut shutdown: Pin<&mut (impl Future<Output = ()> + Send)>,
    ) -> Left {
        let leaving = CancellationToken::new();
        let serving = self.serve_until(attached, &leaving);
        tokio::pin!(serving);
        tokio::select! {
            left = &mut serving => return left,
            () = &mut shutdown => {}
        }
        self.registry.end_execution();
        leaving.cancel();
        let patience = self.timings.leave;
        if timeout(patience, serving).await != Ok(Left::Over(UplinkEnd::ShutDown)) {
            tracing::warn!("the gateway was not told that the execution ended");
        }
        Left::Over(UplinkEnd::ShutDown)
    }

    /// Serves an attached connection until it ends, or until everything is reported that had
    /// happened before `leaving`.
    async fn serve_until(&self, attached: Attached, leaving: &CancellationToken) -> Left {
        let Attached {
            connection,
            mut items,
            welcome,
        } = attached;
        let epoch = welcome.epoch;
        let reporting = report(&connection, &self.registry, epoch, &self.state, leaving);
        tokio::pin!(reporting);
        // Dropped with this, which ends them; a delivery goes on by itself.
        let mut commands = JoinSet::new();
        loop {
            tokio::select! {
                biased;
                item = items.next() => match item {
                    Some(Ok(ToSidecar::Command(command))) if command.epoch == epoch => {
                        if commands.len() >= MAX_COMMANDS * 2 {
                            tracing::warn!("the gateway sends too many commands");
                            return Left::Away;
                        }
                        let (connection, registry) = (connection.clone(), self.registry.clone());
                        let patience: Duration = self.timings.settle;
                        commands.spawn(async move {
                            carry_out(&connection, &registry, command, patience).await;
                        });
                    }
                    Some(Ok(ToSidecar::Command(command))) => {
                        tracing::warn!(epoch = command.epoch, "a command of another epoch is refused");
                    }
                    Some(Ok(ToSidecar::Goodbye(goodbye))) if goodbye.epoch == epoch => {
                        return dismissed(&goodbye);
                    }
                    Some(Ok(ToSidecar::Goodbye(_) | ToSidecar::Welcome(_)) | Err(_)) | None => {
                        return Left::Away;
                    }
                },
                reported = &mut reporting => {
                    return match reported {
                        Ok(()) => match call(&connection, DETACH, Detach { epoch }).await {
                            Ok(()) => Left::Over(UplinkEnd::ShutDown),
                            Err(_) => Left::Away,
                        },
                        Err(error) => {
                            note(&error);
                            Left::Away
                        }
                    };
                }
                Some(_) = commands.join_next() => {}
            }
        }
    }
}

fn dismissed(goodbye: &Goodbye) -> Left {
    match goodbye.reason {
        GoodbyeReason::Replaced => Left::Over(UplinkEnd::Replaced),
        GoodbyeReason::Revoked => Left::Over(UplinkEnd::Revoked),
        GoodbyeReason::ShuttingDown => Left::Away,
    }
}

fn note(error: &CallFailed) {
    tracing::info!(%error, "a report was not taken");
}
