use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::apply::decide::{Verdict, WorkspaceFacts};
use crate::note::Note;

fn control_plane(status: &Value) -> CAPTControlPlane {
    serde_json::from_value(json!({
        "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "CAPTControlPlane",
        "metadata": { "name": "demo", "namespace": "a", "generation": 3 },
        "spec": { "version": "v1.34.2", "workspaceTemplateRef": { "name": "eks" } },
        "status": status,
    }))
    .unwrap()
}

fn apply(ready: &str, reason: &str, message: &str) -> WorkspaceTemplateApply {
    let time = "2026-01-01T00:00:00Z";
    serde_json::from_value(json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplateApply",
        "metadata": { "name": "demo-apply", "generation": 1 },
        "spec": { "templateRef": { "name": "eks" }, "variables": { "kubernetes_version": "1.34.2" } },
        "status": { "observedGeneration": 1, "conditions": [
            { "type": "Ready", "status": ready, "reason": reason, "message": message, "lastTransitionTime": time },
            { "type": "Applied", "status": "True", "reason": "UpToDate", "message": "", "lastTransitionTime": time },
        ] },
    }))
    .unwrap()
}

fn workspace(ready: bool, outputs: &Value) -> WorkspaceSeen {
    let verdict = Verdict { holds: ready, reason: "Available".to_owned(), message: String::new() };
    let facts = WorkspaceFacts { ready: Some(verdict), ..WorkspaceFacts::default() };
    WorkspaceSeen { facts, at_provider: Some(json!({ "outputs": outputs })) }
}

fn secrets(state: SecretState, reason: Reason) -> Secrets {
    let in_place = state == SecretState::Ready;
    Secrets { state, reason, message: format!("about {reason}"), news: false, in_place }
}

struct Scene {
    control_plane: CAPTControlPlane,
    step: Step,
    outcome: Result<(), Blocked>,
    apply: Option<WorkspaceTemplateApply>,
    workspace: Option<WorkspaceSeen>,
    secrets: Secrets,
    endpoint: Option<Endpoint>,
    probe: Option<Probe>,
    overdue: bool,
}

impl Scene {
    fn ready() -> Self {
        Self {
            control_plane: control_plane(&json!({})),
            step: Step::Settled,
            outcome: Ok(()),
            apply: Some(apply("True", "WorkspaceReady", "")),
            workspace: Some(workspace(
                true,
                &json!({ "cluster_endpoint": "https://x", "list": [1, { "a": "b" }] }),
            )),
            secrets: secrets(SecretState::Ready, Reason::SecretsWritten),
            endpoint: Some(Endpoint { host: "x".to_owned(), port: 443 }),
            probe: None,
            overdue: false,
        }
    }

    fn waiting() -> Self {
        Self {
            apply: Some(apply("False", "WorkspaceNotReady", "Workspace `demo` is not ready: 3 of 10")),
            workspace: Some(workspace(false, &json!({}))),
            secrets: secrets(SecretState::WaitingForSecret, Reason::WaitingForConnectionSecret),
            endpoint: None,
            ..Self::ready()
        }
    }

