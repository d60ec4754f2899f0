//! An object as it came from an API server, read field by field.

use serde_json::Value;

use crate::standing::api_group;

/// An object. What is of the wrong type counts as absent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object<'object>(&'object Value);

impl<'object> Object<'object> {
    pub(super) fn new(value: &'object Value) -> Self {
        Self(value)
    }

    /// The field at a JSON pointer.
    fn field(self, pointer: &str) -> Option<&'object Value> {
        self.0.pointer(pointer)
    }

    pub(super) fn text(self, pointer: &str) -> Option<&'object str> {
        self.field(pointer).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    pub(super) fn number(self, pointer: &str) -> Option<i64> {
        self.field(pointer).and_then(Value::as_i64)
    }

    /// A number of things: none if nothing is said.
    pub(super) fn count(self, pointer: &str) -> i64 {
        self.number(pointer).unwrap_or_default()
    }

    pub(super) fn is_true(self, pointer: &str) -> bool {
        self.field(pointer).and_then(Value::as_bool).unwrap_or_default()
    }

    pub(super) fn items(self, pointer: &str) -> impl Iterator<Item = Self> {
        self.field(pointer).and_then(Value::as_array).into_iter().flatten().map(Self)
    }

    pub(super) fn group_and_kind(self) -> (&'object str, &'object str) {
        let api_version = self.text("/apiVersion").unwrap_or_default();
        (api_group(api_version), self.text("/kind").unwrap_or_default())
    }

    pub(super) fn is_marked_for_deletion(self) -> bool {
        self.text("/metadata/deletionTimestamp").is_some()
    }

    pub(super) fn generation(self) -> Option<i64> {
        self.number("/metadata/generation")
    }

    pub(super) fn condition(self, type_: &str) -> Option<Condition<'object>> {
        let mut conditions = self.items("/status/conditions");
        conditions.find(|condition| condition.text("/type") == Some(type_)).map(Condition)
    }

    /// Whether there is a condition of this type with the status `True`.
    pub(super) fn holds(self, type_: &str) -> bool {
        self.condition(type_).is_some_and(|condition| condition.status() == "True")
    }
}

/// A condition in an object's status.
#[derive(Clone, Copy, Debug)]
pub(super) struct Condition<'object>(Object<'object>);

impl<'object> Condition<'object> {
    pub(super) fn status(self) -> &'object str {
        self.0.text("/status").unwrap_or_default()
    }

    pub(super) fn reason(self) -> &'object str {
        self.0.text("/reason").unwrap_or_default()
    }

    /// Whether it speaks of an earlier state of an object of this generation.
    pub(super) fn is_outdated(self, generation: Option<i64>) -> bool {
        self.0.number("/observedGeneration").is_some_and(|observed| Some(observed) < generation)
    }

    /// What it says, in its own words, after ours.
    pub(super) fn told(self, ours: &str) -> String {
        let reason = self.0.text("/reason").map(|reason| format!(" ({reason})")).unwrap_or_default();
        let message = self.0.text("/message").map(|message| format!(": {message}")).unwrap_or_default();
        format!("{ours}{reason}{message}")
    }
}
