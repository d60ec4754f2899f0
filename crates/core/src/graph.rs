//! Which applies need which Workspaces: the order of making and of taking down.

use std::collections::BTreeSet;

use capt_api::WorkspaceTemplateApply;
use capt_api::names::APPLY_SUFFIX;

use crate::tie::{self, ApplyKey};

/// Finds an apply by name.
pub trait Applies {
    /// The apply of this name, if there is one.
    fn get(
        &self,
        key: &ApplyKey,
    ) -> Option<impl std::ops::Deref<Target = WorkspaceTemplateApply> + use<Self>>;
}

/// A Workspace as an apply refers to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The Workspace's actual name.
    pub workspace: String,
    /// The apply that makes it, where one does.
    pub apply: Option<ApplyKey>,
}

/// Resolves a reference by name: an apply of the given namespace that makes a Workspace of this name is meant first, even
/// where its Workspace got another name; otherwise the Workspace of exactly this name.
pub fn resolve(name: &str, namespace: &str, applies: &impl Applies) -> Need {
    let candidates = [format!("{name}{APPLY_SUFFIX}"), name.to_owned()];
    candidates
        .into_iter()
        .map(|name| ApplyKey { namespace: namespace.to_owned(), name })
        .find_map(|key| {
            let apply = applies.get(&key)?;
            Some(Need { workspace: tie::workspace_name(&apply), apply: Some(key) })
        })
        .unwrap_or_else(|| Need { workspace: name.to_owned(), apply: None })
}

/// Every Workspace that an apply needs before its own can be made.
pub fn needs(apply: &WorkspaceTemplateApply, applies: &impl Applies) -> Vec<Need> {
    let own = apply.metadata.namespace.as_deref().unwrap_or_default();
    let waits = apply.spec.wait_for_workspaces.iter().map(|wait| (&wait.name, wait.namespace.as_deref()));
    let outputs = apply.spec.variables_from.iter().filter_map(|source| source.workspace_output_ref.as_ref());
    let outputs = outputs.map(|output| (&output.name, output.namespace.as_deref()));
    waits.chain(outputs).map(|(name, namespace)| resolve(name, namespace.unwrap_or(own), applies)).collect()
}

/// The circle in which applies wait for each other, beginning and ending with `start`, if there is one.
pub fn cycle(start: &WorkspaceTemplateApply, applies: &impl Applies) -> Option<Vec<ApplyKey>> {
    path(start, &ApplyKey::of(start), applies)
}

/// The way from one apply to another along what each needs, if there is one.
pub fn path(from: &WorkspaceTemplateApply, to: &ApplyKey, applies: &impl Applies) -> Option<Vec<ApplyKey>> {
    let mut visited = BTreeSet::new();
    let mut path = vec![ApplyKey::of(from)];
    let mut open = vec![needed_applies(from, applies)];
    while let Some(candidates) = open.last_mut() {
        match candidates.pop() {
            Some(key) if key == *to => {
                path.push(key);
                return Some(path);
            }
            Some(key) => {
                if visited.insert(key.clone())
                    && let Some(apply) = applies.get(&key)
                {
                    path.push(key);
                    open.push(needed_applies(&apply, applies));
                }
            }
            None => {
                open.pop();
                path.pop();
            }
        }
    }
    None
}

fn needed_applies(apply: &WorkspaceTemplateApply, applies: &impl Applies) -> Vec<ApplyKey> {
    needs(apply, applies).into_iter().filter_map(|need| need.apply).collect()
}

/// Words a circle for people.
pub fn describe(cycle: &[ApplyKey]) -> String {
    cycle.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" → ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    #[derive(Default)]
    struct Known(BTreeMap<ApplyKey, Arc<WorkspaceTemplateApply>>);

    impl Applies for Known {
        fn get(
            &self,
            key: &ApplyKey,
        ) -> Option<impl std::ops::Deref<Target = WorkspaceTemplateApply> + use<>> {
            self.0.get(key).cloned()
        }
    }

    fn known(waits: &[(&str, &[&str])]) -> Known {
        let applies = waits.iter().map(|(name, waits)| {
            let waits: Vec<_> = waits.iter().map(|name| json!({ "name": name })).collect();
            let apply: WorkspaceTemplateApply = serde_json::from_value(json!({
                "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplateApply",
                "metadata": { "name": name, "namespace": "a" },
                "spec": { "templateRef": { "name": "t" }, "waitForWorkspaces": waits },
            }))
            .unwrap();
            (ApplyKey::of(&apply), Arc::new(apply))
        });
        Known(applies.collect())
    }

    fn cycle_from(name: &str, known: &Known) -> Option<String> {
        let key = ApplyKey { namespace: "a".to_owned(), name: name.to_owned() };
        cycle(&known.get(&key).unwrap(), known).map(|cycle| describe(&cycle))
    }

    #[test]
    fn a_circle_is_told_as_a_path() {
        let known =
            known(&[("one-apply", &["two"]), ("two-apply", &["three", "four"]), ("three-apply", &["one"])]);
        assert_eq!(
            cycle_from("one-apply", &known).as_deref(),
            Some("`a/one-apply` → `a/two-apply` → `a/three-apply` → `a/one-apply`")
        );
    }

    #[test]
    fn an_apply_that_waits_for_itself_is_a_circle() {
        assert_eq!(
            cycle_from("one-apply", &known(&[("one-apply", &["one"])])).as_deref(),
            Some("`a/one-apply` → `a/one-apply`")
        );
    }

    #[test]
    fn a_circle_of_others_is_not_ours() {
        let known = known(&[("one-apply", &["two"]), ("two-apply", &["three"]), ("three-apply", &["two"])]);
        assert_eq!(cycle_from("one-apply", &known), None);
    }

    #[test]
    fn two_ways_to_one_workspace_are_no_circle() {
        let known = known(&[
            ("one-apply", &["two", "three"]),
            ("two-apply", &["four"]),
            ("three-apply", &["four"]),
            ("four-apply", &[]),
        ]);
        assert_eq!(cycle_from("one-apply", &known), None);
    }

    #[test]
    fn a_reference_means_the_apply_of_the_same_namespace_first() {
        let mut known = known(&[("vpc-apply", &[])]);
        let (key, apply) = known.0.pop_first().unwrap();
        let mut apply = Arc::unwrap_or_clone(apply);
        let name = (capt_api::names::annotation::WORKSPACE_NAME.to_owned(), "vpc-12345678".to_owned());
        apply.metadata.annotations = Some([name].into());
        known.0.insert(key.clone(), Arc::new(apply));
        assert_eq!(
            resolve("vpc", "a", &known),
            Need { workspace: "vpc-12345678".to_owned(), apply: Some(key) }
        );
        assert_eq!(resolve("vpc", "b", &known), Need { workspace: "vpc".to_owned(), apply: None });
    }
}
