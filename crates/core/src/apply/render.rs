//! From template and variables to the spec of a Workspace.

use std::collections::{BTreeMap, BTreeSet};

use capt_api::flux::SourceAddress;
use capt_api::names::{Reason, annotation};
use capt_api::reference::SecretTarget;
use capt_api::{WorkspaceTemplate, WorkspaceTemplateApply};
use serde_json::{Map, Value, json};

use super::Blocked;
use super::variables::{BuiltIns, Hidden, Variables, is_taken, text, unreadable};
use crate::digest::digest;
use crate::grant::{Reference, Target, TargetKind};
use crate::module::{self, Format, Kind, Module};
use crate::name::{is_namespace_name, is_object_name};
use crate::placeholder::{Substituted, Values, substitute_tree};

/// The key of the Secret that carries secret values to Terraform.
pub const SECRET_FILE_KEY: &str = "secret.auto.tfvars.json";

/// The largest spec that is written. The API server's store takes 1.5 MiB, status and metadata included.
const LARGEST_SPEC: usize = 1_048_576;

/// What goes into a Workspace.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'facts> {
    /// The apply.
    pub apply: &'facts WorkspaceTemplateApply,
    /// The template it names.
    pub template: &'facts WorkspaceTemplate,
    /// The values it gives.
    pub variables: &'facts Variables,
    /// The values that CAPT gives.
    pub built_ins: BuiltIns<'facts>,
}

/// A template whose placeholders are replaced and whose module has been looked at.
#[derive(Clone, Debug)]
pub struct Prepared {
    spec: Value,
    module: Option<Module>,
    placeholders: BTreeSet<String>,
    /// Variables that the template makes of others, such as `value: ${name}-eks`: its word counts for these.
    composed: BTreeSet<String>,
    connection_secret: Option<ConnectionSecret>,
}

#[derive(Clone, Debug)]
struct ConnectionSecret {
    name: String,
    namespace: String,
    reference: Option<Reference>,
}

/// The spec of a Workspace and what there is to say about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    /// The spec.
    pub spec: Value,
    /// Its digest.
    pub digest: String,
    /// References that lead to other namespaces and need a grant.
    pub references: Vec<Reference>,
    /// Variables that the module does not declare and no placeholder uses.
    pub ignored: Vec<String>,
}

/// Replaces the placeholders and reads the module.
pub fn prepare(inputs: Inputs<'_>) -> Result<Prepared, Blocked> {
    let Inputs { apply: _, template, variables, built_ins } = inputs;
    let source = &source(inputs)?;
    let target = &target(inputs);
    let secret_names = variables.secret.keys().map(String::as_str).chain(["CLUSTER_NAME"]);
    let suspicious: Values = secret_names.map(|name| (name, "")).collect();
    let mut seen = substitute_tree(source, &suspicious).used;
    seen.extend(substitute_tree(target, &suspicious).used);
    variables.check_placeholders(&seen, built_ins)?;

    let values = variables.placeholders(built_ins);
    let substituted = substitute_tree(source, &values);
    let target = substitute_tree(target, &values);
    let module = read_module(template, &substituted.result)?;
    let connection_secret = connection_secret(inputs, &target, &substituted.result)?;
    let placeholders = substituted.used.into_iter().chain(target.used).collect();
    let composed = composed(&template.spec.template.spec, &substituted.result);
    Ok(Prepared { spec: substituted.result, module, placeholders, composed, connection_secret })
}

/// The template's spec. A connection Secret in it that is overruled is left out: nothing in it needs a value.
fn source(inputs: Inputs<'_>) -> Result<Value, Blocked> {
    let Inputs { apply, template, .. } = inputs;
    let mut source = template.spec.template.spec.clone();
    let Some(fields) = source.as_object_mut() else {
        let field = field_of(template, "spec.template.spec");
        let message = format!("{field} is not an object: write the spec of a Workspace there");
        return Err(Blocked::new(Reason::TemplateInvalid, message));
    };
    let overruled = apply.spec.write_connection_secret_to_ref.is_some()
        || template.spec.write_connection_secret_to_ref.is_some();
    if overruled {
        fields.remove("writeConnectionSecretToRef");
    }
    Ok(source)
}

/// The connection Secret that the template itself names, unless the apply overrules it.
fn target(inputs: Inputs<'_>) -> Value {
    let Inputs { apply, template, .. } = inputs;
    match apply.spec.write_connection_secret_to_ref {
        Some(_) => Value::Null,
        None => json!(template.spec.write_connection_secret_to_ref),
    }
}

