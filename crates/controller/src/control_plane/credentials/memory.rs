//! What is remembered of each control plane's credentials while the manager leads.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use capt_core::clearing::Inside;
use capt_core::control_plane::connection::{Data, EksAccess};
use capt_core::control_plane::secrets::Token;
use capt_core::control_plane::status::Probe;
use k8s_openapi::jiff::Timestamp;

use crate::index::Name;

/// What is remembered of all control planes.
#[derive(Default)]
pub(crate) struct Credentials(Mutex<HashMap<Name, Memory>>);

/// What is remembered of one control plane.
#[derive(Default)]
pub(in crate::control_plane) struct Memory {
    /// What counts of the connection Secret, and in which version.
    pub(in crate::control_plane) connection: Option<(u64, Arc<Data>)>,
    /// What was found in, or written to, the Secrets: name → version and digest.
    pub(in crate::control_plane) written: HashMap<String, (u64, u64)>,
    /// The token in use, and what it was made with.
    pub(in crate::control_plane) token: Option<(EksAccess, Token, Timestamp)>,
    /// How often in a row no token could be made.
    pub(in crate::control_plane) refused: u32,
    /// What the cluster answered, to which credentials, and when.
    pub(in crate::control_plane) probe: ProbeMemory,
    /// Since when the credentials are as they are.
    pub(in crate::control_plane) settled: Option<Timestamp>,
    /// When its apply was made, if that was us.
    pub(in crate::control_plane) begun: Option<Timestamp>,
    /// What was seen of the inside of a cluster that is to be destroyed.
    pub(in crate::control_plane) clearing: ClearingMemory,
}

/// What is remembered of a cluster that is to be destroyed.
#[derive(Default)]
pub(in crate::control_plane) struct ClearingMemory {
    /// Whether somebody is at it.
    pub(in crate::control_plane) running: bool,
    /// What was seen last.
    pub(in crate::control_plane) seen: Option<Sight>,
}

/// What one pass over a cluster has seen.
#[derive(Clone)]
pub(in crate::control_plane) struct Sight {
    pub(in crate::control_plane) at: Timestamp,
    /// Whether the control plane itself was marked for deletion when the pass began. Until then workers may still go, and
    /// what they leave behind is only seen afterwards.
    pub(in crate::control_plane) is_final: bool,
    pub(in crate::control_plane) inside: Inside,
}

/// What is remembered of questions to a cluster.
#[derive(Default)]
pub(in crate::control_plane) struct ProbeMemory {
    /// The credentials that are being asked with.
    pub(in crate::control_plane) asking: Option<u64>,
    /// The last answer: to which credentials, when, and how often in a row it was not a good one.
    pub(in crate::control_plane) answer: Option<(u64, Timestamp, u32, Probe)>,
    /// Credentials that were rejected and are to be made anew.
    pub(in crate::control_plane) rejected: bool,
}

impl Credentials {
    /// Looks at, or changes, what is remembered of a control plane.
    pub(in crate::control_plane) fn with<T>(&self, key: &Name, look: impl FnOnce(&mut Memory) -> T) -> T {
        look(self.lock().entry(key.clone()).or_default())
    }

    /// Forgets a control plane that is gone.
    pub(crate) fn forget(&self, key: &Name) {
        self.lock().remove(key);
    }

    /// Notes that all Secrets are as they should be, and whether one was written for that.
    pub(in crate::control_plane) fn settled(&self, key: &Name, written: bool, now: Timestamp) {
        self.with(key, |memory| {
            if written || memory.settled.is_none() {
                memory.settled = Some(now);
            }
        });
    }

    /// Since when the oldest credentials are in use.
    pub(crate) fn oldest(&self) -> Option<Timestamp> {
        self.lock().values().filter_map(|memory| memory.settled).min()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Name, Memory>> {
        // Each entry is changed by plain assignments that cannot panic half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
