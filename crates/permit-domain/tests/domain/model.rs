//! A model test: every interleaving of two callers, two generations of one provider prompt and
//! all that can happen to them, walked exhaustively. What must hold is in `check`; here it is
//! shown that it holds, that the walk saw everything, and that the checker bites.

mod check;
mod rules;
mod walk;
mod world;

use std::collections::BTreeSet;

use permit_domain::{Effect, ExpiryReason, Illegal, PromptEvent, PromptState, apply};

use check::Violation;
use rules::{
    CALLERS, Caller, Decision, EventKind, Fault, Fed, Generation, Machine, Rules, StateKind,
};
use walk::{Coverage, walk};
use world::World;

#[test]
fn in_every_interleaving_a_prompt_is_answered_at_most_once_and_only_by_its_own_claim() {
    let coverage = walk(&Rules::REAL).unwrap_or_else(|found| panic!("{found}"));
    assert!(coverage.worlds.len() > 1000, "{}", coverage.worlds.len());
    assert!(coverage.steps > coverage.worlds.len());
}

#[test]
fn the_walk_reaches_every_combination_of_states_that_there_is() {
    let coverage = walk(&Rules::REAL).unwrap_or_else(|found| panic!("{found}"));
    let reached: BTreeSet<_> = coverage
        .worlds
        .iter()
        .map(|world| Generation::BOTH.map(|g| name(world.state(g))))
        .collect();
    assert_eq!(reached, every_combination());
}

/// Both generations may be in any state, but a claim is on one of them alone, and whoever
/// supersedes the older one opens the newer.
fn every_combination() -> BTreeSet<[String; 2]> {
    let states = every_state();
    let mut combinations = BTreeSet::new();
    for older in &states {
        if *older != PromptState::Expired(ExpiryReason::Superseded) {
            combinations.insert([name(Some(older)), name(None)]);
        }
        for newer in &states {
            if claim_of(older).is_none() || claim_of(older) != claim_of(newer) {
                combinations.insert([name(Some(older)), name(Some(newer))]);
            }
        }
    }
    combinations
}

#[test]
fn the_walk_feeds_every_event_to_every_kind_of_state_that_can_meet_it() {
    use EventKind as E;
    use StateKind as S;

    let ends = [E::Withdrawn, E::TurnEnded, E::ExecutionReplaced];
    let reports = [E::Delivered, E::DeliveryFailed];
    let coverage = walk(&Rules::REAL).unwrap_or_else(|found| panic!("{found}"));
    for generation in Generation::BOTH {
        let mut expected = BTreeSet::new();
        let mut expect = |state, admitted, events: &[EventKind]| {
            expected.extend(events.iter().map(|event| Fed {
                generation,
                state,
                event: *event,
                admitted,
            }));
        };
        expect(S::Pending, true, &[E::Select, E::Superseded]);
        expect(S::Pending, true, &ends);
        expect(S::Resolving, true, &reports);
        expect(S::Resolving, true, &ends);
        expect(S::Resolving, false, &[E::Select, E::Superseded]);
        expect(S::Resolved, false, &[E::Select, E::Superseded]);
        expect(S::Resolved, false, &ends);
        expect(S::Expired, false, &EventKind::ALL);
        let mut fed = coverage.fed.clone();
        fed.retain(|fed| fed.generation == generation);
        assert_eq!(fed, expected);
    }
}

#[test]
fn the_walk_shows_every_way_a_prompt_can_end() {
    let coverage = walk(&Rules::REAL).unwrap_or_else(|found| panic!("{found}"));
    let seen = |what: &str, wanted: &dyn Fn(&World) -> bool| {
        assert!(coverage.worlds.iter().any(wanted), "never seen: {what}");
    };
    let terminal = |world: &World, g| world.state(g).is_some_and(PromptState::is_terminal);
    seen("both answered", &|world| world.deliveries().len() == 2);
    seen("written, and then withdrawn", &|world| {
        let withdrawn = PromptState::Expired(ExpiryReason::Withdrawn);
        world.state(Generation::Older) == Some(&withdrawn) && world.deliveries().len() == 1
    });
    seen("claimed, superseded and never sent", &|world| {
        let superseded = PromptState::Expired(ExpiryReason::Superseded);
        world.state(Generation::Older) == Some(&superseded)
            && world.claims_of(Generation::Older).count() == 1
            && world.deliveries().is_empty()
    });
    seen("a stale claim beside a waiting prompt", &|world| {
        terminal(world, Generation::Older)
            && world.state(Generation::Newer) == Some(&PromptState::Pending)
            && world.claims_of(Generation::Older).count() == 1
    });
    seen("a lost race", &|world| {
        CALLERS.iter().any(|c| world.lost(*c))
    });
}

#[test]
fn the_walk_is_complete() {
    let Coverage { worlds, .. } = walk(&Rules::REAL).unwrap_or_else(|found| panic!("{found}"));
    for world in &worlds {
        for step in world.steps(&Rules::REAL) {
            let next = world.after(&Rules::REAL, step).world;
            assert!(worlds.contains(&next), "{step:?} leads out of the walk");
        }
    }
}

