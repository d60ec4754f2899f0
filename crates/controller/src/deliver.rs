//! Brings objects to clusters by server-side apply, and takes them away again.
//!
//! What is applied are the fields that a manifest states and no others, so that what others wrote stays. An object carries the
//! claim of the add-on that brings it (an annotation): what another add-on claims is never touched, and only what carries our
//! claim is ever deleted.
//!
//! Every step can be repeated, and the process may end between any two. For an add-on they are, in this order:
//! [`inventory::read`], [`inventory::write`] of what was there and what is to come, [`deliver`], and once all of that is there
//! [`prune`], then [`inventory::write`] of what is left.

mod bring;
pub(crate) mod inventory;
mod look;
mod object;
mod put;
mod remove;
#[cfg(test)]
mod tests;
mod trouble;

use std::collections::HashMap;

use capt_core::manifest::{Manifest, ObjectKey};

pub(crate) use inventory::Inventory;
pub(crate) use look::get;
pub(crate) use remove::{prune, remove};
pub(crate) use trouble::Trouble;

use bring::Delivery;

use crate::error::Retry;
use crate::workload::Talk;

/// How many troubles are told in full where there are several.
const TOLD: usize = 3;

/// The version of each object after it was delivered last.
pub(crate) type Known = HashMap<ObjectKey, String>;

/// What is to be in a cluster.
pub(crate) struct Order<'order> {
    /// The objects, in the order in which they are brought.
    pub(crate) manifests: &'order [Manifest],
    /// The field manager. Each claim has one of its own, or one add-on could not tell what another claims.
    pub(crate) manager: &'order str,
    /// Whose the objects are, where somebody claims them.
    pub(crate) claim: Option<&'order str>,
    /// What happens to objects that are there.
    pub(crate) mode: Mode,
    /// What the last delivery to this very cluster left.
    pub(crate) known: &'order Known,
}

/// What happens to objects that are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// They are brought in line.
    Keep,
    /// They are left alone.
    Once,
}

/// What became of an order.
#[derive(Debug, Default)]
pub(crate) struct Delivered {
    /// What became of each object, as far as it went. Objects are named as the cluster has them.
    pub(crate) outcomes: Vec<(ObjectKey, Outcome)>,
    /// What kept the rest from being tried at all.
    pub(crate) stopped: Option<Trouble>,
    /// The versions to remember.
    pub(crate) known: Known,
}

/// What became of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was not there.
    Created,
    /// It was there and differed.
    Changed,
    /// It was there and as it should be, or is not to be changed.
    Unchanged,
    /// It is not as it should be.
    Failed(Trouble),
}

impl Delivered {
    /// What is wrong, in one; `None` where everything is in the cluster.
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        let failed = self.outcomes.iter().filter_map(|(_, outcome)| match outcome {
            Outcome::Failed(trouble) => Some(trouble),
            Outcome::Created | Outcome::Changed | Outcome::Unchanged => None,
        });
        Trouble::sum(failed.chain(&self.stopped))
    }

    /// How many objects were made or changed.
    pub(crate) fn written(&self) -> usize {
        let is_written = |outcome: &Outcome| matches!(outcome, Outcome::Created | Outcome::Changed);
        self.outcomes.iter().filter(|(_, outcome)| is_written(outcome)).count()
    }
}

impl Trouble {
    /// One trouble that stands for several: the first few in full, the others counted.
    fn sum<'troubles>(troubles: impl Iterator<Item = &'troubles Self>) -> Option<Self> {
        let (following, own): (Vec<_>, Vec<_>) = troubles.partition(|trouble| trouble.follows.is_some());
        let first = own.first().or(following.first())?;
        let mut told: Vec<_> = own.iter().take(TOLD).map(|trouble| trouble.message.clone()).collect();
        if told.is_empty() {
            told.push(first.message.clone());
        } else {
            let more = own.len() - told.len() + following.len();
            if more > 0 {
                told.push(format!("and {more} more"));
            }
        }
        let soonness = |retry: &Retry| match retry {
            Retry::AtOnce => 0,
            Retry::Backoff => 1,
            Retry::Rarely => 2,
        };
        let retry = own.iter().chain(&following).map(|trouble| trouble.retry).min_by_key(soonness);
        Some(Self::new(first.reason, told.join("; "), retry.unwrap_or(first.retry)))
    }
}

/// Brings an order to a cluster. What goes wrong with one object does not keep others from being brought, but nothing more is
/// tried once the cluster does not answer.
pub(crate) async fn deliver(talk: &Talk<'_>, order: &Order<'_>) -> Delivered {
    let mut delivery = Delivery::new(talk, order);
    for manifest in order.manifests {
        if delivery.bring(manifest).await.is_break() {
            break;
        }
    }
    delivery.ended()
}
