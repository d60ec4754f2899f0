//! Objects that are there twice.

use std::collections::BTreeMap;
use std::fmt;

use capt_api::resource_set::ResourceKind;

use super::{Manifest, ObjectKey, Place};

/// An object that two manifests describe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// The object, as the second manifest names it.
    pub object: ObjectKey,
    /// The first manifest of it.
    pub first: Place,
    /// Another one.
    pub second: Place,
}

impl fmt::Display for Duplicate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object, first, second } = self;
        if [first, second].iter().all(|place| place.kind == ResourceKind::Secret) {
            formatter.write_str("the same object")?;
        } else {
            object.fmt(formatter)?;
        }
        write!(formatter, " is there twice: in {first}, and in {second}; remove one of them")
    }
}

impl std::error::Error for Duplicate {}

/// Every object that is described again after its first manifest, in whatever version.
pub fn duplicates(manifests: &[Manifest]) -> Vec<Duplicate> {
    let keys: Vec<ObjectKey> = manifests.iter().map(Manifest::key).collect();
    let mut first = BTreeMap::new();
    let mut duplicates = Vec::new();
    for (key, Manifest { place, .. }) in keys.iter().zip(manifests) {
        let earlier = *first.entry(key.identity()).or_insert(place);
        if !std::ptr::eq(earlier, place) {
            duplicates.push(Duplicate { object: key.clone(), first: earlier.clone(), second: place.clone() });
        }
    }
    duplicates
}
