//! What Crossplane's provider-terraform left on a Workspace.

use capt_api::Workspace;
use capt_api::names::annotation;
use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt;

/// What Crossplane left on a Workspace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "these are independent facts")]
pub struct Traces {
    /// Whether it has run the Workspace since CAPT published outputs last.
    pub ran: bool,
    /// Whether something was made, or may have been: an apply that was begun and whose end is not told, or outputs, which may be
    /// CAPT's own.
    pub made: bool,
    /// Whether it was Crossplane that made it, for this very Workspace.
    pub theirs: bool,
    /// Whether the apply knows that Crossplane has made something, here or in another cluster.
    pub noted: bool,
}

impl Traces {
    /// The same, with what is noted on the apply: in another cluster that is all that is left.
    #[must_use]
    pub fn with_note(self, noted: bool) -> Self {
        Self { made: self.made || noted, noted, ..self }
    }
}

/// Reads what Crossplane left. CAPT takes the checksum away when it publishes outputs: one that is there was written since.
pub fn traces(workspace: &Workspace) -> Traces {
    let seen = workspace.status.as_ref().and_then(|status| status.at_provider.as_ref());
    let ran = seen.and_then(|seen| seen.checksum.as_ref()).is_some_and(|checksum| !checksum.is_empty());
    let gave = seen.is_some_and(|seen| !seen.outputs.is_empty());
    let made = workspace.annotations().contains_key(annotation::EXTERNAL_CREATE_SUCCEEDED)
        || is_create_open(workspace);
    // CAPT gives outputs, too: what Crossplane has never run or begun, they are of CAPT.
    let marks = [annotation::EXTERNAL_CREATE_PENDING, annotation::EXTERNAL_CREATE_FAILED];
    let marked = ran || marks.iter().any(|mark| workspace.annotations().contains_key(*mark));
    Traces { ran, made: made || gave, theirs: made || (gave && marked), noted: false }
}

/// Whether Crossplane began to make something and did not tell how that ended. It does nothing more then.
pub fn is_create_open(workspace: &Workspace) -> bool {
    let noted = |key: &str| workspace.annotations().get(key);
    // What cannot be read as a time is taken for the earliest one, as Crossplane does.
    let time =
        |key: &str| noted(key).and_then(|text| text.parse::<Timestamp>().ok()).unwrap_or(Timestamp::MIN);
    let ended = time(annotation::EXTERNAL_CREATE_SUCCEEDED).max(time(annotation::EXTERNAL_CREATE_FAILED));
    noted(annotation::EXTERNAL_CREATE_PENDING).is_some() && time(annotation::EXTERNAL_CREATE_PENDING) > ended
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    const PENDING: &str = annotation::EXTERNAL_CREATE_PENDING;
    const SUCCEEDED: &str = annotation::EXTERNAL_CREATE_SUCCEEDED;
    const FAILED: &str = annotation::EXTERNAL_CREATE_FAILED;
    const EARLY: &str = "2026-01-01T10:00:00Z";
    const LATE: &str = "2026-01-01T11:00:00+00:00";

    fn workspace(annotations: &Value, status: &Value) -> Workspace {
        serde_json::from_value(json!({
            "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace",
            "metadata": { "name": "x", "annotations": annotations },
            "spec": { "forProvider": { "source": "Inline", "module": "" } },
            "status": status,
        }))
        .unwrap()
    }

    #[rstest]
    #[case::none(json!({}), false, false)]
    #[case::made(json!({ PENDING: EARLY, SUCCEEDED: LATE }), true, false)]
    #[case::killed(json!({ PENDING: EARLY }), true, true)]
    #[case::killed_the_second_time(json!({ PENDING: LATE, FAILED: EARLY }), true, true)]
    #[case::killed_after_it_was_made(json!({ PENDING: LATE, SUCCEEDED: EARLY }), true, true)]
    #[case::failed(json!({ PENDING: EARLY, FAILED: LATE }), false, false)]
    #[case::failed_in_the_same_second(json!({ PENDING: EARLY, FAILED: EARLY }), false, false)]
    #[case::no_time_at_all(json!({ PENDING: "yesterday" }), false, false)]
    #[case::restored_without_a_beginning(json!({ SUCCEEDED: "" }), true, false)]
    fn annotations_tell_what_was_made(#[case] annotations: Value, #[case] made: bool, #[case] open: bool) {
        let workspace = workspace(&annotations, &json!({}));
        assert_eq!(traces(&workspace), Traces { ran: false, made, theirs: made, noted: false });
        assert_eq!(is_create_open(&workspace), open);
    }

    #[rstest]
    #[case::nothing(json!({}), Traces { ran: false, made: false, theirs: false, noted: false })]
    #[case::nothing_yet(json!({ "atProvider": { "checksum": "c" } }), Traces { ran: true, made: false, theirs: false, noted: false })]
    #[case::outputs(json!({ "atProvider": { "checksum": "c", "outputs": { "a": 1 } } }), Traces { ran: true, made: true, theirs: true, noted: false })]
    #[case::of_capt(json!({ "atProvider": { "outputs": { "a": 1 } } }), Traces { ran: false, made: true, theirs: false, noted: false })]
    #[case::taken_away(json!({ "atProvider": { "checksum": "" } }), Traces { ran: false, made: false, theirs: false, noted: false })]
    fn the_status_tells_what_ran(#[case] status: Value, #[case] expected: Traces) {
        assert_eq!(traces(&workspace(&json!({}), &status)), expected);
    }

    #[test]
    fn outputs_of_an_old_version_of_crossplane_are_its_own() {
        let status = json!({ "atProvider": { "outputs": { "a": 1 } } });
        let failed = workspace(&json!({ PENDING: EARLY, FAILED: LATE }), &status);
        assert_eq!(traces(&failed), Traces { ran: false, made: true, theirs: true, noted: false });
    }

    #[test]
    fn what_is_noted_on_the_apply_is_of_crossplane() {
        let noted = traces(&workspace(&json!({}), &json!({}))).with_note(true);
        assert_eq!(noted, Traces { ran: false, made: true, theirs: false, noted: true });
    }
}
