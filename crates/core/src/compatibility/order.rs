//! In which order to upgrade.
//!
//! Kubernetes goes one minor version at a time. An add-on that has to move before it comes first, one that needs the newer
//! Kubernetes comes after. Of all ways the one with the fewest unsupported states is taken, and of those the shortest.

mod axis;
mod conflict;
mod notes;
mod search;

use std::fmt;

use serde::Serialize;

use super::product::{Product, Versions};
use super::table::Table;
use super::version::Version;

pub use conflict::Conflict;
pub(super) use conflict::conflicts;

/// Upgrades in their order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UpgradePath {
    /// What there is now.
    pub start: Versions,
    /// What does not go together there already.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<Conflict>,
    /// One after the other.
    pub steps: Vec<Step>,
}

/// One upgrade.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// What is upgraded.
    pub product: Product,
    /// The version before.
    pub from: Version,
    /// The version after.
    pub to: Version,
    /// What there is after it.
    pub state: Versions,
    /// What does not go together after it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<Conflict>,
    /// What to see to before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl UpgradePath {
    /// Whether every state after the first is supported.
    pub fn is_supported(&self) -> bool {
        self.steps.iter().all(|step| step.conflicts.is_empty())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { product, from, to, .. } = self;
        write!(formatter, "{product} from {from} to {to}")
    }
}

/// Why there is no way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPath {
    /// Nobody said what there is.
    #[error("it is not said which {0} there is now: write it, for example kubernetes=1.34,flux=2.8")]
    Unstated(Product),
    /// A version that the table does not have.
    #[error("{product} {version} is not in the table, which has {first} to {last}")]
    NotInTable {
        /// The product.
        product: Product,
        /// The version.
        version: Version,
        /// The first one of the table.
        first: Version,
        /// The last one of the table.
        last: Version,
    },
    /// An older version than now.
    #[error("{product} would go back from {from} to {to}: this tells upgrades only")]
    Backwards {
        /// The product.
        product: Product,
        /// The version now.
        from: Version,
        /// The version that is wanted.
        to: Version,
    },
    /// Helm is a part of Flux.
    #[error("Helm comes with Flux and has no upgrade of its own: leave it out")]
    Helm,
}

/// The order of upgrades from one set of versions to another.
///
/// An add-on that `to` does not tell is moved only where it has to; Kubernetes stays where it is if `to` does not tell it.
pub fn upgrade_path(from: &Versions, to: &Versions) -> Result<UpgradePath, NoPath> {
    path(Table::embedded(), from, to)
}

pub(super) fn path(table: &Table, from: &Versions, to: &Versions) -> Result<UpgradePath, NoPath> {
    if from.helm.or(to.helm).is_some() {
        return Err(NoPath::Helm);
    }
    if from.kubernetes.is_none() {
        return Err(NoPath::Unstated(Product::Kubernetes));
    }
    let axes = axis::axes(table, from, to)?;
    let mut state = *from;
    let steps = search::search(table, &axes).into_iter().map(|(product, version)| {
        let before = state;
        state = state.with(product, version);
        Step {
            product,
            from: before.get(product).unwrap_or(version),
            to: version,
            state,
            conflicts: conflicts(table, &state),
            notes: notes::notes(table, &before, &state),
        }
    });
    let steps = steps.collect();
    Ok(UpgradePath { start: *from, conflicts: conflicts(table, from), steps })
}
