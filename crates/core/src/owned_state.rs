//! What a network or control plane remembers of what was made for its apply.
//!
//! An apply can be lost without a destroy: its finalizers are taken away by hand, or `clusterctl move` is interrupted after it has
//! deleted the apply and its state, and before it deletes what would make the apply again.

use capt_api::WorkspaceTemplateApply;
use capt_api::names::annotation;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::workspace::handover::{CROSSPLANE, made};

/// What was made for an apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Made {
    /// What is in this state, as `namespace/name`.
    State(String),
    /// What Crossplane has made; only Crossplane knows where its state is.
    ByCrossplane,
}

impl Made {
    /// What is known of it on an apply.
    fn of(apply: &WorkspaceTemplateApply) -> Option<Self> {
        let state = apply.metadata.annotations.as_ref().and_then(|all| all.get(annotation::STATE));
        let by_crossplane = || made::is_made_by_crossplane(&apply.metadata).then_some(Self::ByCrossplane);
        state.cloned().map(Self::State).or_else(by_crossplane)
    }

    /// The annotation that lets a new apply know of it.
    pub fn annotation(&self) -> (&'static str, &str) {
        match self {
            Self::State(state) => (annotation::STATE, state),
            Self::ByCrossplane => (annotation::MADE_BY, CROSSPLANE),
        }
    }

    /// How it is noted. A state always has a namespace, so that nothing else looks like one.
    fn note(&self) -> &str {
        match self {
            Self::State(state) => state,
            Self::ByCrossplane => CROSSPLANE,
        }
    }

    fn read(note: &str) -> Option<Self> {
        match note {
            CROSSPLANE => Some(Self::ByCrossplane),
            state => state.contains('/').then(|| Self::State(state.to_owned())),
        }
    }
}

/// What was made for the apply of this very object. What another object remembered, of which this one is a copy, does not count.
pub fn remembered(owner: &ObjectMeta) -> Option<Made> {
    let (uid, made) = owner.annotations.as_ref()?.get(annotation::OWNED_STATE)?.split_once('/')?;
    Made::read(made).filter(|_| owner.uid.as_deref() == Some(uid))
}

/// Whether something was made for an apply of this object, or of one that it is a copy of. Where nothing was, nothing can be made a
/// second time.
pub fn is_noted(owner: &ObjectMeta) -> bool {
    owner.annotations.as_ref().is_some_and(|all| all.contains_key(annotation::OWNED_STATE))
}

/// What the object should remember: what is made for its apply now, else what was.
pub fn to_remember(owner: &ObjectMeta, apply: Option<&WorkspaceTemplateApply>) -> Option<String> {
    let made = apply.and_then(Made::of).or_else(|| remembered(owner))?;
    Some(format!("{}/{}", owner.uid.as_deref()?, made.note()))
}

/// Whether the object remembers what it should.
pub fn is_remembered(owner: &ObjectMeta, apply: Option<&WorkspaceTemplateApply>) -> bool {
    to_remember(owner, apply).is_none_or(|note| {
        owner.annotations.as_ref().and_then(|all| all.get(annotation::OWNED_STATE)) == Some(&note)
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn owner(note: Option<&str>) -> ObjectMeta {
        let annotations = note.map(|note| json!({ annotation::OWNED_STATE: note }));
        serde_json::from_value(json!({ "name": "demo", "uid": "u", "annotations": annotations })).unwrap()
    }

    fn apply(annotations: &Value) -> WorkspaceTemplateApply {
        let metadata = json!({ "name": "demo-apply", "annotations": annotations });
        serde_json::from_value(json!({ "metadata": metadata, "spec": { "templateRef": { "name": "t" } } }))
            .unwrap()
    }

    fn state(state: &str) -> Made {
        Made::State(state.to_owned())
    }

    #[rstest]
    #[case::of_this_object(Some("u/a/tfstate-demo-capt"), Some(state("a/tfstate-demo-capt")))]
    #[case::of_another_that_it_is_a_copy_of(Some("v/a/tfstate-demo-capt"), None)]
    #[case::by_crossplane(Some("u/crossplane"), Some(Made::ByCrossplane))]
    #[case::by_crossplane_for_another(Some("v/crossplane"), None)]
    #[case::no_state(Some("u/else"), None)]
    #[case::nonsense(Some("u"), None)]
    #[case::empty(Some(""), None)]
    #[case::none(None, None)]
    fn only_what_was_noted_for_this_object_counts(
        #[case] note: Option<&str>,
        #[case] expected: Option<Made>,
    ) {
        assert_eq!(remembered(&owner(note)), expected);
        assert_eq!(
            is_noted(&owner(note)),
            note.is_some(),
            "whoever it was noted for, there may be something"
        );
    }

    const BY: &str = annotation::MADE_BY;
    const STATE: &str = annotation::STATE;

    #[rstest]
    #[case::new_state(None, Some(json!({ STATE: "a/x" })), Some("u/a/x"), false)]
    #[case::known_state(Some("u/a/x"), Some(json!({ STATE: "a/x" })), Some("u/a/x"), true)]
    #[case::state_that_went_elsewhere(Some("u/a/x"), Some(json!({ STATE: "b/x" })), Some("u/b/x"), false)]
    #[case::made_by_crossplane(None, Some(json!({ BY: "crossplane" })), Some("u/crossplane"), false)]
    #[case::known_to_be_crossplanes(Some("u/crossplane"), Some(json!({ BY: "crossplane" })), Some("u/crossplane"), true)]
    #[case::crossplane_destroys(Some("u/crossplane"), Some(json!({ BY: "crossplane-destroys" })), Some("u/crossplane"), true)]
    #[case::taken_over(Some("u/crossplane"), Some(json!({ STATE: "a/x" })), Some("u/a/x"), false)]
    #[case::handed_back(Some("u/a/x"), Some(json!({ BY: "crossplane" })), Some("u/crossplane"), false)]
    #[case::no_state_yet(None, Some(json!({})), None, true)]
    #[case::no_apply(None, None, None, true)]
    #[case::apply_is_lost(Some("u/a/x"), None, Some("u/a/x"), true)]
    #[case::apply_of_crossplane_is_lost(Some("u/crossplane"), None, Some("u/crossplane"), true)]
    #[case::arrived_by_a_move(Some("old/a/x"), Some(json!({ STATE: "a/x" })), Some("u/a/x"), false)]
    #[case::copied(Some("old/a/x"), None, None, true)]
    fn what_was_made_for_the_apply_is_remembered(
        #[case] note: Option<&str>,
        #[case] annotations: Option<Value>,
        #[case] expected: Option<&str>,
        #[case] done: bool,
    ) {
        let owner = owner(note);
        let apply = annotations.as_ref().map(apply);
        assert_eq!(to_remember(&owner, apply.as_ref()).as_deref(), expected);
        assert_eq!(is_remembered(&owner, apply.as_ref()), done);
    }
}
