//! Which Secrets there are, and in which version: enough to know whether one has to be read or written at all.
//!
//! Content is read on demand and kept by nobody. Names are kept as numbers, so that a management cluster full of other people's
//! Secrets costs some bytes for each.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::index::Name;
use crate::store::{key_of, version};
use crate::unseen::Unseen;

/// Which Secrets there are.
#[derive(Debug, Default)]
pub(crate) struct SecretVersions(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    versions: HashMap<u64, u64>,
    /// What a listing that is under way has shown so far.
    listing: Option<HashMap<u64, u64>>,
    /// What was written and the watch does not show yet.
    written: Unseen<u64>,
}

impl Known {
    fn get(&self, name: &Name) -> Option<u64> {
        let (shown, written) = (self.versions.get(&number(name)), self.written.get(name));
        shown.max(written).copied()
    }
}

impl SecretVersions {
    /// The version of a Secret; `None` where there is none.
    pub(crate) fn get(&self, name: &Name) -> Option<u64> {
        self.lock().get(name)
    }

    /// A listing begins.
    pub(crate) fn relist(&self) {
        let mut known = self.lock();
        known.listing = Some(HashMap::new());
        known.written.relisting();
    }

    /// The watch shows a Secret.
    pub(crate) fn there(&self, metadata: &ObjectMeta) {
        let (number, version) = (number(&key_of(metadata)), version(metadata));
        let mut known = self.lock();
        if let Some(listing) = &mut known.listing {
            // What is older than the newest may still be on a later page.
            listing.insert(number, version);
        } else {
            known.written.there(metadata);
        }
        known.versions.insert(number, version);
    }

    /// We have written a Secret, or read it.
    pub(crate) fn written(&self, metadata: &ObjectMeta) {
        self.lock().written.remember(metadata, version(metadata));
    }

    /// The watch shows that a Secret is gone.
    pub(crate) fn gone(&self, metadata: &ObjectMeta) {
        let mut known = self.lock();
        known.versions.remove(&number(&key_of(metadata)));
        known.written.gone(metadata);
    }

    /// A listing is complete: what it did not show is gone. Tells which of the given names those are.
    pub(crate) fn listed(&self, names: Vec<Name>) -> Vec<Name> {
        let mut known = self.lock();
        let Some(listing) = known.listing.take() else { return Vec::new() };
        let before: Vec<_> = names.into_iter().filter(|name| known.get(name).is_some()).collect();
        known.written.listed(listing.values().copied(), []);
        known.versions = listing;
        before.into_iter().filter(|name| known.get(name).is_none()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // The maps are changed by single calls that cannot panic half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[expect(clippy::disallowed_methods, reason = "it never leaves the process")]
fn number(name: &Name) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(name: &str, version: u64) -> ObjectMeta {
        ObjectMeta {
            namespace: Some("a".to_owned()),
            name: Some(name.to_owned()),
            resource_version: Some(version.to_string()),
            ..ObjectMeta::default()
        }
    }

    fn name(name: &str) -> Name {
        Name::new("a", name)
    }

    #[test]
    fn a_watch_that_lags_behind_does_not_take_back_what_was_written() {
        let secrets = SecretVersions::default();
        secrets.written(&metadata("x", 5));
        secrets.there(&metadata("x", 4));
        assert_eq!(secrets.get(&name("x")), Some(5));
        secrets.gone(&metadata("x", 4));
        assert_eq!(secrets.get(&name("x")), Some(5), "that was the one before");
        secrets.gone(&metadata("x", 6));
        assert_eq!(secrets.get(&name("x")), None);
    }

    #[test]
    fn a_secret_whose_deletion_is_seen_before_the_answer_to_our_write_is_gone() {
        let secrets = SecretVersions::default();
        secrets.there(&metadata("x", 4));
        secrets.gone(&metadata("x", 6));
        secrets.written(&metadata("x", 5));
        assert_eq!(secrets.get(&name("x")), None);
    }

    #[test]
    fn a_secret_that_went_while_nobody_watched_is_gone_though_we_had_written_it() {
        let secrets = SecretVersions::default();
        secrets.written(&metadata("x", 5));
        secrets.relist();
        secrets.there(&metadata("other", 3));
        let lost = secrets.listed(vec![name("x"), name("other")]);
        assert_eq!((lost, secrets.get(&name("x"))), (vec![name("x")], None));
    }

    #[test]
    fn what_went_while_nobody_watched_is_noticed() {
        let secrets = SecretVersions::default();
        secrets.there(&metadata("stays", 1));
        secrets.there(&metadata("goes", 2));
        secrets.relist();
        secrets.there(&metadata("stays", 1));
        assert_eq!(secrets.get(&name("goes")), Some(2), "until the listing is complete");
        let lost = secrets.listed(vec![name("stays"), name("goes"), name("never")]);
        assert_eq!(lost, [name("goes")]);
        assert_eq!(secrets.get(&name("goes")), None);
        assert_eq!(secrets.get(&name("stays")), Some(1));
    }
}
