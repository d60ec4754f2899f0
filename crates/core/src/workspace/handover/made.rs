//! What an apply knows of what was made for it. It goes along when the apply is moved to another cluster, and there it keeps
//! Crossplane from making everything a second time.

use std::collections::BTreeMap;

use capt_api::Workspace;
use capt_api::names::{Reason, annotation};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::{CAPT, CROSSPLANE, PAUSING, Serves, Turn, noted, turn};
use crate::apply::Blocked;
use crate::workspace::policy;
use crate::workspace::traces::traces;

const DESTROYS: &str = "crossplane-destroys";

/// What Crossplane does with a Workspace that it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Work {
    /// Nothing that is known, or it does not run it.
    #[default]
    Nothing,
    /// It has made something, or may have.
    Made,
    /// It destroys what it has made.
    Destroys,
}

/// What Crossplane does with a Workspace. `serves` is unknown where CAPT runs no Workspaces at all.
pub fn work(workspace: &Workspace, serves: Option<Serves>) -> Work {
    let theirs = serves.is_none_or(|serves| turn(workspace, serves, false) == Turn::Theirs);
    let deleting = workspace.metadata.deletion_timestamp.is_some();
    match theirs && traces(workspace).theirs {
        false => Work::Nothing,
        true if deleting && policy::destroys(&workspace.spec) => Work::Destroys,
        true => Work::Made,
    }
}

/// What is noted on an apply about what Crossplane has made for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// It has made something.
    Made,
    /// It destroys what it has made.
    Destroys,
    /// Everything is destroyed: neither this nor a state of before is left.
    Nothing,
}

impl Note {
    /// What is merged into the annotations of the apply.
    pub fn annotations(self) -> BTreeMap<&'static str, Option<&'static str>> {
        match self {
            Self::Made => [(annotation::MADE_BY, Some(CROSSPLANE))].into(),
            Self::Destroys => [(annotation::MADE_BY, Some(DESTROYS))].into(),
            Self::Nothing => [(annotation::MADE_BY, None), (annotation::STATE, None)].into(),
        }
    }
}

/// What is to be noted on an apply, whose Workspace is there or not. `known_here` says that the Workspace was in this cluster: one
/// that is not there because the apply was moved is not destroyed.
pub fn to_note(apply: &ObjectMeta, work: Option<Work>, known_here: bool) -> Option<Note> {
    let is_noted = |word: &str| noted(apply, annotation::MADE_BY) == Some(word);
    match work {
        Some(Work::Made) => (!is_noted(CROSSPLANE)).then_some(Note::Made),
        Some(Work::Destroys) => (!is_noted(DESTROYS)).then_some(Note::Destroys),
        Some(Work::Nothing) => None,
        None => (is_noted(DESTROYS) && known_here).then_some(Note::Nothing),
    }
}

/// Whether something was made for an apply, as far as is noted on it.
pub fn is_made(apply: &ObjectMeta) -> bool {
    noted(apply, annotation::STATE).is_some() || is_made_by_crossplane(apply)
}

/// Whether Crossplane has made something for an apply, as far as is noted on it.
pub fn is_made_by_crossplane(apply: &ObjectMeta) -> bool {
    noted(apply, annotation::MADE_BY).is_some()
}

/// The annotations that a new Workspace of this apply begins with. Where something was made for it, Crossplane must not begin
/// before CAPT has looked: the pause is there from the first moment. Nobody has to be kept away where CAPT is alone.
pub fn at_birth(apply: &ObjectMeta, serves: Option<Serves>) -> BTreeMap<&'static str, String> {
    if serves == Some(Serves::Capt) || !is_made(apply) {
        return BTreeMap::new();
    }
    [
        (annotation::RUN_BY, CAPT.to_owned()),
        (annotation::HANDOVER, PAUSING.to_owned()),
        (annotation::CROSSPLANE_PAUSED, "true".to_owned()),
    ]
    .into()
}

/// The annotations of a handover that a Workspace has. Whoever has written them at its birth repeats them with every write, as
/// they are now: what is left out would be taken away.
pub fn repeated(workspace: &ObjectMeta) -> BTreeMap<&'static str, String> {
    if noted(workspace, annotation::HANDOVER).is_none() {
        return BTreeMap::new();
    }
    let keys = [annotation::RUN_BY, annotation::HANDOVER, annotation::CROSSPLANE_PAUSED];
    keys.into_iter().filter_map(|key| Some((key, noted(workspace, key)?.to_owned()))).collect()
}

/// What is in the way of a new Workspace where CAPT runs none: nobody would look before Crossplane begins.
pub fn obstacle(apply: &ObjectMeta) -> Option<Blocked> {
    is_made(apply).then(|| {
        Blocked::new(
            Reason::StateMissing,
            format!(
                "something was made for this apply, and its Workspace is not here: Crossplane might make everything a second time. Let CAPT look first (start the manager with `--engine auto`); or, if Crossplane finds the state here, take the annotations {} and {} off this apply",
                annotation::STATE,
                annotation::MADE_BY
            ),
        )
    })
}

#[cfg(test)]
mod tests;
