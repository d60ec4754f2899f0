//! Where the state of a Workspace is kept, and whose it is.

pub(super) mod kept;
#[cfg(test)]
pub(super) mod stage;

use capt_api::Workspace;
use capt_api::names::{STATE_SUFFIX, annotation};
use capt_core::name::is_namespace_name;
use capt_core::tie::{self, ApplyKey};
use kube::ResourceExt;

/// Where CAPT keeps what belongs to a Workspace, and who owns it there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The namespace of state, record, snapshots and plan.
    pub(super) namespace: String,
    /// The Terraform workspace.
    pub(super) terraform_workspace: String,
    /// The Workspace's name.
    pub(super) workspace: String,
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
        let beside = apply.as_ref().map(|owner| owner.key.namespace.as_str());
        Self {
            namespace: beside.or_else(|| noted(workspace)).unwrap_or(home_namespace).to_owned(),
            // Terraform keeps the name in a label, which has less room than an object's name.
            terraform_workspace: external.map_or_else(|| tie::label_value(&name), Clone::clone),
            workspace: name,
            workspace_uid: workspace.uid().unwrap_or_default(),
            apply,
        }
    }

    /// The name of the Secret with the state. What a user wrote goes into it: it may be no name at all.
    pub(super) fn state_secret(&self) -> String {
        format!("tfstate-{}-{STATE_SUFFIX}", self.terraform_workspace)
    }
}

/// The namespace that the state is noted to be in: it stays there when the apply has gone, or CAPT lives elsewhere now.
fn noted(workspace: &Workspace) -> Option<&str> {
    let (namespace, _) = workspace.annotations().get(annotation::STATE)?.split_once('/')?;
    is_namespace_name(namespace).then_some(namespace)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::noted("team-a/tfstate-x-capt", "team-a")]
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
