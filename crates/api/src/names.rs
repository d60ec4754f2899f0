//! Every word of the API that is compared as text: labels, annotations, finalizers, condition types and reasons.
//!
//! Nothing outside this file and `names/reason.rs` spells one of them.

mod reason;

pub use reason::Reason;

/// The field manager of every server-side apply that CAPT makes.
pub const FIELD_MANAGER: &str = "capt";

/// The field manager of what keeps a Workspace frozen, so that it can be taken away as one.
pub const FREEZING_FIELD_MANAGER: &str = "capt-freeze";

/// The field manager of what the Terraform engine notes on objects that others write too.
pub const ENGINE_FIELD_MANAGER: &str = "capt-engine";

/// The type of a connection Secret, as Crossplane has it.
pub const CONNECTION_SECRET_TYPE: &str = "connection.crossplane.io/v1alpha1";

/// The end of the names of states that CAPT places itself.
pub const STATE_SUFFIX: &str = "capt";

/// The value of the `managed-by` label on what CAPT makes.
pub const MANAGED_BY_CAPT: &str = "capt";

/// Ends the name of a `WorkspaceTemplateApply`; the Workspace has the name without it.
pub const APPLY_SUFFIX: &str = "-apply";

/// The field manager of what the control plane and the network write into their applies, which are written by
/// [`FIELD_MANAGER`] too.
pub const OWNER_FIELD_MANAGER: &str = "capt-owner";

/// The field manager of what CAPT fills into a user's spec: the endpoint and names.
pub const SPEC_FIELD_MANAGER: &str = "capt-spec";

/// The field manager of what CAPT writes where it looks after Clusters itself: on a Cluster, its conditions and endpoint; on what
/// the Cluster refers to, owner and label.
pub const CLUSTER_FIELD_MANAGER: &str = "capt-cluster";

/// The type of Cluster API's Secrets.
pub const CLUSTER_SECRET_TYPE: &str = "cluster.x-k8s.io/secret";

/// The type of Secrets with manifests.
pub const RESOURCE_SET_SECRET_TYPE: &str = "addons.cluster.x-k8s.io/resource-set";

/// The field manager of what the embedded `ClusterResourceSet` controller brings to clusters.
pub const RESOURCE_SET_FIELD_MANAGER: &str = "capt-resource-set";

/// The field manager of gate labels and of the condition that CAPT puts on Clusters, and the beginning of the field managers
/// of what add-ons bring to clusters.
pub const ADDON_FIELD_MANAGER: &str = "capt-addons";

/// The Lease that managers take.
pub const MANAGER_LEASE: &str = "capt-manager";

/// The version of Cluster API that CAPT's own controllers of Clusters and `ClusterResourceSets` stand for: the one that they
/// are compared with.
pub const CLUSTER_API_VERSION: &str = "v1.14.2";

/// Ends the names of the Leases that managers of the earlier Go implementation take.
pub const LEGACY_LEASE_SUFFIX: &str = ".capt.ai";

/// The extension in a person's kubeconfig that marks the entries which `capt kubeconfig --merge` put there.
pub const KUBECONFIG_EXTENSION: &str = "capt.cluster.x-k8s.io";

/// API groups.
pub mod group {
    /// Kinds of add-ons.
    pub const ADDONS: &str = "addons.cluster.x-k8s.io";
    /// Kinds of the network and of Terraform templates.
    pub const INFRASTRUCTURE: &str = "infrastructure.cluster.x-k8s.io";
    /// Kinds of the control plane.
    pub const CONTROL_PLANE: &str = "controlplane.cluster.x-k8s.io";
    /// Crossplane's Terraform kinds.
    pub const TERRAFORM: &str = "tf.upbound.io";
    /// Cluster API's own kinds.
    pub const CLUSTER: &str = "cluster.x-k8s.io";
    /// clusterctl's inventory of providers.
    pub const CLUSTERCTL: &str = "clusterctl.cluster.x-k8s.io";
    /// Flux's sources.
    pub const FLUX_SOURCES: &str = "source.toolkit.fluxcd.io";
}

