//! Every word of the API that is compared as text: labels, annotations, finalizers, condition types and reasons.
//!
//! Nothing outside this file spells one of them.

/// The field manager of every server-side apply that CAPT makes.
pub const FIELD_MANAGER: &str = "capt";

/// The field manager of what keeps a Workspace frozen, so that it can be taken away as one.
pub const FREEZING_FIELD_MANAGER: &str = "capt-freeze";

/// The value of the `managed-by` label on what CAPT makes.
pub const MANAGED_BY_CAPT: &str = "capt";

/// Ends the name of a `WorkspaceTemplateApply`; the Workspace has the name without it.
pub const APPLY_SUFFIX: &str = "-apply";

/// API groups.
pub mod group {
    /// Kinds of the network and of Terraform templates.
    pub const INFRASTRUCTURE: &str = "infrastructure.cluster.x-k8s.io";
    /// Kinds of the control plane.
    pub const CONTROL_PLANE: &str = "controlplane.cluster.x-k8s.io";
    /// Crossplane's Terraform kinds.
    pub const TERRAFORM: &str = "tf.upbound.io";
    /// Cluster API's own kinds.
    pub const CLUSTER: &str = "cluster.x-k8s.io";
}

/// Labels.
pub mod label {
    /// Kubernetes' recommended label; `capt` on what CAPT makes.
    pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
    /// Cluster API: the name of the Cluster that an object belongs to.
    pub const CLUSTER_NAME: &str = "cluster.x-k8s.io/cluster-name";
    /// Cluster API: restricts a manager to objects that carry this label with the manager's value.
    pub const WATCH_FILTER: &str = "cluster.x-k8s.io/watch-filter";
    /// Cluster API: says which provider installed a CRD.
    pub const PROVIDER: &str = "cluster.x-k8s.io/provider";
    /// Cluster API: the contract that a CRD follows; the value is the CRD's version.
    pub const CONTRACT_V1BETA2: &str = "cluster.x-k8s.io/v1beta2";
    /// Cluster API: the older contract. The earlier Go implementation put it on its CRDs; one version must not follow two
    /// contracts.
    pub const CONTRACT_V1BETA1: &str = "cluster.x-k8s.io/v1beta1";
    /// `clusterctl move` takes every object of a CRD with this label along.
    pub const MOVE: &str = "clusterctl.cluster.x-k8s.io/move";
    /// As [`MOVE`], with everything that such an object owns.
    pub const MOVE_HIERARCHY: &str = "clusterctl.cluster.x-k8s.io/move-hierarchy";
    /// On a Workspace: the namespace of the `WorkspaceTemplateApply` it is derived from.
    pub const APPLY_NAMESPACE: &str = "capt.cluster.x-k8s.io/apply-namespace";
    /// On a Workspace: the name of the `WorkspaceTemplateApply` it is derived from, shortened if it is long.
    pub const APPLY_NAME: &str = "capt.cluster.x-k8s.io/apply-name";
    /// On a Workspace: the uid of the `WorkspaceTemplateApply` it is derived from.
    pub const APPLY_UID: &str = "capt.cluster.x-k8s.io/apply-uid";
}

