//! Applies: whether they give what their templates ask for, and whether what they wait for will come.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Arc;

use capt_api::names::group;
use capt_api::{CAPTCluster, CAPTControlPlane, WorkspaceTemplate, WorkspaceTemplateApply};
use kube::ResourceExt as _;
use serde_json::Value;

use super::catalog::Catalog;
use super::near::instead;
use super::object::Object;
use super::reference::{Target, follow, pointer, text};
use super::report::Report;
use super::template::module_of;
use crate::control_plane;
use crate::graph::{self, Applies};
use crate::template::asks_for;
use crate::tie::ApplyKey;

/// From how many applies circles are looked for.
const MOST: usize = 1_000;

/// Tells what is wrong between applies, their templates and what feeds them.
pub(super) fn check(catalog: &Catalog<'_>, report: &mut Report<'_>) {
    let known = Known::read(catalog);
    for (object, apply) in known.0.values() {
        let template = template_of(object, catalog);
        if let Some(template) = template {
            values(object, apply, template, report);
        }
        config_maps(object, apply, catalog, report);
        workspaces(object, apply, &known, catalog, report);
    }
    let waiting = known.0.values().filter(|(_, apply)| !graph::needs(apply, &known).is_empty());
    for (object, apply) in waiting.take(MOST) {
        circle(object, apply, &known, report);
    }
}

/// The applies of the files.
struct Known<'catalog>(BTreeMap<ApplyKey, (&'catalog Object, Arc<WorkspaceTemplateApply>)>);

impl<'catalog> Known<'catalog> {
    fn read(catalog: &'catalog Catalog<'_>) -> Self {
        let objects = catalog.of(group::INFRASTRUCTURE, "WorkspaceTemplateApply");
        let applies = objects.filter_map(|object| {
            let apply = in_namespace(object)?;
            Some((ApplyKey::of(&apply), (object, Arc::new(apply))))
        });
        Self(applies.collect())
    }
}

/// The apply with the namespace that it will be in.
fn in_namespace(object: &Object) -> Option<WorkspaceTemplateApply> {
    let mut apply: WorkspaceTemplateApply = object.typed()?;
    apply.metadata.namespace = Some(object.namespace().to_owned());
    Some(apply)
}

impl<'catalog> Applies for Known<'catalog> {
    fn get(&self, key: &ApplyKey) -> Option<impl Deref<Target = WorkspaceTemplateApply> + use<'catalog>> {
        self.0.get(key).map(|(_, apply)| Arc::clone(apply))
    }
}

fn template_of<'catalog>(object: &Object, catalog: &'catalog Catalog<'_>) -> Option<&'catalog Object> {
    let name = text(object, "spec.templateRef.name")?;
    let namespace = text(object, "spec.templateRef.namespace").unwrap_or(object.namespace());
    catalog.find(group::INFRASTRUCTURE, "WorkspaceTemplate", namespace, name)
}

/// Values that the template does not ask for, and those that it asks for and does not get.
fn values(object: &Object, apply: &WorkspaceTemplateApply, template: &Object, report: &mut Report<'_>) {
    let Some(asked) = template.typed::<WorkspaceTemplate>().and_then(|typed| asks_for(&typed)) else {
        return;
    };
    let names: Vec<&str> = asked.iter().map(String::as_str).collect();
    let ignored = |name: &str| {
        format!("WorkspaceTemplate `{}` asks for no `{name}`; {}", template.key.name, instead(name, &names))
    };
    for name in apply.spec.variables.keys().filter(|name| !asked.contains(*name)) {
        report.warning(object, &format!("spec.variables.{name}"), ignored(name));
    }
    for (index, source) in apply.spec.variables_from.iter().enumerate() {
        if !asked.contains(&source.variable) {
            report.warning(
                object,
                &format!("spec.variablesFrom[{index}].variable"),
                ignored(&source.variable),
            );
        }
    }
    let Some(given) = given_by_template(template) else { return };
    let own =
        apply.spec.variables.keys().chain(apply.spec.variables_from.iter().map(|source| &source.variable));
    let given: BTreeSet<&str> = given.into_iter().chain(own.map(String::as_str)).collect();
    for (name, variable) in module_of(template).unwrap_or_default().variables {
        if variable.required && !given.contains(name.as_str()) {
            report.error(
                object,
                "spec.variables",
                format!(
                    "the module asks for `{name}`, which has no default; write `{name}: …` below `variables`"
                ),
            );
        }
    }
}

/// The variables that a template gives itself; `None` where they may come from somewhere else.
fn given_by_template(template: &Object) -> Option<Vec<&str>> {
    let module = template.value.pointer("/spec/template/spec/forProvider")?;
    let list = |field: &str| module[field].as_array().map(Vec::as_slice).unwrap_or_default();
    if ["varFiles", "planArgs", "applyArgs", "env"].iter().any(|field| !list(field).is_empty()) {
        return None;
    }
    let keys = list("vars").iter().filter_map(|variable| variable["key"].as_str());
    let map = module["varmap"].as_object().into_iter().flat_map(|map| map.keys()).map(String::as_str);
    Some(keys.chain(map).collect())
}

