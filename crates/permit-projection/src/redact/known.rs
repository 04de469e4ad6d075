//! Values known to be secret, wherever they occur again.

use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, MatchKind};

use super::{Found, Kind, View};

/// A shorter value is masked only where it was found.
const FLOOR: usize = 6;
/// A shorter value must stand by itself to be the secret again.
const FREE_STANDING_BELOW: usize = 12;
/// A longer value is sought by its head, and goes on as far as it is the same.
const HEAD: usize = 64;

pub(super) struct Known {
    finder: Option<AhoCorasick>,
    /// For each pattern the whole value.
    values: Vec<Vec<u8>>,
}

impl Known {
    pub(super) fn new(values: Vec<Vec<u8>>) -> Self {
        let mut by_head: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        for value in values.into_iter().filter(|value| is_distinctive(value)) {
            let head = value.get(..HEAD).unwrap_or(&value).to_vec();
            let longest = by_head.entry(head).or_default();
            if longest.len() < value.len() {
                *longest = value;
            }
        }
        let finder = (!by_head.is_empty())
            .then(|| {
                AhoCorasickBuilder::new()
                    .match_kind(MatchKind::LeftmostLongest)
                    .kind(Some(AhoCorasickKind::ContiguousNFA))
                    .build(by_head.keys())
                    .ok()
            })
            .flatten();
        Self {
            finder,
            values: by_head.into_values().collect(),
        }
    }

    pub(super) fn scan(&self, view: &View<'_>, found: &mut Found) {
        let Some(finder) = &self.finder else { return };
        let bytes = view.bytes.as_ref();
        let mut done = 0;
        for hit in finder.find_iter(bytes) {
            let start = hit.start();
            if start < done {
                continue;
            }
            let value = self.values.get(hit.pattern().as_usize());
            let whole = value.map(Vec::as_slice).unwrap_or_default();
            let same = bytes.get(start..).unwrap_or_default().iter().zip(whole);
            let end = start + same.take_while(|(a, b)| a == b).count();
            super::work::walked(end - start);
            let beside = |at: Option<usize>| {
                at.and_then(|at| bytes.get(at))
                    .is_some_and(u8::is_ascii_alphanumeric)
            };
            let joined = beside(start.checked_sub(1)) || beside(Some(end));
            if end - start >= FREE_STANDING_BELOW || !joined {
                found.add(view, start, end, Kind::Value);
                done = end;
            }
        }
    }
}

/// Words that also occur as themselves are not hunted for.
fn is_distinctive(value: &[u8]) -> bool {
    if value.len() < FLOOR || value.starts_with(b"[redacted") {
        return false;
    }
    let letters_only = value.iter().all(u8::is_ascii_alphabetic);
    let one_case = value.iter().all(u8::is_ascii_lowercase)
        || value
            .get(1..)
            .unwrap_or_default()
            .iter()
            .all(u8::is_ascii_lowercase);
    if letters_only && one_case {
        return value.len() >= 9;
    }
    value.iter().any(u8::is_ascii_alphanumeric)
}