/// Labels.
pub mod label {
    /// Kubernetes' recommended label; `capt` on what CAPT makes.
    pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
    /// Kubernetes' recommended label: what the program is called.
    pub const NAME: &str = "app.kubernetes.io/name";
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
    /// On a CRD: `clusterctl move` looks at its objects at all. clusterctl puts it on what it installs itself.
    pub const CLUSTERCTL: &str = "clusterctl.cluster.x-k8s.io";
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
    /// On what the Terraform engine keeps of a Workspace (record, snapshots, plan): the Workspace's name, shortened if long.
    pub const WORKSPACE: &str = "capt.cluster.x-k8s.io/workspace";
    /// On what the Terraform engine keeps of a Workspace: what it is (`state`, `record`, `snapshot`, `plan`, `preview`,
    /// `candidate`, `access`).
    pub const ROLE: &str = "capt.cluster.x-k8s.io/role";
    /// On an `AddonStackBinding` and on a `ClusterResourceSet` of CAPT's: the name of the `AddonStack`, shortened if it is long.
    pub const STACK: &str = "capt.cluster.x-k8s.io/addon-stack";
    /// On CRDs of others' kinds as CAPT has them. Unlike [`MANAGED_BY`] it is not overwritten by Helm.
    pub const COMPATIBLE: &str = "capt.cluster.x-k8s.io/compatible";
    /// Flux: what carries this label with the value `Enabled` is looked at as soon as it changes.
    pub const FLUX_WATCH: &str = "reconcile.fluxcd.io/watch";
    /// Terraform's kubernetes backend: on every part of a state.
    pub const TERRAFORM_STATE: &str = "tfstate";
    /// Terraform's kubernetes backend: the Terraform workspace that a state belongs to.
    pub const TERRAFORM_STATE_WORKSPACE: &str = "tfstateWorkspace";
    /// Terraform's kubernetes backend: the end of the state's name.
    pub const TERRAFORM_STATE_SUFFIX: &str = "tfstateSecretSuffix";
}

