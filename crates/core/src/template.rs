//! `WorkspaceTemplate`: whether its module can be read.

use std::collections::BTreeSet;

use capt_api::WorkspaceTemplate;
use capt_api::names::{Reason, annotation, condition as type_};
use capt_api::workspace_template::WorkspaceTemplateStatus;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use crate::apply::render::{module_format, module_text};
use crate::condition::{Stamp, Truth, condition, upsert};
use crate::module::{self, Format, Invalid, Module};
use crate::placeholder::{self, Syntax, Values};
use crate::standing::{Pause, Standing};

/// Whether a template can be used, and if not, what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It can be used.
    Valid,
    /// Its module is broken.
    Broken(String),
}

/// Judges a template by its module, as far as that can be done without the applies' values.
pub fn judge(template: &WorkspaceTemplate) -> Judgement {
    let spec = &template.spec.template.spec;
    let skip = template.metadata.annotations.as_ref().and_then(|all| all.get(annotation::SKIP_MODULE_CHECK));
    let (Some(text), Some(format)) = (module_text(spec), module_format(spec)) else {
        return Judgement::Valid;
    };
    if skip.is_some_and(|value| value == "true") {
        return Judgement::Valid;
    }
    match read(text, format) {
        Err(invalid) if invalid.certain => {
            Judgement::Broken(format!("spec.template.spec.forProvider.module: {invalid}"))
        }
        Ok(_) | Err(_) => Judgement::Valid,
    }
}

/// The names of variables and placeholders that a template takes values for; `None` where its module cannot be read, or comes
/// from elsewhere.
pub fn asks_for(template: &WorkspaceTemplate) -> Option<BTreeSet<String>> {
    let spec = &template.spec.template.spec;
    let module = read(module_text(spec)?, module_format(spec)?).ok()?;
    let placeholders = placeholder::placeholders(&spec.to_string(), Syntax::Json);
    Some(module.variables.into_keys().chain(placeholders).collect())
}

fn read(text: &str, format: Format) -> Result<Module, Invalid> {
    module::read(text, format)
        .or_else(|_| read_with_value("a", text, format))
        .or_else(|_| read_with_value("0", text, format))
}

/// A module may need values before it can be read: a number (`b.${INDEX}`) or a text (`resource "a" ${NAME} {`). Where
/// it cannot be read even so, what is wrong is not its placeholders.
fn read_with_value(value: &str, text: &str, format: Format) -> Result<Module, Invalid> {
    let syntax = match format {
        Format::Hcl => Syntax::Hcl,
        Format::Json => Syntax::Json,
    };
    let values: Values =
        placeholder::placeholders(text, syntax).into_iter().map(|name| (name, value)).collect();
    module::read(&placeholder::substitute(text, syntax, &values).result, format)
}

/// The status of a template; `None` where nothing may be written.
pub fn status(
    template: &WorkspaceTemplate,
    standing: &Standing,
    now: &Time,
) -> Option<WorkspaceTemplateStatus> {
    let stamp = Stamp { generation: template.metadata.generation, now: now.clone() };
    let mut status = template.status.clone().unwrap_or_default();
    match standing {
        Standing::ExternallyManaged | Standing::Moved | Standing::Deleting => return None,
        Standing::Paused(pause) => {
            upsert(&mut status.conditions, paused(*pause, &stamp));
            return Some(status);
        }
        Standing::Active => {}
    }
    upsert(&mut status.conditions, condition(type_::PAUSED, Truth::False, Reason::NotPaused, "", &stamp));
    status.observed_generation = template.metadata.generation;
    let next = match judge(template) {
        Judgement::Valid => condition(type_::READY, Truth::True, Reason::TemplateValid, "", &stamp),
        Judgement::Broken(problem) => {
            condition(type_::READY, Truth::False, Reason::ModuleInvalid, &problem, &stamp)
        }
    };
    upsert(&mut status.conditions, next);
    Some(status)
}

fn paused(pause: Pause, stamp: &Stamp) -> k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition {
    condition(type_::PAUSED, Truth::True, Reason::Paused, &pause.message("WorkspaceTemplate"), stamp)
}

#[cfg(test)]
mod tests;
