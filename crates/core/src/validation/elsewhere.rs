//! Objects that are in the cluster already, as the user says.

use std::str::FromStr;

/// Objects that are not in the files and are there all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    kind: String,
    namespace: Option<String>,
    name: Option<String>,
}

/// What names no object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write KIND, KIND/NAME or KIND/NAMESPACE/NAME, for example ConfigMap/flux-install")]
pub struct NotAnObject;

impl FromStr for Elsewhere {
    type Err = NotAnObject;

    fn from_str(text: &str) -> Result<Self, NotAnObject> {
        let parts: Vec<&str> = text.split('/').collect();
        if parts.iter().any(|part| part.trim().is_empty()) {
            return Err(NotAnObject);
        }
        let (kind, namespace, name) = match parts.as_slice() {
            [kind] => (kind, None, None),
            [kind, name] => (kind, None, Some(name)),
            [kind, namespace, name] => (kind, Some(namespace), Some(name)),
            _ => return Err(NotAnObject),
        };
        let owned = |part: &&str| (*part).to_owned();
        Ok(Self { kind: owned(kind), namespace: namespace.map(owned), name: name.map(owned) })
    }
}

impl Elsewhere {
    /// Whether this object is meant.
    pub(super) fn has(&self, kind: &str, namespace: &str, name: &str) -> bool {
        self.kind.eq_ignore_ascii_case(kind)
            && self.namespace.as_deref().is_none_or(|own| own == namespace)
            && self.name.as_deref().is_none_or(|own| own == name)
    }
}
