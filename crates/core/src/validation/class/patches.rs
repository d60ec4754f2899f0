//! The patches of a class: what they read, what they are for, and where they write.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use serde_json::Value;

use super::super::catalog::Catalog;
use super::super::definition::{Known, known};
use super::super::near::instead;
use super::super::object::Object;
use super::super::reference::text;
use super::super::report::Report;
use super::{TEMPLATES, declared, list};

/// What Cluster API itself gives to patches.
const BUILT_IN: &str = "builtin";

/// A template of the class that a patch is for.
struct Template<'catalog> {
    kind: &'static str,
    schema: &'static JSONSchemaProps,
    /// The template, where it is in the files.
    object: Option<&'catalog Object>,
}

/// Tells of patches that read what nobody gives, or write where nothing is.
pub(super) fn check(class: &Object, catalog: &Catalog<'_>, report: &mut Report<'_>) {
    let variables = declared(class);
    let patches = list(&class.value, "/spec/patches");
    // What somebody adds from outside is not known.
    let whole = !patches.iter().any(|patch| patch.get("external").is_some());
    let mut added: Vec<(&str, Vec<String>)> = Vec::new();
    for (first, patch) in patches.iter().enumerate() {
        for (second, definition) in list(patch, "/definitions").iter().enumerate() {
            let place = format!("spec.patches[{first}].definitions[{second}]");
            let template = template(class, definition, &place, catalog, report);
            for (third, change) in list(definition, "/jsonPatches").iter().enumerate() {
                let place = format!("{place}.jsonPatches[{third}]");
                reads(class, change, &variables, &place, report);
                let path = change.get("path").and_then(Value::as_str);
                let (Some(template), Some(path)) = (&template, path) else { continue };
                let Some(steps) = unfolded(path) else {
                    let message = format!("`{path}` leads out of the spec; a path begins with `/spec/`");
                    report.error(class, &format!("{place}.path"), message);
                    continue;
                };
                let problem = unknown(template, &steps)
                    .or_else(|| missing(template, change, &steps, &added).filter(|_| whole));
                if let Some(problem) = problem {
                    report.error(class, &format!("{place}.path"), problem);
                }
                if operation(change) == "add" {
                    added.push((template.kind, steps));
                }
            }
        }
    }
}

fn operation(change: &Value) -> &str {
    change.get("op").and_then(Value::as_str).unwrap_or_default()
}

/// A variable that the class does not declare.
fn reads(class: &Object, change: &Value, known: &[&str], place: &str, report: &mut Report<'_>) {
    let variable = change.pointer("/valueFrom/variable").and_then(Value::as_str);
    let root = variable.map(|path| path.split(['.', '[']).next().unwrap_or_default());
    if let Some(root) = root.filter(|root| *root != BUILT_IN && !known.contains(root)) {
        let message =
            format!("this class has no variable `{root}` in `spec.variables`; {}", instead(root, known));
        report.error(class, &format!("{place}.valueFrom.variable"), message);
    }
}

/// The template that a definition selects; told where it selects one of CAPT's that the class has not.
fn template<'catalog>(
    class: &Object,
    definition: &Value,
    place: &str,
    catalog: &'catalog Catalog<'_>,
    report: &mut Report<'_>,
) -> Option<Template<'catalog>> {
    let field = |name: &str| definition.pointer(&format!("/selector/{name}")).and_then(Value::as_str);
    let (api_version, kind) = (field("apiVersion")?, field("kind")?);
    let (part, group, kind) = TEMPLATES.into_iter().find(|(_, _, ours)| *ours == kind)?;
    let of_class = |name: &str| text(class, &format!("{part}.templateRef.{name}"));
    let (their_version, their_kind) = (of_class("apiVersion")?, of_class("kind")?);
    if (api_version, kind) != (their_version, their_kind) {
        let message = format!(
            "`{part}` of this class is a {their_kind} of `{their_version}`; write `apiVersion: {their_version}` and `kind: {their_kind}`"
        );
        report.error(class, &format!("{place}.selector.apiVersion"), message);
        return None;
    }
    let resource = if part == "spec.controlPlane" { "controlPlane" } else { "infrastructureCluster" };
    if definition.pointer(&format!("/selector/matchResources/{resource}")) != Some(&Value::Bool(true)) {
        let message = format!("this patch selects nothing; write `matchResources: {{{resource}: true}}`");
        report.error(class, &format!("{place}.selector"), message);
    }
    let Known::Schema(_, schema) = known(their_version, kind) else { return None };
    let object = catalog.find(group, kind, class.namespace(), of_class("name")?);
    Some(Template { kind, schema, object })
}

