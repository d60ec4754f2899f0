//! How the resources of an add-on reach a cluster.

use std::collections::BTreeMap;

use capt_api::ClusterResourceSet;
use capt_api::addon_stack::{Addon, Delivery};
use capt_api::names::label as labels;
use capt_api::resource_set::ResourceReference;
use kube::ResourceExt as _;

use super::gate;
use super::names;
use crate::selector;

/// How the resources of an add-on reach a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// CAPT brings them itself.
    Direct,
    /// `ClusterResourceSets` of the user bring them.
    Theirs {
        /// Their names.
        sets: Vec<String>,
    },
    /// A `ClusterResourceSet` that CAPT makes brings them.
    Ours {
        /// Its name.
        set: String,
    },
    /// There are none: only values go to the cluster.
    Nothing,
    /// Nobody would bring them.
    Missing {
        /// What to tell.
        message: String,
    },
}

/// How the resources of an add-on reach clusters, given the `ClusterResourceSets` of its namespace.
pub fn route<'sets>(
    stack: &str,
    addon: &Addon,
    sets: impl IntoIterator<Item = &'sets ClusterResourceSet>,
) -> Route {
    let rendered = addon.resources.iter().any(|resource| resource.render);
    match addon.delivery {
        Some(Delivery::Direct) => {
            return if addon.resources.is_empty() { Route::Nothing } else { Route::Direct };
        }
        None if rendered => return Route::Direct,
        Some(Delivery::ClusterResourceSet) | None => {}
    }
    let theirs = theirs(addon, sets);
    match (theirs.is_empty(), addon.resources.is_empty(), gate::named(addon)) {
        (false, _, _) => Route::Theirs { sets: theirs },
        (true, false, _) => Route::Ours { set: names::resource_set(stack, &addon.name) },
        (true, true, Some(_)) if !addon.values.is_empty() => Route::Nothing,
        (true, true, Some(label)) => Route::Missing {
            message: format!(
                "no ClusterResourceSet of this namespace selects the label `{}={}`: make one, or name resources in the add-on",
                label.key, label.value
            ),
        },
        (true, true, None) => Route::Nothing,
    }
}

/// The user's sets that select the gate label and bring what the add-on names, or whatever they bring where it names nothing.
fn theirs<'sets>(addon: &Addon, sets: impl IntoIterator<Item = &'sets ClusterResourceSet>) -> Vec<String> {
    let Some(label) = gate::named(addon) else { return Vec::new() };
    let with_label = BTreeMap::from([(label.key.clone(), label.value.clone())]);
    let selecting: Vec<_> = sets
        .into_iter()
        .filter(|set| set.metadata.deletion_timestamp.is_none() && !set.labels().contains_key(labels::STACK))
        .filter(|set| {
            let selector = &set.spec.cluster_selector;
            selector::matches(selector, &with_label) && !selector::matches(selector, &BTreeMap::new())
        })
        .collect();
    let brought = |name: &str, kind| {
        let wanted = ResourceReference { kind, name: name.to_owned() };
        selecting.iter().any(|set| set.spec.resources.contains(&wanted))
    };
    if addon.resources.iter().all(|resource| brought(&resource.name, resource.kind)) {
        let mut names: Vec<_> = selecting.iter().map(|set| set.name_any()).collect();
        names.sort_unstable();
        names
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn set(name: &str, label: &str, resource: &str, of_capt: bool) -> ClusterResourceSet {
        let labels = if of_capt { json!({ labels::STACK: "base" }) } else { json!({}) };
        serde_json::from_value(json!({
            "apiVersion": "addons.cluster.x-k8s.io/v1beta2", "kind": "ClusterResourceSet",
            "metadata": { "name": name, "namespace": "default", "labels": labels },
            "spec": {
                "clusterSelector": { "matchLabels": { label: "true" } },
                "resources": [{ "kind": "ConfigMap", "name": resource }],
            },
        }))
        .unwrap()
    }

    fn told(addon: Value) -> String {
        let sets = [
            set("fluxcd-installer", "fluxcd.io/enabled", "fluxcd-install", false),
            set("base.flux", "fluxcd.io/enabled", "other", true),
        ];
        match route("base", &serde_json::from_value(addon).unwrap(), &sets) {
            Route::Missing { message } => message,
            route => format!("{route:?}"),
        }
    }

    #[rstest]
    #[case::the_users_set(json!({ "name": "flux", "gateLabel": "fluxcd.io/enabled" }),
        "Theirs { sets: [\"fluxcd-installer\"] }")]
    #[case::the_users_set_with_the_named_resources(
        json!({ "name": "flux", "gateLabel": "fluxcd.io/enabled", "resources": [{ "kind": "ConfigMap", "name": "fluxcd-install" }] }),
        "Theirs { sets: [\"fluxcd-installer\"] }")]
    #[case::a_set_of_ours_for_other_resources(
        json!({ "name": "flux", "gateLabel": "fluxcd.io/enabled", "resources": [{ "kind": "Secret", "name": "fluxcd-install" }] }),
        "Ours { set: \"base.flux\" }")]
    #[case::a_set_of_ours_without_a_label(
        json!({ "name": "flux", "resources": [{ "kind": "ConfigMap", "name": "fluxcd-install" }] }),
        "Ours { set: \"base.flux\" }")]
    #[case::direct(
        json!({ "name": "flux", "delivery": "Direct", "resources": [{ "kind": "ConfigMap", "name": "fluxcd-install" }] }), "Direct")]
    #[case::rendered_is_direct(
        json!({ "name": "flux", "resources": [{ "kind": "ConfigMap", "name": "fluxcd-install", "render": true }] }), "Direct")]
    #[case::values_alone(
        json!({ "name": "v", "values": [{ "namespace": "x", "keys": [{ "output": "cluster_name" }] }] }), "Nothing")]
    #[case::nobody(json!({ "name": "x", "gateLabel": "nobody.selects/this" }),
        "no ClusterResourceSet of this namespace selects the label `nobody.selects/this=true`: make one, or name resources in the add-on")]
    fn resources_find_their_way(#[case] addon: Value, #[case] expected: &str) {
        assert_eq!(told(addon), expected);
    }
}
