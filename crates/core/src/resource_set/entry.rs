//! What a binding says of one resource in one cluster.

use capt_api::resource_set::{ResourceBinding, ResourceReference, Strategy};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::observed::{Content, Resource};

/// What became of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// All of it is in the cluster.
    Brought {
        /// Whether something had to be made or changed for that.
        changed: bool,
    },
    /// Some of it is not.
    Failed,
    /// It was not its turn before the cluster stopped to answer.
    Untried,
}

/// The entry of a resource.
pub fn find<'entries>(
    entries: &'entries [ResourceBinding],
    reference: &ResourceReference,
) -> Option<&'entries ResourceBinding> {
    entries.iter().find(|entry| entry.kind == reference.kind && entry.name == reference.name)
}

/// Whether a resource still has to be brought, by what is in it and what was brought.
pub fn is_needed(resource: &Resource, entries: &[ResourceBinding], strategy: Strategy) -> bool {
    let applied = find(entries, &resource.reference).filter(|entry| entry.applied);
    match (applied, strategy) {
        (None, _) => true,
        (Some(_), Strategy::ApplyOnce) => false,
        (Some(entry), Strategy::Reconcile) => match &resource.content {
            Content::Invalid { hash, .. } | Content::Manifests { hash } => entry.hash.as_ref() != Some(hash),
            // What was brought is still there.
            Content::Missing | Content::WrongType(_) => false,
        },
    }
}

/// The entries of a set in a cluster: what was there before, without resources that the set no longer has, and with what
/// became of those that were tried.
pub fn entries(
    resources: &[Resource],
    before: &[ResourceBinding],
    strategy: Strategy,
    fate: impl Fn(usize) -> Option<Fate>,
    now: &Time,
) -> Vec<ResourceBinding> {
    let entry = |(index, resource): (usize, &Resource)| {
        let known = find(before, &resource.reference);
        match (&resource.content, fate(index)) {
            (Content::Manifests { hash }, Some(fate)) => Some(after(resource, known, hash, fate, now)),
            (Content::Invalid { hash, .. }, _) if is_needed(resource, before, strategy) => {
                Some(failed(resource, known, hash))
            }
            _ => known.cloned(),
        }
    };
    resources.iter().enumerate().filter_map(entry).collect()
}

fn after(
    resource: &Resource,
    known: Option<&ResourceBinding>,
    hash: &str,
    fate: Fate,
    now: &Time,
) -> ResourceBinding {
    let same = known.filter(|known| known.applied && known.hash.as_deref() == Some(hash));
    match (fate, same, known) {
        (Fate::Brought { changed: false }, Some(same), _) => same.clone(),
        (Fate::Brought { .. }, _, _) => ResourceBinding {
            kind: resource.reference.kind,
            name: resource.reference.name.clone(),
            hash: Some(hash.to_owned()),
            last_applied_time: Some(now.clone()),
            applied: true,
        },
        // What was brought earlier is still there, as far as anybody knows.
        (Fate::Untried, _, Some(known)) => known.clone(),
        (Fate::Untried | Fate::Failed, _, known) => failed(resource, known, hash),
    }
}

fn failed(resource: &Resource, known: Option<&ResourceBinding>, hash: &str) -> ResourceBinding {
    ResourceBinding {
        kind: resource.reference.kind,
        name: resource.reference.name.clone(),
        hash: Some(hash.to_owned()),
        last_applied_time: known.and_then(|known| known.last_applied_time.clone()),
        applied: false,
    }
}

#[cfg(test)]
mod tests;
