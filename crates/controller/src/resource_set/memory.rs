//! What is remembered of sets in clusters while the manager leads. All of it can be lost: things are then tried once more.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use capt_api::ClusterResourceSet;
use capt_core::note::Note;
use capt_core::resource_set::observed;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::workload::Identity;

/// To how many clusters something is brought at the same time.
const MOST: usize = 16;
/// The same for clusters that failed the last time: many that do not answer must not hold up the others.
const MOST_TROUBLED: usize = 4;

/// What is remembered of all sets.
pub(crate) struct ResourceSetMemories {
    /// By the uid of the set, then by the uid of the Cluster: one that is made again has no past.
    sets: Mutex<HashMap<String, HashMap<String, Memory>>>,
    lane: Semaphore,
    troubled_lane: Semaphore,
}

/// What is remembered of a set in one cluster.
#[derive(Default)]
pub(super) struct Memory {
    /// What decisions rest on.
    pub(super) known: observed::Memory,
    /// Stops what is on its way.
    pub(super) stop: Option<CancellationToken>,
    /// The version of the Secret with the kubeconfig.
    pub(super) secret: Option<u64>,
    /// Which cluster it was, when something was brought there.
    pub(super) identity: Option<Identity>,
    /// Whether it has become another cluster, so that what is written down does not count.
    pub(super) replaced: bool,
    /// What is to be told by Events.
    pub(super) notes: Vec<Note>,
}

impl Default for ResourceSetMemories {
    fn default() -> Self {
        Self {
            sets: Mutex::default(),
            lane: Semaphore::new(MOST),
            troubled_lane: Semaphore::new(MOST_TROUBLED),
        }
    }
}

impl ResourceSetMemories {
    /// Looks at, or changes, what is remembered of a set in a cluster.
    pub(super) fn with<T>(
        &self,
        set: &ClusterResourceSet,
        cluster: &str,
        look: impl FnOnce(&mut Memory) -> T,
    ) -> T {
        let mut sets = self.lock();
        look(sets.entry(uid(set)).or_default().entry(cluster.to_owned()).or_default())
    }

    /// Notes that nothing is on its way any more.
    pub(super) fn ended(&self, set: &ClusterResourceSet, cluster: &str) {
        let mut sets = self.lock();
        if let Some(memory) = sets.get_mut(&uid(set)).and_then(|clusters| clusters.get_mut(cluster)) {
            memory.stop = None;
        }
    }

    /// Forgets clusters that are not among these, but for those that something is on its way to.
    pub(super) fn retain(&self, set: &ClusterResourceSet, is_selected: impl Fn(&str) -> bool) {
        if let Some(clusters) = self.lock().get_mut(&uid(set)) {
            clusters.retain(|cluster, memory| is_selected(cluster) || memory.stop.is_some());
        }
    }

    /// Stops everything of a set that is on its way. Answers whether something still is.
    pub(super) fn stop(&self, set: &ClusterResourceSet) -> bool {
        let sets = self.lock();
        let mut any = false;
        let clusters = sets.get(&uid(set)).into_iter().flat_map(HashMap::values);
        for stop in clusters.filter_map(|memory| memory.stop.as_ref()) {
            stop.cancel();
            any = true;
        }
        any
    }

    /// What is to be told by Events.
    pub(super) fn take_notes(&self, set: &ClusterResourceSet) -> Vec<Note> {
        let mut sets = self.lock();
        let clusters = sets.get_mut(&uid(set)).into_iter().flat_map(HashMap::values_mut);
        clusters.flat_map(|memory| std::mem::take(&mut memory.notes)).collect()
    }

    /// Forgets a set that is gone.
    pub(crate) fn forget(&self, uid: &str) {
        self.lock().remove(uid);
    }

    /// Where one waits for one's turn.
    pub(super) fn lane(&self, troubled: bool) -> &Semaphore {
        if troubled { &self.troubled_lane } else { &self.lane }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, HashMap<String, Memory>>> {
        // Each entry is changed by plain assignments that cannot panic half-way.
        self.sets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn uid(set: &ClusterResourceSet) -> String {
    set.metadata.uid.clone().unwrap_or_default()
}
