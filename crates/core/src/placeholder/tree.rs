//! Substitution in the spec of a Terraform Workspace.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Substituted, Syntax, Values, substitute};

/// Replaces the placeholders in every string of a Workspace's spec.
///
/// Strings are plain text, but for an inline module (`forProvider.module` where `forProvider.source` is `Inline`),
/// which is read as the HCL or JSON that it is. Keys, numbers and the shape of the tree stay as they are.
pub fn substitute_tree(spec: &Value, values: &Values) -> Substituted<Value> {
    let mut walk = Walk { values, used: BTreeSet::new() };
    let mut outline = spec.clone();
    let module = outline.pointer_mut(MODULE).map(Value::take);
    let mut result = walk.tree(&outline, Syntax::Plain);
    let syntax = syntax_of_module(&result);
    if let (Some(module), Some(place)) = (module, result.pointer_mut(MODULE)) {
        *place = walk.tree(&module, syntax);
    }
    Substituted { result, used: walk.used }
}

const MODULE: &str = "/forProvider/module";

/// How the module's text is read. It is asked after substitution: what the engine will see counts.
fn syntax_of_module(spec: &Value) -> Syntax {
    let field = |name| spec.pointer(name).and_then(Value::as_str);
    match (field("/forProvider/source"), field("/forProvider/inlineFormat")) {
        (Some("Inline"), Some("JSON")) => Syntax::Json,
        (Some("Inline"), _) => Syntax::Hcl,
        _ => Syntax::Plain,
    }
}

struct Walk<'values> {
    values: &'values Values,
    used: BTreeSet<String>,
}

impl Walk<'_> {
    fn tree(&mut self, value: &Value, syntax: Syntax) -> Value {
        match value {
            Value::String(text) => {
                let Substituted { result, used } = substitute(text, syntax, self.values);
                self.used.extend(used);
                Value::String(result)
            }
            Value::Array(items) => items.iter().map(|item| self.tree(item, syntax)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(key, field)| (key.clone(), self.tree(field, syntax))).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }
}
