//! What was found.

use serde::Serialize;

use super::position::Position;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It may be meant so, or all is well with what is not in the files.
    Warning,
    /// It cannot work.
    Error,
}

impl Severity {
    /// The word for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The file.
    pub file: String,
    /// The place in it.
    #[serde(flatten)]
    pub position: Position,
    /// How bad it is.
    pub severity: Severity,
    /// What it is, and what to write.
    pub message: String,
    /// The line, where it may be shown: lines of Secrets are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
}
