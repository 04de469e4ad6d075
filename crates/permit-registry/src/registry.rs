//! The registry and its changes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use permit_domain::{
    Clock, Effect, ExpiryReason, IdSource, MAX_OPTIONS, PromptEvent, PromptSnapshot, PromptState,
    RequestId, Seq, ToolCallId, apply,
};
use tokio::sync::{broadcast, watch};

use crate::closed::{ClosedLog, ClosedPrompt};
use crate::entry::{Entry, NewPrompt, Responder};
use crate::limits::Limits;
use crate::report::{ConsumedPrompt, Delta, FoundPrompt, OpenRefused, Refused, RegistryEvent};

/// How many events a slow listener may fall behind before it misses some.
const EVENTS: usize = 1024;

/// The live prompts of one execution. Cheap to clone.
#[derive(Clone)]
pub struct Registry {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) limits: Limits,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    inner: Mutex<Inner>,
    changed: watch::Sender<Seq>,
    pub(crate) events: broadcast::Sender<RegistryEvent>,
}

#[derive(Default)]
pub(crate) struct Inner {
    pub(crate) seq: Seq,
    pub(crate) ended: bool,
    pub(crate) refused: u64,
    pub(crate) entries: BTreeMap<RequestId, Entry>,
    pub(crate) closed: ClosedLog,
}

impl Registry {
    /// An empty registry.
    #[must_use]
    pub fn new(limits: Limits, clock: Arc<dyn Clock>, ids: Arc<dyn IdSource>) -> Self {
        Self {
            shared: Arc::new(Shared {
                limits,
                clock,
                ids,
                inner: Mutex::default(),
                changed: watch::Sender::new(Seq::default()),
                events: broadcast::Sender::new(EVENTS),
            }),
        }
    }

    /// Lists a prompt under a fresh generation.
    ///
    /// # Errors
    /// [`OpenRefused`] when a bound is reached or the execution has ended; the refusal is counted
    /// and the provider is owed an answer.
    pub fn open(&self, prompt: NewPrompt) -> Result<RequestId, OpenRefused> {
        let request_id = RequestId::from(self.shared.ids.fresh());
        let snapshot = PromptSnapshot {
            request_id: request_id.clone(),
            pending_id: prompt.pending_id,
            tool_call_id: prompt.tool_call_id,
            title: prompt.projected.title,
            action: prompt.projected.action,
            options: prompt.projected.options,
            created_at: self.shared.clock.now(),
        };
        let most = self.shared.limits.live;
        let opened = self.change(|inner| {
            if let Some(why) = inner.refusal(&snapshot, most) {
                inner.refused += 1;
                let responder = prompt.responder;
                return Err(OpenRefused { why, responder });
            }
            inner.insert(Entry {
                snapshot: snapshot.clone(),
                provider_session: prompt.provider_session,
                provider_request: prompt.provider_request,
                state: PromptState::Pending,
                opened: Seq::default(),
                responder: Some(prompt.responder),
                consumption: None,
            });
            Ok(())
        });
        opened?;
        self.announce(RegistryEvent::Opened(Box::new(snapshot)));
        Ok(request_id)
    }

