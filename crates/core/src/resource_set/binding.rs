//! How a binding, which several sets write to, changes for one of them.

use capt_api::resource_set::{ResourceBinding, ResourceSetBinding};
use capt_api::{Cluster, ClusterResourceSet, ClusterResourceSetBinding};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::{Resource as _, ResourceExt as _};

use crate::standing::api_group;

/// How a binding changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Not at all.
    Nothing,
    /// It gets these owners and these entries.
    Write {
        /// Every owner.
        owners: Vec<OwnerReference>,
        /// What every set has brought.
        bindings: Vec<ResourceSetBinding>,
    },
    /// It goes: nothing is left in it.
    Delete,
}

/// Whether a binding speaks of this Cluster, and not of an earlier one of the same name, or is on its way out.
pub fn is_of(binding: &ClusterResourceSetBinding, cluster: &Cluster) -> bool {
    let created = |metadata: &ObjectMeta| metadata.creation_timestamp.as_ref().map(|time| time.0);
    let is_older = match (created(&binding.metadata), created(&cluster.metadata)) {
        (Some(binding), Some(cluster)) => binding < cluster,
        _ => false,
    };
    !is_older && binding.metadata.deletion_timestamp.is_none()
}

/// What a binding says of a set. What an earlier set of the same name left behind does not count: it had another uid, or
/// the reference to it was taken away when it was gone.
pub fn entries<'binding>(
    binding: &'binding ClusterResourceSetBinding,
    set: &ClusterResourceSet,
) -> &'binding [ResourceBinding] {
    let name = set.name_any();
    let own = binding.spec.bindings.iter().find(|entry| entry.cluster_resource_set_name == name);
    own.filter(|_| is_owned(binding, set)).map(|own| own.resources.as_slice()).unwrap_or_default()
}

fn is_owned(binding: &ClusterResourceSetBinding, set: &ClusterResourceSet) -> bool {
    owner(&binding.metadata, &set.name_any()).is_some_and(|owner| Some(&owner.uid) == set.uid().as_ref())
}

/// Whether a binding names a set in any way.
pub fn names(binding: &ClusterResourceSetBinding, set: &ClusterResourceSet) -> bool {
    let name = set.name_any();
    owner(&binding.metadata, &name).is_some()
        || binding.spec.bindings.iter().any(|entry| entry.cluster_resource_set_name == name)
}

/// Puts the entries of a set into a binding, or into a new one.
pub fn put(
    binding: Option<&ClusterResourceSetBinding>,
    set: &ClusterResourceSet,
    entries: &[ResourceBinding],
) -> Edit {
    if entries.is_empty() {
        return binding.map_or(Edit::Nothing, |binding| forget(binding, set));
    }
    let name = set.name_any();
    let own = ResourceSetBinding { cluster_resource_set_name: name.clone(), resources: entries.to_vec() };
    let known = binding.map(|binding| binding.spec.bindings.as_slice()).unwrap_or_default();
    let mut bindings = known.to_vec();
    match bindings.iter_mut().find(|entry| entry.cluster_resource_set_name == name) {
        Some(entry) => *entry = own,
        None => bindings.push(own),
    }
    let mut owners = binding.map(|binding| others(&binding.metadata, &name)).unwrap_or_default();
    owners.push(OwnerReference {
        api_version: ClusterResourceSet::api_version(&()).into_owned(),
        kind: ClusterResourceSet::kind(&()).into_owned(),
        name,
        uid: set.uid().unwrap_or_default(),
        ..OwnerReference::default()
    });
    match binding {
        Some(binding) if bindings == binding.spec.bindings && is_owned(binding, set) => Edit::Nothing,
        _ => Edit::Write { owners, bindings },
    }
}

/// Takes a set out of a binding.
pub fn forget(binding: &ClusterResourceSetBinding, set: &ClusterResourceSet) -> Edit {
    if !names(binding, set) {
        return Edit::Nothing;
    }
    let name = set.name_any();
    let rest = binding.spec.bindings.iter().filter(|entry| entry.cluster_resource_set_name != name);
    let bindings: Vec<_> = rest.cloned().collect();
    if bindings.is_empty() {
        return Edit::Delete;
    }
    Edit::Write { owners: others(&binding.metadata, &name), bindings }
}

fn owner<'metadata>(metadata: &'metadata ObjectMeta, set: &str) -> Option<&'metadata OwnerReference> {
    metadata.owner_references.iter().flatten().find(|owner| is_set(owner, set))
}

fn others(metadata: &ObjectMeta, set: &str) -> Vec<OwnerReference> {
    metadata.owner_references.iter().flatten().filter(|owner| !is_set(owner, set)).cloned().collect()
}

fn is_set(owner: &OwnerReference, name: &str) -> bool {
    owner.name == name
        && owner.kind == ClusterResourceSet::kind(&())
        && api_group(&owner.api_version) == ClusterResourceSet::group(&())
}

#[cfg(test)]
mod tests;
