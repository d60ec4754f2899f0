//! `ClusterClasses` of Cluster API, as far as they lead to CAPT's kinds, and the Clusters that are made from them.

mod patches;
mod variables;

use capt_api::names::group;
use serde_json::Value;

use super::catalog::Catalog;
use super::object::Object;
use super::reference::{Target, follow, text};
use super::report::Report;
use super::rules::Rules;
use crate::kubernetes_version::KubernetesVersion;

const CLASS: &str = "ClusterClass";

/// What a class refers to: the field, and the group and kind of CAPT that belong there.
const TEMPLATES: [(&str, &str, &str); 2] = [
    ("spec.infrastructure", group::INFRASTRUCTURE, "CAPTClusterTemplate"),
    ("spec.controlPlane", group::CONTROL_PLANE, "CAPTControlPlaneTemplate"),
];

/// CAPT's kinds that somebody may write where one of the above belongs.
const OURS: [&str; 4] =
    ["CAPTCluster", "CAPTClusterTemplate", "CAPTControlPlane", "CAPTControlPlaneTemplate"];

/// Tells of classes that lead nowhere, and of Clusters that do not fit their class.
pub(super) fn check(catalog: &Catalog<'_>, rules: &mut Rules, report: &mut Report<'_>) {
    for class in catalog.of(group::CLUSTER, CLASS) {
        for (path, group, kind) in TEMPLATES {
            template(class, path, (group, kind), catalog, report);
        }
        patches::check(class, catalog, report);
    }
    for cluster in catalog.of(group::CLUSTER, "Cluster") {
        topology(cluster, catalog, rules, report);
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

fn topology(cluster: &Object, catalog: &Catalog<'_>, rules: &mut Rules, report: &mut Report<'_>) {
    if let Some(class) = text(cluster, "spec.topology.class") {
        let message =
            format!("`spec.topology.class` was the field of v1beta1; write `classRef: {{name: {class}}}`");
        report.error(cluster, "spec.topology.class", message);
        return;
    }
    version(cluster, report);
    let Some(class) = text(cluster, "spec.topology.classRef.name") else { return };
    let namespace = text(cluster, "spec.topology.classRef.namespace").unwrap_or(cluster.namespace());
    let target = Target { group: group::CLUSTER, kind: CLASS, namespace, name: class };
    let Some(class) = follow(cluster, "spec.topology.classRef.name", &target, catalog, report) else {
        return;
    };
    variables::check(cluster, class, rules, report);
}

/// Cluster API takes a version only as it writes them itself. A placeholder of another tool is none yet.
fn version(cluster: &Object, report: &mut Report<'_>) {
    let path = "spec.topology.version";
    let Some(found) = text(cluster, path).filter(|found| !found.contains("${")) else { return };
    let written = KubernetesVersion::parse(found).map(|version| version.to_string());
    if written.as_deref() != Some(found) {
        let instead = written.unwrap_or_else(|| "v1.34.0".to_owned());
        let message =
            format!("Cluster API takes a version with a leading `v` and three numbers; write `{instead}`");
        report.error(cluster, path, message);
    }
}
