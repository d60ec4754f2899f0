//! The clusters of the files that a stack selects, and what their modules give.

use std::collections::{BTreeMap, BTreeSet};

use capt_api::AddonStack;
use capt_api::names::group;
use serde_json::Value;

use super::super::catalog::Catalog;
use super::super::finding::Severity;
use super::super::near::nearest;
use super::super::object::Object;
use super::super::reference::text;
use super::super::report::Report;
use super::super::template::module_of;
use crate::selector;

/// The control planes of the clusters that a stack brings add-ons to, as far as the files tell.
pub(super) struct Clusters<'catalog> {
    control_planes: Vec<&'catalog Object>,
    /// By the name of each template: its outputs.
    outputs: BTreeMap<&'catalog str, BTreeSet<String>>,
    /// The selector selects them; otherwise they are all that it may select.
    selected: bool,
}

impl<'catalog> Clusters<'catalog> {
    pub(super) fn of(object: &Object, stack: &AddonStack, catalog: &'catalog Catalog<'_>) -> Self {
        let namespace = object.namespace();
        let control_plane =
            |name: &str| catalog.find(group::CONTROL_PLANE, "CAPTControlPlane", namespace, name);
        let chosen: Vec<&Object> = catalog
            .of(group::CLUSTER, "Cluster")
            .filter(|cluster| cluster.namespace() == namespace)
            .filter(|cluster| selector::matches(&stack.spec.cluster_selector, &labels(cluster)))
            .filter_map(|cluster| control_plane(text(cluster, "spec.controlPlaneRef.name")?))
            .collect();
        let selected = !chosen.is_empty();
        // Those of Clusters that are not selected are not meant; of one whose Cluster is not in the files nobody knows.
        let is_free = |one: &&Object| {
            let mut clusters =
                catalog.of(group::CLUSTER, "Cluster").filter(|other| other.namespace() == namespace);
            !clusters.any(|other| text(other, "spec.controlPlaneRef.name") == Some(&one.key.name))
        };
        let all = || {
            let all = catalog.of(group::CONTROL_PLANE, "CAPTControlPlane");
            all.filter(|one| one.namespace() == namespace).filter(is_free)
        };
        let control_planes = if selected { chosen } else { all().collect() };
        let templates = control_planes.iter().filter_map(|one| {
            let name = text(one, "spec.workspaceTemplateRef.name")?;
            let namespace = text(one, "spec.workspaceTemplateRef.namespace").unwrap_or(one.namespace());
            catalog.find(group::INFRASTRUCTURE, "WorkspaceTemplate", namespace, name)
        });
        let outputs = templates
            .filter_map(|template| Some((template.key.name.as_str(), module_of(template)?)))
            .map(|(name, module)| (name, module.outputs.into_keys().collect()))
            .collect();
        Self { control_planes, outputs, selected }
    }

    /// The outputs that all of them have; `None` where that is not known.
    pub(super) fn known_outputs(&self) -> Option<BTreeSet<String>> {
        let mut all = self.outputs.values();
        let first = all.next().filter(|_| self.selected || self.outputs.len() == 1)?;
        Some(all.fold(first.clone(), |common, others| common.intersection(others).cloned().collect()))
    }

    /// The versions of Kubernetes of those that are selected.
    pub(super) fn versions(&self) -> Vec<String> {
        let chosen = self.control_planes.iter().filter(|_| self.selected);
        let versions: BTreeSet<String> =
            chosen.filter_map(|one| text(one, "spec.version")).map(str::to_owned).collect();
        versions.into_iter().collect()
    }
}

fn labels(object: &Object) -> BTreeMap<String, String> {
    let labels = object.value.pointer("/metadata/labels").and_then(Value::as_object).into_iter().flatten();
    labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

/// Tells of outputs that a stack asks for and a module does not give.
pub(super) fn outputs(object: &Object, stack: &AddonStack, clusters: &Clusters<'_>, report: &mut Report<'_>) {
    if !clusters.selected && clusters.outputs.len() != 1 {
        return;
    }
    let severity = if clusters.selected { Severity::Error } else { Severity::Warning };
    for (template, outputs) in &clusters.outputs {
        let known: Vec<&str> = outputs.iter().map(String::as_str).collect();
        for (index, addon) in stack.spec.addons.iter().enumerate() {
            for (number, secret) in addon.values.iter().enumerate() {
                for (place, key) in secret.keys.iter().enumerate() {
                    if outputs.contains(&key.output) || key.optional || key.default.is_some() {
                        continue;
                    }
                    let path = format!("spec.addons[{index}].values[{number}].keys[{place}].output");
                    let message = unknown(template, &key.output, &known);
                    report.tell_of(object, &path, severity, message);
                }
            }
        }
    }
}

fn unknown(template: &str, output: &str, known: &[&str]) -> String {
    let message = format!("WorkspaceTemplate `{template}` has no output `{output}`");
    match nearest(output, known.iter().copied()) {
        Some(near) => format!("{message}; write `{near}`"),
        None => {
            format!("{message}; add it to the module, give the key a `default`, or write `optional: true`")
        }
    }
}
