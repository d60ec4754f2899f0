mod findings;
mod found;
mod judge;
mod order;
mod pairings;
mod table;
mod version;

use std::collections::BTreeMap;

use capt_api::resource_set::ResourceKind;

use super::*;
use crate::manifest::{self, Manifest};

/// A version that the test wrote.
fn version(text: &str) -> Version {
    Version::parse(text).unwrap()
}

/// Versions as `kubernetes=1.34,flux=2.8`; those that are not written are not known.
fn versions(text: &str) -> Versions {
    let mut versions = Versions::default();
    for (name, text) in text.split(',').filter_map(|part| part.split_once('=')) {
        let product =
            Product::ALL.into_iter().find(|product| product.as_str().to_lowercase() == name).unwrap();
        versions = versions.with(product, product.version(text).unwrap());
    }
    versions
}

/// The manifests in a text.
fn manifests_of(kind: ResourceKind, text: &str) -> Vec<Manifest> {
    let data = BTreeMap::from([("all.yaml".to_owned(), text.to_owned())]);
    manifest::parse(kind, "stack", &data).unwrap()
}

fn manifests(text: &str) -> Vec<Manifest> {
    manifests_of(ResourceKind::ConfigMap, text)
}
