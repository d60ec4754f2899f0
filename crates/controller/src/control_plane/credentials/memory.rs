//! What is remembered of each control plane's credentials while the manager leads.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use capt_core::clearing::Inside;
use capt_core::control_plane::connection::{Data, EksAccess};
use capt_core::control_plane::secrets::Token;
use capt_core::control_plane::status::Probe;
use k8s_openapi::jiff::Timestamp;

use crate::index::Name;
use crate::metrics::{CredentialTimes, Origin};

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
    /// When the credentials end, if that is known, and who made them.
    pub(in crate::control_plane) ends: Option<(Origin, Timestamp)>,
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
    pub(super) fn forget(&self, key: &Name) {
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

    /// Notes when the credentials end.
    pub(super) fn end(&self, key: &Name, ends: Option<(Origin, Timestamp)>) {
        self.with(key, |memory| memory.ends = ends);
    }

    /// How old credentials are, and when they end.
    pub(super) fn times(&self) -> CredentialTimes {
        let mut times = CredentialTimes::default();
        for Memory { settled, ends, .. } in self.lock().values() {
            earlier(&mut times.oldest, *settled);
            match ends {
                Some((Origin::Module, end)) => earlier(&mut times.given_end, Some(*end)),
                Some((Origin::Capt, end)) => earlier(&mut times.made_end, Some(*end)),
                None => {}
            }
        }
        times
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Name, Memory>> {
        // Each entry is changed by plain assignments that cannot panic half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn earlier(earliest: &mut Option<Timestamp>, time: Option<Timestamp>) {
    *earliest = [*earliest, time].into_iter().flatten().min();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_all_credentials_the_first_to_end_counts_and_those_that_are_gone_do_not() {
        let credentials = Credentials::default();
        let at = |second| Timestamp::from_second(second).unwrap();
        let [one, two, three] = ["one", "two", "three"].map(|name| Name::new("default", name));
        credentials.end(&one, Some((Origin::Module, at(50))));
        credentials.end(&two, Some((Origin::Module, at(40))));
        credentials.end(&three, Some((Origin::Capt, at(10))));
        credentials.settled(&one, true, at(1));
        credentials.forget(&two);

        let expected =
            CredentialTimes { oldest: Some(at(1)), given_end: Some(at(50)), made_end: Some(at(10)) };
        assert_eq!(credentials.times(), expected);
    }
}
