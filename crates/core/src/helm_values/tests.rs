mod broken;
mod facts;
mod files;
mod order;
mod paths;

use std::borrow::Cow;

use capt_api::resource_set::ResourceKind;
use serde_json::{Value, json};

use super::*;

/// A reference by a path, or to a whole file where the path is empty; its key is what it holds.
fn reference(path: &str, content: &str) -> Reference {
    Reference {
        kind: ResourceKind::Secret,
        name: "values".to_owned(),
        key: content.to_owned(),
        target_path: Some(path.to_owned()).filter(|path| !path.is_empty()),
        optional: false,
        literal: false,
    }
}

fn literal(path: &str, content: &str) -> Reference {
    Reference { literal: true, ..reference(path, content) }
}

/// The values that these references and what is inline make.
fn values(inline: &Value, references: &[Reference]) -> Result<Value, Problem> {
    preview(inline, references, |_, _, key| Some(Cow::Owned(key.as_bytes().to_vec())))
}
