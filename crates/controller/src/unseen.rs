//! What CAPT has just written and a watch does not show yet.
//!
//! The answer to a write may come long after the watch has shown the write, and even after it has shown that the object is gone.
//! Nothing may stay here then: no event would ever take it out again.
//!
//! - Versions of one kind grow, and a watch shows them in their order. Whatever was written up to the newest version that it has
//!   shown is shown, too, or gone.
//! - A listing that began after the answer to a write shows what was written, or it is gone.
//! - An object that is gone does not come back: one of the same name has another uid.

use std::collections::{HashMap, VecDeque};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::index::Name;
use crate::store::{key_of, version};

/// How many objects that are gone are remembered: more than there are writes on their way.
const MOST_GONE: usize = 1024;

/// Own writes that a watch does not show yet.
#[derive(Debug)]
pub(crate) struct Unseen<T> {
    writes: HashMap<Name, Write<T>>,
    /// The newest version that the watch has shown.
    newest: u64,
    /// How many listings have begun.
    listings: u64,
    /// The uids of the objects that went last.
    gone: VecDeque<String>,
}

#[derive(Debug)]
struct Write<T> {
    version: u64,
    uid: Option<String>,
    /// How many listings had begun when the write was answered.
    listings: u64,
    what: T,
}

impl<T> Default for Unseen<T> {
    fn default() -> Self {
        Self { writes: HashMap::new(), newest: 0, listings: 0, gone: VecDeque::new() }
    }
}

impl<T> Unseen<T> {
    /// What was written and is not shown yet.
    pub(crate) fn get(&self, name: &Name) -> Option<&T> {
        self.writes.get(name).map(|write| &write.what)
    }

    /// Remembers what was written, unless the watch is past it.
    pub(crate) fn remember(&mut self, metadata: &ObjectMeta, what: T) {
        let write =
            Write { version: version(metadata), uid: metadata.uid.clone(), listings: self.listings, what };
        let key = key_of(metadata);
        let is_gone = write.uid.as_ref().is_some_and(|uid| self.gone.contains(uid));
        // Answers to two writes may overtake each other.
        let is_older = self.writes.get(&key).is_some_and(|known| known.version > write.version);
        if write.version > self.newest && !is_gone && !is_older {
            self.writes.insert(key, write);
        }
    }

    /// The watch shows an object.
    pub(crate) fn there(&mut self, metadata: &ObjectMeta) {
        self.newest = self.newest.max(version(metadata));
        let newest = self.newest;
        self.writes.retain(|_, write| write.version > newest);
    }

    /// The watch shows that an object is gone.
    pub(crate) fn gone(&mut self, metadata: &ObjectMeta) {
        self.note_gone(metadata);
        self.there(metadata);
    }

    /// A listing begins.
    pub(crate) fn relisting(&mut self) {
        self.listings = self.listings.saturating_add(1);
    }