    /// How many prompts were refused to their providers.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.with(|inner| inner.refused)
    }

    /// The provider took requests back. Every match is withdrawn, and their number answered.
    pub fn withdraw(&self, provider_session: &str, provider_request: &str) -> usize {
        self.expire(PromptEvent::Withdrawn, |entry| {
            entry.provider_session == provider_session && entry.provider_request == provider_request
        })
    }

    /// The provider took a tool call back. Every prompt of it is withdrawn.
    pub fn withdraw_tool_call(&self, provider_session: &str, tool_call: &ToolCallId) -> usize {
        self.expire(PromptEvent::Withdrawn, |entry| {
            entry.provider_session == provider_session
                && entry.snapshot.tool_call_id.as_ref() == Some(tool_call)
        })
    }

    /// The turn of a provider's session ended: its prompts expire, and the provider is answered
    /// `cancelled`.
    pub fn turn_ended(&self, provider_session: &str) -> usize {
        self.expire(PromptEvent::TurnEnded, |entry| {
            entry.provider_session == provider_session
        })
    }

    /// The execution is over: every prompt expires, and no further one is listed.
    pub fn end_execution(&self) -> usize {
        self.with(|inner| inner.ended = true);
        self.expire(PromptEvent::ExecutionReplaced, |_| true)
    }

    /// Lists every waiting prompt under a fresh generation.
    pub fn relist(&self) -> usize {
        let waiting: Vec<RequestId> = self.with(|inner| {
            let pending = inner.pending();
            pending
                .map(|entry| entry.snapshot.request_id.clone())
                .collect()
        });
        waiting
            .iter()
            .filter(|request_id| {
                self.change(|inner| self.supersede(inner, request_id))
                    .is_some()
            })
            .count()
    }

    /// The waiting prompts, oldest generation first, and the point in history they were read at.
    #[must_use]
    pub fn list(&self) -> (Seq, Vec<PromptSnapshot>) {
        self.with(|inner| {
            let prompts = inner.pending().map(|entry| entry.snapshot.clone());
            (inner.seq, prompts.collect())
        })
    }

    /// What is known of one request.
    #[must_use]
    pub fn find(&self, request_id: &RequestId) -> (Seq, FoundPrompt) {
        self.with(|inner| {
            let entry = inner.entries.get(request_id);
            let found = match entry.filter(|entry| entry.is_pending()) {
                Some(entry) => FoundPrompt::Live(Box::new(entry.snapshot.clone())),
                None => FoundPrompt::Closed(inner.closed.reason(request_id)),
            };
            (inner.seq, found)
        })
    }

    /// What changed since a point in history; everything, when `since` is the beginning or the
    /// memory of ended prompts does not reach back that far.
    #[must_use]
    pub fn delta(&self, since: Seq) -> Delta {
        self.with(|inner| {
            let full = since == Seq::default() || !inner.closed.reaches_back_to(since);
            let since = if full { Seq::default() } else { since };
            let opened = inner.pending().filter(|entry| entry.opened > since);
            Delta {
                seq: inner.seq,
                full,
                opened: opened.map(|entry| entry.snapshot.clone()).collect(),
                closed: inner.closed.since(since),
                consumed: if full { inner.consumed() } else { Vec::new() },
            }
        })
    }

    /// Tells when the history moves on.
    #[must_use]
    pub fn changed(&self) -> watch::Receiver<Seq> {
        self.shared.changed.subscribe()
    }

    /// What happens from now on, for whoever shows it.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<RegistryEvent> {
        self.shared.events.subscribe()
    }

    /// Applies an event that ends prompts to every match, and answers how many ended.
    fn expire(&self, event: PromptEvent, matches: impl Fn(&Entry) -> bool) -> usize {
        let closed = self.shared.limits.closed;
        let ended = self.change(|inner| inner.expire(&event, matches, closed));
        let count = ended.len();
        for (request_id, reason, responder) in ended {
            if let Some(responder) = responder {
                responder.cancel();
            }
            self.announce(RegistryEvent::Closed { request_id, reason });
        }
        count
    }

    /// Lets a pending prompt go on under a fresh generation, which is answered.
    pub(crate) fn supersede(
        &self,
        inner: &mut Inner,
        request_id: &RequestId,
    ) -> Option<PromptSnapshot> {
        let state = &inner.entries.get(request_id)?.state;
        apply(state, PromptEvent::Superseded).ok()?;
        let mut entry = inner.entries.remove(request_id)?;
        inner.close(
            &entry.snapshot,
            ExpiryReason::Superseded,
            self.shared.limits.closed,
        );
        entry.snapshot.request_id = self.shared.ids.fresh().into();
        let snapshot = entry.snapshot.clone();
        inner.insert(entry);
        self.announce(RegistryEvent::Closed {
            request_id: request_id.clone(),
            reason: ExpiryReason::Superseded,
        });
        self.announce(RegistryEvent::Opened(Box::new(snapshot.clone())));
        Some(snapshot)
    }

    pub(crate) fn with<T>(&self, f: impl FnOnce(&mut Inner) -> T) -> T {
        let lock = self.shared.inner.lock();
        f(&mut lock.unwrap_or_else(PoisonError::into_inner))
    }

    /// As [`Registry::with`], and tells the gateway's end when the history moved on.
    pub(crate) fn change<T>(&self, f: impl FnOnce(&mut Inner) -> T) -> T {
        let (seq, result) = self.with(|inner| {
            let result = f(inner);
            (inner.seq, result)
        });
        self.shared.changed.send_if_modified(|known| {
            let moved = *known < seq;
            *known = (*known).max(seq);
            moved
        });
        result
    }

    /// Nobody may be listening.
    pub(crate) fn announce(&self, event: RegistryEvent) {
        let _ = self.shared.events.send(event);
    }
}

