//! What `ClusterResourceSets` have done for an add-on in a cluster, by what they write down.

use capt_api::names::condition as type_;
use capt_api::resource_set::{ResourceBinding, ResourceReference, Strategy};
use capt_api::{ClusterResourceSet, ClusterResourceSetBinding};
use kube::ResourceExt as _;

use super::decide::Sets;
use super::route::Route;
use crate::condition::{Truth, cut, find};

/// How much of a set's own words is told.
const LONGEST_WORDS: usize = 300;

/// What `ClusterResourceSets` write down.
#[derive(Debug)]
pub struct Written<'written> {
    /// The sets of the namespace.
    pub sets: Vec<&'written ClusterResourceSet>,
    /// What was brought to the cluster.
    pub binding: Option<&'written ClusterResourceSetBinding>,
    /// Whether Cluster API's own controller brings them, whose `Reconcile` takes away what Flux wrote.
    pub by_core: bool,
}

/// What they have done. `hash` tells what is in a resource now.
pub fn sets(route: &Route, written: &Written<'_>, hash: impl Fn(&ResourceReference) -> Option<Now>) -> Sets {
    let names = match route {
        Route::Theirs { sets } => sets.clone(),
        Route::Ours { set } => vec![set.clone()],
        Route::Direct | Route::Nothing | Route::Missing { .. } => Vec::new(),
    };
    let mut remarks = Vec::new();
    for name in names {
        let Some(set) = written.sets.iter().find(|set| set.name_any() == name) else {
            return Sets::Waiting(format!("ClusterResourceSet `{name}` is being made"));
        };
        for resource in &set.spec.resources {
            match of_resource(set, resource, written, &hash) {
                Sets::Applied { remark } => remarks.extend(remark),
                other => return other,
            }
        }
    }
    let remark = (!remarks.is_empty()).then(|| remarks.join("; "));
    Sets::Applied { remark }
}

/// What is in a resource now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Now {
    /// Cluster API's hash of it.
    pub hash: String,
    /// Whether it holds objects of Flux.
    pub flux: bool,
}

fn of_resource(
    set: &ClusterResourceSet,
    resource: &ResourceReference,
    written: &Written<'_>,
    hash: &impl Fn(&ResourceReference) -> Option<Now>,
) -> Sets {
    let name = set.name_any();
    let described = format!("{} `{}`", resource.kind.as_str(), resource.name);
    let Some(entry) = entry(&name, resource, written) else {
        return Sets::Waiting(format!(
            "ClusterResourceSet `{name}` has not brought {described} yet{}",
            words(set)
        ));
    };
    if !entry.applied {
        return Sets::Failed(format!(
            "ClusterResourceSet `{name}` could not bring {described}{}",
            words(set)
        ));
    }
    let now = hash(resource);
    let changed = now.as_ref().is_some_and(|now| entry.hash.as_ref() != Some(&now.hash));
    let remark = match set.spec.strategy {
        Strategy::Reconcile if changed => {
            return Sets::Waiting(format!(
                "ClusterResourceSet `{name}` has not brought the change of {described} yet"
            ));
        }
        Strategy::ApplyOnce if changed => Some(format!(
            "{described} was changed after ClusterResourceSet `{name}` brought it, which it does only once: write delivery: \
             Direct to have changes brought"
        )),
        Strategy::Reconcile if written.by_core && now.is_some_and(|now| now.flux) => Some(format!(
            "ClusterResourceSet `{name}` has the strategy Reconcile, which takes finalizers and annotations off objects of \
             Flux: use ApplyOnce"
        )),
        Strategy::Reconcile | Strategy::ApplyOnce => None,
    };
    Sets::Applied { remark }
}

fn entry<'written>(
    set: &str,
    resource: &ResourceReference,
    written: &Written<'written>,
) -> Option<&'written ResourceBinding> {
    let bindings = written.binding?.spec.bindings.iter();
    let mut of_set = bindings.filter(|binding| binding.cluster_resource_set_name == set);
    of_set.find_map(|binding| {
        binding.resources.iter().find(|entry| entry.kind == resource.kind && entry.name == resource.name)
    })
}

