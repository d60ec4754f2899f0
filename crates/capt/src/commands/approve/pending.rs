//! What waits for approval.

use capt_api::names::condition;
use capt_api::workspace_template_apply::UpdatePolicy;
use capt_api::{Workspace, WorkspaceTemplateApply};
use kube::{Client, ResourceExt};
use serde::Serialize;

use crate::commands::plan::{self, PlanView};
use crate::commands::target::Subject;

/// Something that waits for approval.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all_fields = "camelCase")]
pub(super) enum Pending {
    /// A plan of Terraform's.
    Plan {
        workspace: String,
        hash: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        plan: Option<Box<PlanView>>,
    },
    /// A change of template or variables.
    Change { namespace: String, apply: String, workspace: String, digest: String, message: String },
}

impl Pending {
    /// What waits of a Workspace, and of its apply.
    pub(super) async fn of(client: &Client, subject: &Subject) -> anyhow::Result<Vec<Self>> {
        let mut found = Vec::new();
        if let Some(apply) = &subject.apply
            && let Some(digest) = digest(apply)
        {
            let conditions = apply.status.iter().flat_map(|status| &status.conditions);
            let applied = conditions.clone().find(|entry| entry.type_ == condition::APPLIED);
            found.push(Self::Change {
                namespace: apply.namespace().unwrap_or_default(),
                apply: apply.name_any(),
                workspace: subject.name(),
                digest: digest.to_owned(),
                message: applied.map(|applied| applied.message.clone()).unwrap_or_default(),
            });
        }
        if let Some(workspace) = &subject.workspace
            && waits(workspace)
        {
            let view = plan::at_hand(client, subject).await?;
            let hash = plan_hash(workspace).or_else(|| view.as_ref().map(|view| view.hash.clone()));
            // What is shown is what is approved.
            let plan = view.filter(|view| Some(&view.hash) == hash.as_ref()).map(Box::new);
            found.extend(hash.map(|hash| Self::Plan { workspace: subject.name(), hash, plan }));
        }
        Ok(found)
    }

    /// What it is called.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Plan { workspace, hash, .. } => {
                format!("plan {} of Workspace `{workspace}`", hash.get(..16).unwrap_or(hash))
            }
            Self::Change { namespace, apply, digest, .. } => {
                format!("change {} of WorkspaceTemplateApply `{namespace}/{apply}`", short(digest))
            }
        }
    }

    pub(super) fn workspace(&self) -> &str {
        match self {
            Self::Plan { workspace, .. } | Self::Change { workspace, .. } => workspace,
        }
    }

    /// Whether a hash or digest, or the beginning of one, names it.
    pub(super) fn is(&self, hash: &str) -> bool {
        let full = match self {
            Self::Plan { hash, .. } => hash,
            Self::Change { digest, .. } => digest,
        };
        let digits = |text: &str| text.strip_prefix("sha256:").unwrap_or(text).to_ascii_lowercase();
        digits(full).starts_with(&digits(hash))
    }

    /// What waits, in full.
    pub(super) fn sentences(&self) -> String {
        match self {
            Self::Plan { plan: Some(plan), .. } => plan.sentences(),
            Self::Plan { plan: None, .. } => format!("{} waits for approval", self.name()),
            Self::Change { message, .. } => format!("{} waits for approval: {message}", self.name()),
        }
    }
}

/// The first digits of a digest.
fn short(digest: &str) -> &str {
    let digits = digest.strip_prefix("sha256:").unwrap_or(digest);
    digits.get(..16).unwrap_or(digits)
}

/// Whether a plan of a Workspace waits.
pub(super) fn waits(workspace: &Workspace) -> bool {
    let mut conditions = workspace.status.iter().flat_map(|status| &status.conditions);
    conditions.any(|entry| entry.type_ == condition::APPROVAL_REQUIRED && entry.status == "True")
}

/// The hash of the plan that waits.
pub(super) fn plan_hash(workspace: &Workspace) -> Option<String> {
    let engine = workspace.status.as_ref().and_then(|status| status.engine.as_ref());
    engine.and_then(|engine| engine.plan.as_ref()).filter(|_| waits(workspace)).map(|plan| plan.hash.clone())
}

/// The digest of the change that waits.
pub(super) fn digest(apply: &WorkspaceTemplateApply) -> Option<&str> {
    let pending = apply.status.as_ref().and_then(|status| status.pending_digest.as_deref());
    match apply.spec.update_policy {
        // Of an automatic apply only what a Workspace would lose that was taken over waits.
        UpdatePolicy::Automatic | UpdatePolicy::Approve => pending,
        // What is pinned waits for another policy, not for an approval.
        UpdatePolicy::Pinned => None,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::whole("0123456789abcdef0123", true)]
    #[case::its_beginning("0123456789ab", true)]
    #[case::with_its_kind("sha256:0123456789ab", true)]
    #[case::in_capitals("0123456789AB", true)]
    #[case::another("0123456789ac", false)]
    fn a_hash_or_its_beginning_names_what_waits(#[case] hash: &str, #[case] expected: bool) {
        let digest = "0123456789abcdef0123".to_owned();
        let plan = Pending::Plan { workspace: "w".to_owned(), hash: digest.clone(), plan: None };
        let text = ToOwned::to_owned;
        let change = Pending::Change {
            namespace: text("n"),
            apply: text("a"),
            workspace: text("w"),
            digest: format!("sha256:{digest}"),
            message: String::new(),
        };
        assert_eq!((plan.is(hash), change.is(hash)), (expected, expected));
    }
}
