//! Where the module of a spec is.

use serde_json::Value;

use crate::apply::render::{module_format, module_text};
use crate::module::Format;

/// Where the module of a Workspace's spec is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inline<'spec> {
    /// In the spec itself, in Terraform's own language.
    Hcl(&'spec str),
    /// In the spec itself, in Terraform's JSON syntax.
    Json,
    /// Elsewhere.
    Elsewhere,
}

/// Where the module of this spec is.
pub fn inline(spec: &Value) -> Inline<'_> {
    match (module_text(spec), module_format(spec)) {
        (Some(text), Some(Format::Hcl)) => Inline::Hcl(text),
        (Some(_), Some(Format::Json)) => Inline::Json,
        (None, Some(_)) | (_, None) => Inline::Elsewhere,
    }
}
