//! What the user wishes, by annotations of the Workspace and by its apply.

use capt_api::Workspace;
use capt_api::names::{Reason, annotation};
use capt_api::workspace_template_apply::{DriftPolicy, UpdatePolicy};
use capt_core::apply::Blocked;
use capt_core::condition::cut;
use capt_core::workspace::observed::{Ended, Ending, Memory};
use capt_core::workspace::protection::Protection;
use capt_core::workspace::schedule;
use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error as Unknown;

use super::origin::Source;
use crate::workspace::Terraform;

/// What the user wishes.
pub(super) struct Wishes {
    pub(super) update_policy: UpdatePolicy,
    pub(super) drift_policy: DriftPolicy,
    pub(super) protection: Protection,
    pub(super) approvals: Vec<String>,
    pub(super) next_check: Option<Timestamp>,
    /// What nobody can understand. Nothing is guessed in its place: what the user fears may be what we would do.
    pub(super) unclear: Option<Blocked>,
}

impl Wishes {
    pub(super) fn of(
        workspace: &Workspace,
        source: &Source,
        memory: &Memory,
        ended: Option<&Ended>,
        terraform: &Terraform,
    ) -> Self {
        let annotations = workspace.annotations();
        let noted = |key: &str| annotations.get(key).map(String::as_str);
        let apply = source.apply.as_ref();
        let interval = noted(annotation::POLL_INTERVAL);
        let unclear = noted(annotation::DRIFT_POLICY)
            .filter(|word| drift_policy(word).is_none())
            .map(|word| unclear(annotation::DRIFT_POLICY, word, "Correct, Report or Ignore"))
            .or_else(|| {
                let interval = interval.filter(|text| schedule::interval(text).is_none())?;
                Some(unclear(annotation::POLL_INTERVAL, interval, "a time such as 10m or 1h30m"))
            });
        let drift_policy = noted(annotation::DRIFT_POLICY)
            .and_then(drift_policy)
            .or_else(|| apply.and_then(|apply| apply.spec.drift_policy))
            .unwrap_or_default();
        let named = apply.map(|apply| apply.spec.protected_resources.clone()).unwrap_or_default();
        let protected = noted(annotation::PROTECT).unwrap_or_default().split(',');
        let approved = apply.and_then(|apply| apply.annotations().get(annotation::APPROVE_PLAN).cloned());
        let interval = interval.and_then(schedule::interval).unwrap_or(terraform.options.drift_interval);
        let uid = workspace.uid().unwrap_or_default();
        Self {
            update_policy: apply.map(|apply| apply.spec.update_policy).unwrap_or_default(),
            drift_policy,
            protection: Protection::new(named.iter().map(String::as_str).chain(protected)),
            approvals: noted(annotation::APPROVE_PLAN)
                .map(ToOwned::to_owned)
                .into_iter()
                .chain(approved)
                .collect(),
            next_check: schedule::next_check(&looked_at(memory, ended), drift_policy, interval, &uid),
            unclear,
        }
    }
}

fn unclear(key: &str, value: &str, expected: &str) -> Blocked {
    let message =
        format!("annotation {key}: `{}` is not understood: write {expected}, or remove it", cut(value, 300));
    Blocked::new(Reason::InvalidRun, message)
}

/// A plan that was made since counts as a look.
fn looked_at(memory: &Memory, ended: Option<&Ended>) -> Memory {
    let planned = ended.filter(|ended| matches!(ended.result, Ending::Planned(_))).map(|ended| ended.at);
    Memory { checked_at: memory.checked_at.max(planned), ..memory.clone() }
}

fn drift_policy(word: &str) -> Option<DriftPolicy> {
    DriftPolicy::deserialize(IntoDeserializer::<Unknown>::into_deserializer(word.trim())).ok()
}