/// Annotations.
pub mod annotation {
    /// Cluster API: nothing is reconciled while this is there, whatever its value.
    pub const PAUSED: &str = "cluster.x-k8s.io/paused";
    /// Cluster API: somebody else looks after this object.
    pub const MANAGED_BY: &str = "cluster.x-k8s.io/managed-by";
    /// `clusterctl move` deletes this object because it lives on elsewhere.
    pub const DELETE_FOR_MOVE: &str = "clusterctl.cluster.x-k8s.io/delete-for-move";
    /// Crossplane: the Workspace is not reconciled while this is `"true"`.
    pub const CROSSPLANE_PAUSED: &str = "crossplane.io/paused";
    /// On a Workspace: CAPT has paused it because its apply lives on in another cluster.
    pub const FROZEN: &str = "capt.cluster.x-k8s.io/frozen";
    /// On a `WorkspaceTemplateApply`: the name of its Workspace (status does not move, annotations do).
    pub const WORKSPACE_NAME: &str = "capt.cluster.x-k8s.io/workspace-name";
    /// On a `WorkspaceTemplateApply`: the name of a Workspace that nobody else uses and that it is to take over.
    pub const ADOPT_WORKSPACE: &str = "capt.cluster.x-k8s.io/adopt-workspace";
    /// On a Workspace: the full name of its `WorkspaceTemplateApply`.
    pub const APPLY: &str = "capt.cluster.x-k8s.io/apply";
    /// On a Workspace and on its `WorkspaceTemplateApply`: digest of the spec that was applied last.
    pub const APPLIED_DIGEST: &str = "capt.cluster.x-k8s.io/applied-digest";
    /// On a `WorkspaceTemplateApply`: the digest that the user approves.
    pub const APPROVE: &str = "capt.cluster.x-k8s.io/approve";
    /// On a Secret, `ConfigMap`, Workspace or Namespace: the namespaces that may refer to it, separated by commas, or `*`.
    pub const GRANTED_TO: &str = "capt.cluster.x-k8s.io/granted-to";
    /// On a `WorkspaceTemplate`: `"true"` carries the module to the Workspace although CAPT cannot read it.
    pub const SKIP_MODULE_CHECK: &str = "capt.cluster.x-k8s.io/skip-module-check";
}

/// Finalizers.
pub mod finalizer {
    /// Holds a `WorkspaceTemplateApply` until its Workspace is gone.
    pub const WORKSPACE: &str = "capt.cluster.x-k8s.io/workspace";
    /// What the earlier Go implementation put on the same objects; removed together with ours.
    pub const LEGACY: &str = "infrastructure.cluster.x-k8s.io/finalizer";
}

/// Condition types.
pub mod condition {
    /// The object has reached what its spec asks for.
    pub const READY: &str = "Ready";
    /// The template and variables as they are now have been carried to the Workspace.
    pub const APPLIED: &str = "Applied";
    /// Crossplane's word: the last attempt to bring the Workspace in line succeeded.
    pub const SYNCED: &str = "Synced";
    /// The object is not reconciled at present.
    pub const PAUSED: &str = "Paused";
}

/// Reasons of conditions and Events.
///
/// One enum, so that a reason cannot be misspelt and every reason can be listed in the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// The Workspace carries the present template and variables.
    UpToDate,
    /// The Workspace was created.
    WorkspaceCreated,
    /// The Workspace was changed.
    WorkspaceUpdated,
    /// An existing Workspace was taken over.
    WorkspaceAdopted,
    /// The Workspace reports Ready.
    WorkspaceReady,
    /// The Workspace does not report Ready yet, or no longer does.
    WorkspaceNotReady,
    /// The Workspace is gone although it should be there; it is made again.
    WorkspaceMissing,
    /// A Workspace of this name belongs to somebody else.
    WorkspaceNotOwned,
    /// The Workspace stays although its apply is deleted.
    WorkspaceRetained,
    /// The Workspace is left alone because its apply was moved to another cluster.
    WorkspaceMoved,
    /// The Workspace's kind is not installed.
    WorkspaceKindMissing,
    /// The referenced template does not exist.
    TemplateNotFound,
    /// The template cannot be used as it is.
    TemplateInvalid,
    /// The template can be used.
    TemplateValid,
    /// The inline module is not valid HCL or JSON.
    ModuleInvalid,
    /// A Secret that the apply waits for is missing or incomplete.
    WaitingForSecrets,
    /// A Workspace that the apply waits for is missing or not Ready.
    WaitingForWorkspaces,
    /// Applies wait for each other in a circle.
    DependencyCycle,
    /// A variable's source does not exist or has no such key.
    VariableMissing,
    /// A variable's value cannot be used.
    VariableInvalid,
    /// A reference leads to another namespace that has not granted it.
    ReferenceNotGranted,
    /// A Secret of a name that CAPT needs belongs to somebody else.
    SecretNotOwned,
    /// The rendered Workspace is larger than the API server takes.
    WorkspaceTooLarge,
    /// The API server refused the Workspace.
    WorkspaceRefused,
    /// A change waits for the user's approval.
    ApprovalRequired,
    /// A change is held back by `updatePolicy: Pinned`.
    Pinned,
    /// Reconciling is switched off by the user or by Cluster API.
    Paused,
    /// Reconciling is on.
    NotPaused,
    /// The object is being deleted.
    Deleting,
    /// Deletion waits for others that still use the Workspace.
    WaitingForDependents,
    /// The API server could not be asked.
    ApiError,
    /// The object itself cannot be read.
    Unreadable,
}