fn read_module(template: &WorkspaceTemplate, spec: &Value) -> Result<Option<Module>, Blocked> {
    let (Some(text), Some(format)) = (module_text(spec), module_format(spec)) else {
        return Ok(None);
    };
    let skip = template.metadata.annotations.as_ref().and_then(|all| all.get(annotation::SKIP_MODULE_CHECK));
    match module::read(text, format) {
        Ok(module) => Ok(Some(module)),
        Err(invalid) if invalid.certain && skip.is_none_or(|value| value != "true") => {
            let field =
                format!("WorkspaceTemplate `{}` spec.template.spec.forProvider.module", name_of(template));
            Err(unreadable(&field, &invalid.to_string()))
        }
        Err(_) => Ok(None),
    }
}

/// The text of an inline module, wherever it is.
pub(crate) fn module_text(spec: &Value) -> Option<&str> {
    spec.pointer("/forProvider/module").and_then(Value::as_str)
}

/// The language of an inline module; `None` for modules that are not inline.
pub(crate) fn module_format(spec: &Value) -> Option<Format> {
    let field = |name| spec.pointer(name).and_then(Value::as_str);
    match (field("/forProvider/source"), field("/forProvider/inlineFormat")) {
        (Some("Inline"), Some("JSON")) => Some(Format::Json),
        (Some("Inline"), _) => Some(Format::Hcl),
        _ => None,
    }
}

fn name_of(template: &WorkspaceTemplate) -> String {
    let metadata = &template.metadata;
    format!(
        "{}/{}",
        metadata.namespace.as_deref().unwrap_or_default(),
        metadata.name.as_deref().unwrap_or_default()
    )
}

/// The apply's word comes before the template's, and the template's own field before that of its spec.
fn connection_secret(
    inputs: Inputs<'_>,
    target: &Substituted<Value>,
    spec: &Value,
) -> Result<Option<ConnectionSecret>, Blocked> {
    let Inputs { apply, template, built_ins, .. } = inputs;
    let field = "spec.writeConnectionSecretToRef";
    let from_template = target
        .result
        .is_object()
        .then(|| (field_of(template, field), target.result.clone(), target.used.is_empty()));
    let from_spec = || {
        let target = spec.get("writeConnectionSecretToRef").filter(|target| target.is_object())?;
        let literal = template.spec.template.spec.get("writeConnectionSecretToRef") == Some(target);
        Some((field_of(template, "spec.template.spec.writeConnectionSecretToRef"), target.clone(), literal))
    };
    let from_apply = apply
        .spec
        .write_connection_secret_to_ref
        .as_ref()
        .map(|target| (field.to_owned(), json!(target), false));
    let Some((field, target, literal)) = from_apply.or(from_template).or_else(from_spec) else {
        return Ok(None);
    };

    let SecretTarget { name, namespace } = serde_json::from_value(target)
        .map_err(|error| Blocked::new(Reason::TemplateInvalid, format!("{field} cannot be read: {error}")))?;
    let namespace =
        namespace.filter(|namespace| !namespace.is_empty()).unwrap_or_else(|| built_ins.namespace.to_owned());
    let target = Target { kind: TargetKind::Secret, namespace: namespace.clone(), name: name.clone() };
    let reference = checked(Reference { field, target })?;
    let reference = needs_grant(&namespace, literal, inputs).then_some(reference);
    Ok(Some(ConnectionSecret { name, namespace, reference }))
}

/// Refuses a reference to what cannot exist. Names become parts of addresses, so none may hold a path.
fn checked(reference: Reference) -> Result<Reference, Blocked> {
    let Reference { field, target: Target { kind, namespace, name } } = &reference;
    if is_object_name(name) && is_namespace_name(namespace) {
        return Ok(reference);
    }
    Err(Blocked::new(
        Reason::TemplateInvalid,
        format!(
            "{field}: `{namespace}/{name}` cannot be a {kind}: use lower case letters, digits, hyphens and dots, and give every placeholder a value"
        ),
    ))
}

fn field_of(template: &WorkspaceTemplate, field: &str) -> String {
    format!("WorkspaceTemplate `{}` {field}", name_of(template))
}

/// The apply may use what is in its own namespace; the template's author has the word over the template's namespace, as
/// far as nothing of the reference came from the apply.
fn needs_grant(namespace: &str, literal: bool, inputs: Inputs<'_>) -> bool {
    let template_namespace = inputs.template.metadata.namespace.as_deref();
    namespace != inputs.built_ins.namespace && !(literal && template_namespace == Some(namespace))
}

impl Prepared {
    /// The content of the file with secret values, if there are any.
    pub fn secret_file(&self, variables: &Variables) -> Result<Option<Hidden>, Blocked> {
        variables.secret_file(self.module.as_ref())
    }