/// What a set says of itself where it is not well.
fn words(set: &ClusterResourceSet) -> String {
    let conditions = set.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default();
    match find(conditions, type_::RESOURCES_APPLIED) {
        Some(told) if told.status != Truth::True.as_str() && !told.message.is_empty() => {
            format!(": {}", cut(&told.message, LONGEST_WORDS))
        }
        Some(_) | None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn set(strategy: &str, trouble: &str) -> ClusterResourceSet {
        let status = if trouble.is_empty() { "True" } else { "False" };
        serde_json::from_value(json!({
            "apiVersion": "addons.cluster.x-k8s.io/v1beta2", "kind": "ClusterResourceSet",
            "metadata": { "name": "fluxcd-installer" },
            "spec": {
                "clusterSelector": { "matchLabels": { "fluxcd.io/enabled": "true" } }, "strategy": strategy,
                "resources": [{ "kind": "ConfigMap", "name": "fluxcd-install" }],
            },
            "status": { "conditions": [{
                "type": "ResourcesApplied", "status": status, "reason": "X", "message": trouble,
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }] },
        }))
        .unwrap()
    }

    fn binding(applied: bool, hash: &str) -> ClusterResourceSetBinding {
        serde_json::from_value(json!({
            "apiVersion": "addons.cluster.x-k8s.io/v1beta2", "kind": "ClusterResourceSetBinding",
            "metadata": { "name": "prod" },
            "spec": { "clusterName": "prod", "bindings": [{
                "clusterResourceSetName": "fluxcd-installer",
                "resources": [{ "kind": "ConfigMap", "name": "fluxcd-install", "applied": applied, "hash": hash }],
            }] },
        }))
        .unwrap()
    }

    #[rstest]
    #[case::nothing_yet(
        "ApplyOnce",
        "",
        None,
        false,
        "waits: ClusterResourceSet `fluxcd-installer` has not brought ConfigMap `fluxcd-install` yet"
    )]
    #[case::with_its_words(
        "ApplyOnce",
        "no such Secret",
        None,
        false,
        "waits: ClusterResourceSet `fluxcd-installer` has not brought ConfigMap `fluxcd-install` yet: no such Secret"
    )]
    #[case::brought("ApplyOnce", "", Some((true, "sha256:a")), false, "applied")]
    #[case::failed("ApplyOnce", "refused", Some((false, "sha256:a")), false,
        "failed: ClusterResourceSet `fluxcd-installer` could not bring ConfigMap `fluxcd-install`: refused")]
    #[case::changed_later("ApplyOnce", "", Some((true, "sha256:b")), false,
        "applied: ConfigMap `fluxcd-install` was changed after ClusterResourceSet `fluxcd-installer` brought it, which it does only once: write delivery: Direct to have changes brought")]
    #[case::a_change_on_its_way("Reconcile", "", Some((true, "sha256:b")), false,
        "waits: ClusterResourceSet `fluxcd-installer` has not brought the change of ConfigMap `fluxcd-install` yet")]
    #[case::flux_objects_by_core("Reconcile", "", Some((true, "sha256:a")), true,
        "applied: ClusterResourceSet `fluxcd-installer` has the strategy Reconcile, which takes finalizers and annotations off objects of Flux: use ApplyOnce")]
    #[case::flux_objects_by_us("Reconcile", "", Some((true, "sha256:a")), false, "applied")]
    fn what_sets_write_down_is_told(
        #[case] strategy: &str,
        #[case] trouble: &str,
        #[case] entry: Option<(bool, &str)>,
        #[case] by_core: bool,
        #[case] expected: &str,
    ) {
        let set = set(strategy, trouble);
        let binding = entry.map(|(applied, hash)| binding(applied, hash));
        let written = Written { sets: vec![&set], binding: binding.as_ref(), by_core };
        let route = Route::Theirs { sets: vec!["fluxcd-installer".to_owned()] };
        let now = |_: &ResourceReference| Some(Now { hash: "sha256:a".to_owned(), flux: true });
        let told = match sets(&route, &written, now) {
            Sets::Applied { remark: None } => "applied".to_owned(),
            Sets::Applied { remark: Some(remark) } => format!("applied: {remark}"),
            Sets::Waiting(message) => format!("waits: {message}"),
            Sets::Failed(message) => format!("failed: {message}"),
        };
        assert_eq!(told, expected);
    }

    #[test]
    fn a_set_of_ours_that_is_not_there_yet_is_waited_for() {
        let written = Written { sets: Vec::new(), binding: None, by_core: false };
        let told = sets(&Route::Ours { set: "base.flux".to_owned() }, &written, |_| None);
        assert_eq!(told, Sets::Waiting("ClusterResourceSet `base.flux` is being made".to_owned()));
    }
}
