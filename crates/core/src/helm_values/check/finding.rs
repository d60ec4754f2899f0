//! Findings: what is wrong, where, and how bad it is.

use std::fmt;

use super::problem::Problem;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is wrong as far as we can see, but we cannot see all of it.
    Hint,
    /// It works, but hardly as it is meant.
    Warning,
    /// The API server or Flux refuses it, or a value is lost.
    Error,
}

impl Severity {
    /// The word for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hint => "hint",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Something about a place in an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The place, for example `spec.valuesFrom[2].targetPath`. What is told may be that it is missing.
    pub path: String,
    /// What is wrong, and what to write.
    pub problem: Problem,
}

impl Finding {
    pub(super) fn new(path: impl Into<String>, problem: Problem) -> Self {
        Self { path: path.into(), problem }
    }

    /// How bad it is.
    pub const fn severity(&self) -> Severity {
        self.problem.severity()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.path, self.problem)
    }
}