    /// Puts the variables in and finishes the spec. `secret_file` names the Secret with secret values.
    pub fn finish(mut self, inputs: Inputs<'_>, secret_file: Option<&str>) -> Result<Rendered, Blocked> {
        let mut references = self.foreign_references(inputs)?;
        if let Some(ConnectionSecret { name, namespace, reference }) = self.connection_secret.take() {
            references.extend(reference);
            self.spec["writeConnectionSecretToRef"] = json!({ "name": name, "namespace": namespace });
        }
        let ignored = self.put_variables(inputs.variables);
        if let Some(secret) = secret_file {
            self.put_secret_file(secret, inputs.built_ins.namespace);
        }
        let size = self.spec.to_string().len();
        if size > LARGEST_SPEC {
            return Err(too_large(size, inputs.variables, &self.spec));
        }
        let digest = digest(&self.spec);
        Ok(Rendered { spec: self.spec, digest, references, ignored })
    }

    /// Which variables go to Terraform: those that the module declares or the template passes on. Where the module cannot
    /// be read, all that are not used as placeholders. Returns those that go nowhere.
    fn put_variables(&mut self, variables: &Variables) -> Vec<String> {
        let given = given(&self.spec);
        let mut ignored = Vec::new();
        for (name, value) in &variables.open {
            let placeholder = self.placeholders.contains(name);
            let wanted = match &self.module {
                Some(module) => module.variables.contains_key(name),
                None => !placeholder,
            };
            if self.composed.contains(name) {
                continue;
            }
            if wanted || given.contains(name) {
                self.put_variable(name, Some(value));
            } else if !placeholder {
                ignored.push(name.clone());
            }
        }
        for name in variables.secret.keys() {
            if is_taken(self.module.as_ref(), name) {
                self.put_variable(name, None);
            } else {
                ignored.push(name.clone());
            }
        }
        ignored.sort_unstable();
        ignored
    }

    /// Texts, numbers and booleans go to `vars`; lists and objects keep their type in `varmap`, unless a text is declared.
    /// What the template has for the variable goes away, also where its value comes by file (`None`).
    fn put_variable(&mut self, name: &str, value: Option<&Value>) {
        let declared =
            self.module.as_ref().and_then(|module| module.variables.get(name)).map(|variable| variable.kind);
        let for_provider = for_provider(&mut self.spec);
        let mut list: Vec<(String, Value)> = vars_of(for_provider);
        list.retain(|(key, _)| key != name);
        let mut map = varmap_of(for_provider).cloned().unwrap_or_default();
        map.remove(name);
        match value {
            Some(value @ (Value::Array(_) | Value::Object(_))) if declared != Some(Kind::String) => {
                map.insert(name.to_owned(), value.clone());
            }
            Some(value) => list.push((name.to_owned(), Value::String(text(value)))),
            None => {}
        }
        put_or_remove(
            for_provider,
            "vars",
            list.into_iter().map(|(key, value)| json!({ "key": key, "value": value })).collect(),
        );
        if map.is_empty() {
            for_provider.remove("varmap");
        } else {
            for_provider.insert("varmap".to_owned(), Value::Object(map));
        }
    }

    fn put_secret_file(&mut self, secret: &str, namespace: &str) {
        let for_provider = for_provider(&mut self.spec);
        let mut files = for_provider.get("varFiles").and_then(Value::as_array).cloned().unwrap_or_default();
        files.push(json!({
            "source": "SecretKey",
            "format": "JSON",
            "secretKeyRef": { "namespace": namespace, "name": secret, "key": SECRET_FILE_KEY },
        }));
        put_or_remove(for_provider, "varFiles", files);
    }

    /// References of the template's module, `env` and `varFiles` that lead to other namespaces.
    fn foreign_references(&self, inputs: Inputs<'_>) -> Result<Vec<Reference>, Blocked> {
        let mut references: Vec<_> = self.foreign_source(inputs)?.into_iter().collect();
        for list in ["env", "varFiles"] {
            let entries = self.spec.pointer(&format!("/forProvider/{list}")).and_then(Value::as_array);
            for (index, _) in entries.into_iter().flatten().enumerate() {
                for (name, kind) in
                    [("secretKeyRef", TargetKind::Secret), ("configMapKeyRef", TargetKind::ConfigMap)]
                {
                    let pointer = format!("/forProvider/{list}/{index}/{name}");
                    let field = format!("spec.template.spec.forProvider.{list}[{index}].{name}");
                    references.extend(self.foreign_reference(&pointer, &field, kind, inputs)?);
                }
            }
        }
        Ok(references)
    }

