use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::jiff::Timestamp;
use rstest::rstest;
use serde_json::{Value, json};

use super::super::decide::Mode;
use super::super::observed::ControlPlane;
use super::*;
use crate::apply::decide::Verdict;
use crate::note::Note;
use crate::owned_apply::Wanted;
use crate::standing::Pause;

mod conditions;
mod events;
mod fields;

fn at(second: i64) -> Time {
    Time(Timestamp::from_second(second).unwrap())
}

fn network() -> CAPTCluster {
    serde_json::from_value(json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "CAPTCluster",
        "metadata": { "name": "demo", "namespace": "team-a", "generation": 3 },
        "spec": { "region": "r", "vpcTemplateRef": { "name": "t" } },
    }))
    .unwrap()
}

/// The apply with this status.
fn apply(status: Value) -> WorkspaceTemplateApply {
    let mut object = json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplateApply",
        "metadata": { "name": "demo-vpc", "namespace": "team-a" },
        "spec": { "templateRef": { "name": "t" } },
    });
    object["status"] = status;
    serde_json::from_value(object).unwrap()
}

fn condition_of(type_: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({ "type": type_, "status": status, "reason": reason, "message": message, "lastTransitionTime": "2026-01-01T00:00:00Z" })
}

/// An apply that has written its Workspace.
fn applied() -> WorkspaceTemplateApply {
    apply(json!({
        "workspaceName": "demo-vpc", "applied": true, "templateGeneration": 4, "lastAppliedTime": "2026-01-01T00:00:00Z",
        "conditions": [condition_of("Ready", "False", "WorkspaceNotReady", "not yet"), condition_of("Applied", "True", "UpToDate", "")],
    }))
}

/// An apply whose Ready condition says this.
fn held(reason: &str, message: &str) -> WorkspaceTemplateApply {
    apply(json!({ "conditions": [condition_of("Ready", "False", reason, message)] }))
}

fn verdict(holds: bool, reason: &str, message: &str) -> Verdict {
    Verdict { holds, reason: reason.to_owned(), message: message.to_owned() }
}

/// A Workspace that has not said anything.
fn silent() -> WorkspaceFacts {
    WorkspaceFacts {
        name: "demo-vpc".to_owned(),
        going: false,
        ready: None,
        synced: None,
        outputs: std::collections::BTreeMap::new(),
    }
}

fn running(outputs: Value) -> WorkspaceFacts {
    WorkspaceFacts {
        ready: Some(verdict(true, "Available", "")),
        synced: Some(verdict(true, "ReconcileSuccess", "")),
        outputs: serde_json::from_value(outputs).unwrap(),
        ..silent()
    }
}

fn vpc() -> WorkspaceFacts {
    running(json!({ "vpc_id": "vpc-1", "azs": ["b", "a"] }))
}

fn failing() -> WorkspaceFacts {
    WorkspaceFacts {
        ready: Some(verdict(false, "Creating", "3 of 9 resources")),
        synced: Some(verdict(false, "ReconcileError", "apply failed: no quota")),
        ..silent()
    }
}

fn settled() -> Step {
    Step::Settled { apply: "demo-vpc".to_owned() }
}

fn write(mode: Mode) -> Step {
    Step::Write { mode, wanted: Wanted { name: "demo-vpc".to_owned(), cluster: None, spec: json!({}) } }
}

fn hold(reason: Reason, message: &str) -> Step {
    Step::Hold(Blocked::new(reason, message))
}

fn await_deletion() -> Step {
    Step::AwaitDeletion { name: "demo-vpc".to_owned() }
}

fn planes(planes: &[(&str, bool)]) -> Step {
    let plane = |&(name, going): &(&str, bool)| ControlPlane { name: name.to_owned(), going };
    Step::AwaitControlPlanes(planes.iter().map(plane).collect())
}

/// One reconcile: what was there before, what was decided, and what came of it.
struct Scene {
    network: CAPTCluster,
    step: Step,
    outcome: Result<(), Blocked>,
    apply: Option<WorkspaceTemplateApply>,
    workspace: Option<WorkspaceFacts>,
    now: Time,
}

impl Scene {
    fn of(step: Step) -> Self {
        Self { network: network(), step, outcome: Ok(()), apply: None, workspace: None, now: at(60) }
    }

    fn apply(self, apply: WorkspaceTemplateApply) -> Self {
        Self { apply: Some(apply), ..self }
    }

    fn workspace(self, workspace: WorkspaceFacts) -> Self {
        Self { workspace: Some(workspace), ..self }
    }

    fn failed(self, reason: Reason, message: &str) -> Self {
        Self { outcome: Err(Blocked::new(reason, message)), ..self }
    }

    fn before(mut self, status: Value) -> Self {
        self.network.status = Some(serde_json::from_value(status).unwrap());
        self
    }

    /// What comes after this one.
    fn then(&self, next: Self) -> Self {
        let mut network = self.network.clone();
        network.status = self.status();
        Self { network, now: at(120), ..next }
    }

    fn report(&self) -> Report<'_> {
        let Self { network, step, outcome, apply, workspace, now } = self;
        Report { network, step, outcome, apply: apply.as_ref(), workspace: workspace.as_ref(), now }
    }

    fn status(&self) -> Option<CAPTClusterStatus> {
        status(self.report())
    }

    fn known(&self) -> CAPTClusterStatus {
        self.status().unwrap()
    }

    /// Each condition in a line.
    fn told(&self) -> Vec<String> {
        let line = |Condition { type_, status, reason, message, .. }: Condition| {
            format!("{type_} {status}, {reason}: {message}")
        };
        self.known().conditions.into_iter().map(line).collect()
    }

    /// The Ready condition in a line.
    fn ready(&self) -> String {
        let lines = self.told().into_iter();
        lines.filter_map(|line| line.strip_prefix("Ready ").map(ToOwned::to_owned)).collect()
    }

    /// Each Event in a line.
    fn events(&self) -> Vec<String> {
        let line = |Note { warning, reason, message }: Note| {
            format!("{} {reason}: {message}", if warning { "Warning" } else { "Normal" })
        };
        notes(self.report(), &self.known()).into_iter().map(line).collect()
    }
}