    fn report<T>(&self, with: impl FnOnce(Report<'_>) -> T) -> T {
        let now = Time("2026-01-01T00:00:00Z".parse().unwrap());
        with(Report {
            control_plane: &self.control_plane,
            step: &self.step,
            outcome: &self.outcome,
            apply: self.apply.as_ref(),
            workspace: self.workspace.as_ref(),
            secrets: &self.secrets,
            endpoint: self.endpoint.as_ref(),
            probe: self.probe.as_ref(),
            overdue: self.overdue,
            now: &now,
        })
    }

    fn status(&self) -> CAPTControlPlaneStatus {
        self.report(status).unwrap()
    }

    fn notes(&self) -> Vec<Note> {
        self.report(|report| notes(report, &status(report).unwrap()))
    }
}

/// Status and reason of a condition.
fn told(status: &CAPTControlPlaneStatus, name: &str) -> (String, String) {
    let found = status.conditions.iter().find(|entry| entry.type_ == name).unwrap();
    (found.status.clone(), found.reason.clone())
}

fn pair(truth: &str, reason: &str) -> (String, String) {
    (truth.to_owned(), reason.to_owned())
}

#[test]
fn a_ready_control_plane_says_so_everywhere() {
    let status = Scene::ready().status();
    assert!(status.ready && status.initialized && status.secrets_ready);
    assert!(status.initialization.as_ref().unwrap().control_plane_initialized);
    assert_eq!(status.phase, Some(Phase::Ready));
    assert_eq!(told(&status, type_::READY), pair("True", "ControlPlaneReady"));
    assert_eq!(told(&status, type_::AVAILABLE), pair("True", "ControlPlaneReady"));
    assert_eq!(told(&status, type_::SECRETS_READY), pair("True", "SecretsWritten"));
    assert_eq!(told(&status, type_::ROLLING_OUT), pair("False", "NotRollingOut"));
    assert_eq!(status.version.as_deref(), Some("v1.34.2"));
    assert_eq!(status.versions.len(), 1);
    assert_eq!(status.observed_generation, Some(3));
    let outputs = &status.workspace_status.unwrap().at_provider.unwrap()["outputs"];
    assert_eq!(outputs["list"][1]["a"], "b", "nested outputs are kept");
}

#[test]
fn nothing_is_ready_before_the_kubeconfig() {
    let scene = Scene {
        secrets: secrets(SecretState::Failed, Reason::KubeconfigInvalid),
        endpoint: Some(Endpoint { host: "x".to_owned(), port: 443 }),
        ..Scene::ready()
    };
    let status = scene.status();
    assert!(!status.ready && !status.initialized && status.initialization.is_none());
    assert_eq!(told(&status, type_::READY), pair("False", "KubeconfigInvalid"));
    assert_eq!(told(&status, type_::AVAILABLE), pair("False", "KubeconfigInvalid"));
    assert_eq!(status.phase, Some(Phase::Failed));
}

#[test]
fn what_was_initialized_stays_so_and_available_when_the_source_turns_bad() {
    let scene = Scene {
        control_plane: control_plane(
            &json!({ "initialized": true, "initialization": { "controlPlaneInitialized": true } }),
        ),
        secrets: secrets(SecretState::Failed, Reason::KubeconfigInvalid),
        ..Scene::ready()
    };
    let status = scene.status();
    assert!(status.initialized && !status.ready && !status.secrets_ready);
    assert_eq!(
        told(&status, type_::AVAILABLE),
        pair("True", "ControlPlaneReady"),
        "the last good one is in place"
    );
    let rejected = Scene { secrets: secrets(SecretState::Failed, Reason::CredentialsRejected), ..scene };
    assert_eq!(told(&rejected.status(), type_::AVAILABLE), pair("False", "CredentialsRejected"));
}

#[rstest]
#[case::waiting(Scene::waiting(), "ControlPlaneNotReady", Phase::Creating)]
#[case::late(Scene { overdue: true, ..Scene::waiting() }, "ControlPlaneOverdue", Phase::Failed)]
#[case::in_trouble(
    Scene { apply: Some(apply("False", "TemplateNotFound", "no such template")), workspace: None, ..Scene::waiting() },
    "TemplateNotFound",
    Phase::Failed
)]
#[case::late_in_trouble(
    Scene { overdue: true, apply: Some(apply("False", "TemplateNotFound", "no such template")), workspace: None, ..Scene::waiting() },
    "TemplateNotFound",
    Phase::Failed
)]
#[case::not_yet_there(Scene { apply: None, workspace: None, ..Scene::waiting() }, "ControlPlaneNotReady", Phase::Creating)]
#[case::held_up(
    Scene {
        step: Step::Hold { blocked: Blocked::new(Reason::WaitingForNetwork, "network"), until: None },
        apply: None,
        workspace: None,
        ..Scene::waiting()
    },
    "WaitingForNetwork",
    Phase::Creating
)]
#[case::refused(Scene { outcome: Err(Blocked::new(Reason::ApiError, "gone")), ..Scene::waiting() }, "ApiError", Phase::Failed)]
fn what_holds_it_up_first_is_told(#[case] scene: Scene, #[case] reason: &str, #[case] phase: Phase) {
    let status = scene.status();
    assert_eq!(told(&status, type_::READY), pair("False", reason));
    assert_eq!(status.phase, Some(phase));
    assert!(!status.ready);
}