/// Annotations.
pub mod annotation {
    /// Cluster API: nothing is reconciled while this is there, whatever its value.
    pub const PAUSED: &str = "cluster.x-k8s.io/paused";
    /// Cluster API: somebody else looks after this object.
    pub const MANAGED_BY: &str = "cluster.x-k8s.io/managed-by";
    /// `clusterctl move` deletes this object because it lives on elsewhere.
    pub const DELETE_FOR_MOVE: &str = "clusterctl.cluster.x-k8s.io/delete-for-move";
    /// `clusterctl move` waits until this is gone from everything that it moves.
    pub const BLOCK_MOVE: &str = "clusterctl.cluster.x-k8s.io/block-move";
    /// Crossplane: the Workspace is not reconciled while this is `"true"`.
    pub const CROSSPLANE_PAUSED: &str = "crossplane.io/paused";
    /// Crossplane: the name of the Terraform workspace; the Workspace's own name if nothing is said.
    pub const EXTERNAL_NAME: &str = "crossplane.io/external-name";
    /// Crossplane: how often reality is compared with the Workspace, for example `10m`.
    pub const POLL_INTERVAL: &str = "crossplane.io/poll-interval";
    /// Crossplane: when it began to make what a Workspace asks for.
    pub const EXTERNAL_CREATE_PENDING: &str = "crossplane.io/external-create-pending";
    /// Crossplane: when that was made.
    pub const EXTERNAL_CREATE_SUCCEEDED: &str = "crossplane.io/external-create-succeeded";
    /// Crossplane: when making it failed.
    pub const EXTERNAL_CREATE_FAILED: &str = "crossplane.io/external-create-failed";
    /// Crossplane: a new value brings up the Workspace once.
    pub const RECONCILE_REQUESTED_AT: &str = "crossplane.io/reconcile-requested-at";
    /// On a Workspace or its `WorkspaceTemplateApply`: the plan, by its hash, that the user approves.
    pub const APPROVE_PLAN: &str = "capt.cluster.x-k8s.io/approve-plan";
    /// On a Workspace: a new value makes a plan that is only shown, whatever the policies say.
    pub const PLAN_REQUESTED_AT: &str = "capt.cluster.x-k8s.io/plan-requested-at";
    /// On a Workspace: other content that is planned for a request, in place of the Workspace's own: the request, and the uid
    /// and the version of the Secret that holds the content, with blanks between. It goes through the same checks as that of
    /// the Workspace, which whoever writes this could change as well.
    pub const PLAN_CANDIDATE: &str = "capt.cluster.x-k8s.io/plan-candidate";
    /// On a Workspace: `Correct`, `Report` or `Ignore` what was changed behind Terraform's back.
    pub const DRIFT_POLICY: &str = "capt.cluster.x-k8s.io/drift-policy";
    /// On a Workspace: resource types or addresses, separated by commas, that are not destroyed or replaced without approval;
    /// `*` for all of them, `none` for none.
    pub const PROTECT: &str = "capt.cluster.x-k8s.io/protect";
    /// On a Workspace: the identifier of a lock that is to be released although its holder may be alive.
    pub const FORCE_UNLOCK: &str = "capt.cluster.x-k8s.io/force-unlock";
    /// On a Workspace: calls that were interrupted up to this time are checked and no longer reported.
    pub const CHECKED_INTERRUPTED_CALLS: &str = "capt.cluster.x-k8s.io/checked-interrupted-calls";
    /// On a Workspace: `"true"` goes on although the state that was there is missing.
    pub const ACCEPT_MISSING_STATE: &str = "capt.cluster.x-k8s.io/accept-missing-state";
    /// On a `WorkspaceTemplateApply`, or on a Workspace that has none: the Secret with the state (`namespace/name`), once
    /// there is something in it.
    pub const STATE: &str = "capt.cluster.x-k8s.io/state";
    /// On a `WorkspaceTemplateApply` whose Workspace Crossplane runs: that it has made something (`crossplane`), or takes it down
    /// (`crossplane-destroys`). Where the state is, only Crossplane knows; in another cluster this counts like a state that is
    /// noted.
    pub const MADE_BY: &str = "capt.cluster.x-k8s.io/made-by";
    /// On a network or control plane: that its apply had a state, and where (`uid/namespace/name`), or that Crossplane has made
    /// something for it (`uid/crossplane`). An apply that is lost without a destroy is made again with that, so that the state is
    /// missed and nothing is made a second time. The uid is the object's own: on a copy it says nothing.
    pub const OWNED_STATE: &str = "capt.cluster.x-k8s.io/owned-state";
    /// On what the Terraform engine keeps of a Workspace: the Workspace's full name.
    pub const WORKSPACE: &str = "capt.cluster.x-k8s.io/workspace";
    /// On the first Secret of a state: how many Secrets hold it, if there are more than one.
    pub const STATE_PARTS: &str = "capt.cluster.x-k8s.io/state-parts";
    /// On the first Secret of a state: when somebody put an earlier state back. The next plan waits for approval then.
    pub const RESTORED_AT: &str = "capt.cluster.x-k8s.io/restored-at";
    /// On a snapshot: how often the state had been written.
    pub const STATE_SERIAL: &str = "capt.cluster.x-k8s.io/state-serial";
    /// On a snapshot: names the state and all that follow from it.
    pub const STATE_LINEAGE: &str = "capt.cluster.x-k8s.io/state-lineage";
    /// Names the very version of a state that a staged copy holds.
    pub const STATE_DIGEST: &str = "capt.cluster.x-k8s.io/state-digest";
    /// Which part of a state a Secret of a staged copy holds.
    pub const STATE_PART: &str = "capt.cluster.x-k8s.io/state-part";
    /// On a snapshot: when it was taken.
    pub const TAKEN_AT: &str = "capt.cluster.x-k8s.io/taken-at";
    /// Terraform's kubernetes backend: how a state is packed.
    pub const TERRAFORM_STATE_ENCODING: &str = "encoding";
    /// Terraform's kubernetes backend: who holds a lock, as JSON.
    pub const LOCK_INFO: &str = "app.terraform.io/lock-info";
    /// On a Workspace: CAPT has paused it because its apply lives on in another cluster.
    pub const FROZEN: &str = "capt.cluster.x-k8s.io/frozen";
    /// On a `WorkspaceTemplateApply`: the name of its Workspace (status does not move, annotations do).
    pub const WORKSPACE_NAME: &str = "capt.cluster.x-k8s.io/workspace-name";
    /// On a `WorkspaceTemplateApply` and its Workspace: the name that the Workspace had when what is kept of it (state, record,
    /// outputs) was made, where it had to take another one in the cluster that it was moved to.
    pub const KEPT_AS: &str = "capt.cluster.x-k8s.io/kept-as";
    /// On a `WorkspaceTemplateApply`: the name of a Workspace that nobody else uses and that it is to take over.
    pub const ADOPT_WORKSPACE: &str = "capt.cluster.x-k8s.io/adopt-workspace";
    /// On a Workspace: who is to run it where Crossplane looks after the others, `capt` or `crossplane`.
    pub const RUN_BY: &str = "capt.cluster.x-k8s.io/run-by";
    /// On a Workspace that CAPT runs in place of Crossplane: how far that is, `pausing` or `taken`. The annotation
    /// `crossplane.io/paused` beside it is meant for Crossplane alone.
    pub const HANDOVER: &str = "capt.cluster.x-k8s.io/handover";
    /// On a Workspace: the full name of its `WorkspaceTemplateApply`.
    pub const APPLY: &str = "capt.cluster.x-k8s.io/apply";
    /// On a Workspace and on its `WorkspaceTemplateApply`: digest of the spec that was applied last.
    pub const APPLIED_DIGEST: &str = "capt.cluster.x-k8s.io/applied-digest";
    /// On a `WorkspaceTemplateApply`: digest of the spec that its Workspace had when it was taken over, as long as template and
    /// variables give another one. Until that is approved nothing of it is changed, whatever `updatePolicy` says.
    pub const FOUND_DIGEST: &str = "capt.cluster.x-k8s.io/found-digest";
    /// On a `WorkspaceTemplateApply`: the digest that the user approves.
    pub const APPROVE: &str = "capt.cluster.x-k8s.io/approve";
    /// On what a network or control plane makes: digest of what it should be.
    pub const WANTED_DIGEST: &str = "capt.cluster.x-k8s.io/wanted-digest";
    /// On a Secret with a token: when the token ends.
    pub const EXPIRES_AT: &str = "capt.cluster.x-k8s.io/expires-at";
    /// On a Secret with a token: when the token is renewed.
    pub const RENEW_AT: &str = "capt.cluster.x-k8s.io/renew-at";
    /// On a Secret, `ConfigMap`, Workspace or Namespace: the namespaces that may refer to it, separated by commas, or `*`.
    pub const GRANTED_TO: &str = "capt.cluster.x-k8s.io/granted-to";
    /// In a workload cluster, on what an add-on brings: whose it is (`namespace/cluster/stack/addon`).
    pub const ADDON: &str = "capt.cluster.x-k8s.io/addon";
    /// In a workload cluster, on a Secret with values: names what is in it.
    pub const VALUES_DIGEST: &str = "capt.cluster.x-k8s.io/values-digest";
    /// On an `AddonStackBinding`: a new value brings everything to the cluster again, and asks Flux to look at once.
    pub const REQUESTED_AT: &str = "capt.cluster.x-k8s.io/requested-at";
    /// Flux: a new value asks for a reconcile.
    pub const FLUX_REQUESTED_AT: &str = "reconcile.fluxcd.io/requestedAt";
    /// On a `WorkspaceTemplateApply`: what `capt migrate` has begun and not finished, as JSON.
    pub const MIGRATION: &str = "capt.cluster.x-k8s.io/migration";
    /// On what `capt restore` made: the backup that it comes from.
    pub const RESTORED_FROM: &str = "capt.cluster.x-k8s.io/restored-from";
    /// On what `capt restore` made and has not finished: its pause is not its user's.
    pub const RESTORING: &str = "capt.cluster.x-k8s.io/restoring";
    /// On a CRD: the version of CAPT that it is of.
    pub const VERSION: &str = "capt.cluster.x-k8s.io/version";
    /// On the Lease of a manager: who wrote it, of which version, and what it looks at, as JSON.
    pub const MANAGER: &str = "capt.cluster.x-k8s.io/manager";
    /// Helm: the release that an object is of.
    pub const HELM_RELEASE: &str = "meta.helm.sh/release-name";
    /// Helm: the namespace of the release that an object is of.
    pub const HELM_NAMESPACE: &str = "meta.helm.sh/release-namespace";
    /// On a `WorkspaceTemplate`: `"true"` carries the module to the Workspace although CAPT cannot read it.
    pub const SKIP_MODULE_CHECK: &str = "capt.cluster.x-k8s.io/skip-module-check";
}

