//! The values that an apply gives to its module: from its own spec, from `ConfigMap`s, Secrets and other Workspaces.

use std::collections::{BTreeMap, BTreeSet};

use capt_api::WorkspaceTemplateApply;
use capt_api::names::{Reason, annotation};
use capt_api::workspace_template_apply::VariableSource;
use serde_json::Value;

use super::Blocked;
use crate::module::{Kind, Module};
use crate::placeholder::Values;

/// What was found where a variable's value should be.
#[derive(Clone, PartialEq)]
pub enum Found {
    /// A text that everybody may see.
    Text(String),
    /// An output of a Workspace.
    Output(Value),
    /// A value that must not be seen.
    Secret(Vec<u8>),
    /// Nothing; the sentence says what is missing.
    Nothing(Blocked),
}

impl std::fmt::Debug for Found {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => formatter.debug_tuple("Text").field(text).finish(),
            Self::Output(value) => formatter.debug_tuple("Output").field(value).finish(),
            Self::Secret(_) => formatter.write_str("Secret([REDACTED])"),
            Self::Nothing(blocked) => formatter.debug_tuple("Nothing").field(blocked).finish(),
        }
    }
}

/// A variable that is taken from elsewhere, with what was found there.
#[derive(Clone, Debug)]
pub struct Sourced<'apply> {
    /// What the apply says.
    pub source: &'apply VariableSource,
    /// What was found.
    pub found: Found,
}

/// Every value that an apply gives, sorted by who may see it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variables {
    /// Values that everybody may see, texts and JSON alike.
    pub open: BTreeMap<String, Value>,
    /// Values that come from Secrets.
    pub secret: BTreeMap<String, Hidden>,
}

/// A text that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Hidden(String);

impl Hidden {
    /// The text itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Hidden {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("[REDACTED]")
    }
}

/// Brings `variables` and `variablesFrom` together; the latter win.
pub fn collect(apply: &WorkspaceTemplateApply, sourced: Vec<Sourced<'_>>) -> Result<Variables, Blocked> {
    let own = apply.spec.variables.iter().map(|(name, value)| (name.clone(), Value::String(value.clone())));
    let mut variables = Variables { open: own.collect(), secret: BTreeMap::new() };
    for Sourced { source, found } in sourced {
        let name = source.variable.clone();
        match found {
            Found::Text(text) => {
                variables.open.insert(name, Value::String(text));
            }
            Found::Output(value) => {
                variables.open.insert(name, value);
            }
            Found::Secret(bytes) => {
                let text = String::from_utf8(bytes).map_err(|_| not_text(source))?;
                variables.open.remove(&name);
                variables.secret.insert(name, Hidden(text));
            }
            Found::Nothing(_) if source.optional => {}
            Found::Nothing(blocked) => return Err(blocked),
        }
    }
    Ok(variables)
}

fn not_text(source: &VariableSource) -> Blocked {
    let place = source.secret_key_ref.as_ref().map_or_else(String::new, |reference| {
        format!(" (key `{}` of Secret `{}`)", reference.key, reference.name)
    });
    Blocked::new(
        Reason::VariableInvalid,
        format!(
            "spec.variablesFrom: variable `{}`{place} is not UTF-8 text: Terraform takes only text",
            source.variable
        ),
    )
}

/// Names that CAPT itself gives a value to, if the apply does not.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIns<'name> {
    /// `${WORKSPACE_NAME}`
    pub workspace: &'name str,
    /// `${CLUSTER_NAME}`
    pub cluster: Option<&'name str>,
    /// `${NAMESPACE}`
    pub namespace: &'name str,
}

const CLUSTER_NAME: &str = "CLUSTER_NAME";

/// What the API server takes as the data of a Secret.
const LARGEST_SECRET: usize = 1_048_576;

/// Whether the module takes a value for this variable. One that cannot be read may take any.
pub(super) fn is_taken(module: Option<&Module>, variable: &str) -> bool {
    module.is_none_or(|module| module.variables.contains_key(variable))
}