fn config_maps(
    object: &Object,
    apply: &WorkspaceTemplateApply,
    catalog: &Catalog<'_>,
    report: &mut Report<'_>,
) {
    for (index, source) in apply.spec.variables_from.iter().enumerate() {
        let Some(selector) = source.config_map_key_ref.as_ref().filter(|_| !source.optional) else {
            continue;
        };
        let path = format!("spec.variablesFrom[{index}].configMapKeyRef");
        let namespace = selector.namespace.as_deref().unwrap_or(object.namespace());
        let target = Target { group: "", kind: "ConfigMap", namespace, name: &selector.name };
        let Some(found) = follow(object, &format!("{path}.name"), &target, catalog, report) else { continue };
        let keys =
            |field: &str| found.value[field].as_object().into_iter().flat_map(|data| data.keys()).cloned();
        let keys: Vec<String> = keys("data").chain(keys("binaryData")).collect();
        if !keys.contains(&selector.key) {
            let known: Vec<&str> = keys.iter().map(String::as_str).collect();
            let message = format!(
                "ConfigMap `{}` has no key `{}`; {}",
                selector.name,
                selector.key,
                instead(&selector.key, &known)
            );
            report.error(object, &format!("{path}.key"), message);
        }
    }
}

/// Workspaces that are waited for, and outputs that are taken from them.
fn workspaces(
    object: &Object,
    apply: &WorkspaceTemplateApply,
    known: &Known<'_>,
    catalog: &Catalog<'_>,
    report: &mut Report<'_>,
) {
    for (index, wait) in apply.spec.wait_for_workspaces.iter().enumerate() {
        let namespace = wait.namespace.as_deref().unwrap_or(object.namespace());
        let path = format!("spec.waitForWorkspaces[{index}].name");
        maker(object, &path, &wait.name, namespace, known, catalog, report);
    }
    for (index, source) in apply.spec.variables_from.iter().enumerate() {
        let Some(selector) = &source.workspace_output_ref else { continue };
        let path = format!("spec.variablesFrom[{index}].workspaceOutputRef");
        let namespace = selector.namespace.as_deref().unwrap_or(object.namespace());
        let maker = maker(object, &format!("{path}.name"), &selector.name, namespace, known, catalog, report);
        let template = maker.and_then(|maker| template_of(maker, catalog));
        let Some((template, module)) = template.and_then(|template| Some((template, module_of(template)?)))
        else {
            continue;
        };
        let outputs: Vec<&str> = module.outputs.keys().map(String::as_str).collect();
        let path = format!("{path}.output");
        let output = selector.output.as_str();
        match module.outputs.get(output) {
            None if source.optional => {}
            None => report.error(
                object,
                &path,
                format!(
                    "WorkspaceTemplate `{}` has no output `{output}`; {}",
                    template.key.name,
                    instead(output, &outputs)
                ),
            ),
            Some(found) if found.sensitive => report.error(
                object,
                &path,
                format!(
                    "the output `{output}` is sensitive and only in the connection Secret; use `secretKeyRef`"
                ),
            ),
            Some(_) => {}
        }
    }
}

/// The apply that makes a Workspace; told where nothing in the files does.
fn maker<'catalog>(
    object: &Object,
    path: &str,
    name: &str,
    namespace: &str,
    known: &Known<'catalog>,
    catalog: &Catalog<'_>,
    report: &mut Report<'_>,
) -> Option<&'catalog Object> {
    if let Some(key) = graph::resolve(name, namespace, known).apply {
        return known.0.get(&key).map(|(object, _)| *object);
    }
    let is_there = catalog.of(group::TERRAFORM, "Workspace").any(|workspace| workspace.key.name == name);
    if !is_there && !is_owned(name, namespace, catalog) && !catalog.is_elsewhere("Workspace", namespace, name)
    {
        let message = format!(
            "nothing in these files makes Workspace `{name}`; correct the name, or say `--elsewhere Workspace/{name}` if it is \
             in the cluster already"
        );
        report.warning(object, path, message);
    }
    None
}

/// Whether a network or a control plane of the files makes a Workspace of this name.
fn is_owned(name: &str, namespace: &str, catalog: &Catalog<'_>) -> bool {
    let control_planes = catalog.of(group::CONTROL_PLANE, "CAPTControlPlane").filter_map(Object::typed);
    let applies = control_planes.map(|object: CAPTControlPlane| control_plane::names::apply(&object));
    let networks = catalog.of(group::INFRASTRUCTURE, "CAPTCluster");
    let networks = networks.filter(|network| network.namespace() == namespace).filter_map(Object::typed);
    let vpcs = networks.map(|network: CAPTCluster| format!("{}-vpc", network.name_any()));
    let clusters = catalog.of(group::CLUSTER, "Cluster").map(|cluster| format!("{}-vpc", cluster.key.name));
    let suffix = capt_api::names::APPLY_SUFFIX;
    applies.chain(vpcs).chain(clusters).any(|made| made.strip_suffix(suffix).unwrap_or(&made) == name)
}

/// Told once, at the first apply of the circle.
fn circle(object: &Object, apply: &WorkspaceTemplateApply, known: &Known<'_>, report: &mut Report<'_>) {
    let Some(circle) = graph::cycle(apply, known) else { return };
    if circle.iter().min() != Some(&ApplyKey::of(apply)) {
        return;
    }
    let fields = ["spec.waitForWorkspaces", "spec.variablesFrom"];
    let field = fields
        .into_iter()
        .find(|path| object.value.pointer(&format!("/{}", pointer(path))).is_some_and(Value::is_array));
    let message = format!(
        "applies wait for each other in a circle ({}); take one of these names out of what the other waits for",
        graph::describe(&circle)
    );
    report.error(object, field.unwrap_or("metadata.name"), message);
}
