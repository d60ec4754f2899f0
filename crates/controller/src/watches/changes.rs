//! Which changes of an object matter.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::feed::Touch;
use crate::index::Name;
use crate::store::key_of;

/// Tells changes that matter from writes of a status, which are mostly our own.
#[derive(Default)]
pub(super) struct Changes(HashMap<Name, u64>);

impl Changes {
    pub(super) fn is_news(&mut self, metadata: &ObjectMeta, touch: Touch) -> bool {
        let key = key_of(metadata);
        match touch {
            Touch::Gone => {
                self.0.remove(&key);
                true
            }
            Touch::There => {
                let fingerprint = fingerprint(metadata);
                self.0.insert(key, fingerprint) != Some(fingerprint)
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "it never leaves the process")]
fn fingerprint(metadata: &ObjectMeta) -> u64 {
    let mut hasher = DefaultHasher::new();
    metadata.uid.hash(&mut hasher);
    metadata.generation.hash(&mut hasher);
    metadata.deletion_timestamp.is_some().hash(&mut hasher);
    metadata.labels.hash(&mut hasher);
    metadata.annotations.hash(&mut hasher);
    metadata.finalizers.hash(&mut hasher);
    for owner in metadata.owner_references.iter().flatten() {
        (&owner.api_version, &owner.kind, &owner.name, &owner.uid).hash(&mut hasher);
    }
    hasher.finish()
}
