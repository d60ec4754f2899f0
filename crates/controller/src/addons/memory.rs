//! What is remembered of add-ons in clusters. All of it can be lost: things are then looked at once more.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};

use capt_core::addon::decide::Content;
use k8s_openapi::jiff::Timestamp;

use super::binding::Listener;
use crate::deliver::{Inventory, Known};
use crate::index::Name;
use crate::workload::{Identity, Workload};

/// What is remembered, by binding.
#[derive(Default)]
pub(crate) struct AddonMemories(Mutex<HashMap<Name, Memory>>);

/// What is remembered of one stack in one cluster.
#[derive(Default)]
pub(super) struct Memory {
    /// The cluster that the rest is about.
    pub(super) cluster: Option<Identity>,
    /// The client that it was asked with last.
    pub(super) client: Option<Weak<Workload>>,
    pub(super) steps: HashMap<String, StepMemory>,
    /// Who listens to the cluster.
    pub(super) listener: Option<Listener>,
    /// How many changes were heard in it without a rest.
    pub(super) changes: u32,
    /// What was told of credentials that may not watch.
    pub(super) lacks: BTreeSet<String>,
    /// How often in a row the cluster could not be reached, and when it is tried again.
    pub(super) unreachable: Option<(u32, Timestamp, String)>,
    /// How often in a row something was still there that is to be taken away.
    pub(super) removals: u32,
}

/// What is remembered of one add-on in one cluster.
#[derive(Default)]
pub(super) struct StepMemory {
    /// When it is to be looked at in the cluster again.
    pub(super) due: Option<Timestamp>,
    /// How often in a row it was looked at and not ready.
    pub(super) looks: u32,
    /// Objects as they are in the cluster.
    pub(super) known: Known,
    /// What is written down of what was brought.
    pub(super) inventory: Option<Inventory>,
    /// What is to be brought, and what that was made of.
    pub(super) content: Option<(String, Content)>,
}

impl AddonMemories {
    /// Takes out what is remembered. A binding is reconciled by one at a time.
    pub(super) fn take(&self, binding: &Name) -> Memory {
        self.lock().remove(binding).unwrap_or_default()
    }

    /// Puts it back.
    pub(super) fn put(&self, binding: Name, memory: Memory) {
        self.lock().insert(binding, memory);
    }

    /// Forgets a binding that is gone.
    pub(crate) fn forget(&self, binding: &Name) {
        self.lock().remove(binding);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Name, Memory>> {
        // The map is changed by single calls that cannot panic half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
