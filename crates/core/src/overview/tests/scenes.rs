//! Clusters in every state that people ask about.

use serde_json::{Value, json};

use super::world::*;
use crate::overview::{Facts, Part, SecretUse, Seen};

const CONTROL_PLANE: &str = "demo-eks-controlplane-apply";

pub(super) fn all_ready() -> Facts {
    ready()
}

pub(super) fn waiting_for_network() -> Facts {
    let mut facts = ready();
    unavailable(&mut facts, "* InfrastructureReady: WorkspaceTemplateApply `demo-vpc` makes the network");
    before_secrets(&mut facts);
    let run = json!({ "run": {
        "operation": "Apply", "phase": "Running", "since": "2026-01-02T03:03:05Z", "done": 1, "total": 3,
        "current": [{ "address": "aws_vpc.main", "action": "create", "since": "2026-01-02T03:03:35Z" }],
    } });
    let made = workspace("demo-vpc", &[condition("Ready", "False", "Creating", "applying")], &run);
    let waits = apply(
        "demo-vpc",
        &[condition("Ready", "False", "WorkspaceNotReady", "Workspace `demo-vpc` is not ready: applying")],
    );
    let says = network(&[condition(
        "Ready",
        "False",
        "NetworkNotReady",
        "WorkspaceTemplateApply `demo-vpc` makes the network",
    )]);
    facts.infrastructure = own("demo", Seen::There(says), applied(waits, Some(made)));
    let message = "waiting for the network: WorkspaceTemplateApply `demo-vpc` makes the network";
    let says = control_plane(&[
        condition("Ready", "False", "WaitingForNetwork", message),
        condition("SecretsReady", "False", "WaitingForConnectionSecret", ""),
    ]);
    facts.control_plane = own("demo", Seen::There(says), None);
    let message = "the cluster has no credentials yet";
    facts.bindings = vec![binding(
        &condition("Ready", "False", "WaitingForCredentials", message),
        &[
            step("flux", "Pending", "WaitingForCredentials", message),
            step("karpenter", "Pending", "WaitingForAddons", "waits for flux"),
        ],
    )];
    facts
}

/// The control plane calls it late, and still it is the network that has to come.
pub(super) fn network_overdue() -> Facts {
    let mut facts = waiting_for_network();
    let message = "the network is not there after 15 minutes and is waited for";
    facts.control_plane = own(
        "demo",
        Seen::There(control_plane(&[condition("Ready", "False", "NetworkOverdue", message)])),
        None,
    );
    facts
}

pub(super) fn apply_failing() -> Facts {
    let mut facts = ready();
    unavailable(&mut facts, "* ControlPlaneAvailable: WorkspaceTemplateApply makes the control plane");
    before_secrets(&mut facts);
    let message = "terraform apply failed: creating EKS Cluster (demo): AccessDeniedException: not authorized to perform eks:CreateCluster";
    let failed = workspace(
        CONTROL_PLANE,
        &[
            condition("Ready", "False", "Creating", message),
            condition("Synced", "False", "ReconcileError", message),
        ],
        &json!({}),
    );
    let waits =
        apply(CONTROL_PLANE, &[condition("Ready", "False", "WorkspaceNotReady", "Workspace is not ready")]);
    let says = control_plane(&[
        condition("Ready", "False", "ControlPlaneNotReady", "WorkspaceTemplateApply makes the control plane"),
        condition("SecretsReady", "False", "WaitingForConnectionSecret", ""),
    ]);
    facts.control_plane = own("demo", Seen::There(says), applied(waits, Some(failed)));
    let message = "the cluster has no credentials yet";
    facts.bindings = vec![binding(
        &condition("Ready", "False", "WaitingForCredentials", message),
        &[step("flux", "Pending", "WaitingForCredentials", message)],
    )];
    facts
}

