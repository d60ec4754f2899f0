//! Where the state of a Workspace is kept, and whose it is.

pub(super) mod kept;
#[cfg(test)]
pub(super) mod stage;

use capt_api::Workspace;
use capt_api::names::{STATE_SUFFIX, annotation};
use capt_core::name::{is_namespace_name, is_object_name};
use capt_core::tie::{self, ApplyKey};
use capt_core::workspace::backend::StatePlace;
use kube::ResourceExt;

/// Where CAPT keeps what belongs to a Workspace, and who owns it there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The namespace of record, snapshots and plan, and of a state that CAPT keeps.
    pub(super) namespace: String,
    /// Where the state is.
    pub(super) state: StatePlace,
    /// The Terraform workspace.
    pub(super) terraform_workspace: String,
    /// The Workspace's name.
    pub(super) workspace: String,
    /// The name that what is kept goes by. The Workspace's own, but for one that had to take another name when it was moved.
    pub(super) kept_as: String,
    /// The Workspace's uid.
    pub(super) workspace_uid: String,
    /// The apply that the Workspace is derived from.
    pub(super) apply: Option<Owner>,
}

/// An apply that owns what is kept of its Workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) key: ApplyKey,
    pub(super) uid: String,
}

impl Place {
    /// The place of a Workspace: beside its apply, or else where its state is noted to be, or else in CAPT's own namespace.
    pub(super) fn of(workspace: &Workspace, apply: Option<Owner>, home_namespace: &str) -> Self {
        let name = workspace.name_any();
        let external = workspace.annotations().get(annotation::EXTERNAL_NAME).filter(|name| !name.is_empty());
        let kept_as = workspace.annotations().get(annotation::KEPT_AS).filter(|name| is_object_name(name));
        let kept_as = kept_as.map_or_else(|| name.clone(), Clone::clone);
        let beside = apply.as_ref().map(|owner| owner.key.namespace.as_str());
        let namespace = beside.or_else(|| noted(workspace)).unwrap_or(home_namespace);
        Self {
            namespace: namespace.to_owned(),
            state: StatePlace::ours(namespace),
            // Terraform keeps the name in a label, which has less room than an object's name.
            terraform_workspace: external.map_or_else(|| tie::label_value(&kept_as), Clone::clone),
            workspace: name,
            kept_as,
            workspace_uid: workspace.uid().unwrap_or_default(),
            apply,
        }
    }

    /// The same with the state elsewhere.
    pub(super) fn with_state(self, state: StatePlace) -> Self {
        Self { state, ..self }
    }

    /// Where a state is noted to be that CAPT has not placed.
    pub(super) fn noted_elsewhere(&self, note: &str) -> Option<StatePlace> {
        StatePlace::noted(note, &self.terraform_workspace).filter(|state| state.suffix != STATE_SUFFIX)
    }

    /// The name of the Secret with the state. What a user wrote goes into it: it may be no name at all.
    pub(super) fn state_secret(&self) -> String {
        self.state.secret(&self.terraform_workspace)
    }

    /// The Secret with the state, as `namespace/name`.
    pub(super) fn state_title(&self) -> String {
        format!("{}/{}", self.state.namespace, self.state_secret())
    }
}

/// The namespace that a state of CAPT's is noted to be in: it stays there when the apply has gone, or CAPT lives elsewhere now.
/// Where others keep theirs, CAPT keeps nothing else.
fn noted(workspace: &Workspace) -> Option<&str> {
    let (namespace, secret) = workspace.annotations().get(annotation::STATE)?.split_once('/')?;
    let ours = secret.strip_suffix(STATE_SUFFIX).is_some_and(|rest| rest.ends_with('-'));
    (ours && is_namespace_name(namespace)).then_some(namespace)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::noted("team-a/tfstate-x-capt", "team-a")]
    #[case::of_crossplane("crossplane-system/tfstate-x-providerconfig-default", "home")]
    #[case::a_path("../../x/y", "home")]
    #[case::no_namespace("tfstate-x-capt", "home")]
    #[case::empty("", "home")]
    fn a_state_without_an_apply_stays_where_it_was_noted(#[case] noted: &str, #[case] expected: &str) {
        let workspace: Workspace = serde_json::from_value(json!({
            "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace",
            "metadata": { "name": "x", "annotations": { annotation::STATE: noted } },
            "spec": { "forProvider": { "source": "Inline", "module": "" } },
        }))
        .unwrap();
        assert_eq!(Place::of(&workspace, None, "home").namespace, expected);

        let key = ApplyKey { namespace: "beside".to_owned(), name: "x-apply".to_owned() };
        let owner = Owner { key, uid: "u".to_owned() };
        assert_eq!(Place::of(&workspace, Some(owner), "home").namespace, "beside");
    }
}