/// Finalizers.
pub mod finalizer {
    /// Holds a `WorkspaceTemplateApply` until its Workspace is gone.
    pub const WORKSPACE: &str = "capt.cluster.x-k8s.io/workspace";
    /// Holds a Workspace until its infrastructure is gone. Crossplane's own, so that either of us can let go of it.
    pub const MANAGED_RESOURCE: &str = "finalizer.managedresource.crossplane.io";
    /// Holds a state, and what a destroy needs, until the infrastructure is gone; a namespace that is deleted waits for it.
    pub const STATE: &str = "capt.cluster.x-k8s.io/state";
    /// Holds a `CAPTCluster` until its network is gone.
    pub const NETWORK: &str = "capt.cluster.x-k8s.io/network";
    /// Holds a `CAPTControlPlane` until its control plane is gone.
    pub const CONTROL_PLANE: &str = "capt.cluster.x-k8s.io/control-plane";
    /// Cluster API: holds a Cluster until everything of it is gone. Its own, so that either of us can let go of it.
    pub const CLUSTER: &str = "cluster.cluster.x-k8s.io";
    /// Holds an `AddonStack` or `AddonStackBinding` until what it brought is taken away, or is to stay.
    pub const ADDONS: &str = "capt.cluster.x-k8s.io/addons";
    /// Cluster API: holds a `ClusterResourceSet` until the bindings no longer name it. Its own, so that either of us can let go.
    pub const RESOURCE_SET: &str = "addons.cluster.x-k8s.io";
    /// What the earlier Go implementation put on the same objects; removed together with ours.
    pub const LEGACY: &str = "infrastructure.cluster.x-k8s.io/finalizer";
    /// As [`LEGACY`], on a `CAPTCluster`.
    pub const LEGACY_NETWORK: &str = "infrastructure.cluster.x-k8s.io/captcluster";
    /// As [`LEGACY`], on a `CAPTControlPlane`.
    pub const LEGACY_CONTROL_PLANE: &str = "controlplane.cluster.x-k8s.io/captcontrolplane";
}

