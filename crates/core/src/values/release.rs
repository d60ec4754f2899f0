//! What `HelmReleases` read of Secrets.

use serde_json::Value;

use crate::manifest::{Manifest, ObjectKey};

const GROUP: &str = "helm.toolkit.fluxcd.io";
const KIND: &str = "HelmRelease";

/// A `HelmRelease` and what it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// Its group and version.
    pub api_version: String,
    /// Its namespace, which is also that of the Secrets.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// What it reads.
    pub references: Vec<Reference>,
}

impl Release {
    /// Names the `HelmRelease`.
    pub fn key(&self) -> ObjectKey {
        ObjectKey {
            api_version: self.api_version.clone(),
            kind: KIND.to_owned(),
            namespace: Some(self.namespace.clone()),
            name: self.name.clone(),
        }
    }

    /// Whether it reads anything of this Secret.
    pub(super) fn reads(&self, namespace: &str, secret: &str) -> bool {
        self.namespace == namespace && self.references.iter().any(|reference| reference.secret == secret)
    }
}

/// What a `HelmRelease` reads of a Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The Secret's name.
    pub secret: String,
    /// The key in it.
    pub key: String,
    /// Where the value is put; without it, it is a whole file of values.
    pub target_path: Option<String>,
    /// The value is a text and nothing else.
    pub literal: bool,
}

impl Reference {
    /// Whether it reads this key.
    pub(super) fn is_to(&self, secret: &str, key: &str) -> bool {
        self.secret == secret && self.key == key
    }

    /// Whether Flux reads the value as an argument of `helm --set`.
    pub(super) const fn interprets(&self) -> bool {
        self.target_path.is_some() && !self.literal
    }
}

/// The `HelmReleases` among manifests, of whatever version. Fields that Flux would refuse are passed over.
pub fn releases(manifests: &[Manifest]) -> Vec<Release> {
    manifests.iter().filter_map(|manifest| release(&manifest.object)).collect()
}

fn release(object: &Value) -> Option<Release> {
    let key = ObjectKey::of(object);
    if key.group() != GROUP || key.kind != KIND {
        return None;
    }
    let references = object.pointer("/spec/valuesFrom").and_then(Value::as_array).into_iter().flatten();
    Some(Release {
        references: references.filter_map(reference).collect(),
        namespace: key.namespace.unwrap_or_else(|| "default".to_owned()),
        api_version: key.api_version,
        name: key.name,
    })
}

fn reference(entry: &Value) -> Option<Reference> {
    let text = |field: &str| entry[field].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    if entry["kind"] != "Secret" {
        return None;
    }
    Some(Reference {
        secret: text("name")?,
        key: text("valuesKey").unwrap_or_else(|| "values.yaml".to_owned()),
        target_path: text("targetPath"),
        literal: entry["literal"].as_bool().unwrap_or_default(),
    })
}