#[test]
fn a_workspace_that_turns_bad_later_is_noticed() {
    let scene = Scene {
        control_plane: control_plane(&json!({ "initialized": true })),
        apply: Some(apply("False", "WorkspaceNotReady", "it broke")),
        workspace: Some(workspace(false, &json!({}))),
        ..Scene::ready()
    };
    let status = scene.status();
    assert!(!status.ready);
    assert_eq!(status.phase, Some(Phase::Updating));
    assert_eq!(told(&status, type_::AVAILABLE), pair("True", "ControlPlaneReady"));
}

#[rstest]
#[case::the_cluster_knows_best(Some("v1.33.5-eks-1"), json!({ "cluster_version": "1.34" }), "v1.33.5-eks-1", "True")]
#[case::then_an_output(None, json!({ "cluster_version": "1.33" }), "v1.33.0", "True")]
#[case::eks_tells_no_patch(None, json!({ "cluster_version": "1.34" }), "v1.34.2", "False")]
#[case::else_what_was_applied(None, json!({}), "v1.34.2", "False")]
fn the_running_version_is_told(
    #[case] probed: Option<&str>,
    #[case] outputs: Value,
    #[case] expected: &str,
    #[case] rolling_out: &str,
) {
    let scene = Scene {
        probe: probed.map(|version| Probe::Answered { version: version.to_owned() }),
        workspace: Some(workspace(true, &outputs)),
        ..Scene::ready()
    };
    let status = scene.status();
    assert_eq!(status.version.as_deref(), Some(expected));
    assert_eq!(status.versions[0].version, expected);
    assert_eq!(told(&status, type_::ROLLING_OUT).0, rolling_out);
}

#[test]
fn a_cluster_that_tells_no_version_is_not_the_last_word() {
    let scene = Scene { probe: Some(Probe::Answered { version: String::new() }), ..Scene::ready() };
    let status = scene.status();
    assert_eq!(status.version.as_deref(), Some("v1.34.2"));
    assert_eq!(told(&status, type_::REACHABLE), pair("True", "Reachable"));
}

#[test]
fn a_pause_changes_nothing_else() {
    let before = Scene::ready().status();
    let scene = Scene {
        control_plane: control_plane(&json!(before)),
        step: Step::Pause(crate::standing::Pause { cluster: true, annotation: false, moving: false }),
        secrets: secrets(SecretState::Failed, Reason::KubeconfigInvalid),
        ..Scene::ready()
    };
    let mut after = scene.status();
    assert_eq!(told(&after, type_::PAUSED), pair("True", "Paused"));
    after.conditions.retain(|entry| entry.type_ != type_::PAUSED);
    let mut before = before;
    before.conditions.retain(|entry| entry.type_ != type_::PAUSED);
    assert_eq!(after, before);
}

#[test]
fn one_event_tells_the_way_of_the_secrets() {
    let mut scene = Scene::ready();
    scene.secrets.message = String::new();
    let messages: Vec<_> = scene.notes().into_iter().map(|note| (note.reason, note.message)).collect();
    assert_eq!(
        messages,
        [(Reason::SecretsWritten, "WaitingForSecret → ValidatingSecret → Ready".to_owned()),]
    );
    let again = Scene { control_plane: control_plane(&json!(scene.status())), ..scene };
    assert!(again.notes().is_empty(), "nothing happened");
}

#[test]
fn old_failures_that_were_final_are_cleared() {
    let scene = Scene {
        control_plane: control_plane(&json!({ "failureReason": "x", "failureMessage": "y" })),
        ..Scene::ready()
    };
    let status = scene.status();
    assert_eq!((status.failure_reason, status.failure_message), (None, None));
}