pub(super) fn approval_needed() -> Facts {
    let mut facts = ready();
    let message = "the plan 0123456789abcdef (0 to add, 0 to change, 1 to replace, 0 to destroy) waits for approval: it destroys or replaces aws_eks_cluster.main. To apply it: capt approve workspace demo-eks-controlplane (or kubectl annotate --overwrite workspace demo-eks-controlplane capt.cluster.x-k8s.io/approve-plan=0123456789abcdef)";
    let waits = workspace(
        CONTROL_PLANE,
        &[
            condition("Ready", "True", "Available", ""),
            condition("Synced", "False", "ApprovalRequired", message),
            condition("ApprovalRequired", "True", "ApprovalRequired", message),
        ],
        &json!({}),
    );
    let conditions = [condition("Ready", "True", "WorkspaceReady", "")];
    put_control_plane(&mut facts, applied(apply(CONTROL_PLANE, &conditions), Some(waits)));
    facts
}

/// Another apply in the place of the control plane's.
fn put_control_plane(facts: &mut Facts, applied: impl Into<Option<crate::overview::Applied>>) {
    if let Part::Own(part) = &mut facts.control_plane {
        part.applied = applied.into();
    }
}

pub(super) fn credentials_rejected() -> Facts {
    let mut facts = ready();
    unavailable(&mut facts, "* ControlPlaneAvailable: the cluster does not accept the credentials");
    let message = "the API server does not accept the credentials (401): give arn:aws:iam::111122223333:role/capt access to the cluster";
    let says = control_plane(&[
        condition("Ready", "False", "CredentialsRejected", message),
        condition("SecretsReady", "False", "CredentialsRejected", message),
        condition(
            "Reachable",
            "False",
            "CredentialsRejected",
            "the API server answers but does not accept the credentials",
        ),
    ]);
    facts.control_plane = own("demo", Seen::There(says), ready_apply(CONTROL_PLANE));
    facts
}

pub(super) fn secret_not_owned() -> Facts {
    let mut facts = ready();
    unavailable(&mut facts, "* ControlPlaneAvailable: Secret `demo-kubeconfig` is not CAPT's");
    let message = "Secret `demo-kubeconfig` was made by somebody else and is left alone: delete or rename it";
    let says = control_plane(&[
        condition("Ready", "False", "SecretNotOwned", message),
        condition("SecretsReady", "False", "SecretNotOwned", message),
    ]);
    facts.control_plane = own("demo", Seen::There(says), ready_apply(CONTROL_PLANE));
    facts.secrets[1] = secret(SecretUse::Kubeconfig, "demo-kubeconfig", false);
    facts
}

pub(super) fn addon_waiting_on_flux() -> Facts {
    let mut facts = ready();
    facts.bindings = vec![binding(
        &condition(
            "Ready",
            "False",
            "AddonNotReady",
            "`flux`: Deployment flux-system/source-controller: 0 of 1 are ready",
        ),
        &[
            step(
                "flux",
                "WaitingForReady",
                "AddonNotReady",
                "Deployment flux-system/source-controller: 0 of 1 are ready",
            ),
            step("karpenter", "Pending", "WaitingForAddons", "waits for flux"),
        ],
    )];
    facts
}

pub(super) fn addon_failed() -> Facts {
    let mut facts = ready();
    let message = "HelmRelease karpenter/karpenter was refused: spec.chart is missing";
    facts.bindings = vec![binding(
        &condition("Ready", "False", "ObjectRefused", message),
        &[step("flux", "Ready", "AddonReady", ""), step("karpenter", "Failed", "ObjectRefused", message)],
    )];
    facts
}

pub(super) fn paused() -> Facts {
    let mut facts = waiting_for_network();
    facts.cluster =
        cluster(&json!({ "paused": true }), &[condition("Available", "False", "NotAvailable", "")]);
    facts
}

pub(super) fn apply_paused() -> Facts {
    let mut facts = waiting_for_network();
    let message = "WorkspaceTemplateApply has the cluster.x-k8s.io/paused annotation";
    let conditions = [
        condition("Ready", "False", "WorkspaceNotReady", ""),
        condition("Paused", "True", "Paused", message),
    ];
    if let Part::Own(part) = &mut facts.infrastructure {
        part.applied = Some(applied(apply("demo-vpc", &conditions), None));
    }
    facts
}