#[test]
fn the_machine_is_this_table() {
    use Effect::{Cancel, Deliver};
    use ExpiryReason as R;
    use Illegal::{AlreadyResolving, NotResolving, Terminal};
    use PromptState::{Expired, Pending, Resolved, Resolving};

    let (claim, other) = (Caller::A.claim(), Caller::B.claim());
    let expired = |reason, effect| Ok((Expired(reason), effect));
    for event in EventKind::ALL {
        let pending = match event {
            EventKind::Select => Ok((Resolving(other.clone()), Some(Deliver))),
            EventKind::Delivered | EventKind::DeliveryFailed => Err(NotResolving),
            EventKind::Withdrawn => expired(R::Withdrawn, Some(Cancel)),
            EventKind::TurnEnded => expired(R::TurnEnded, Some(Cancel)),
            EventKind::ExecutionReplaced => expired(R::ExecutionEnded, Some(Cancel)),
            EventKind::Superseded => expired(R::Superseded, None),
        };
        let resolving = match event {
            EventKind::Select | EventKind::Superseded => Err(AlreadyResolving),
            EventKind::Delivered => Ok((Resolved(claim.clone()), None)),
            EventKind::DeliveryFailed => expired(R::DeliveryFailed, None),
            EventKind::Withdrawn => expired(R::Withdrawn, None),
            EventKind::TurnEnded => expired(R::TurnEnded, None),
            EventKind::ExecutionReplaced => expired(R::ExecutionEnded, None),
        };
        for state in every_state() {
            let expected = match state {
                Pending => pending.clone(),
                Resolving(ref by) if *by == claim => resolving.clone(),
                Resolving(_) => continue,
                Resolved(_) | Expired(_) => Err(Terminal),
            };
            let found = apply(&state, event.by(&other));
            assert_eq!(found, expected, "{state:?} {event:?}");
        }
    }
}

#[test]
fn a_shell_that_is_wrong_in_one_way_is_caught() {
    for (fault, violation) in [
        (Fault::EntriesByPendingId, Violation::StaleIdentityActed),
        (Fault::AnswersByPendingId, Violation::UnclaimedDelivery),
        (
            Fault::ClaimsByPendingId,
            Violation::BarredByAnotherGeneration,
        ),
        (Fault::ClaimsWithoutKey, Violation::SecondClaim),
        (Fault::FailedClaimsReopen, Violation::ClaimChanged),
        (Fault::OrderBeforeClaim, Violation::UnclaimedSelect),
        (Fault::WritesTwice, Violation::SecondDelivery),
    ] {
        let fault = Some(fault);
        check_caught(
            &Rules {
                fault,
                ..Rules::REAL
            },
            violation,
        );
    }
}

#[test]
fn a_machine_that_reopens_an_ended_prompt_is_caught() {
    fn reopens(state: &PromptState, event: PromptEvent) -> Decision {
        let ended = matches!(state, PromptState::Expired(_));
        apply(if ended { &PromptState::Pending } else { state }, event)
    }
    check_machine_caught(reopens, Violation::LeftTerminal);
}

#[test]
fn a_machine_that_delivers_a_repeated_order_again_is_caught() {
    fn repeats(state: &PromptState, event: PromptEvent) -> Decision {
        match (state, &event) {
            (PromptState::Resolving(_), PromptEvent::Select(_)) => {
                apply(&PromptState::Pending, event)
            }
            _ => apply(state, event),
        }
    }
    check_machine_caught(repeats, Violation::DeliverNotFromPending);
}

#[test]
fn a_machine_that_cancels_an_answer_under_way_is_caught() {
    fn cancels(state: &PromptState, event: PromptEvent) -> Decision {
        let withdrawn = event == PromptEvent::Withdrawn;
        let (next, effect) = apply(state, event)?;
        Ok((next, effect.or(withdrawn.then_some(Effect::Cancel))))
    }
    check_machine_caught(cancels, Violation::CancelAfterDeliver);
}

#[test]
fn a_machine_that_resolves_what_was_never_written_is_caught() {
    fn believes(state: &PromptState, event: PromptEvent) -> Decision {
        match (state, &event) {
            (PromptState::Resolving(claim), PromptEvent::DeliveryFailed) => {
                Ok((PromptState::Resolved(claim.clone()), None))
            }
            _ => apply(state, event),
        }
    }
    check_machine_caught(believes, Violation::ResolvedWithoutDelivery);
}

fn check_machine_caught(machine: Machine, expected: Violation) {
    let fault = None;
    check_caught(&Rules { machine, fault }, expected);
}

fn check_caught(rules: &Rules, expected: Violation) {
    match walk(rules) {
        Ok(coverage) => panic!(
            "{expected:?} was not caught in {} worlds",
            coverage.worlds.len()
        ),
        Err(found) => assert_eq!(found.violation, expected, "{found}"),
    }
}

fn every_state() -> Vec<PromptState> {
    let mut states = vec![PromptState::Pending];
    for caller in CALLERS {
        states.push(PromptState::Resolving(caller.claim()));
        states.push(PromptState::Resolved(caller.claim()));
    }
    states.extend(
        [
            ExpiryReason::Withdrawn,
            ExpiryReason::Superseded,
            ExpiryReason::TurnEnded,
            ExpiryReason::ExecutionEnded,
            ExpiryReason::DeliveryFailed,
        ]
        .map(PromptState::Expired),
    );
    states
}

fn claim_of(state: &PromptState) -> Option<&permit_domain::ClaimId> {
    match state {
        PromptState::Resolving(claim) | PromptState::Resolved(claim) => Some(claim),
        PromptState::Pending | PromptState::Expired(_) => None,
    }
}

fn name(state: Option<&PromptState>) -> String {
    state.map_or_else(|| "absent".to_owned(), |state| format!("{state:?}"))
}
