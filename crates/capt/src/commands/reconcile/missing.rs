//! Why there is nothing to bring, and what to do.

use std::collections::BTreeMap;

use anyhow::Context;
use capt_api::{AddonStack, Cluster};
use capt_core::selector::matches;
use kube::api::{Api, ListParams};
use kube::core::Selector;
use kube::{Client, ResourceExt};

use super::target::Target;

/// Looks at what there is, and says why none of it is bound.
pub(super) async fn why(client: &Client, namespace: &str, target: &Target) -> anyhow::Result<String> {
    let stacks: Api<AddonStack> = Api::namespaced(client.clone(), namespace);
    let stacks = stacks.list(&ListParams::default()).await.context("listing AddonStacks")?.items;
    let labels = match target {
        Target::Stack { cluster: None, .. } => None,
        Target::Cluster(name) | Target::Stack { cluster: Some(name), .. } => {
            let clusters: Api<Cluster> = Api::namespaced(client.clone(), namespace);
            let found = clusters.get_metadata_opt(name).await;
            let found = found.with_context(|| format!("reading Cluster `{name}`"))?;
            found.map(|cluster| cluster.labels().clone())
        }
    };
    Ok(sentence(namespace, target, &stacks, labels.as_ref()))
}

fn sentence(
    namespace: &str,
    target: &Target,
    stacks: &[AddonStack],
    labels: Option<&BTreeMap<String, String>>,
) -> String {
    let wanted = match target {
        Target::Cluster(_) => None,
        Target::Stack { name, .. } => Some(name),
    };
    let cluster = match target {
        Target::Cluster(name) | Target::Stack { cluster: Some(name), .. } => Some(name),
        Target::Stack { cluster: None, .. } => None,
    };
    let stacks: Vec<_> =
        stacks.iter().filter(|stack| wanted.is_none_or(|name| stack.name_any() == *name)).collect();
    match (wanted, stacks.as_slice(), cluster, labels) {
        (Some(name), [], ..) => format!("there is no AddonStack `{name}` in the namespace {namespace}"),
        (_, _, Some(cluster), None) => {
            format!("there is no Cluster `{cluster}` in the namespace {namespace}")
        }
        (None, [], ..) => format!("there is no AddonStack in the namespace {namespace}: make one first"),
        (_, stacks, Some(cluster), Some(labels)) => {
            let selects = |stack: &&&AddonStack| matches(&stack.spec.cluster_selector, labels);
            match stacks.iter().find(selects) {
                Some(stack) => format!(
                    "AddonStack `{}` selects Cluster `{cluster}`, but CAPT has not come to it yet: see whether a manager \
                     runs (`capt manager`, `capt up`)",
                    stack.name_any()
                ),
                None => format!(
                    "no AddonStack brings anything to Cluster `{cluster}`: give it a label that one selects ({})",
                    selections(stacks)
                ),
            }
        }
        (_, stacks, None, _) => format!(
            "no Cluster of the namespace {namespace} is selected: give one a label that the stack selects ({})",
            selections(stacks)
        ),
    }
}

/// What stacks select, in the words of `kubectl get --selector`.
fn selections(stacks: &[&AddonStack]) -> String {
    let selection = |stack: &&AddonStack| {
        let selector = Selector::try_from(stack.spec.cluster_selector.clone()).ok()?;
        Some(format!("AddonStack `{}` selects {selector}", stack.name_any()))
    };
    stacks.iter().filter_map(selection).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn stack(name: &str, value: &str) -> AddonStack {
        serde_json::from_value(json!({
            "apiVersion": "addons.cluster.x-k8s.io/v1alpha1", "kind": "AddonStack", "metadata": { "name": name },
            "spec": { "clusterSelector": { "matchLabels": { "addons": value } }, "addons": [] },
        }))
        .unwrap()
    }

    fn in_cluster(name: Option<&str>) -> Target {
        Target::Stack { name: "base".to_owned(), cluster: name.map(ToOwned::to_owned) }
    }

    #[rstest]
    #[case::no_stack(in_cluster(None), &[], None, "there is no AddonStack `base` in the namespace team-a")]
    #[case::another_stack(in_cluster(None), &[("other", "x")], None, "there is no AddonStack `base` in the namespace team-a")]
    #[case::no_cluster_selected(in_cluster(None), &[("base", "x")], None, "(AddonStack `base` selects addons=x)")]
    #[case::not_this_cluster(in_cluster(Some("prod")), &[("base", "x"), ("other", "y")], Some("y"), "give it a label that one selects (AddonStack `base` selects addons=x)")]
    #[case::not_bound_yet(in_cluster(Some("prod")), &[("base", "x")], Some("x"), "see whether a manager runs")]
    #[case::no_cluster_there(in_cluster(Some("prod")), &[("base", "x")], None, "there is no Cluster `prod` in the namespace team-a")]
    #[case::no_cluster(Target::Cluster("prod".to_owned()), &[("base", "x")], None, "there is no Cluster `prod` in the namespace team-a")]
    #[case::no_stack_at_all(Target::Cluster("prod".to_owned()), &[], Some("x"), "there is no AddonStack in the namespace team-a")]
    #[case::nobody_selects_it(Target::Cluster("prod".to_owned()), &[("base", "x"), ("other", "y")], Some("z"), "(AddonStack `base` selects addons=x; AddonStack `other` selects addons=y)")]
    #[case::somebody_selects_it(Target::Cluster("prod".to_owned()), &[("base", "x"), ("other", "y")], Some("y"), "AddonStack `other` selects Cluster `prod`, but CAPT has not come to it yet")]
    fn it_is_said_what_is_missing_and_what_to_do(
        #[case] target: Target,
        #[case] stacks: &[(&str, &str)],
        #[case] label: Option<&str>,
        #[case] expected: &str,
    ) {
        let stacks: Vec<_> = stacks.iter().map(|(name, value)| stack(name, value)).collect();
        let labels = label.map(|value| BTreeMap::from([("addons".to_owned(), value.to_owned())]));

        let told = sentence("team-a", &target, &stacks, labels.as_ref());

        assert!(told.contains(expected), "{told}");
    }
}
