//! `ClusterClasses` of Cluster API, as far as they lead to CAPT's kinds, and the Clusters that are made from them.

use capt_api::names::group;
use serde_json::Value;

use super::catalog::Catalog;
use super::near::instead;
use super::object::Object;
use super::reference::{Target, follow, text};
use super::report::Report;

const CLASS: &str = "ClusterClass";

/// What a class refers to: the field, and the group and kind of CAPT that belong there.
const TEMPLATES: [(&str, &str, &str); 2] = [
    ("spec.infrastructure", group::INFRASTRUCTURE, "CAPTClusterTemplate"),
    ("spec.controlPlane", group::CONTROL_PLANE, "CAPTControlPlaneTemplate"),
];

/// CAPT's kinds that somebody may write where one of the above belongs.
const OURS: [&str; 4] =
    ["CAPTCluster", "CAPTClusterTemplate", "CAPTControlPlane", "CAPTControlPlaneTemplate"];

/// What Cluster API itself gives to patches.
const BUILT_IN: &str = "builtin";

/// Tells of classes that lead nowhere, and of Clusters that do not fit their class.
pub(super) fn check(catalog: &Catalog<'_>, report: &mut Report<'_>) {
    for class in catalog.of(group::CLUSTER, CLASS) {
        for (path, group, kind) in TEMPLATES {
            template(class, path, (group, kind), catalog, report);
        }
        patches(class, report);
    }
    for cluster in catalog.of(group::CLUSTER, "Cluster") {
        topology(cluster, catalog, report);
    }
}

fn template(
    class: &Object,
    path: &str,
    (group, kind): (&str, &str),
    catalog: &Catalog<'_>,
    report: &mut Report<'_>,
) {
    if text(class, &format!("{path}.ref.name")).is_some() {
        let message = format!("`{path}.ref` was the field of v1beta1; write `templateRef`");
        report.error(class, &format!("{path}.ref"), message);
        return;
    }
    let path = format!("{path}.templateRef");
    let field = |name: &str| text(class, &format!("{path}.{name}"));
    let (Some(api_version), Some(found), Some(name)) = (field("apiVersion"), field("kind"), field("name"))
    else {
        return;
    };
    let found_group = api_version.split_once('/').map_or("", |(group, _)| group);
    if (found_group, found) == (group, kind) {
        let target = Target { group, kind, namespace: class.namespace(), name };
        follow(class, &format!("{path}.name"), &target, catalog, report);
    } else if OURS.contains(&found) {
        let message = format!(
            "`{path}` names a {found} of `{api_version}`; write `apiVersion: {group}/v1beta1` and `kind: {kind}`"
        );
        report.error(class, &format!("{path}.kind"), message);
    }
}

/// The entries of a list.
fn list<'object>(object: &'object Value, pointer: &str) -> &'object [Value] {
    object.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn name(entry: &Value) -> Option<&str> {
    entry.get("name").and_then(Value::as_str)
}

/// The variables that a class declares.
fn declared(class: &Object) -> Vec<&str> {
    list(&class.value, "/spec/variables").iter().filter_map(name).collect()
}

/// Patches that read what nobody gives.
fn patches(class: &Object, report: &mut Report<'_>) {
    let known = declared(class);
    for (first, patch) in list(&class.value, "/spec/patches").iter().enumerate() {
        for (second, definition) in list(patch, "/definitions").iter().enumerate() {
            for (third, change) in list(definition, "/jsonPatches").iter().enumerate() {
                let variable = change.pointer("/valueFrom/variable").and_then(Value::as_str);
                let root = variable.map(|path| path.split(['.', '[']).next().unwrap_or_default());
                let Some(root) = root.filter(|root| *root != BUILT_IN && !known.contains(root)) else {
                    continue;
                };
                let path = format!(
                    "spec.patches[{first}].definitions[{second}].jsonPatches[{third}].valueFrom.variable"
                );
                let message = format!(
                    "this class has no variable `{root}` in `spec.variables`; {}",
                    instead(root, &known)
                );
                report.error(class, &path, message);
            }
        }
    }
}

fn topology(cluster: &Object, catalog: &Catalog<'_>, report: &mut Report<'_>) {
    if let Some(class) = text(cluster, "spec.topology.class") {
        let message =
            format!("`spec.topology.class` was the field of v1beta1; write `classRef: {{name: {class}}}`");
        report.error(cluster, "spec.topology.class", message);
        return;
    }
    let Some(class) = text(cluster, "spec.topology.classRef.name") else { return };
    let namespace = text(cluster, "spec.topology.classRef.namespace").unwrap_or(cluster.namespace());
    let target = Target { group: group::CLUSTER, kind: CLASS, namespace, name: class };
    let Some(class) = follow(cluster, "spec.topology.classRef.name", &target, catalog, report) else {
        return;
    };
    variables(cluster, class, report);
}

/// Whether a Cluster gives what its class asks for, and nothing else. Classes of somebody who patches from outside may take more
/// variables than they declare.
fn variables(cluster: &Object, class: &Object, report: &mut Report<'_>) {
    let patched = list(&class.value, "/spec/patches").iter().any(|patch| patch.get("external").is_some());
    let known = declared(class);
    let given = list(&cluster.value, "/spec/topology/variables");
    for (index, variable) in given.iter().enumerate() {
        if let Some(name) = name(variable).filter(|name| !patched && !known.contains(name)) {
            let message =
                format!("{CLASS} `{}` has no variable `{name}`; {}", class.key.name, instead(name, &known));
            report.error(cluster, &format!("spec.topology.variables[{index}].name"), message);
        }
    }
    for variable in list(&class.value, "/spec/variables") {
        let required = variable.get("required").and_then(Value::as_bool) == Some(true);
        let default = variable.pointer("/schema/openAPIV3Schema/default").is_some();
        let is_given = |wanted: &str| given.iter().any(|given| name(given) == Some(wanted));
        if let Some(name) = name(variable).filter(|name| required && !default && !is_given(name)) {
            let message = format!(
                "{CLASS} `{}` needs the variable `{name}`; write `- name: {name}` and its `value` below `spec.topology.variables`",
                class.key.name
            );
            report.error(cluster, "spec.topology.variables", message);
        }
    }
}
