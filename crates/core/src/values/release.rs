//! What `HelmReleases` read of Secrets.

use capt_api::resource_set::ResourceKind;
use serde_json::Value;

use crate::helm_values::{GROUP, KIND, Reference};
use crate::manifest::{Manifest, ObjectKey};

/// A `HelmRelease` and what it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// Its group and version.
    pub api_version: String,
    /// Its namespace, which is also that of the Secrets.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// What it reads of Secrets.
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
        self.namespace == namespace && self.references.iter().any(|reference| reference.name == secret)
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
    let references = references.filter_map(Reference::read);
    Some(Release {
        references: references.filter(|reference| reference.kind == ResourceKind::Secret).collect(),
        namespace: key.namespace.unwrap_or_else(|| "default".to_owned()),
        api_version: key.api_version,
        name: key.name,
    })
}
