//! `HelmReleases` that add-ons brought: they are uninstalled, and what depends on another goes first.

use std::collections::HashSet;

use capt_api::names::annotation;
use capt_core::clearing::Left;
use capt_core::manifest::ObjectKey;
use kube::ResourceExt;
use kube::api::DynamicObject;
use serde_json::json;

use super::objects::{Served, held, name, served};
use super::owners::is_suspended;
use crate::workload::{Failure, Talk};

const VERSIONS: [&str; 3] =
    ["helm.toolkit.fluxcd.io/v2", "helm.toolkit.fluxcd.io/v2beta2", "helm.toolkit.fluxcd.io/v2beta1"];
const KIND: &str = "HelmRelease";

/// The `HelmReleases` of a cluster.
pub(super) struct Releases<'talk> {
    /// How they are reached, where the cluster serves them.
    pub(super) served: Option<Served<'talk>>,
    /// Those that add-ons brought.
    pub(super) brought: Vec<DynamicObject>,
    /// All others.
    pub(super) others: Vec<DynamicObject>,
}

/// Tells apart what add-ons brought: CAPT's annotation is on it, or a `ClusterResourceSet` holds it.
pub(super) async fn find<'talk>(
    talk: &'talk Talk<'talk>,
    brought: &[ObjectKey],
) -> Result<Releases<'talk>, Failure> {
    let Some(releases) = served(talk, &VERSIONS, KIND).await? else {
        return Ok(Releases { served: None, brought: Vec::new(), others: Vec::new() });
    };
    let (brought, others) = releases.all().await?.into_iter().partition(|object| is_ours(object, brought));
    Ok(Releases { served: Some(releases), brought, others })
}

fn is_ours(object: &DynamicObject, brought: &[ObjectKey]) -> bool {
    object.annotations().contains_key(annotation::ADDON)
        || brought.iter().any(|key| {
            key.kind == KIND
                && key.api_version.starts_with("helm.toolkit.fluxcd.io/")
                && key.name == object.name_any()
                && key.namespace.as_deref().unwrap_or(crate::workload::DEFAULT_NAMESPACE)
                    == object.namespace().unwrap_or_default()
        })
}

/// Deletes those that no other needs; answers what is still there.
pub(super) async fn clear(found: &Releases<'_>) -> Result<Vec<Left>, Failure> {
    let Some(releases) = &found.served else { return Ok(Vec::new()) };
    if found.brought.is_empty() {
        return Ok(Vec::new());
    }
    for release in free(&found.brought) {
        // Flux does not uninstall what is suspended.
        if is_suspended(release) {
            releases.change(release, &json!({ "spec": { "suspend": false } })).await?;
        }
        releases.delete(release).await?;
    }
    let there: HashSet<String> = found.brought.iter().map(name).collect();
    let left: Vec<_> =
        releases.all().await?.into_iter().filter(|object| there.contains(&name(object))).collect();
    let going: Vec<_> =
        left.iter().filter(|object| object.metadata.deletion_timestamp.is_some()).cloned().collect();
    let remark = held(&going).map(|held| format!("{held}: helm-controller has to uninstall it"));
    Ok(releases.left(&left, remark).into_iter().collect())
}

/// Those that no other still needs; all of them where they need each other.
fn free(releases: &[DynamicObject]) -> Vec<&DynamicObject> {
    let needed: HashSet<String> = releases.iter().flat_map(needs).collect();
    let free: Vec<_> = releases.iter().filter(|release| !needed.contains(&name(release))).collect();
    if free.is_empty() { releases.iter().collect() } else { free }
}

fn needs(release: &DynamicObject) -> Vec<String> {
    let own = release.namespace().unwrap_or_default();
    let dependencies = release.data["spec"]["dependsOn"].as_array();
    let dependencies = dependencies.into_iter().flatten();
    dependencies
        .filter_map(|entry| {
            let namespace = entry["namespace"].as_str().unwrap_or(&own);
            Some(format!("{namespace}/{}", entry["name"].as_str()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn release(name: &str, depends_on: &Value) -> DynamicObject {
        serde_json::from_value(json!({
            "metadata": { "name": name, "namespace": "kube-system" },
            "spec": { "dependsOn": depends_on },
        }))
        .unwrap()
    }

    fn freed(releases: &[DynamicObject]) -> Vec<String> {
        free(releases).into_iter().map(ResourceExt::name_any).collect()
    }

    #[test]
    fn what_depends_on_another_is_uninstalled_first() {
        let definitions = release("karpenter-crd", &json!(null));
        let karpenter = release("karpenter", &json!([{ "name": "karpenter-crd" }]));
        assert_eq!(freed(&[definitions.clone(), karpenter]), ["karpenter"]);
        assert_eq!(freed(&[definitions]), ["karpenter-crd"]);
    }

    #[test]
    fn what_depends_on_each_other_goes_together() {
        let one = release("one", &json!([{ "name": "other", "namespace": "kube-system" }]));
        let other = release("other", &json!([{ "name": "one" }]));
        assert_eq!(freed(&[one, other]), ["one", "other"]);
    }

    #[test]
    fn dependencies_that_make_no_sense_hold_up_nothing() {
        let odd = [release("a", &json!("b")), release("b", &json!([1, { "name": 2 }, {}]))];
        assert_eq!(freed(&odd), ["a", "b"]);
    }

    #[test]
    fn what_users_installed_themselves_is_not_uninstalled() {
        let key = |namespace: Option<&str>| ObjectKey {
            api_version: "helm.toolkit.fluxcd.io/v2".to_owned(),
            kind: KIND.to_owned(),
            namespace: namespace.map(ToOwned::to_owned),
            name: "karpenter".to_owned(),
        };
        let object = release("karpenter", &json!(null));
        assert!(!is_ours(&object, &[]));
        assert!(is_ours(&object, &[key(Some("kube-system"))]));
        assert!(!is_ours(&object, &[key(None)]), "another of the same name in the namespace `default`");
        let mut claimed = object;
        claimed.annotations_mut().insert(annotation::ADDON.to_owned(), "a/b/c/d".to_owned());
        assert!(is_ours(&claimed, &[]));
    }
}
