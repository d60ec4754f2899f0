//! Manifests that come to a cluster together.

mod placeholders;
mod values;
mod versions;

use std::collections::BTreeSet;

use capt_api::addon_stack::ValuesSecret;

use super::content::Content;
use super::object::Object;
use super::report::Report;
use crate::manifest::{Manifest, duplicates};

/// Manifests that come to a cluster together, and what comes beside them.
pub(super) struct Bundle<'facts> {
    /// The stack or `ClusterResourceSet` that brings them.
    pub(super) about: &'facts Object,
    pub(super) parts: Vec<Part<'facts>>,
    /// The Secrets that the stack makes.
    pub(super) values: &'facts [ValuesSecret],
    /// The outputs that fill them, where they are known.
    pub(super) outputs: Option<&'facts BTreeSet<String>>,
    /// The versions of Kubernetes that the clusters of the files have.
    pub(super) kubernetes: Vec<String>,
}

/// What one `ConfigMap` or Secret brings.
pub(super) struct Part<'facts> {
    pub(super) content: &'facts Content,
    /// Placeholders in it are replaced.
    pub(super) render: bool,
}

/// An object with what it is once placeholders are replaced.
struct Item<'facts> {
    object: &'facts Object,
    manifest: Manifest,
}

/// Tells what is wrong with manifests beside each other.
pub(super) fn check(bundle: &Bundle<'_>, report: &mut Report<'_>) {
    let items: Vec<Item<'_>> =
        bundle.parts.iter().flat_map(|part| placeholders::check(part, bundle.outputs, report)).collect();
    twice(&items, report);
    values::check(&items, bundle, report);
    versions::check(&items, bundle, report);
}

fn twice(items: &[Item<'_>], report: &mut Report<'_>) {
    let manifests: Vec<Manifest> = items.iter().map(|item| item.manifest.clone()).collect();
    for duplicate in duplicates(&manifests) {
        let second = items.iter().find(|item| item.manifest.place == duplicate.second);
        if let Some(Item { object, .. }) = second {
            report.error(object, "metadata.name", duplicate.to_string());
        }
    }
}
