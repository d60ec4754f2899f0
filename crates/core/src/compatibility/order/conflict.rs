//! What of a state does not go together.

use std::fmt;

use serde::Serialize;

use super::super::product::{Product, Versions};
use super::super::table::Table;
use super::super::version::{Minors, Version};

/// Something of a state that does not go together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Conflict {
    /// An add-on that does not support the Kubernetes beside it.
    Unsupported {
        /// The add-on.
        addon: Product,
        /// Its version.
        version: Version,
        /// What it supports.
        supports: Minors,
        /// What there is.
        kubernetes: Version,
    },
    /// A version that is not to be used.
    Avoided {
        /// The version of Karpenter.
        version: Version,
        /// Why.
        reason: String,
    },
}

impl fmt::Display for Conflict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported { addon, version, supports, kubernetes } => {
                write!(formatter, "{addon} {version} supports Kubernetes {supports} and not {kubernetes}")
            }
            Self::Avoided { version, reason } => {
                write!(formatter, "Karpenter {version} is not to be used: {reason}")
            }
        }
    }
}

/// What the table says does not go together. What the table does not know is not told here.
pub(in super::super) fn conflicts(table: &Table, state: &Versions) -> Vec<Conflict> {
    let avoided = state.karpenter.and_then(|version| table.avoided(version));
    let avoided =
        avoided.map(|avoided| Conflict::Avoided { version: avoided.version, reason: avoided.reason.clone() });
    let flux =
        state.flux.and_then(|version| Some((Product::Flux, version, table.flux(version).ok()?.kubernetes)));
    let karpenter = state
        .karpenter
        .and_then(|version| Some((Product::Karpenter, version, table.karpenter(version).ok()?.kubernetes)));
    let addons = flux.into_iter().chain(karpenter).zip(std::iter::repeat(state.kubernetes));
    let unsupported = addons.filter_map(|((addon, version, supports), kubernetes)| {
        let kubernetes = kubernetes.filter(|kubernetes| !supports.contains(kubernetes.minor()))?;
        Some(Conflict::Unsupported { addon, version, supports, kubernetes })
    });
    unsupported.chain(avoided).collect()
}
