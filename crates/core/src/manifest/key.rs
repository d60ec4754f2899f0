//! Names of objects in a cluster.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Names an object in a cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectKey {
    /// Group and version, or the version alone.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The namespace, if one is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

impl ObjectKey {
    /// Names this object. What it lacks is empty.
    pub fn of(object: &Value) -> Self {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        Self {
            api_version: text("/apiVersion"),
            kind: text("/kind"),
            namespace: Some(text("/metadata/namespace")).filter(|namespace| !namespace.is_empty()),
            name: text("/metadata/name"),
        }
    }

    /// The group; empty for Kubernetes' own first kinds.
    pub fn group(&self) -> &str {
        self.api_version.rsplit_once('/').map_or("", |(group, _)| group)
    }

    /// What two keys of the same object have in common, whatever version they are written in. An object that is given
    /// no namespace is in `default`, if it is in one at all.
    pub(super) fn identity(&self) -> (&str, &str, &str, &str) {
        let namespace = self.namespace.as_deref().unwrap_or("default");
        (self.group(), &self.kind, namespace, &self.name)
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, namespace, name, .. } = self;
        match namespace {
            Some(namespace) => write!(formatter, "{kind} `{namespace}/{name}`"),
            None => write!(formatter, "{kind} `{name}`"),
        }
    }
}
