//! Templates: whether their modules can be read, and whether their placeholders have values.

mod given;

use std::collections::BTreeSet;

use capt_api::WorkspaceTemplate;
use capt_api::names::group;
use serde_json::Value;

use self::given::{Given, given};
use super::catalog::Catalog;
use super::finding::Severity;
use super::near::nearest;
use super::node::steps;
use super::object::Object;
use super::position::{Origin, Position};
use super::report::Report;
use crate::apply::render::{module_format, module_text};
use crate::module::hcl::{self, Undeclared};
use crate::module::{self, Format, Invalid, Module};
use crate::placeholder::{self, Syntax, Values};
use crate::template::{Judgement, judge};

/// What every apply knows.
pub(super) const BUILT_IN: [&str; 3] = ["WORKSPACE_NAME", "CLUSTER_NAME", "NAMESPACE"];

const MODULE: &str = "spec.template.spec.forProvider.module";

/// Tells of modules that cannot be read, and of placeholders that are likely misspelt.
pub(super) fn check(catalog: &Catalog<'_>, report: &mut Report<'_>) {
    for object in catalog.of(group::INFRASTRUCTURE, "WorkspaceTemplate") {
        let Some(template) = object.typed::<WorkspaceTemplate>() else { continue };
        broken(object, &template, catalog, report);
        unknown_names(object, &template, catalog, report);
        placeholders(object, catalog, report);
    }
}

fn broken(object: &Object, template: &WorkspaceTemplate, catalog: &Catalog<'_>, report: &mut Report<'_>) {
    if judge(template) == Judgement::Valid {
        return;
    }
    let spec = &template.spec.template.spec;
    let (Some(text), Some(format)) = (module_text(spec), module_format(spec)) else { return };
    let Err(Invalid { line, column, message, .. }) = module::read(&with_values(text, format, "0"), format)
    else {
        return;
    };
    let at = inside(object, MODULE, Position { line, column }, catalog);
    let message = format!("the module cannot be read: {message}");
    report.tell(object.file, at, Severity::Error, false, message);
}

/// Names that the module uses and does not declare. What placeholders stand for is not looked at.
fn unknown_names(
    object: &Object,
    template: &WorkspaceTemplate,
    catalog: &Catalog<'_>,
    report: &mut Report<'_>,
) {
    let spec = &template.spec.template.spec;
    let (Some(text), Some(Format::Hcl)) = (module_text(spec), module_format(spec)) else { return };
    let Ok(body) = hcl::parse(text) else { return };
    for Undeclared { what, reference, known, offset } in hcl::undeclared(&body) {
        let offset = offset.or_else(|| text.find(&reference)).unwrap_or_default();
        let at = inside(object, MODULE, Position::of(text, offset), catalog);
        let declared = format!("the module declares no {what} for `{reference}`");
        let message = match nearest(&reference, known.iter().map(String::as_str)) {
            Some(near) => format!("{declared}; write `{near}`"),
            None => format!("{declared}; declare it, or correct the name"),
        };
        report.tell(object.file, at, Severity::Error, false, message);
    }
}

/// The text with a value for every placeholder.
fn with_values(text: &str, format: Format, value: &str) -> String {
    let syntax = syntax(format);
    let values: Values =
        placeholder::placeholders(text, syntax).into_iter().map(|name| (name, value)).collect();
    placeholder::substitute(text, syntax, &values).result
}

const fn syntax(format: Format) -> Syntax {
    match format {
        Format::Hcl => Syntax::Hcl,
        Format::Json => Syntax::Json,
    }
}

/// The place in the file of a place in a text of an object.
fn inside(object: &Object, path: &str, at: Position, catalog: &Catalog<'_>) -> Position {
    let Some(node) = object.node.get(&steps(path)) else { return object.place(path) };
    let origin = Origin::of_scalar(catalog.lines(object.file), node.at, node.text().unwrap_or_default());
    origin.place(at)
}

/// The interface of the module of a template, where it can be read.
pub(super) fn module_of(object: &Object) -> Option<Module> {
    let spec = object.value.pointer("/spec/template/spec")?;
    let (text, format) = (module_text(spec)?, module_format(spec)?);
    module::read(text, format).or_else(|_| module::read(&with_values(text, format, "a"), format)).ok()
}

fn placeholders(object: &Object, catalog: &Catalog<'_>, report: &mut Report<'_>) {
    let Given { names: known, is_used } = given(object, catalog);
    let spec = object.value.pointer("/spec/template/spec").unwrap_or(&Value::Null);
    let module = module_format(spec).map(syntax);
    for (path, node) in object.node.texts("spec") {
        let syntax = if path == MODULE { module.unwrap_or(Syntax::Plain) } else { Syntax::Plain };
        let Some(text) = node.text() else { continue };
        for name in placeholder::placeholders(text, syntax).difference(&known) {
            if let Some(message) = suspicion(name, &known, is_used) {
                let offset = text.find(&format!("${{{name}}}")).unwrap_or_default();
                let at = inside(object, &path, Position::of(text, offset), catalog);
                report.tell(object.file, at, Severity::Warning, false, message);
            }
        }
    }
}

/// What is said of a name that nobody knows. Terraform's own `${key}` looks the same, so most are not told of.
fn suspicion(name: &str, known: &BTreeSet<String>, is_used: bool) -> Option<String> {
    let is_ours = name.len() > 1
        && name.chars().all(|character| {
            character.is_ascii_uppercase() || character.is_ascii_digit() || character == '_'
        });
    let near = nearest(name, known.iter().map(String::as_str));
    let same = near.filter(|near| near.eq_ignore_ascii_case(name));
    let has_none = format!("`${{{name}}}` has no value and stays as it is");
    match (near, is_ours || same.is_some()) {
        (Some(near), true) if is_used => Some(format!("{has_none}; perhaps `${{{near}}}` is meant")),
        (Some(near), true) => Some(format!(
            "nothing in these files gives `${{{name}}}` a value, or uses this template; perhaps `${{{near}}}` is meant"
        )),
        (None, true) if is_used => Some(format!(
            "{has_none}; give it in the variables of the apply, or write `$${{{name}}}` if it is meant so"
        )),
        _ => None,
    }
}