impl Variables {
    /// The values that placeholders are replaced by. Values from Secrets are not among them.
    pub fn placeholders(&self, built_ins: BuiltIns<'_>) -> Values {
        let BuiltIns { workspace, cluster, namespace } = built_ins;
        let mut values = Values::default();
        values.insert("WORKSPACE_NAME", workspace);
        values.insert("NAMESPACE", namespace);
        if let Some(cluster) = cluster {
            values.insert(CLUSTER_NAME, cluster);
        }
        for (name, value) in &self.open {
            values.insert(name.clone(), text(value));
        }
        values
    }

    /// Refuses placeholders that look known but have no value that may be written there.
    pub fn check_placeholders(
        &self,
        seen: &BTreeSet<String>,
        built_ins: BuiltIns<'_>,
    ) -> Result<(), Blocked> {
        if let Some(name) = seen.iter().find(|name| self.secret.contains_key(*name)) {
            return Err(Blocked::new(
                Reason::VariableInvalid,
                format!(
                    "the template uses ${{{name}}}, but variable `{name}` comes from a Secret and would be written in clear: use var.{name} in the module instead"
                ),
            ));
        }
        if seen.contains(CLUSTER_NAME) && built_ins.cluster.is_none() && !self.open.contains_key(CLUSTER_NAME)
        {
            return Err(Blocked::new(
                Reason::VariableMissing,
                format!(
                    "the template uses ${{{CLUSTER_NAME}}}, but this apply belongs to no Cluster: set label {}, or give {CLUSTER_NAME} in spec.variables",
                    capt_api::names::label::CLUSTER_NAME
                ),
            ));
        }
        Ok(())
    }

    /// The content of the file that carries the values from Secrets to Terraform, if there are any that the module takes.
    pub fn secret_file(&self, module: Option<&Module>) -> Result<Option<Hidden>, Blocked> {
        let mut file = serde_json::Map::new();
        for (name, Hidden(value)) in self.secret.iter().filter(|(name, _)| is_taken(module, name)) {
            let complex = module
                .and_then(|module| module.variables.get(name))
                .is_some_and(|variable| variable.kind == Kind::Complex);
            let value = if complex {
                serde_json::from_str(value).map_err(|_| must_be_json(name))?
            } else {
                Value::String(value.clone())
            };
            file.insert(name.clone(), value);
        }
        if file.is_empty() {
            return Ok(None);
        }
        let content = Value::Object(file).to_string();
        if content.len() > LARGEST_SECRET {
            return Err(self.too_large(content.len()));
        }
        Ok(Some(Hidden(content)))
    }

    fn too_large(&self, size: usize) -> Blocked {
        let sizes = self.secret.iter().map(|(name, Hidden(value))| (value.len(), name.as_str()));
        let (length, largest) = sizes.max().unwrap_or_default();
        Blocked::new(
            Reason::WorkspaceTooLarge,
            format!(
                "spec.variablesFrom: the values from Secrets have {size} bytes together, more than the {LARGEST_SECRET} that a Secret can hold; the largest is variable `{largest}` with {length} bytes: make it smaller, or let the module read it from elsewhere"
            ),
        )
    }
}

fn must_be_json(name: &str) -> Blocked {
    Blocked::new(
        Reason::VariableInvalid,
        format!(
            "spec.variablesFrom: variable `{name}` is declared as a list, map or object, so its value in the Secret must be JSON"
        ),
    )
}

/// A value as text: texts as they are, all else as JSON.
pub fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// What to say about a template that CAPT cannot read.
pub fn unreadable(field: &str, problem: &str) -> Blocked {
    Blocked::new(
        Reason::ModuleInvalid,
        format!(
            "{field}: {problem}; if Terraform accepts it, annotate the template with {}=true",
            annotation::SKIP_MODULE_CHECK
        ),
    )
}

#[cfg(test)]
mod tests;