pub(super) fn deleting_held_by_a_node_claim() -> Facts {
    let mut facts = ready();
    unavailable(&mut facts, "");
    delete(&mut facts.cluster.metadata, "cluster.cluster.x-k8s.io");
    facts.cluster.status.as_mut().unwrap().conditions = serde_json::from_value(json!([
        condition("Available", "False", "NotAvailable", ""),
        condition(
            "Deleting",
            "True",
            "WaitingForControlPlaneDeletion",
            "Waiting for CAPTControlPlane `demo` to be deleted"
        ),
    ]))
    .unwrap();
    let message = "before Terraform destroys the cluster, machines and add-ons in it are taken down (until 2026-01-02T03:32:05Z, CAPT destroys it all the same then); still there: 1 NodeClaim (`default-abcde`): held by the finalizer karpenter.sh/termination";
    let mut says = control_plane(&[
        condition("Ready", "False", "Deleting", "the control plane is being taken down"),
        condition("Deleting", "True", "ClearingCluster", message),
        condition("SecretsReady", "True", "SecretsWritten", ""),
    ]);
    delete(&mut says.metadata, "capt.cluster.x-k8s.io/control-plane");
    facts.control_plane = own("demo", Seen::There(says), ready_apply(CONTROL_PLANE));
    let says = "the network is taken down when its control planes are gone: `demo`";
    let mut network = network(&[condition("Ready", "False", "WaitingForControlPlane", says)]);
    delete(&mut network.metadata, "capt.cluster.x-k8s.io/network");
    facts.infrastructure = own("demo", Seen::There(network), ready_apply("demo-vpc"));
    facts.bindings = Vec::new();
    facts
}

pub(super) fn missing_reference() -> Facts {
    let mut facts = ready();
    unavailable(&mut facts, "* ControlPlaneAvailable: CAPTControlPlane `demo` does not exist");
    before_secrets(&mut facts);
    facts.control_plane = own("demo", Seen::Missing, None);
    facts.bindings = Vec::new();
    facts
}

pub(super) fn foreign_providers() -> Facts {
    let mut facts = ready();
    unavailable(&mut facts, "* ControlPlaneAvailable: Scaling up");
    let network = json!({ "status": { "conditions": [
        { "type": "Ready", "status": "True", "lastTransitionTime": "2026-01-02T03:00:05Z" },
    ] } });
    let says = condition(
        "Available",
        "False",
        "NotAvailable",
        "* EtcdClusterHealthy: 1 of 3 members is not healthy",
    );
    let control_plane = json!({ "status": { "conditions": [says] } });
    let says = condition("Available", "False", "NotAvailable", "2 available replicas, at least 3 required");
    let deployment =
        json!({ "spec": { "replicas": 3 }, "status": { "readyReplicas": 2, "conditions": [says] } });
    let says = condition("Ready", "True", "", "");
    let pool = json!({ "spec": { "replicas": 1 }, "status": { "readyReplicas": 1, "conditions": [says] } });
    facts.infrastructure = Part::Foreign(Box::new(foreign("AWSCluster", "demo", &network)));
    facts.control_plane = Part::Foreign(Box::new(foreign("KubeadmControlPlane", "demo-cp", &control_plane)));
    facts.workers = vec![
        foreign("MachineDeployment", "demo-md-0", &deployment),
        foreign("MachinePool", "demo-mp-0", &pool),
    ];
    facts.bindings = Vec::new();
    facts
}

pub(super) fn crossplane_runs_terraform() -> Facts {
    let mut facts = apply_failing();
    let message = "cannot apply Terraform configuration: Error: creating EKS Cluster (demo)";
    let failed = workspace(
        CONTROL_PLANE,
        &[
            json!({ "type": "Ready", "status": "False", "reason": "Creating", "lastTransitionTime": "2026-01-02T03:00:05Z" }),
            condition("Synced", "False", "ReconcileError", message),
        ],
        &json!(null),
    );
    let waits = apply(
        CONTROL_PLANE,
        &[condition("Ready", "False", "WorkspaceNotReady", "Workspace is not ready: Creating")],
    );
    put_control_plane(&mut facts, applied(waits, Some(failed)));
    facts
}

