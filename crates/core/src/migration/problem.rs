//! Why a module cannot be edited.

use std::fmt;

use crate::module::Invalid;

/// Why a module cannot be edited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It cannot be read.
    #[error("the module cannot be read")]
    Unreadable(#[source] Invalid),
    /// What stays refers to what is to leave.
    #[error("{}: take the references out by hand, or put what they stand for in their place, and run this again", list(.0))]
    Referenced(Vec<Reference>),
    /// The text that came of it cannot be read, or holds something else than it should.
    #[error("the edited module would not be what it should be ({0}): edit the template by hand")]
    Unsound(String),
}

/// A place that refers to a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The address of the release.
    pub release: String,
    /// The block that refers to it, as its first line has it.
    pub block: String,
    /// The line, counted from 1.
    pub line: usize,
}

impl fmt::Display for Reference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { release, block, line } = self;
        write!(formatter, "line {line}, in `{block}`, refers to {release}")
    }
}

/// So many are told at most.
const TOLD: usize = 10;

fn list(references: &[Reference]) -> String {
    let mut told: Vec<String> = references.iter().take(TOLD).map(ToString::to_string).collect();
    if references.len() > TOLD {
        told.push(format!("{} more places do", references.len() - TOLD));
    }
    told.join("; ")
}
