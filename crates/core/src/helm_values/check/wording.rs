//! Parts of sentences.

use super::problem::Winner;
use crate::helm_values::path::PathProblem;

/// What to do where no path can be written.
pub(super) const FILE: &str = "put the value into a file of values, which is a reference without targetPath";

pub(super) fn instead_or_file(instead: Option<&str>) -> String {
    instead.map_or_else(|| FILE.to_owned(), |instead| format!("write `{instead}`"))
}

pub(super) fn instead_or_example(instead: Option<&str>, problem: PathProblem) -> String {
    match (instead, problem) {
        (Some(instead), _) => format!("write `{instead}`"),
        (None, PathProblem::LargeIndex | PathProblem::TooManyNames) => FILE.to_owned(),
        (
            None,
            PathProblem::EmptyKey
            | PathProblem::EndsInBackslash
            | PathProblem::NotIndex
            | PathProblem::AfterIndex
            | PathProblem::Ends,
        ) => "write keys with dots between them, and indexes in brackets, for example `a.b[0].c`".to_owned(),
    }
}

pub(super) fn refused(character: char) -> String {
    match character {
        '[' => "brackets around something else than a number of at most five digits".to_owned(),
        other => format!("{other:?}"),
    }
}

pub(super) fn near_or_add(near: Option<&str>, key: &str) -> String {
    near.map_or_else(
        || format!("write one of them, or add an output with `key: {key}` to the stack's values"),
        |near| format!("write `{near}`"),
    )
}

pub(super) const fn shape(wants_list: bool) -> &'static str {
    if wants_list { "list" } else { "mapping" }
}

impl Winner {
    pub(super) const fn told(self) -> &'static str {
        match self {
            Self::Inline => "which wins, so that this value is lost",
            Self::Reference => "where it is never used, since this one wins",
            Self::Unclear => "and which of the two wins depends on what the files of values before it hold",
        }
    }
}
