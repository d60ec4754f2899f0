//! Which clusters a stack is in, and what is to be made or taken away for that.

use std::collections::BTreeSet;

use capt_api::names::label;
use capt_api::resource_set::{ClusterResourceSetSpec, ResourceReference, Strategy};
use capt_api::{AddonStack, AddonStackBinding, Cluster, ClusterResourceSet};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::ResourceExt as _;

use super::gate;
use super::names;
use super::route::{Route, route};
use super::stack::problem;
use crate::owned_apply::{Belongs, Owner, belongs};
use crate::selector;

/// What is to be made and taken away.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Clusters that get a binding.
    pub bind: Vec<String>,
    /// Bindings whose cluster is no longer selected.
    pub unbind: Vec<String>,
    /// `ClusterResourceSets` that are to be there.
    pub sets: Vec<(String, ClusterResourceSetSpec)>,
    /// `ClusterResourceSets` of ours that nobody needs any more.
    pub surplus: Vec<String>,
}

/// What is to be made and taken away for a stack, given what there is in its namespace.
pub fn plan(
    stack: &AddonStack,
    clusters: &[&Cluster],
    bindings: &[&AddonStackBinding],
    sets: &[&ClusterResourceSet],
) -> Plan {
    if problem(&stack.spec).is_some() {
        return Plan::default();
    }
    let name = stack.name_any();
    let is_selected = |cluster: &&&Cluster| {
        cluster.metadata.deletion_timestamp.is_none()
            && selector::matches(&stack.spec.cluster_selector, cluster.labels())
    };
    let selected: BTreeSet<String> =
        clusters.iter().filter(is_selected).map(|cluster| cluster.name_any()).collect();
    let own: Vec<_> = bindings.iter().filter(|binding| binding.spec.stack_name == name).collect();
    let bound: BTreeSet<&str> = own.iter().map(|binding| binding.spec.cluster_name.as_str()).collect();
    // A Cluster that is being deleted takes its bindings along when it goes. One that is not seen may only come later, as in a
    // move; of one that is gone, the binding deletes itself.
    let stays = |cluster: &str| {
        clusters
            .iter()
            .any(|found| found.name_any() == cluster && found.metadata.deletion_timestamp.is_none())
    };
    let unbind = own
        .iter()
        .filter(|binding| binding.metadata.deletion_timestamp.is_none())
        .filter(|binding| {
            let cluster = &binding.spec.cluster_name;
            !selected.contains(cluster) && stays(cluster)
        })
        .map(|binding| binding.name_any())
        .collect();
    let wanted = wanted_sets(stack, sets);
    let owner = Owner::of(stack);
    let surplus = sets
        .iter()
        .filter(|set| set.labels().get(label::STACK).is_some_and(|label| *label == names::stack_label(&name)))
        .filter(|set| matches!(belongs(&set.metadata, &owner), Belongs::ToUs))
        .map(|set| set.name_any())
        .filter(|set| !wanted.iter().any(|(name, _)| name == set))
        .collect();
    Plan {
        bind: selected.iter().filter(|cluster| !bound.contains(cluster.as_str())).cloned().collect(),
        unbind,
        sets: wanted,
        surplus,
    }
}

fn wanted_sets(stack: &AddonStack, sets: &[&ClusterResourceSet]) -> Vec<(String, ClusterResourceSetSpec)> {
    let stack_name = stack.name_any();
    let wanted = stack.spec.addons.iter().filter_map(|addon| {
        let route = route(&stack_name, addon, sets.iter().copied());
        let Route::Ours { set } = &route else { return None };
        let label = gate::label(&stack_name, addon, &route)?;
        let cluster_selector =
            LabelSelector { match_labels: Some([(label.key, label.value)].into()), match_expressions: None };
        let resources = addon.resources.iter();
        let resources =
            resources.map(|resource| ResourceReference { kind: resource.kind, name: resource.name.clone() });
        let strategy = Strategy::ApplyOnce;
        Some((
            set.clone(),
            ClusterResourceSetSpec { cluster_selector, resources: resources.collect(), strategy },
        ))
    });
    wanted.collect()
}

#[cfg(test)]
mod tests;
