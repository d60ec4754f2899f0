use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use rstest::rstest;
use serde_json::{Value, json};

use super::super::decide::{Record, Verdict};
use super::super::render::Rendered;
use super::*;
use crate::standing::Pause;
use crate::tie::ApplyKey;

mod conditions;
mod events;

fn at(second: i64) -> Time {
    Time(Timestamp::from_second(second).unwrap())
}

fn apply() -> WorkspaceTemplateApply {
    serde_json::from_value(json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplateApply",
        "metadata": { "name": "demo-apply", "namespace": "team-a", "generation": 3 },
        "spec": { "templateRef": { "name": "eks" } },
    }))
    .unwrap()
}

fn rendered(ignored: &[&str]) -> Rendered {
    Rendered {
        spec: json!({}),
        digest: "sha256:new".to_owned(),
        references: Vec::new(),
        ignored: ignored.iter().map(|name| (*name).to_owned()).collect(),
    }
}

fn write(mode: Mode) -> Step {
    Step::Write { mode, rendered: rendered(&[]) }
}

fn settled() -> Step {
    Step::Settled { rendered: rendered(&[]) }
}

fn hold(reason: Reason, message: &str) -> Step {
    Step::Hold(Blocked::new(reason, message))
}

fn hold_change() -> Step {
    let blocked = Blocked::new(Reason::ApprovalRequired, "annotate this apply");
    Step::HoldChange { pending: "sha256:new".to_owned(), blocked }
}

fn delete() -> Step {
    Step::DeleteWorkspace { name: "demo".to_owned(), uid: None }
}

fn dependents() -> Step {
    let key = |name: &str| ApplyKey { namespace: "team-a".to_owned(), name: name.to_owned() };
    Step::AwaitDependents(vec![key("eks-apply"), key("dns-apply")])
}

fn verdict(holds: bool, reason: &str, message: &str) -> Verdict {
    Verdict { holds, reason: reason.to_owned(), message: message.to_owned() }
}

/// A Workspace that has not said anything.
fn silent() -> WorkspaceFacts {
    let metadata = ObjectMeta { name: Some("demo".to_owned()), ..ObjectMeta::default() };
    WorkspaceFacts { metadata, ..WorkspaceFacts::default() }
}

fn running() -> WorkspaceFacts {
    let ready = Some(verdict(true, "Available", ""));
    WorkspaceFacts { ready, synced: Some(verdict(true, "ReconcileSuccess", "")), ..silent() }
}

fn failing() -> WorkspaceFacts {
    let ready = Some(verdict(false, "Creating", ""));
    let synced = Some(verdict(false, "ReconcileError", "apply failed: quota exceeded"));
    WorkspaceFacts { ready, synced, ..silent() }
}

fn destroyed() -> WorkspaceFacts {
    let metadata = ObjectMeta { deletion_timestamp: Some(at(50)), ..running().metadata };
    WorkspaceFacts { metadata, ..running() }
}

/// One reconcile: what was there before, what was decided, and what came of it.
struct Scene {
    apply: WorkspaceTemplateApply,
    step: Step,
    outcome: Result<Effect, Blocked>,
    workspace: Option<WorkspaceFacts>,
    template_generation: Option<i64>,
    now: Time,
}

impl Scene {
    fn of(step: Step) -> Self {
        let outcome = match step {
            Step::Write { .. } => Ok(Effect::Written { generation: Some(7) }),
            _ => Ok(Effect::Nothing),
        };
        let template_generation = Some(5);
        Self { apply: apply(), step, outcome, workspace: None, template_generation, now: at(60) }
    }

    fn with(self, workspace: WorkspaceFacts) -> Self {
        Self { workspace: Some(workspace), ..self }
    }

    fn failed(self, reason: Reason, message: &str) -> Self {
        Self { outcome: Err(Blocked::new(reason, message)), ..self }
    }

    /// What comes after this one.
    fn then(self, next: Self) -> Self {
        let mut apply = self.apply.clone();
        apply.status = self.status();
        Self { apply, now: at(120), ..next }
    }

    fn report(&self) -> Report<'_> {
        let Self { apply, step, outcome, workspace, template_generation, now } = self;
        Report {
            apply,
            step,
            outcome,
            workspace: workspace.as_ref(),
            template_generation: *template_generation,
            now,
        }
    }

    fn status(&self) -> Option<WorkspaceTemplateApplyStatus> {
        status(self.report())
    }

    fn condition(&self, name: &str) -> Condition {
        let conditions = self.status().unwrap().conditions;
        conditions.into_iter().find(|condition| condition.type_ == name).unwrap()
    }

    /// Each condition in a line.
    fn told(&self) -> Vec<String> {
        let line = |Condition { type_, status, reason, message, .. }: Condition| {
            format!("{type_} {status}, {reason}: {message}")
        };
        self.status().unwrap().conditions.into_iter().map(line).collect()
    }

    /// Each Event in a line.
    fn events(&self) -> Vec<String> {
        let line = |Note { warning, reason, message }: Note| {
            format!("{} {reason}: {message}", if warning { "Warning" } else { "Normal" })
        };
        notes(self.report(), &self.status().unwrap()).into_iter().map(line).collect()
    }
}
