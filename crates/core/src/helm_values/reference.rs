//! Entries of `spec.valuesFrom`.

use capt_api::resource_set::ResourceKind;
use serde_json::Value;

/// The group of `HelmReleases`.
pub const GROUP: &str = "helm.toolkit.fluxcd.io";
/// Their kind.
pub const KIND: &str = "HelmRelease";
/// The key that is read where none is given.
const DEFAULT_KEY: &str = "values.yaml";

/// What a `HelmRelease` reads of a `ConfigMap` or Secret of its namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// A `ConfigMap` or a Secret.
    pub kind: ResourceKind,
    /// Its name.
    pub name: String,
    /// The key in it.
    pub key: String,
    /// Where the value is put; without it, it is a whole file of values.
    pub target_path: Option<String>,
    /// Nothing is wrong if the object or the key is missing.
    pub optional: bool,
    /// The value is a text and nothing else.
    pub literal: bool,
}

impl Reference {
    /// Reads an entry; nothing where Flux would refuse what it points to. Fields of another type count as not given.
    pub fn read(entry: &Value) -> Option<Self> {
        let text = |field: &str| entry[field].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let flag = |field: &str| entry[field].as_bool().unwrap_or_default();
        let kinds = [ResourceKind::ConfigMap, ResourceKind::Secret];
        Some(Self {
            kind: kinds.into_iter().find(|kind| entry["kind"] == kind.as_str())?,
            name: text("name")?,
            key: text("valuesKey").unwrap_or_else(|| DEFAULT_KEY.to_owned()),
            target_path: text("targetPath"),
            optional: flag("optional"),
            literal: flag("literal"),
        })
    }

    /// Whether it reads this key of this Secret.
    pub fn is_to(&self, secret: &str, key: &str) -> bool {
        self.kind == ResourceKind::Secret && self.name == secret && self.key == key
    }

    /// Whether Flux reads the value as an argument of `helm --set`.
    pub const fn interprets(&self) -> bool {
        self.target_path.is_some() && !self.literal
    }
}
