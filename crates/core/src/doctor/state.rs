//! The state of a Workspace, and the lock on it.

use capt_api::names::{annotation, finalizer, label};
use capt_api::{Workspace, WorkspaceTemplateApply};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt as _;

use super::finding::Finding;
use crate::tie;

/// The state of an apply's Workspace.
#[derive(Clone, Debug)]
pub struct StateFacts<'facts> {
    /// What was looked at.
    pub area: &'facts str,
    /// The apply.
    pub apply: &'facts WorkspaceTemplateApply,
    /// Its Workspace, if it is there.
    pub workspace: Option<&'facts Workspace>,
    /// The Secret that the apply says its state is in, if it is there.
    pub secret: Option<&'facts ObjectMeta>,
    /// The lock on it.
    pub lock: Option<LockFacts>,
}

/// A lock that somebody holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockFacts {
    /// Its identifier.
    pub id: String,
    /// Who took it.
    pub who: String,
    /// Since when.
    pub since: String,
}

impl StateFacts<'_> {
    /// Judges them.
    pub fn judge(&self) -> Vec<Finding> {
        let mut findings = self.state();
        findings.extend(self.lock());
        findings
    }

    fn state(&self) -> Vec<Finding> {
        let Some(noted) = self.apply.annotations().get(annotation::STATE) else { return Vec::new() };
        let workspace = tie::workspace_name(self.apply);
        let (namespace, name) = noted.split_once('/').unwrap_or(("", noted));
        let Some(secret) = self.secret else {
            return vec![Finding::bad(
                self.area,
                format!(
                    "the state of Workspace `{workspace}` was in Secret `{noted}`, and is not there any more"
                ),
                format!(
                    "put a copy back (kubectl -n {namespace} get secrets -l {}=snapshot,{}={}) or `capt restore FILE`; nothing is made anew without you",
                    label::ROLE,
                    label::WORKSPACE,
                    tie::label_value(&tie::kept_name(self.apply))
                ),
            )];
        };
        let mut findings = Vec::new();
        if !secret.finalizers.iter().flatten().any(|held| held == finalizer::STATE) {
            findings.push(Finding::bad(
                self.area,
                format!("Secret `{noted}` with the state of Workspace `{workspace}` is not held: whoever deletes its namespace deletes the state before the destroy"),
                format!(
                    "kubectl -n {namespace} patch secret {name} --type=json -p '[{{\"op\":\"add\",\"path\":\"/metadata/finalizers\",\"value\":[\"{}\"]}}]'",
                    finalizer::STATE
                ),
            ));
        }
        let owned = secret
            .owner_references
            .iter()
            .flatten()
            .any(|owner| Some(&owner.uid) == self.apply.uid().as_ref());
        let beside = self.apply.namespace().as_deref() == Some(namespace);
        if beside && !owned {
            findings.push(Finding::warning(
                self.area,
                format!("Secret `{noted}` with the state of Workspace `{workspace}` is not owned by its apply: `clusterctl move` would leave it behind"),
                format!("let CAPT look once more: kubectl annotate --overwrite workspace {workspace} {}=now", annotation::RECONCILE_REQUESTED_AT),
            ));
        }
        if findings.is_empty() {
            findings.push(Finding::good(
                self.area,
                format!("the state of Workspace `{workspace}` is there and held"),
            ));
        }
        findings
    }

    fn lock(&self) -> Option<Finding> {
        let LockFacts { id, who, since } = self.lock.as_ref()?;
        let engine = self.workspace.and_then(|workspace| workspace.status.as_ref()?.engine.as_ref());
        let runs = engine.is_some_and(|engine| engine.run.is_some());
        let workspace = tie::workspace_name(self.apply);
        Some(if runs {
            Finding::good(self.area, format!("Terraform runs on Workspace `{workspace}`, and has its lock"))
        } else {
            Finding::warning(
                self.area,
                format!(
                    "the state of Workspace `{workspace}` is locked by {who} since {since}, and no run of CAPT's goes on"
                ),
                format!(
                    "if that run is dead: kubectl annotate --overwrite workspace {workspace} {}={id}",
                    annotation::FORCE_UNLOCK
                ),
            )
        })
    }
}
