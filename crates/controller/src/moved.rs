//! Which applies were seen to go because `clusterctl` moved them: all that is left of one is what the watch said last.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use capt_api::names::annotation;
use capt_core::tie::ApplyKey;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

/// The applies that were seen to be moved away, with their uids. Each stays known until it comes back.
#[derive(Default)]
pub(crate) struct Moved(Mutex<HashMap<ApplyKey, String>>);

impl Moved {
    /// An apply is gone; this is how it was last.
    pub(crate) fn gone(&self, key: ApplyKey, last: &ObjectMeta) {
        let annotations = last.annotations.as_ref();
        if annotations.is_some_and(|annotations| annotations.contains_key(annotation::DELETE_FOR_MOVE)) {
            self.lock().insert(key, last.uid.clone().unwrap_or_default());
        }
    }

    /// An apply is there.
    pub(crate) fn there(&self, key: &ApplyKey) {
        self.lock().remove(key);
    }

    /// Whether the apply with this uid was seen to be moved away.
    pub(crate) fn contains(&self, key: &ApplyKey, uid: &str) -> bool {
        self.lock().get(key).is_some_and(|known| known == uid)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ApplyKey, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_deleted_for_a_move_counts_and_only_until_it_is_back() {
        let key = ApplyKey { namespace: "a".to_owned(), name: "x".to_owned() };
        let mut last = ObjectMeta { uid: Some("1".to_owned()), ..ObjectMeta::default() };
        let moved = Moved::default();
        moved.gone(key.clone(), &last);
        assert!(!moved.contains(&key, "1"), "it is lost");
        last.annotations = Some([(annotation::DELETE_FOR_MOVE.to_owned(), String::new())].into());
        moved.gone(key.clone(), &last);
        assert!(moved.contains(&key, "1"));
        assert!(!moved.contains(&key, "2"), "another of its name");
        moved.there(&key);
        assert!(!moved.contains(&key, "1"));
    }
}