type Ended = (RequestId, ExpiryReason, Option<Box<dyn Responder>>);

impl Inner {
    pub(crate) fn advance(&mut self) -> Seq {
        self.seq = self.seq.next();
        self.seq
    }

    fn refusal(&self, prompt: &PromptSnapshot, most: usize) -> Option<Refused> {
        if self.ended {
            Some(Refused::Ended)
        } else if prompt.options.len() > MAX_OPTIONS {
            Some(Refused::TooManyOptions)
        } else if self.pending().count() >= most {
            Some(Refused::Full)
        } else {
            None
        }
    }

    fn insert(&mut self, mut entry: Entry) {
        entry.opened = self.advance();
        self.entries
            .insert(entry.snapshot.request_id.clone(), entry);
    }

    fn close(&mut self, snapshot: &PromptSnapshot, reason: ExpiryReason, bound: usize) {
        let prompt = ClosedPrompt {
            request_id: snapshot.request_id.clone(),
            pending_id: snapshot.pending_id.clone(),
            created_at: snapshot.created_at,
            reason,
            seq: self.advance(),
        };
        self.closed.push(prompt, bound);
    }

    pub(crate) fn pending(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values().filter(|entry| entry.is_pending())
    }

    pub(crate) fn consumed(&self) -> Vec<ConsumedPrompt> {
        let consumed = self.entries.values().filter_map(|entry| {
            let consumption = entry.consumption.as_ref()?;
            Some(ConsumedPrompt {
                request_id: entry.snapshot.request_id.clone(),
                claim_id: consumption.claim_id.clone(),
                reply: *consumption.reply.borrow(),
            })
        });
        consumed.collect()
    }

    fn expire(
        &mut self,
        event: &PromptEvent,
        matches: impl Fn(&Entry) -> bool,
        bound: usize,
    ) -> Vec<Ended> {
        let mut ended = Vec::new();
        let mut gone = Vec::new();
        let ending = |entry: &&mut Entry| matches(entry) && !entry.is_being_answered();
        for entry in self.entries.values_mut().filter(ending) {
            let Ok((state, effect)) = apply(&entry.state, event.clone()) else {
                continue;
            };
            let was_pending = entry.is_pending();
            entry.state = state;
            // An answer that is under way keeps its entry: its claim is still owed its end.
            if was_pending && let PromptState::Expired(reason) = entry.state {
                let responder = entry.responder.take();
                let responder = responder.filter(|_| effect == Some(Effect::Cancel));
                gone.push((entry.snapshot.request_id.clone(), reason, responder));
            }
        }
        for (request_id, reason, responder) in gone {
            if let Some(entry) = self.entries.remove(&request_id) {
                self.close(&entry.snapshot, reason, bound);
                ended.push((request_id, reason, responder));
            }
        }
        ended
    }
}
