//! How an execution attaches.

use std::sync::Arc;

use jsonrpsee::server::{PendingSubscriptionSink, SubscriptionSink};
use permit_domain::ExecutionId;
use permit_link::{
    Attach, ExecutionSecret, GoodbyeReason, LinkError, PROTOCOL, ToSidecar, Welcome,
};
use permit_policy::{
    CredentialKind, EndReason, ExecutionGrant, NewExecution, Resumed, Secret, StoreUnavailable,
};
use permit_service::PermissionService;

use crate::attachment::Attachment;
use crate::connection::{Connection, Place};
use crate::hub::Hub;
use crate::link::Link;
use crate::methods::refusal;
use crate::slot::{Execution, Slot};

/// An execution that may attach now.
struct Expected {
    slot: Arc<Slot>,
    execution: Arc<Execution>,
    secret: Option<Secret>,
    relist: bool,
}

impl Link {
    /// Attaches the sidecar and lasts as long as its subscription.
    pub(crate) async fn attach(
        &self,
        connection: Arc<Connection>,
        attach: Attach,
        pending: PendingSubscriptionSink,
    ) {
        let expected = match self.expect(&connection, attach).await {
            Ok(expected) => expected,
            Err(error) => return pending.reject(refusal(error)).await,
        };
        let Ok(sink) = pending.accept().await else {
            return;
        };
        if self.enter(&connection, &expected, sink.clone()) {
            tokio::select! {
                () = sink.closed() => {}
                () = connection.cut.cancelled() => {}
            }
        }
        connection.cut.cancel();
    }

    /// Records the attach. Once begun it is not cut by a connection that closes.
    async fn expect(
        &self,
        connection: &Arc<Connection>,
        attach: Attach,
    ) -> Result<Expected, LinkError> {
        if attach.protocol != PROTOCOL {
            return Err(LinkError::Protocol);
        }
        if self.hub.stopping().is_cancelled() {
            return Err(LinkError::ShuttingDown);
        }
        connection.begin()?;
        let (link, grant) = (self.clone(), connection.grant.clone());
        let recorded = async move { link.take_place(grant, attach.execution).await };
        let recorded = self.hub.tasks().spawn(recorded).await;
        recorded.unwrap_or(Err(LinkError::Unavailable))
    }

    async fn take_place(
        &self,
        grant: Arc<ExecutionGrant>,
        as_what: permit_link::Execution,
    ) -> Result<Expected, LinkError> {
        let (task_id, session_id) = ids_of(&grant);
        loop {
            let slot = self.hub.slot_for(task_id, session_id);
            let _attaching = slot.attaching.lock().await;
            if !self.hub.has(&slot) {
                continue;
            }
            let taken = match as_what {
                permit_link::Execution::New => self.open(&slot, &grant).await,
                permit_link::Execution::Resume {
                    execution_id,
                    secret,
                } => self.resume(&slot, &grant, execution_id, &secret).await,
            };
            self.hub.forget(&slot);
            return taken;
        }
    }

    /// A new execution takes the session; the former one is over before it counts as attached.
    async fn open(
        &self,
        slot: &Arc<Slot>,
        grant: &Arc<ExecutionGrant>,
    ) -> Result<Expected, LinkError> {
        let parts = self.hub.parts();
        let secret = Secret::generate(CredentialKind::ExecutionSecret, &*parts.secrets);
        let execution_id = ExecutionId::from(parts.ids.fresh());
        let new = NewExecution {
            execution_id: execution_id.clone(),
            secret_hash: secret.hash(),
            started_at: parts.clock.now(),
        };
        let replaced = parts.executions.open_execution(grant, new).await;
        let replaced = replaced.map_err(|cause| unavailable(slot, &cause))?;
        let execution = Arc::new(Execution {
            grant: grant.clone(),
            execution_id,
            epoch: 1,
        });
        if let Some(former) = slot.expect(&execution) {
            former.dismiss(GoodbyeReason::Replaced);
        }
        self.give_up_unless_back(slot.clone(), execution.clone());
        {
            let _recording = slot.recording.lock().await;
            let ended = self.service.end_execution(&**grant).await;
            ended.map_err(|cause| unavailable(slot, &cause))?;
        }
        tracing::info!(
            session = %slot.session_id,
            execution = %execution.execution_id,
            replaced = replaced.is_some(),
            "an execution was opened"
        );
        Ok(Expected {
            slot: slot.clone(),
            execution,
            secret: Some(secret),
            relist: false,
        })
    }

