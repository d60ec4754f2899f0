//! Which versions delivered manifests bring.

mod doubt;
mod flux;
mod karpenter;

use serde_json::Value;

use super::product::{Product, Versions};
use super::table::Table;
use super::version::Version;
use crate::manifest::Manifest;

pub use doubt::Doubt;
pub(super) use doubt::name;

/// The versions that manifests bring, and what could not be told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The versions, where there is one.
    pub versions: Versions,
    /// What could not be told, and why.
    pub doubts: Vec<Doubt>,
}

/// A version, and what brings it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sighting {
    version: Version,
    by: String,
}

/// Reads the versions of Flux and Karpenter from manifests that are to be delivered together.
pub fn versions_in(manifests: &[Manifest]) -> Found {
    let mut doubts = Vec::new();
    let flux = flux::sightings(Table::embedded(), manifests, &mut doubts);
    let karpenter = karpenter::sightings(manifests, &mut doubts);
    let versions = Versions {
        flux: one(Product::Flux, &flux, &mut doubts),
        karpenter: karpenter.version(&mut doubts),
        ..Versions::default()
    };
    Found { versions, doubts }
}

/// The version that all agree on. Two that differ are told, and neither is taken.
fn one(product: Product, sightings: &[Sighting], doubts: &mut Vec<Doubt>) -> Option<Version> {
    let first = sightings.first()?;
    match sightings.iter().find(|other| other.version != first.version) {
        None => Some(first.version),
        Some(other) => {
            doubts.push(Doubt::two(product, first, other));
            None
        }
    }
}

/// A text in an object.
fn text<'object>(object: &'object Value, pointer: &str) -> Option<&'object str> {
    object.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// A label of an object.
fn label<'object>(object: &'object Value, key: &str) -> Option<&'object str> {
    object.pointer("/metadata/labels")?.get(key)?.as_str()
}