    /// The source of Flux that the module comes from.
    fn foreign_source(&self, inputs: Inputs<'_>) -> Result<Option<Reference>, Blocked> {
        if self.spec.pointer("/forProvider/source").and_then(Value::as_str) != Some("Flux") {
            return Ok(None);
        }
        let field = field_of(inputs.template, "spec.template.spec.forProvider.module");
        let Some(SourceAddress { kind, namespace, name }) =
            module_text(&self.spec).and_then(SourceAddress::parse)
        else {
            let message = format!(
                "{field}: a module with `source: Flux` is written as Kind::namespace/name, for example GitRepository::flux-system/modules"
            );
            return Err(Blocked::new(Reason::TemplateInvalid, message));
        };
        let literal = module_text(&inputs.template.spec.template.spec) == module_text(&self.spec);
        let needs_grant = needs_grant(&namespace, literal, inputs);
        let target = Target { kind: TargetKind::FluxSource(kind), namespace, name };
        let reference = checked(Reference { field, target })?;
        Ok(needs_grant.then_some(reference))
    }

    fn foreign_reference(
        &self,
        pointer: &str,
        field: &str,
        kind: TargetKind,
        inputs: Inputs<'_>,
    ) -> Result<Option<Reference>, Blocked> {
        let rendered = self.spec.pointer(pointer);
        let text = |name| Some(rendered?.get(name)?.as_str()?.to_owned());
        let (Some(namespace), Some(name)) = (text("namespace"), text("name")) else {
            return Ok(None);
        };
        let literal = inputs.template.spec.template.spec.pointer(pointer) == rendered;
        let needs_grant = needs_grant(&namespace, literal, inputs);
        let target = Target { kind, namespace, name };
        let reference = checked(Reference { field: field_of(inputs.template, field), target })?;
        Ok(needs_grant.then_some(reference))
    }
}

fn for_provider(spec: &mut Value) -> &mut Map<String, Value> {
    if !spec.get("forProvider").is_some_and(Value::is_object) {
        spec["forProvider"] = Value::Object(Map::new());
    }
    #[expect(clippy::expect_used, reason = "made an object just above")]
    spec["forProvider"].as_object_mut().expect("forProvider is an object")
}

/// The variables that the template itself gives a value to.
fn given(spec: &Value) -> BTreeSet<String> {
    let for_provider = spec.get("forProvider").and_then(Value::as_object);
    let listed = for_provider.into_iter().flat_map(vars_of).map(|(key, _)| key);
    let mapped = for_provider.and_then(varmap_of).into_iter().flat_map(Map::keys).cloned();
    listed.chain(mapped).collect()
}

/// Variables whose value the template makes of placeholders. A bare `${name}` under its own name is only passed on.
fn composed(source: &Value, rendered: &Value) -> BTreeSet<String> {
    let values = |spec: &Value| -> Vec<(String, Value)> {
        let for_provider = spec.get("forProvider").and_then(Value::as_object);
        let listed = for_provider.into_iter().flat_map(vars_of);
        let mapped = for_provider.and_then(varmap_of).into_iter().flatten();
        listed.chain(mapped.map(|(key, value)| (key.clone(), value.clone()))).collect()
    };
    let is_composed =
        |key: &str, before: &Value, after: &Value| before != after && *before != json!(format!("${{{key}}}"));
    let pairs = values(source).into_iter().zip(values(rendered));
    pairs
        .filter(|((key, before), (_, after))| is_composed(key, before, after))
        .map(|((key, _), _)| key)
        .collect()
}

fn varmap_of(for_provider: &Map<String, Value>) -> Option<&Map<String, Value>> {
    for_provider.get("varmap").and_then(Value::as_object)
}

fn vars_of(for_provider: &Map<String, Value>) -> Vec<(String, Value)> {
    let entries = for_provider.get("vars").and_then(Value::as_array).into_iter().flatten();
    let pair = |entry: &Value| {
        let key = entry.get("key").and_then(Value::as_str)?.to_owned();
        Some((key, entry.get("value").cloned().unwrap_or_default()))
    };
    entries.filter_map(pair).collect()
}

fn put_or_remove(fields: &mut Map<String, Value>, name: &str, entries: Vec<Value>) {
    if entries.is_empty() {
        fields.remove(name);
    } else {
        fields.insert(name.to_owned(), Value::Array(entries));
    }
}

fn too_large(size: usize, variables: &Variables, spec: &Value) -> Blocked {
    let module = ("the module".to_owned(), module_text(spec).map_or(0, str::len));
    let sizes: BTreeMap<String, usize> = variables
        .open
        .iter()
        .map(|(name, value)| (format!("variable `{name}`"), text(value).len()))
        .chain([module])
        .collect();
    let (largest, length) = sizes.into_iter().max_by_key(|(_, length)| *length).unwrap_or_default();
    Blocked::new(
        Reason::WorkspaceTooLarge,
        format!(
            "the Workspace would have {size} bytes, more than the {LARGEST_SPEC} that can be stored; the largest part is {largest} with {length} bytes: make it smaller, or let the module read it from elsewhere"
        ),
    )
}

#[cfg(test)]
mod tests;
