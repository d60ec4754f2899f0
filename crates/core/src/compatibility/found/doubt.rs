//! What could not be told of manifests.

use std::fmt;

use capt_api::resource_set::ResourceKind;
use serde::{Serialize, Serializer};

use super::super::product::Product;
use super::Sighting;
use crate::condition::cut;
use crate::manifest::Manifest;

/// How much of a text is repeated.
const SHOWN: usize = 60;

/// Why a version could not be told. A sentence for people; of a Secret it tells the place and no content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    product: Product,
    message: String,
}

impl Doubt {
    /// What it is about.
    pub const fn product(&self) -> Product {
        self.product
    }

    /// A field that does not tell the version.
    pub(super) fn unread(product: Product, manifest: &Manifest, field: &str, text: &str, why: &str) -> Self {
        let object = name(manifest);
        let text = shown(manifest, text);
        Self { product, message: format!("{object}: {field}{text} {why}") }
    }

    /// Two versions of one thing.
    pub(super) fn two(product: Product, one: &Sighting, other: &Sighting) -> Self {
        let message = format!(
            "there are two versions of {product}: {} by {}, and {} by {}; bring one of them",
            one.version, one.by, other.version, other.by
        );
        Self { product, message }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl Serialize for Doubt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Names the object of a manifest, or only the place where that is a Secret.
pub(in super::super) fn name(manifest: &Manifest) -> String {
    match manifest.place.kind {
        ResourceKind::ConfigMap => manifest.key().to_string(),
        ResourceKind::Secret => manifest.place.to_string(),
    }
}

fn shown(manifest: &Manifest, text: &str) -> String {
    let plain = |character: char| match character {
        '`' => '\'',
        control if control.is_control() => '?',
        other => other,
    };
    match manifest.place.kind {
        ResourceKind::ConfigMap if !text.is_empty() => {
            format!(" `{}`", cut(text, SHOWN).chars().map(plain).collect::<String>())
        }
        ResourceKind::ConfigMap | ResourceKind::Secret => String::new(),
    }
}
