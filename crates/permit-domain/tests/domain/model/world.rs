//! The small world: a gateway's claim table, a sidecar with two generations of one prompt, and a
//! provider that remembers what reached it.

use permit_domain::{ClaimId, Effect, PendingId, PromptState};

use super::rules::{CALLERS, Caller, EventKind, Fault, Fed, Generation, Rules, StateKind, Step};

/// How far a caller is. What it names was read from a list and may be stale since.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Progress {
    Idle,
    Named(Generation),
    Claimed(Generation),
    Lost(Generation),
}

/// A row of the durable claim table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Claim {
    pub(crate) claim: ClaimId,
    pub(crate) of: Generation,
}

/// An answer on its way to the provider.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct InFlight {
    claim: ClaimId,
    written: bool,
}

/// One generation in the sidecar.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Entry {
    state: PromptState,
    in_flight: Option<InFlight>,
    effects: Vec<Effect>,
}

/// An option that reached the provider, for the prompt of this generation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Delivery {
    pub(crate) to: Generation,
    pub(crate) claim: ClaimId,
}

/// The world after a step, and the event that the step fed to a machine.
pub(crate) struct After {
    pub(crate) world: World,
    pub(crate) fed: Option<Fed>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct World {
    callers: [Progress; 2],
    claims: Vec<Claim>,
    entries: [Option<Entry>; 2],
    deliveries: Vec<Delivery>,
}

impl World {
    /// The older generation waits, and nobody has done anything.
    pub(crate) fn start() -> Self {
        Self {
            callers: [Progress::Idle; 2],
            claims: Vec::new(),
            entries: [Some(Entry::open()), None],
            deliveries: Vec::new(),
        }
    }

    pub(crate) fn state(&self, generation: Generation) -> Option<&PromptState> {
        Some(&self.entry(generation)?.state)
    }

    pub(crate) fn effects(&self, generation: Generation) -> &[Effect] {
        self.entry(generation).map_or(&[], |entry| &entry.effects)
    }

    pub(crate) fn claims(&self) -> &[Claim] {
        &self.claims
    }

    pub(crate) fn claims_of(&self, generation: Generation) -> impl Iterator<Item = &Claim> {
        self.claims.iter().filter(move |row| row.of == generation)
    }

    pub(crate) fn deliveries(&self) -> &[Delivery] {
        &self.deliveries
    }

    pub(crate) fn lost(&self, caller: Caller) -> bool {
        matches!(self.progress(caller), Progress::Lost(_))
    }

    /// What the caller's identity names.
    pub(crate) fn named(&self, caller: Caller) -> Option<Generation> {
        match self.progress(caller) {
            Progress::Idle => None,
            Progress::Named(of) | Progress::Claimed(of) | Progress::Lost(of) => Some(of),
        }
    }

    /// Whether everything of this generation is as in the other world.
    pub(crate) fn same_entry(&self, other: &Self, generation: Generation) -> bool {
        self.entry(generation) == other.entry(generation)
    }

    /// Everything that can happen now.
    pub(crate) fn steps(&self, rules: &Rules) -> Vec<Step> {
        let mut steps = Vec::new();
        if self.entry(Generation::Newer).is_none() {
            steps.push(Step::Open);
        }
        for caller in CALLERS {
            match self.progress(caller) {
                Progress::Idle => steps.extend(self.present().map(|of| Step::Name(caller, of))),
                Progress::Named(_) if rules.have(Fault::OrderBeforeClaim) => {
                    steps.extend([Step::Claim(caller), Step::Order(caller)]);
                }
                Progress::Named(_) => steps.push(Step::Claim(caller)),
                Progress::Claimed(_) => steps.push(Step::Order(caller)),
                Progress::Lost(_) => {}
            }
        }
        for generation in self.present() {
            steps.extend([
                Step::Withdrawn(generation),
                Step::TurnEnded(generation),
                Step::ExecutionReplaced(generation),
                Step::Superseded(generation),
            ]);
            let entry = self.entry(generation);
            let Some(in_flight) = entry.and_then(|entry| entry.in_flight.as_ref()) else {
                continue;
            };
            if !in_flight.written || rules.have(Fault::WritesTwice) {
                steps.push(Step::Write(generation));
            }
            if in_flight.written {
                steps.push(Step::Delivered(generation));
            }
            steps.push(Step::DeliveryFailed(generation));
        }
        steps
    }

    /// The world after a step.
    pub(crate) fn after(&self, rules: &Rules, step: Step) -> After {
        let mut world = self.clone();
        let fed = world.take(rules, step);
        After { world, fed }
    }

