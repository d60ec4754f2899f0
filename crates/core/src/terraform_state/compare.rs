//! What became of a state.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Inspected, ResourceView};

/// What an apply did to the resources of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// Addresses that are new.
    pub added: Vec<String>,
    /// Addresses of what is another.
    pub changed: Vec<String>,
    /// Addresses that are gone.
    pub removed: Vec<String>,
}

impl Changed {
    /// What happened between two states.
    pub fn between(before: &Inspected, after: &Inspected) -> Self {
        let (old, new) = (known(before), known(after));
        let missing = |one: &BTreeMap<&str, Vec<&str>>, other: &BTreeMap<&str, Vec<&str>>| {
            one.keys().filter(|address| !other.contains_key(*address)).map(|it| (*it).to_owned()).collect()
        };
        let differs =
            |address: &&&str| old.get(**address).is_some_and(|digests| Some(digests) != new.get(**address));
        Self {
            added: missing(&new, &old),
            removed: missing(&old, &new),
            changed: new.keys().filter(differs).map(|address| (*address).to_owned()).collect(),
        }
    }

    /// For example `2 added, 1 changed, 0 removed`.
    pub fn summary(&self) -> String {
        let Self { added, changed, removed } = self;
        if added.is_empty() && changed.is_empty() && removed.is_empty() {
            return "no resource changed".to_owned();
        }
        format!("{} added, {} changed, {} removed", added.len(), changed.len(), removed.len())
    }
}

/// What stands at each address; what was replaced and not destroyed yet has that of its successor.
fn known(state: &Inspected) -> BTreeMap<&str, Vec<&str>> {
    let mut known: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for ResourceView { address, digest, .. } in &state.resources {
        known.entry(address).or_default().push(digest);
    }
    known
}
