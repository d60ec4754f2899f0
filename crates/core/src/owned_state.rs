//! What a network or control plane remembers of the state of its apply.
//!
//! An apply can be lost without a destroy: its finalizers are taken away by hand, or `clusterctl move` is interrupted after it has
//! deleted the apply and its state, and before it deletes what would make the apply again.

use capt_api::WorkspaceTemplateApply;
use capt_api::names::annotation;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

/// The state that the apply of this very object had, as `namespace/name`. What another object remembered, of which this one is a
/// copy, does not count.
pub fn remembered(owner: &ObjectMeta) -> Option<&str> {
    let (uid, state) = owner.annotations.as_ref()?.get(annotation::OWNED_STATE)?.split_once('/')?;
    (owner.uid.as_deref() == Some(uid)).then_some(state)
}

/// Whether an apply of this object, or of one that it is a copy of, had a state. Where none had, nothing can be made a second time.
pub fn is_noted(owner: &ObjectMeta) -> bool {
    owner.annotations.as_ref().is_some_and(|all| all.contains_key(annotation::OWNED_STATE))
}

/// What the object should remember: the state that its apply has now, else the one that it had.
pub fn to_remember(owner: &ObjectMeta, apply: Option<&WorkspaceTemplateApply>) -> Option<String> {
    let now = apply.and_then(|apply| apply.metadata.annotations.as_ref()?.get(annotation::STATE));
    let state = now.map(String::as_str).or_else(|| remembered(owner))?;
    Some(format!("{}/{state}", owner.uid.as_deref()?))
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
    use serde_json::json;

    use super::*;

    fn owner(note: Option<&str>) -> ObjectMeta {
        let annotations = note.map(|note| json!({ annotation::OWNED_STATE: note }));
        serde_json::from_value(json!({ "name": "demo", "uid": "u", "annotations": annotations })).unwrap()
    }

    fn apply(state: Option<&str>) -> WorkspaceTemplateApply {
        let annotations = state.map(|state| json!({ annotation::STATE: state }));
        let metadata = json!({ "name": "demo-apply", "annotations": annotations });
        serde_json::from_value(json!({ "metadata": metadata, "spec": { "templateRef": { "name": "t" } } }))
            .unwrap()
    }

    #[rstest]
    #[case::of_this_object(Some("u/a/tfstate-demo-capt"), Some("a/tfstate-demo-capt"))]
    #[case::of_another_that_it_is_a_copy_of(Some("v/a/tfstate-demo-capt"), None)]
    #[case::nonsense(Some("u"), None)]
    #[case::empty(Some(""), None)]
    #[case::none(None, None)]
    fn only_what_was_noted_for_this_object_counts(
        #[case] note: Option<&str>,
        #[case] expected: Option<&str>,
    ) {
        assert_eq!(remembered(&owner(note)), expected);
        assert_eq!(
            is_noted(&owner(note)),
            note.is_some(),
            "whoever it was noted for, there may be something"
        );
    }

    /// No apply at all.
    const NO_APPLY: &str = "no apply";

    #[rstest]
    #[case::new_state(None, "a/x", Some("u/a/x"), false)]
    #[case::known_state(Some("u/a/x"), "a/x", Some("u/a/x"), true)]
    #[case::state_that_went_elsewhere(Some("u/a/x"), "b/x", Some("u/b/x"), false)]
    #[case::no_state_yet(None, "", None, true)]
    #[case::no_apply(None, NO_APPLY, None, true)]
    #[case::apply_is_lost(Some("u/a/x"), NO_APPLY, Some("u/a/x"), true)]
    #[case::arrived_by_a_move(Some("old/a/x"), "a/x", Some("u/a/x"), false)]
    #[case::copied(Some("old/a/x"), NO_APPLY, None, true)]
    fn the_state_of_the_apply_is_remembered(
        #[case] note: Option<&str>,
        #[case] state: &str,
        #[case] expected: Option<&str>,
        #[case] done: bool,
    ) {
        let owner = owner(note);
        let apply = (state != NO_APPLY).then(|| apply(Some(state).filter(|state| !state.is_empty())));
        assert_eq!(to_remember(&owner, apply.as_ref()).as_deref(), expected);
        assert_eq!(is_remembered(&owner, apply.as_ref()), done);
    }
}
