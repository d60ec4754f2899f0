//! What Terraform itself says about a failure.

mod human;
mod lock;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::redact::Redactor;

pub(crate) use human::parse as parse_human;
pub use lock::LockInfo;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The command failed of it.
    Error,
    /// The command went on.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Error => "Error",
            Self::Warning => "Warning",
        })
    }
}

/// One diagnostic, without the piece of source code that Terraform shows: that may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// One line.
    pub summary: String,
    /// More about it; may be empty.
    #[serde(default)]
    pub detail: String,
    /// The resource it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The file it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

impl Diagnostic {
    /// An error that is only a text.
    pub(crate) fn error(summary: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            summary: summary.into(),
            detail: String::new(),
            address: None,
            file: None,
            line: None,
        }
    }

    /// The same without any secret.
    pub(crate) fn redacted(self, redactor: &Redactor) -> Self {
        Self {
            severity: self.severity,
            summary: redactor.redact(&self.summary),
            detail: redactor.redact(&self.detail),
            address: self.address.map(|address| redactor.redact(&address)),
            file: self.file.map(|file| redactor.redact(&file)),
            line: self.line,
        }
    }

    /// The lock that somebody else holds, if that is what this is about: not one that the command itself could not release.
    pub fn lock(&self) -> Option<LockInfo> {
        let is_held = self.summary.contains("state lock") && !self.summary.contains("releasing");
        is_held.then(|| lock::parse(&self.detail)).flatten()
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.summary)?;
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(formatter, " ({file} line {line})")?,
            (Some(file), None) => write!(formatter, " ({file})")?,
            (None, _) => {}
        }
        if let Some(address) = &self.address {
            write!(formatter, " [{address}]")?;
        }
        if !self.detail.is_empty() {
            write!(formatter, ": {}", self.detail)?;
        }
        Ok(())
    }
}
