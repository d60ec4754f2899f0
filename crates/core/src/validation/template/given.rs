//! Which variables a template is given, as far as the files tell.

use std::collections::BTreeSet;

use capt_api::names::group;
use capt_api::{CAPTControlPlane, WorkspaceTemplateApply};

use super::super::catalog::Catalog;
use super::super::object::Object;
use super::super::reference::text;
use super::{BUILT_IN, module_of};
use crate::{control_plane, network};

/// The names that have a value in a template, and whether anything in the files uses it.
pub(super) struct Given {
    pub(super) names: BTreeSet<String>,
    pub(super) is_used: bool,
}

/// What everything in the files that uses a template gives it. Where nothing does, whatever CAPT's own kinds might give counts:
/// what uses it is elsewhere.
pub(super) fn given(template: &Object, catalog: &Catalog<'_>) -> Given {
    let applies =
        users(template, catalog, group::INFRASTRUCTURE, "WorkspaceTemplateApply", "spec.templateRef");
    let control_planes =
        users(template, catalog, group::CONTROL_PLANE, "CAPTControlPlane", "spec.workspaceTemplateRef");
    let classes = users(
        template,
        catalog,
        group::CONTROL_PLANE,
        "CAPTControlPlaneTemplate",
        "spec.template.spec.workspaceTemplateRef",
    );
    let networks = users(template, catalog, group::INFRASTRUCTURE, "CAPTCluster", "spec.vpcTemplateRef");
    let network_classes = users(
        template,
        catalog,
        group::INFRASTRUCTURE,
        "CAPTClusterTemplate",
        "spec.template.spec.vpcTemplateRef",
    );
    let is_of_control_planes = !control_planes.is_empty() || !classes.is_empty();
    let is_of_networks = !networks.is_empty() || !network_classes.is_empty();
    let is_used = !applies.is_empty() || is_of_control_planes || is_of_networks;

    let mut names: BTreeSet<String> = BUILT_IN.into_iter().map(str::to_owned).collect();
    for apply in applies.iter().filter_map(|object| object.typed::<WorkspaceTemplateApply>()) {
        names.extend(apply.spec.variables.into_keys());
        names.extend(apply.spec.variables_from.into_iter().map(|source| source.variable));
    }
    for object in &control_planes {
        names.extend(
            object.typed::<CAPTControlPlane>().iter().flat_map(control_plane::wanted::variable_names),
        );
    }
    if is_of_control_planes {
        names.extend(outputs_of_networks(catalog));
    }
    // What a class leaves open, its patches may fill in.
    if !classes.is_empty() || !is_used {
        names.extend(control_plane::wanted::VARIABLES.map(str::to_owned));
    }
    if is_of_networks || !is_used {
        names.extend(network::wanted::VARIABLES.map(str::to_owned));
    }
    Given { names, is_used }
}

/// The objects of a kind that refer to a template.
fn users<'catalog>(
    template: &Object,
    catalog: &'catalog Catalog<'_>,
    group: &'catalog str,
    kind: &'catalog str,
    path: &str,
) -> Vec<&'catalog Object> {
    let (name, namespace) = (format!("{path}.name"), format!("{path}.namespace"));
    let uses = |user: &&Object| {
        text(user, &name) == Some(&template.key.name)
            && text(user, &namespace).unwrap_or(user.namespace()) == template.namespace()
    };
    catalog.of(group, kind).filter(uses).collect()
}

/// A module of a control plane is told by name what the module of its network gives.
fn outputs_of_networks(catalog: &Catalog<'_>) -> BTreeSet<String> {
    let template = |object: &Object, path: &str| {
        let name = text(object, &format!("{path}.name"))?;
        let namespace = text(object, &format!("{path}.namespace")).unwrap_or(object.namespace());
        module_of(catalog.find(group::INFRASTRUCTURE, "WorkspaceTemplate", namespace, name)?)
    };
    let made = catalog.of(group::INFRASTRUCTURE, "CAPTCluster");
    let made = made.filter_map(|object| template(object, "spec.vpcTemplateRef"));
    let of_classes = catalog.of(group::INFRASTRUCTURE, "CAPTClusterTemplate");
    let of_classes = of_classes.filter_map(|object| template(object, "spec.template.spec.vpcTemplateRef"));
    made.chain(of_classes).flat_map(|module| module.outputs.into_keys()).collect()
}
