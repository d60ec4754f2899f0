//! References from one object to another.

use capt_api::names::{RESOURCE_SET_SECRET_TYPE, group};
use serde_json::Value;

use super::catalog::Catalog;
use super::near::nearest;
use super::node::steps;
use super::object::Object;
use super::report::Report;

/// How many objects are looked through for the one that was meant.
const COMPARED: usize = 500;

/// Where the kinds with a template to refer to have it.
const TEMPLATES: [(&str, &str, &str); 5] = [
    (group::INFRASTRUCTURE, "WorkspaceTemplateApply", "spec.templateRef"),
    (group::INFRASTRUCTURE, "CAPTCluster", "spec.vpcTemplateRef"),
    (group::INFRASTRUCTURE, "CAPTClusterTemplate", "spec.template.spec.vpcTemplateRef"),
    (group::CONTROL_PLANE, "CAPTControlPlane", "spec.workspaceTemplateRef"),
    (group::CONTROL_PLANE, "CAPTControlPlaneTemplate", "spec.template.spec.workspaceTemplateRef"),
];

/// What a Cluster refers to: the field, the group and the kind of CAPT that belong there.
const OF_CLUSTERS: [(&str, &str, &str); 2] = [
    ("spec.infrastructureRef", group::INFRASTRUCTURE, "CAPTCluster"),
    ("spec.controlPlaneRef", group::CONTROL_PLANE, "CAPTControlPlane"),
];

/// Tells of references that lead nowhere, or to something else.
pub(super) fn check(catalog: &Catalog<'_>, report: &mut Report<'_>) {
    for object in catalog.objects() {
        for (group, kind, path) in TEMPLATES {
            if object.is(group, kind) {
                template(object, path, catalog, report);
            }
        }
        if object.is(group::CLUSTER, "Cluster") {
            for (path, group, kind) in OF_CLUSTERS {
                of_cluster(object, path, (group, kind), catalog, report);
            }
        }
        if object.is(group::ADDONS, "ClusterResourceSet") {
            resources(object, "spec.resources", catalog, report);
        }
        if object.is(group::ADDONS, "AddonStack") {
            let addons = object.value.pointer("/spec/addons").and_then(Value::as_array).map_or(0, Vec::len);
            for index in 0..addons {
                resources(object, &format!("spec.addons[{index}].resources"), catalog, report);
            }
        }
    }
}

/// A text of an object; `None` where it is not there or something else.
pub(super) fn text<'object>(object: &'object Object, path: &str) -> Option<&'object str> {
    object.node.get(&steps(path))?.text().filter(|text| !text.is_empty())
}

/// What an object refers to.
pub(super) struct Target<'target> {
    pub(super) group: &'target str,
    pub(super) kind: &'target str,
    pub(super) namespace: &'target str,
    pub(super) name: &'target str,
}

/// Finds what is referred to, and tells where it is not there.
pub(super) fn follow<'catalog>(
    object: &Object,
    path: &str,
    target: &Target<'_>,
    catalog: &'catalog Catalog<'_>,
    report: &mut Report<'_>,
) -> Option<&'catalog Object> {
    let Target { group, kind, namespace, name } = *target;
    let found = catalog.find(group, kind, namespace, name);
    if found.is_none() && !catalog.is_elsewhere(kind, namespace, name) {
        let of_kind = || catalog.of(group, kind).take(COMPARED);
        let elsewhere = of_kind().find(|other| other.key.name == name);
        let names =
            of_kind().filter(|other| other.namespace() == namespace).map(|other| other.key.name.as_str());
        let hint = match (elsewhere, nearest(name, names)) {
            (Some(other), _) => format!("one of that name is in namespace `{}`", other.namespace()),
            (None, Some(near)) => format!("perhaps `{near}` is meant"),
            (None, None) => {
                format!("add it, or say `--elsewhere {kind}/{name}` if it is in the cluster already")
            }
        };
        let message = format!("{kind} `{name}` is not in these files (namespace `{namespace}`); {hint}");
        report.warning(object, path, message);
    }
    found
}

fn template(object: &Object, path: &str, catalog: &Catalog<'_>, report: &mut Report<'_>) {
    let name_path = format!("{path}.name");
    let Some(name) = text(object, &name_path) else { return };
    let namespace = text(object, &format!("{path}.namespace")).unwrap_or(object.namespace());
    // A placeholder of a ClusterClass or of another tool is nothing to be followed.
    if name.contains("${") {
        return;
    }
    let target = Target { group: group::INFRASTRUCTURE, kind: "WorkspaceTemplate", namespace, name };
    follow(object, &name_path, &target, catalog, report);
}

fn of_cluster(
    object: &Object,
    path: &str,
    (group, kind): (&str, &str),
    catalog: &Catalog<'_>,
    report: &mut Report<'_>,
) {
    let field = |name: &str| text(object, &format!("{path}.{name}"));
    let (Some(found_group), Some(found_kind), Some(name)) = (field("apiGroup"), field("kind"), field("name"))
    else {
        return;
    };
    let is_ours = OF_CLUSTERS.iter().any(|(_, _, ours)| *ours == found_kind);
    if (found_group, found_kind) == (group, kind) {
        let target = Target { group, kind, namespace: object.namespace(), name };
        follow(object, &format!("{path}.name"), &target, catalog, report);
    } else if is_ours {
        report.error(
            object,
            &format!("{path}.kind"),
            format!("`{path}` names a {found_kind} of `{found_group}`; write `apiGroup: {group}` and `kind: {kind}`"),
        );
    }
}

/// `ConfigMaps` and Secrets with manifests.
fn resources(object: &Object, path: &str, catalog: &Catalog<'_>, report: &mut Report<'_>) {
    let count =
        object.value.pointer(&format!("/{}", pointer(path))).and_then(Value::as_array).map_or(0, Vec::len);
    for index in 0..count {
        let item = format!("{path}[{index}]");
        let (kind_path, name_path) = (format!("{item}.kind"), format!("{item}.name"));
        let (Some(kind), Some(name)) = (text(object, &kind_path), text(object, &name_path)) else { continue };
        let other = match kind {
            "ConfigMap" => "Secret",
            "Secret" => "ConfigMap",
            _ => continue,
        };
        let namespace = object.namespace();
        if catalog.find("", kind, namespace, name).is_none()
            && catalog.find("", other, namespace, name).is_some()
        {
            report.error(
                object,
                &kind_path,
                format!("`{name}` is a {other} in these files, and not a {kind}; write `kind: {other}`"),
            );
            continue;
        }
        let target = Target { group: "", kind, namespace, name };
        let Some(found) = follow(object, &name_path, &target, catalog, report) else { continue };
        let type_ = text(found, "type").unwrap_or("Opaque");
        if kind == "Secret" && type_ != RESOURCE_SET_SECRET_TYPE {
            report.error(
                object,
                &name_path,
                format!(
                    "Secret `{name}` is of the type `{type_}`, and is not delivered; write `type: {RESOURCE_SET_SECRET_TYPE}` \
                     in it, and manifests as its values"
                ),
            );
        }
    }
}

/// A path as a pointer in JSON, without its first slash.
pub(super) fn pointer(path: &str) -> String {
    path.replace(['.', '['], "/").replace(']', "")
}