impl Reason {
    /// Every reason, for documentation and tests.
    pub const ALL: &[Self] = &[
        Self::UpToDate,
        Self::WorkspaceCreated,
        Self::WorkspaceUpdated,
        Self::WorkspaceAdopted,
        Self::WorkspaceReady,
        Self::WorkspaceNotReady,
        Self::WorkspaceMissing,
        Self::WorkspaceNotOwned,
        Self::WorkspaceRetained,
        Self::WorkspaceMoved,
        Self::WorkspaceKindMissing,
        Self::TemplateNotFound,
        Self::TemplateInvalid,
        Self::TemplateValid,
        Self::ModuleInvalid,
        Self::WaitingForSecrets,
        Self::WaitingForWorkspaces,
        Self::DependencyCycle,
        Self::VariableMissing,
        Self::VariableInvalid,
        Self::ReferenceNotGranted,
        Self::SecretNotOwned,
        Self::WorkspaceTooLarge,
        Self::WorkspaceRefused,
        Self::ApprovalRequired,
        Self::Pinned,
        Self::Paused,
        Self::NotPaused,
        Self::Deleting,
        Self::WaitingForDependents,
        Self::ApiError,
        Self::Unreadable,
    ];

    /// The word as it stands in conditions, Events and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UpToDate => "UpToDate",
            Self::WorkspaceCreated => "WorkspaceCreated",
            Self::WorkspaceUpdated => "WorkspaceUpdated",
            Self::WorkspaceAdopted => "WorkspaceAdopted",
            Self::WorkspaceReady => "WorkspaceReady",
            Self::WorkspaceNotReady => "WorkspaceNotReady",
            Self::WorkspaceMissing => "WorkspaceMissing",
            Self::WorkspaceNotOwned => "WorkspaceNotOwned",
            Self::WorkspaceRetained => "WorkspaceRetained",
            Self::WorkspaceMoved => "WorkspaceMoved",
            Self::WorkspaceKindMissing => "WorkspaceKindMissing",
            Self::TemplateNotFound => "TemplateNotFound",
            Self::TemplateInvalid => "TemplateInvalid",
            Self::TemplateValid => "TemplateValid",
            Self::ModuleInvalid => "ModuleInvalid",
            Self::WaitingForSecrets => "WaitingForSecrets",
            Self::WaitingForWorkspaces => "WaitingForWorkspaces",
            Self::DependencyCycle => "DependencyCycle",
            Self::VariableMissing => "VariableMissing",
            Self::VariableInvalid => "VariableInvalid",
            Self::ReferenceNotGranted => "ReferenceNotGranted",
            Self::SecretNotOwned => "SecretNotOwned",
            Self::WorkspaceTooLarge => "WorkspaceTooLarge",
            Self::WorkspaceRefused => "WorkspaceRefused",
            Self::ApprovalRequired => "ApprovalRequired",
            Self::Pinned => "Pinned",
            Self::Paused => "Paused",
            Self::NotPaused => "NotPaused",
            Self::Deleting => "Deleting",
            Self::WaitingForDependents => "WaitingForDependents",
            Self::ApiError => "ApiError",
            Self::Unreadable => "Unreadable",
        }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}
