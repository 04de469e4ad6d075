//! What must hold of every step, whatever came before it.

use permit_domain::{Effect, Illegal, PromptState};

use super::rules::{CALLERS, Caller, EventKind, Generation, Rules, Step};
use super::world::World;

/// What was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Violation {
    /// A request has two claims.
    SecondClaim,
    /// A claim was changed or taken back.
    ClaimChanged,
    /// A claim was lost although its own request had none.
    BarredByAnotherGeneration,
    /// A prompt was consumed by what was no claim of its request before.
    UnclaimedSelect,
    /// A caller's step changed a generation that the caller does not name.
    StaleIdentityActed,
    /// A prompt was answered twice.
    SecondDelivery,
    /// A prompt was answered by what was no claim of its request before.
    UnclaimedDelivery,
    /// A terminal state was left, or admitted an event.
    LeftTerminal,
    /// The effect `Deliver` came otherwise than from a pending prompt by a selection.
    DeliverNotFromPending,
    /// The effect `Cancel` came after `Deliver`.
    CancelAfterDeliver,
    /// A prompt counts as resolved by a claim whose answer the provider does not have.
    ResolvedWithoutDelivery,
}

/// Checks one step.
pub(crate) fn check(
    rules: &Rules,
    before: &World,
    step: Step,
    after: &World,
) -> Result<(), Violation> {
    check_claims(before, step, after)?;
    check_identity(before, step, after)?;
    check_deliveries(before, after)?;
    for generation in Generation::BOTH {
        check_machine(before, step, after, generation)?;
        check_terminal(rules, after, generation)?;
    }
    Ok(())
}

fn check_claims(before: &World, step: Step, after: &World) -> Result<(), Violation> {
    for generation in Generation::BOTH {
        ensure(
            after.claims_of(generation).count() <= 1,
            Violation::SecondClaim,
        )?;
    }
    ensure(
        after.claims().starts_with(before.claims()),
        Violation::ClaimChanged,
    )?;
    if let Step::Claim(caller) = step
        && let Some(of) = before.named(caller)
        && after.lost(caller)
    {
        ensure(
            before.claims_of(of).count() == 1,
            Violation::BarredByAnotherGeneration,
        )?;
    }
    Ok(())
}

/// A caller acts on the generation that it names and on no other.
fn check_identity(before: &World, step: Step, after: &World) -> Result<(), Violation> {
    let (Step::Name(caller, _) | Step::Claim(caller) | Step::Order(caller)) = step else {
        return Ok(());
    };
    for other in Generation::BOTH {
        if before.named(caller) != Some(other) {
            ensure(
                before.same_entry(after, other),
                Violation::StaleIdentityActed,
            )?;
        }
    }
    Ok(())
}

fn check_deliveries(before: &World, after: &World) -> Result<(), Violation> {
    for generation in Generation::BOTH {
        let received = after.deliveries().iter().filter(|d| d.to == generation);
        ensure(received.count() <= 1, Violation::SecondDelivery)?;
    }
    for delivery in &after.deliveries()[before.deliveries().len()..] {
        let claimed = before
            .claims_of(delivery.to)
            .any(|row| row.claim == delivery.claim);
        ensure(claimed, Violation::UnclaimedDelivery)?;
    }
    Ok(())
}

fn check_machine(
    before: &World,
    step: Step,
    after: &World,
    generation: Generation,
) -> Result<(), Violation> {
    let Some(state) = before.state(generation) else {
        return Ok(());
    };
    let changed = after.state(generation) != Some(state);
    ensure(!state.is_terminal() || !changed, Violation::LeftTerminal)?;

    let effects = &after.effects(generation)[before.effects(generation).len()..];
    if effects.contains(&Effect::Deliver) {
        let by_select = CALLERS.iter().any(|caller| step == Step::Order(*caller));
        ensure(
            by_select && *state == PromptState::Pending,
            Violation::DeliverNotFromPending,
        )?;
    }
    if effects.contains(&Effect::Cancel) {
        ensure(
            !before.effects(generation).contains(&Effect::Deliver),
            Violation::CancelAfterDeliver,
        )?;
    }
    match after.state(generation) {
        Some(PromptState::Resolving(claim)) if changed => {
            let claimed = before.claims_of(generation).any(|row| row.claim == *claim);
            ensure(claimed, Violation::UnclaimedSelect)
        }
        Some(PromptState::Resolved(claim)) => {
            let mut received = after.deliveries().iter();
            let delivered = received.any(|d| d.to == generation && d.claim == *claim);
            ensure(delivered, Violation::ResolvedWithoutDelivery)
        }
        _ => Ok(()),
    }
}

/// A terminal state admits no event at all, also none that this world would never feed to it.
fn check_terminal(rules: &Rules, world: &World, generation: Generation) -> Result<(), Violation> {
    let Some(state) = world.state(generation).filter(|state| state.is_terminal()) else {
        return Ok(());
    };
    for event in EventKind::ALL {
        let answer = (rules.machine)(state, event.by(&Caller::B.claim()));
        ensure(answer == Err(Illegal::Terminal), Violation::LeftTerminal)?;
    }
    Ok(())
}

fn ensure(holds: bool, violation: Violation) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(violation) }
}
