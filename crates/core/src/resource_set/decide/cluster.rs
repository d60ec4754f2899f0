//! What to do in one cluster.

use capt_api::names::Reason;
use capt_api::resource_set::Strategy;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;

use super::super::entry::{entries, is_needed};
use super::super::observed::{ClusterState, Resource, Selected};
use super::{Bring, Judged, Word, Work, pace};
use crate::apply::Blocked;

/// What holds for every cluster of a set.
pub(super) struct Facts<'plan> {
    /// The set's uid.
    pub(super) set: &'plan str,
    pub(super) resources: &'plan [Resource],
    /// Stands for what can be brought.
    pub(super) attempt: String,
    pub(super) strategy: Strategy,
    pub(super) now: Timestamp,
}

impl Facts<'_> {
    /// What to do in a cluster, what is told of it, and when to look again.
    pub(super) fn judge(&self, cluster: &Selected) -> (Judged, Option<Timestamp>) {
        let needed = |resource: &Resource| is_needed(resource, &cluster.entries, self.strategy);
        let missing = self.places(|resource| needed(resource) && resource.content.usable().is_some());
        let lacking = self.places(|resource| needed(resource) && resource.content.usable().is_none());
        let still = |word: Word| if missing.is_empty() { Word::Applied } else { word };
        let (work, told, next) = match &cluster.state {
            ClusterState::Usable => self.usable(cluster, &missing),
            ClusterState::Paused => (Work::Nothing, still(Word::Paused), None),
            ClusterState::NotReady(what) => {
                // Nothing is written down of a cluster until something was tried there.
                let work = if cluster.entries.is_empty() { Work::Nothing } else { self.note(cluster) };
                (work, still(Word::Waiting(what.clone())), None)
            }
            ClusterState::Unreadable(why) => {
                (Work::Nothing, Word::Troubled(Blocked::new(Reason::Unreadable, why)), None)
            }
        };
        (Judged { cluster: cluster.name.clone(), work, word: told, lacking }, next)
    }

    fn places(&self, wanted: impl Fn(&Resource) -> bool) -> Vec<usize> {
        let all = self.resources.iter().enumerate();
        all.filter(|(_, resource)| wanted(resource)).map(|(index, _)| index).collect()
    }

    fn usable(&self, cluster: &Selected, missing: &[usize]) -> (Work, Word, Option<Timestamp>) {
        let memory = &cluster.memory;
        let is_same = memory.attempted.as_ref() == Some(&self.attempt);
        let trouble = memory.trouble.clone().filter(|_| is_same);
        let coming = if missing.is_empty() { Word::Applied } else { Word::Delivering };
        let word = trouble.clone().map_or(coming, Word::Troubled);
        if memory.busy {
            return (Work::Nothing, word, Some(pace::look(self.now)));
        }
        let all = self.places(|resource| resource.content.usable().is_some());
        let check = self.check(cluster).filter(|_| !all.is_empty());
        let is_due = check.is_some_and(|check| check <= self.now);
        let wanted = if is_due { &all[..] } else { missing };
        if wanted.is_empty() {
            // What once failed does not matter any more.
            return (self.note(cluster), Word::Applied, check);
        }
        if let Some(due) = memory.due.filter(|due| trouble.is_some() && *due > self.now) {
            return (self.note(cluster), word, Some(due));
        }
        let bring = Bring {
            resources: wanted.to_vec(),
            before: cluster.entries.clone(),
            attempt: self.attempt.clone(),
            whole: wanted.len() == all.len(),
            again: memory.failures > 0,
        };
        (Work::Bring(bring), word, Some(pace::look(self.now)))
    }

    /// When it is looked whether everything is still there, where that is looked at.
    fn check(&self, cluster: &Selected) -> Option<Timestamp> {
        match self.strategy {
            Strategy::ApplyOnce => None,
            Strategy::Reconcile => {
                let times = cluster.entries.iter().map(|entry| entry.last_applied_time.as_ref());
                let oldest = times.min().flatten().map(|time| time.0);
                let verified = cluster.memory.verified.or(oldest).unwrap_or(Timestamp::MIN);
                Some(pace::check(self.set, &cluster.name, verified))
            }
        }
    }

    /// What is written down where nothing is brought.
    fn note(&self, cluster: &Selected) -> Work {
        let now = Time(self.now);
        let wanted = entries(self.resources, &cluster.entries, self.strategy, |_| None, &now);
        if wanted == cluster.entries { Work::Nothing } else { Work::Note(wanted) }
    }
}