    /// A listing is complete: these versions are there, and of those that were there before these objects are not. Answers what
    /// was written and is remembered no more.
    ///
    /// The newest version is now one of the listing: a server that was restored from a backup counts from an earlier one.
    pub(crate) fn listed<'object>(
        &mut self,
        there: impl IntoIterator<Item = u64>,
        gone: impl IntoIterator<Item = &'object ObjectMeta>,
    ) -> Vec<T> {
        for metadata in gone {
            self.note_gone(metadata);
        }
        self.newest = there.into_iter().max().unwrap_or_default();
        let (newest, listings) = (self.newest, self.listings);
        let is_over = |_: &Name, write: &mut Write<T>| write.listings < listings || write.version <= newest;
        self.writes.extract_if(is_over).map(|(_, write)| write.what).collect()
    }

    fn note_gone(&mut self, metadata: &ObjectMeta) {
        let Some(uid) = &metadata.uid else { return };
        self.writes.retain(|_, write| write.uid.as_ref() != Some(uid));
        if self.gone.len() == MOST_GONE {
            self.gone.pop_front();
        }
        self.gone.push_back(uid.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An object of one name.
    fn object(uid: &str, version: u64) -> ObjectMeta {
        named("x", uid, version)
    }

    fn named(name: &str, uid: &str, version: u64) -> ObjectMeta {
        ObjectMeta {
            namespace: Some("a".to_owned()),
            name: Some(name.to_owned()),
            uid: Some(uid.to_owned()),
            resource_version: Some(version.to_string()),
            ..ObjectMeta::default()
        }
    }

    fn known(unseen: &Unseen<u64>) -> Option<u64> {
        unseen.get(&Name::new("a", "x")).copied()
    }

    fn wrote(unseen: &mut Unseen<u64>, uid: &str, version: u64) {
        unseen.remember(&object(uid, version), version);
    }

    #[test]
    fn a_write_is_known_until_the_watch_shows_it_or_something_newer() {
        let mut unseen = Unseen::default();
        wrote(&mut unseen, "u", 5);
        unseen.there(&object("u", 4));
        assert_eq!(known(&unseen), Some(5));
        unseen.there(&named("other", "v", 6));
        assert_eq!(known(&unseen), None, "the watch is past it");
    }

    #[test]
    fn an_answer_that_comes_after_the_deletion_is_forgotten() {
        let mut unseen = Unseen::default();
        unseen.there(&object("u", 4));
        unseen.gone(&object("u", 6));
        wrote(&mut unseen, "u", 5);
        assert_eq!(known(&unseen), None);
    }

    #[test]
    fn an_answer_that_comes_after_the_object_was_made_again_is_forgotten() {
        let mut unseen = Unseen::default();
        unseen.gone(&object("u", 6));
        unseen.there(&object("w", 7));
        wrote(&mut unseen, "u", 5);
        assert_eq!(known(&unseen), None);
        wrote(&mut unseen, "w", 8);
        assert_eq!(known(&unseen), Some(8), "that is the new one");
    }

    #[test]
    fn an_answer_that_another_overtook_is_forgotten() {
        let mut unseen = Unseen::default();
        wrote(&mut unseen, "u", 7);
        wrote(&mut unseen, "u", 5);
        assert_eq!(known(&unseen), Some(7));
    }

    #[test]
    fn what_a_listing_does_not_show_is_gone_if_it_was_written_before() {
        let mut unseen = Unseen::default();
        wrote(&mut unseen, "u", 5);
        unseen.relisting();
        assert_eq!(known(&unseen), Some(5), "until the listing is complete");
        unseen.listed([3], []);
        assert_eq!(known(&unseen), None);
    }

    #[test]
    fn what_was_written_during_a_listing_is_known_until_it_is_shown_or_gone() {
        let mut unseen = Unseen::default();
        unseen.relisting();
        wrote(&mut unseen, "u", 5);
        unseen.listed([3], []);
        assert_eq!(known(&unseen), Some(5), "it may be newer than the listing");
        unseen.there(&named("other", "v", 6));
        assert_eq!(known(&unseen), None, "it is not");
    }

    #[test]
    fn a_listing_that_begins_anew_leaves_what_was_written_in_between() {
        let mut unseen = Unseen::default();
        unseen.relisting();
        wrote(&mut unseen, "u", 5);
        unseen.relisting();
        unseen.listed([], []);
        assert_eq!(known(&unseen), None, "the second listing began after the write");
    }

    #[test]
    fn what_went_while_nobody_watched_does_not_come_back_with_a_late_answer() {
        let mut unseen = Unseen::default();
        unseen.there(&object("u", 4));
        unseen.relisting();
        wrote(&mut unseen, "u", 5);
        unseen.listed([3], [&object("u", 4)]);
        assert_eq!(known(&unseen), None);
        wrote(&mut unseen, "u", 6);
        assert_eq!(known(&unseen), None);
    }

    #[test]
    fn a_server_that_counts_from_an_earlier_version_is_followed() {
        let mut unseen = Unseen::default();
        unseen.there(&object("u", 900));
        unseen.relisting();
        unseen.listed([3], []);
        wrote(&mut unseen, "u", 5);
        assert_eq!(known(&unseen), Some(5));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut unseen = Unseen::<u64>::default();
        for number in 0..5_000 {
            unseen.gone(&named(&format!("x{number}"), &format!("u{number}"), number));
        }
        assert_eq!((unseen.gone.len(), unseen.writes.len()), (MOST_GONE, 0));
    }
}
