//! Visits every world that can be reached, by every step, breadth first: the history that a
//! found violation comes with is a shortest one.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::fmt;

use super::check::{Violation, check};
use super::rules::{Fed, Rules, Step};
use super::world::World;

/// What a walk saw.
pub(crate) struct Coverage {
    pub(crate) worlds: HashSet<World>,
    /// How many steps were taken and checked.
    pub(crate) steps: usize,
    pub(crate) fed: BTreeSet<Fed>,
}

/// A violation and the steps that lead to it.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) violation: Violation,
    steps: Vec<Step>,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} after {:?}", self.violation, self.steps)
    }
}

/// Walks the whole world under these rules and checks every step of it.
pub(crate) fn walk(rules: &Rules) -> Result<Coverage, Box<Found>> {
    let mut reached_by: HashMap<World, Option<(World, Step)>> = HashMap::new();
    let mut waiting = VecDeque::from([World::start()]);
    let mut fed = BTreeSet::new();
    let mut steps = 0;
    reached_by.insert(World::start(), None);
    while let Some(before) = waiting.pop_front() {
        for step in before.steps(rules) {
            let after = before.after(rules, step);
            steps += 1;
            check(rules, &before, step, &after.world).map_err(|violation| {
                let steps = history(&reached_by, &before, step);
                Box::new(Found { violation, steps })
            })?;
            fed.extend(after.fed);
            if let Entry::Vacant(unseen) = reached_by.entry(after.world) {
                waiting.push_back(unseen.key().clone());
                unseen.insert(Some((before.clone(), step)));
            }
        }
    }
    Ok(Coverage {
        worlds: reached_by.into_keys().collect(),
        steps,
        fed,
    })
}

fn history(
    reached_by: &HashMap<World, Option<(World, Step)>>,
    last: &World,
    step: Step,
) -> Vec<Step> {
    let mut steps = vec![step];
    let mut world = last;
    while let Some(Some((before, step))) = reached_by.get(world) {
        steps.push(*step);
        world = before;
    }
    steps.reverse();
    steps
}