/// Condition types.
pub mod condition {
    /// What the earlier Go implementation put on a `CAPTCluster` and nobody keeps up any more.
    pub const LEGACY: [&str; 2] = ["VPCCreating", "VPCFailed"];
    /// The object has reached what its spec asks for.
    pub const READY: &str = "Ready";
    /// The template and variables as they are now have been carried to the Workspace.
    pub const APPLIED: &str = "Applied";
    /// Crossplane's word: the last attempt to bring the Workspace in line succeeded.
    pub const SYNCED: &str = "Synced";
    /// The object is not reconciled at present.
    pub const PAUSED: &str = "Paused";
    /// On a Workspace: somebody holds the lock on its state.
    pub const LOCKED: &str = "Locked";
    /// On a Workspace: the infrastructure differs from what was applied.
    pub const DRIFTED: &str = "Drifted";
    /// On a Workspace: a plan waits for approval.
    pub const APPROVAL_REQUIRED: &str = "ApprovalRequired";
    /// On a Workspace: its state nears the size that a Secret can hold.
    pub const STATE_LARGE: &str = "StateLarge";
    /// On a Workspace: nobody knows what calls of an apply that died have made.
    pub const INTERRUPTED_CALLS: &str = "InterruptedCalls";
    /// Cluster API's word: the control plane, or the whole Cluster, can be used.
    pub const AVAILABLE: &str = "Available";
    /// The Secrets of a control plane are there and equal to their source.
    pub const SECRETS_READY: &str = "SecretsReady";
    /// Cluster API's word: a new version is on its way.
    pub const ROLLING_OUT: &str = "RollingOut";
    /// The cluster answers CAPT with the credentials that it hands out.
    pub const REACHABLE: &str = "Reachable";
    /// The VPC of a cluster is there.
    pub const VPC_READY: &str = "VPCReady";
    /// Cluster API's word: the object is being taken down.
    pub const DELETING: &str = "Deleting";
    /// On a Cluster: the add-ons of every stack that selects it are ready.
    pub const ADDONS_READY: &str = "AddonsReady";
    /// On a `ClusterResourceSet`: its resources are in every cluster that it selects.
    pub const RESOURCES_APPLIED: &str = "ResourcesApplied";
    /// On a Cluster: its network is ready.
    pub const INFRASTRUCTURE_READY: &str = "InfrastructureReady";
    /// On a Cluster: its control plane could be reached once.
    pub const CONTROL_PLANE_INITIALIZED: &str = "ControlPlaneInitialized";
    /// On a Cluster: its control plane can be used.
    pub const CONTROL_PLANE_AVAILABLE: &str = "ControlPlaneAvailable";
    /// On a Cluster: its workers can be used.
    pub const WORKERS_AVAILABLE: &str = "WorkersAvailable";
    /// On a Cluster: it answers with the credentials of its kubeconfig.
    pub const REMOTE_CONNECTION_PROBE: &str = "RemoteConnectionProbe";
    /// On a Cluster that has a class: its objects are as the class and the topology say.
    pub const TOPOLOGY_RECONCILED: &str = "TopologyReconciled";
}
