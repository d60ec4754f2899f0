//! A place in the document, which knows its path.

use serde_json::Value;

use super::problem::{Invalid, Problem, shown};

/// A value, or the lack of one, and where it is.
#[derive(Clone)]
pub(super) struct Node<'tree> {
    value: Option<&'tree Value>,
    path: String,
}

impl<'tree> Node<'tree> {
    /// The whole document.
    pub(super) const fn root(tree: &'tree Value) -> Self {
        Self { value: Some(tree), path: String::new() }
    }

    /// The same value under another path.
    pub(super) fn renamed(self, path: String) -> Self {
        Self { path, ..self }
    }

    /// The path of the entry of this name in the list here.
    pub(super) fn path_of(&self, name: &str) -> String {
        format!("{}[{}]", self.path, shown(name))
    }

    /// Something wrong here.
    pub(super) fn invalid(&self, reason: Problem) -> Invalid {
        Invalid { reason, field: self.path.clone() }
    }

    /// A field of a mapping. Nothing and `null` are mappings without fields, as clients have it.
    pub(super) fn field(&self, name: &str) -> Result<Self, Invalid> {
        let value = match self.value {
            None | Some(Value::Null) => None,
            Some(Value::Object(fields)) => fields.get(name),
            Some(_) => return Err(self.invalid(Problem::NotMapping)),
        };
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        Ok(Self { value: value.filter(|value| !value.is_null()), path })
    }

    /// The items of a list.
    pub(super) fn items(&self) -> Result<Vec<Self>, Invalid> {
        let items = match self.value {
            None => return Ok(Vec::new()),
            Some(Value::Array(items)) => items,
            Some(_) => return Err(self.invalid(Problem::NotList)),
        };
        let item = |(index, value)| Self { value: Some(value), path: format!("{}[{index}]", self.path) };
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// The text here. An empty one counts as none, as clients have it.
    pub(super) fn text(&self) -> Result<Option<&'tree str>, Invalid> {
        match self.value {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
            Some(_) => Err(self.invalid(Problem::NotText)),
        }
    }

    /// The truth value here; false where there is none.
    pub(super) fn boolean(&self) -> Result<bool, Invalid> {
        match self.value {
            None => Ok(false),
            Some(Value::Bool(value)) => Ok(*value),
            Some(_) => Err(self.invalid(Problem::NotBoolean)),
        }
    }

    /// Whether there is anything here.
    pub(super) fn is_given(&self) -> bool {
        match self.value {
            None | Some(Value::Null) => false,
            Some(Value::String(text)) => !text.is_empty(),
            Some(Value::Array(items)) => !items.is_empty(),
            Some(Value::Object(fields)) => !fields.is_empty(),
            Some(Value::Bool(_) | Value::Number(_)) => true,
        }
    }

    /// Refuses whatever is here.
    pub(super) fn refuse(&self, reason: Problem) -> Result<(), Invalid> {
        if self.is_given() { Err(self.invalid(reason)) } else { Ok(()) }
    }
}