    fn take(&mut self, rules: &Rules, step: Step) -> Option<Fed> {
        match step {
            Step::Open => {
                self.entries[Generation::Newer as usize] = Some(Entry::open());
                None
            }
            Step::Name(caller, of) => {
                self.callers[caller as usize] = Progress::Named(of);
                None
            }
            Step::Claim(caller) => {
                self.claim(rules, caller);
                None
            }
            Step::Write(generation) => {
                self.write(rules, generation);
                None
            }
            Step::Order(caller) => {
                let found = self.find(rules, self.named(caller)?)?;
                self.feed(rules, found, EventKind::Select, &caller.claim())
            }
            Step::Delivered(generation) => self.report(rules, generation, EventKind::Delivered),
            Step::DeliveryFailed(generation) => {
                self.report(rules, generation, EventKind::DeliveryFailed)
            }
            Step::Withdrawn(generation) => self.end(rules, generation, EventKind::Withdrawn),
            Step::TurnEnded(generation) => self.end(rules, generation, EventKind::TurnEnded),
            Step::ExecutionReplaced(generation) => {
                self.end(rules, generation, EventKind::ExecutionReplaced)
            }
            Step::Superseded(generation) => {
                let fed = self.end(rules, generation, EventKind::Superseded);
                let newer = &mut self.entries[Generation::Newer as usize];
                if fed.is_some_and(|fed| fed.admitted) && newer.is_none() {
                    *newer = Some(Entry::open());
                }
                fed
            }
        }
    }

    /// The compare-and-set of the claim table.
    fn claim(&mut self, rules: &Rules, caller: Caller) {
        let Some(of) = self.named(caller) else { return };
        let held = self.claims.iter().any(|row| match rules.fault {
            Some(Fault::ClaimsByPendingId) => row.of.pending_id() == of.pending_id(),
            Some(Fault::ClaimsWithoutKey) => false,
            _ => row.of == of,
        });
        self.callers[caller as usize] = if held {
            Progress::Lost(of)
        } else {
            let claim = caller.claim();
            self.claims.push(Claim { claim, of });
            Progress::Claimed(of)
        };
    }

    /// The entry that an order is for.
    fn find(&self, rules: &Rules, named: Generation) -> Option<Generation> {
        if rules.have(Fault::EntriesByPendingId) {
            self.newest_under(&named.pending_id())
        } else {
            self.present().find(|of| *of == named)
        }
    }

    fn newest_under(&self, pending_id: &PendingId) -> Option<Generation> {
        self.present().rfind(|of| of.pending_id() == *pending_id)
    }

    fn write(&mut self, rules: &Rules, generation: Generation) -> Option<()> {
        let to = if rules.have(Fault::AnswersByPendingId) {
            self.newest_under(&generation.pending_id())?
        } else {
            generation
        };
        let entry = self.entries[generation as usize].as_mut()?;
        let in_flight = entry.in_flight.as_mut()?;
        in_flight.written = true;
        let claim = in_flight.claim.clone();
        self.deliveries.push(Delivery { to, claim });
        Some(())
    }

    /// The writer is done, whatever the prompt has become meanwhile.
    fn report(&mut self, rules: &Rules, generation: Generation, kind: EventKind) -> Option<Fed> {
        let claim = self.entries[generation as usize]
            .as_mut()?
            .in_flight
            .take()?
            .claim;
        if rules.have(Fault::FailedClaimsReopen) && kind == EventKind::DeliveryFailed {
            self.claims.retain(|row| row.claim != claim);
        }
        self.feed(rules, generation, kind, &claim)
    }

    fn end(&mut self, rules: &Rules, generation: Generation, kind: EventKind) -> Option<Fed> {
        self.feed(rules, generation, kind, &Caller::A.claim())
    }

    fn feed(
        &mut self,
        rules: &Rules,
        generation: Generation,
        kind: EventKind,
        claim: &ClaimId,
    ) -> Option<Fed> {
        let entry = self.entries[generation as usize].as_mut()?;
        let mut fed = Fed {
            generation,
            state: StateKind::of(&entry.state),
            event: kind,
            admitted: false,
        };
        let Ok((state, effect)) = (rules.machine)(&entry.state, kind.by(claim)) else {
            return Some(fed);
        };
        fed.admitted = true;
        entry.state = state;
        entry.effects.extend(effect);
        if effect == Some(Effect::Deliver) {
            entry.in_flight = Some(InFlight {
                claim: claim.clone(),
                written: false,
            });
        }
        Some(fed)
    }

    fn progress(&self, caller: Caller) -> Progress {
        self.callers[caller as usize]
    }

    fn entry(&self, generation: Generation) -> Option<&Entry> {
        self.entries[generation as usize].as_ref()
    }

    fn present(&self) -> impl DoubleEndedIterator<Item = Generation> {
        Generation::BOTH
            .into_iter()
            .filter(|of| self.entry(*of).is_some())
    }
}

impl Entry {
    fn open() -> Self {
        Self {
            state: PromptState::Pending,
            in_flight: None,
            effects: Vec::new(),
        }
    }
}