/// The steps of a JSON pointer below the spec.
fn unfolded(path: &str) -> Option<Vec<String>> {
    path.strip_prefix("/spec/")?;
    Some(path.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect())
}

fn pointer(steps: &[String]) -> String {
    let escaped: Vec<String> = steps.iter().map(|step| step.replace('~', "~0").replace('/', "~1")).collect();
    format!("/{}", escaped.join("/"))
}

/// What a schema says of a field or item.
fn below<'schema>(schema: &'schema JSONSchemaProps, step: &str) -> Option<&'schema JSONSchemaProps> {
    let property = schema.properties.as_ref().and_then(|properties| properties.get(step));
    match (property, &schema.additional_properties, &schema.items) {
        (Some(property), _, _) => Some(property),
        (None, Some(JSONSchemaPropsOrBool::Schema(any)), _) => Some(any),
        (None, _, Some(JSONSchemaPropsOrArray::Schema(item))) => Some(item),
        (None, _, _) => None,
    }
}

/// What is said of a path to a field that the kind has not.
fn unknown(template: &Template<'_>, steps: &[String]) -> Option<String> {
    let mut schema = template.schema;
    for (index, step) in steps.iter().enumerate() {
        let anything = schema.additional_properties == Some(JSONSchemaPropsOrBool::Bool(true));
        if anything || schema.x_kubernetes_preserve_unknown_fields == Some(true) {
            return None;
        }
        let Some(inner) = below(schema, step) else {
            let properties = schema.properties.iter().flat_map(|properties| properties.keys());
            let known: Vec<&str> = properties.map(String::as_str).collect();
            let path = pointer(&steps[..=index]);
            return Some(format!("{} has no `{path}`; {}", template.kind, instead(step, &known)));
        };
        schema = inner;
    }
    None
}

/// Whether the API server puts something there that the file has not.
fn has_default(template: &Template<'_>, steps: &[String]) -> bool {
    let found = steps.iter().try_fold(template.schema, |schema, step| below(schema, step));
    found.is_some_and(|schema| schema.default.is_some())
}

/// What is said of a path that leads to nothing in the template, where something has to be.
fn missing(
    template: &Template<'_>,
    change: &Value,
    steps: &[String],
    added: &[(&str, Vec<String>)],
) -> Option<String> {
    let object = template.object?;
    let operation = operation(change);
    let needed = match operation {
        "replace" | "remove" => steps,
        "add" => &steps[..steps.len() - 1],
        _ => return None,
    };
    // A patch may be there for some Clusters only, and another one may have been there before.
    let by_patch =
        |(kind, earlier): &(&str, Vec<String>)| *kind == template.kind && needed.starts_with(earlier);
    let is_there = |length: usize| {
        let path = &needed[..length];
        object.value.pointer(&pointer(path)).is_some() || has_default(template, path)
    };
    let lack = (1..=needed.len()).find(|length| !is_there(*length))?;
    if added.iter().any(by_patch) {
        return None;
    }
    let gap = pointer(&needed[..lack]);
    let name = format!("{} `{}`", template.kind, object.key.name);
    Some(match operation {
        "add" => format!("{name} has no `{gap}` to add to; write it there, or add it by an earlier patch"),
        "replace" if lack == steps.len() => {
            format!("{name} has no `{gap}` to replace; write it there, or write `op: add`")
        }
        _ => format!("{name} has no `{gap}`, and `{operation}` needs one; write it there, or leave this out"),
    })
}