pub(super) fn drifted() -> Facts {
    let message = "the infrastructure differs from what was applied: 0 to add, 1 to change, 0 to destroy";
    ready_with(condition("Drifted", "True", "DriftDetected", message))
}

pub(super) fn interrupted_calls() -> Facts {
    let message = "a run died while these calls were in flight: create aws_vpc.main";
    ready_with(condition("InterruptedCalls", "True", "InterruptedCalls", message))
}

/// All is ready, and the Workspace of the control plane says something besides.
fn ready_with(told: Value) -> Facts {
    let mut facts = ready();
    let workspace = workspace(
        CONTROL_PLANE,
        &[
            condition("Ready", "True", "Available", ""),
            condition("Synced", "True", "ReconcileSuccess", ""),
            told,
        ],
        &json!({}),
    );
    put_control_plane(
        &mut facts,
        applied(apply(CONTROL_PLANE, &[condition("Ready", "True", "WorkspaceReady", "")]), Some(workspace)),
    );
    facts
}

/// Drift in the one place does not hide what blocks in the other.
pub(super) fn drifted_and_rejected() -> Facts {
    let mut facts = drifted();
    let drifted = match &mut facts.control_plane {
        Part::Own(part) => part.applied.take(),
        Part::NotNamed | Part::Foreign(_) => None,
    };
    let mut facts = credentials_rejected();
    put_control_plane(&mut facts, drifted);
    facts
}

pub(super) fn template_missing() -> Facts {
    let mut facts = waiting_for_network();
    let message = "WorkspaceTemplate `network` does not exist in the namespace default";
    let says = network(&[condition("Ready", "False", "TemplateNotFound", message)]);
    let holds = apply(
        "demo-vpc",
        &[
            condition("Ready", "False", "TemplateNotFound", message),
            condition("Applied", "False", "TemplateNotFound", message),
        ],
    );
    let mut held = applied(holds, None);
    held.workspace = Some(("demo-vpc".to_owned(), Seen::Missing));
    facts.infrastructure = own("demo", Seen::There(says), held);
    facts
}

pub(super) fn nobody_looks_after_it() -> Facts {
    let mut facts = ready();
    facts.cluster = cluster(&json!({}), &[]);
    before_secrets(&mut facts);
    facts.infrastructure = own("demo", Seen::There(network(&[])), None);
    facts.control_plane = own("demo", Seen::There(control_plane(&[])), None);
    facts.bindings = Vec::new();
    facts
}

pub(super) fn most_may_not_be_read() -> Facts {
    let mut facts = ready();
    let why = "secrets \"demo-kubeconfig\" is forbidden: User \"eve\" cannot get resource \"secrets\" in API group \"\" in the namespace \"default\"";
    for secret in &mut facts.secrets {
        secret.secret = Seen::Unread(why.to_owned());
    }
    facts.infrastructure = own("demo", Seen::Unread("captclusters is forbidden".to_owned()), None);
    facts.doubts = vec!["AddonStackBindings cannot be listed: forbidden".to_owned()];
    facts.bindings = Vec::new();
    facts
}

pub(super) fn unreachable() -> Facts {
    let mut facts = ready();
    unavailable(&mut facts, "* RemoteConnectionProbe: connection refused");
    let says = control_plane(&[
        condition("Ready", "True", "ControlPlaneReady", ""),
        condition("SecretsReady", "True", "SecretsWritten", ""),
        condition(
            "Reachable",
            "False",
            "Unreachable",
            "connecting to https://demo.example.org:6443: connection refused",
        ),
    ]);
    facts.control_plane = own("demo", Seen::There(says), ready_apply(CONTROL_PLANE));
    facts
}