    async fn resume(
        &self,
        slot: &Arc<Slot>,
        grant: &Arc<ExecutionGrant>,
        execution_id: ExecutionId,
        secret: &ExecutionSecret,
    ) -> Result<Expected, LinkError> {
        let secret = Secret::presented(secret.expose());
        if !secret.is_of(CredentialKind::ExecutionSecret) {
            return Err(LinkError::UnknownExecution);
        }
        let executions = &self.hub.parts().executions;
        let resumed = executions
            .resume_execution(grant, &execution_id, &secret.hash())
            .await;
        let (epoch, was_ended) = match resumed.map_err(|cause| unavailable(slot, &cause))? {
            Resumed::Resumed { epoch, was_ended } => (epoch, was_ended),
            Resumed::Ended(reason) => return Err(ended(reason)),
            Resumed::Unknown => return Err(LinkError::UnknownExecution),
        };
        let execution = Arc::new(Execution {
            grant: grant.clone(),
            execution_id,
            epoch,
        });
        if let Some(former) = slot.expect(&execution) {
            // The same sidecar's older connection.
            former.close();
            former.cut();
        }
        self.give_up_unless_back(slot.clone(), execution.clone());
        tracing::info!(
            session = %slot.session_id,
            execution = %execution.execution_id,
            epoch,
            was_ended,
            "an execution came back"
        );
        Ok(Expected {
            slot: slot.clone(),
            execution,
            secret: None,
            relist: was_ended,
        })
    }

    /// Makes the attachment the session's own and greets the sidecar. Answers whether it is.
    fn enter(
        &self,
        connection: &Arc<Connection>,
        expected: &Expected,
        sink: SubscriptionSink,
    ) -> bool {
        let Expected {
            slot, execution, ..
        } = expected;
        let attachment = Attachment::new(execution.clone(), sink, connection.cut.clone());
        let place = connection.settle_in(Place {
            slot: slot.clone(),
            attachment: Arc::new(attachment),
        });
        let welcome = ToSidecar::Welcome(Welcome {
            task_id: slot.task_id.clone(),
            session_id: slot.session_id.clone(),
            execution_id: execution.execution_id.clone(),
            execution_secret: expected
                .secret
                .as_ref()
                .map(|secret| ExecutionSecret::new(secret.expose())),
            epoch: execution.epoch,
            relist: expected.relist,
        });
        let attachment = &place.attachment;
        let entered = attachment.open(&welcome, || slot.attach(attachment));
        if connection.is_gone() {
            self.lose(connection);
        }
        entered
    }
}

fn ids_of(grant: &ExecutionGrant) -> (&permit_domain::TaskId, &permit_domain::SessionId) {
    use permit_policy::SessionScope as _;

    (grant.task_id(), grant.session_id())
}

fn unavailable(slot: &Slot, cause: &StoreUnavailable) -> LinkError {
    tracing::error!(session = %slot.session_id, ?cause, "an attach could not be recorded");
    LinkError::Unavailable
}

fn ended(reason: EndReason) -> LinkError {
    match reason {
        EndReason::Replaced => LinkError::Replaced,
        EndReason::Revoked => LinkError::Revoked,
        EndReason::Exited => LinkError::Exited,
        // A lost execution is revived, unless the session has another one.
        EndReason::Lost => LinkError::Replaced,
    }
}

impl Link {
    pub(crate) fn new(hub: &Hub, service: &PermissionService) -> Self {
        Self {
            hub: hub.clone(),
            service: service.clone(),
        }
    }
}
