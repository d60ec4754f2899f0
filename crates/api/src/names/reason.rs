//! Reasons of conditions and Events.

/// What a reason says to people.
enum Tone {
    /// Things are as they should be, or on their way.
    Calm,
    /// It calls for the user.
    Trouble,
}

/// Declares every reason once: what it means, its word and its tone.
macro_rules! reasons {
    ($($(#[$documentation:meta])+ $name:ident: $tone:ident,)+) => {
        /// Reasons of conditions and Events.
        ///
        /// One enum, so that a reason cannot be misspelt and every reason can be listed in the documentation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Reason {
            $($(#[$documentation])+ $name,)+
        }

        impl Reason {
            /// Every reason, for documentation and tests.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The word as it stands in conditions, Events and metrics.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)+
                }
            }

            const fn tone(self) -> Tone {
                match self {
                    $(Self::$name => Tone::$tone,)+
                }
            }
        }
    };
}

impl Reason {
    /// The reason of this word, if it is one of ours.
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|reason| reason.as_str() == word)
    }

    /// Whether it calls for the user. Waiting is not trouble.
    pub const fn is_trouble(self) -> bool {
        match self.tone() {
            Tone::Calm => false,
            Tone::Trouble => true,
        }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}

reasons! {
    /// The Workspace carries the present template and variables.
    UpToDate: Calm,
    /// The Workspace was created.
    WorkspaceCreated: Calm,
    /// The Workspace was changed.
    WorkspaceUpdated: Calm,
    /// An existing Workspace was taken over.
    WorkspaceAdopted: Calm,
    /// The Workspace reports Ready.
    WorkspaceReady: Calm,
    /// The Workspace does not report Ready yet, or no longer does.
    WorkspaceNotReady: Calm,
    /// The Workspace is gone although it should be there; it is made again.
    WorkspaceMissing: Calm,
    /// A Workspace of this name belongs to somebody else.
    WorkspaceNotOwned: Trouble,
    /// The Workspace stays although its apply is deleted.
    WorkspaceRetained: Calm,
    /// The Workspace is left alone because its apply was moved to another cluster.
    WorkspaceMoved: Calm,
    /// The Workspace's kind is not installed.
    WorkspaceKindMissing: Calm,
    /// The referenced template does not exist.
    TemplateNotFound: Trouble,
    /// The template cannot be used as it is.
    TemplateInvalid: Trouble,
    /// The template can be used.
    TemplateValid: Calm,
    /// The inline module is not valid HCL or JSON.
    ModuleInvalid: Trouble,
    /// A Secret that the apply waits for is missing or incomplete.
    WaitingForSecrets: Calm,
    /// A Workspace that the apply waits for is missing or not Ready.
    WaitingForWorkspaces: Calm,
    /// Applies wait for each other in a circle.
    DependencyCycle: Trouble,
    /// A variable's source does not exist or has no such key.
    VariableMissing: Trouble,
    /// A variable's value cannot be used.
    VariableInvalid: Trouble,
    /// A reference leads to another namespace that has not granted it.
    ReferenceNotGranted: Trouble,
    /// A Secret of a name that CAPT needs belongs to somebody else.
    SecretNotOwned: Trouble,
    /// The rendered Workspace is larger than the API server takes.
    WorkspaceTooLarge: Trouble,
    /// The API server refused the Workspace.
    WorkspaceRefused: Trouble,
    /// A change waits for the user's approval.
    ApprovalRequired: Calm,
    /// A change is held back by `updatePolicy: Pinned`.
    Pinned: Calm,
    /// Reconciling is switched off by the user or by Cluster API.
    Paused: Calm,
    /// Reconciling is on.
    NotPaused: Calm,
    /// The object is being deleted.
    Deleting: Calm,
    /// Deletion waits for others that still use the Workspace.
    WaitingForDependents: Calm,
    /// The API server could not be asked.
    ApiError: Trouble,
    /// The object itself cannot be read.
    Unreadable: Trouble,
    /// Crossplane's word: the infrastructure is there and its outputs are published.
    Available: Calm,
    /// Crossplane's word: the infrastructure is being made.
    Creating: Calm,
    /// Crossplane's word: the last attempt succeeded.
    ReconcileSuccess: Calm,
    /// Crossplane's word: the last attempt failed.
    ReconcileError: Trouble,
    /// Crossplane's word: the object is paused.
    ReconcilePaused: Calm,
    /// CAPT runs the Workspace from now on, in place of Crossplane.
    TakenOver: Calm,
    /// Crossplane runs the Workspace from now on, in place of CAPT.
    HandedBack: Calm,
    /// The Workspace is not handed back, since Crossplane would not find its state.
    HandBackRefused: Trouble,
    /// Crossplane was asked to put the Workspace down and has not said that it has.
    HandoverUnanswered: Trouble,
    /// The Workspace was let go without a destroy, because its apply lives on elsewhere or is gone.
    Dropped: Calm,
    /// The Workspace was let go and its infrastructure stays.
    Orphaned: Calm,
    /// The infrastructure was destroyed.
    Destroyed: Calm,
    /// A plan was made.
    Planned: Calm,
    /// A plan is being applied.
    Applying: Calm,
    /// A plan was applied.
    Applied: Calm,
    /// The infrastructure is being destroyed.
    Destroying: Calm,
    /// What goes into Terraform cannot be used.
    InvalidRun: Trouble,
    /// Something that goes into Terraform does not exist.
    InputMissing: Trouble,
    /// The `ProviderConfig` does not exist.
    ProviderConfigMissing: Trouble,
    /// The Flux source has no artifact yet, or it cannot be had.
    SourceNotReady: Trouble,
    /// The management policies cannot be combined in this way.
    PolicyInvalid: Trouble,
    /// The management policies do not permit what would have to be done.
    NotPermitted: Trouble,
    /// There is no usable Terraform.
    TerraformUnavailable: Trouble,
    /// A file of the working directory could not be read or written.
    WorkingDirectoryFailed: Trouble,
    /// The module could not be fetched.
    ModuleUnavailable: Trouble,
    /// `terraform init` failed.
    InitFailed: Trouble,
    /// `terraform plan` failed.
    PlanFailed: Trouble,
    /// `terraform apply` failed.
    ApplyFailed: Trouble,
    /// Another command of Terraform failed.
    TerraformFailed: Trouble,
    /// The state of an earlier apply could not be stored.
    StatePushFailed: Trouble,
    /// The plan could not be applied any more; it is made again.
    PlanStale: Calm,
    /// A command took too long.
    TimedOut: Trouble,
    /// A command was asked to stop.
    Interrupted: Calm,
    /// The module declares no backend.
    NoBackend: Trouble,
    /// What Terraform printed could not be read.
    OutputUnreadable: Trouble,
    /// Somebody holds the lock on the state.
    Locked: Trouble,
    /// Nobody holds the lock on the state.
    NotLocked: Calm,
    /// A lock whose holder is dead was released.
    OrphanedLockReleased: Calm,
    /// A lock was released because the user said so.
    LockForced: Trouble,
    /// The state of an earlier apply, which could not be stored then, is stored now.
    StatePushed: Calm,
    /// The state that was there is missing.
    StateMissing: Trouble,
    /// Two versions of the state follow from the same one.
    StateForked: Trouble,
    /// An apply died, and what its calls in flight made is not in the state.
    InterruptedCalls: Trouble,
    /// No call of an apply is left that nobody knows the result of.
    NoInterruptedCalls: Calm,
    /// A run ended after its apply was moved away, and its state is here.
    StateLeftBehind: Trouble,
    /// The state of this name belongs to another Workspace.
    StateNotOwned: Trouble,
    /// The state nears the size that a Secret can hold.
    StateNearLimit: Trouble,
    /// The state is far from the size that a Secret can hold.
    StateSizeFine: Calm,
    /// Outputs cannot be published.
    OutputsRefused: Trouble,
    /// No plan waits for approval.
    NothingPending: Calm,
    /// The infrastructure was changed behind Terraform's back.
    DriftDetected: Trouble,
    /// The infrastructure is as it was applied.
    NoDrift: Calm,
    /// The apply was created.
    ApplyCreated: Calm,
    /// The apply was changed.
    ApplyUpdated: Calm,
    /// An apply of a name that CAPT needs belongs to somebody else.
    ApplyNotOwned: Trouble,
    /// The object waits for the Cluster that it belongs to.
    WaitingForCluster: Calm,
    /// The control plane waits for its network.
    WaitingForNetwork: Calm,
    /// The network takes longer than it should; it is waited for all the same.
    NetworkOverdue: Trouble,
    /// The network is there.
    NetworkReady: Calm,
    /// The network is not there yet, or no longer is.
    NetworkNotReady: Calm,
    /// Deletion waits until the control plane is gone.
    WaitingForControlPlane: Calm,
    /// The control plane takes longer than it should; it is waited for all the same.
    ControlPlaneOverdue: Trouble,
    /// The control plane is there and can be used.
    ControlPlaneReady: Calm,
    /// The control plane is not there yet, or no longer is.
    ControlPlaneNotReady: Calm,
    /// The Secret with the module's outputs is not there yet.
    WaitingForConnectionSecret: Calm,
    /// The Secret with the module's outputs should be there by now.
    ConnectionSecretNotFound: Trouble,
    /// The Secret with the module's outputs lacks something.
    RequiredFieldMissing: Trouble,
    /// The kubeconfig among the module's outputs cannot be used.
    KubeconfigInvalid: Trouble,
    /// Nobody says where the API server is reached.
    EndpointUnavailable: Trouble,
    /// The credentials among the module's outputs are no longer valid.
    CredentialsExpired: Trouble,
    /// The cluster does not accept the credentials.
    CredentialsRejected: Trouble,
    /// CAPT could not make a token for the cluster.
    CredentialsUnavailable: Trouble,
    /// The Secrets are there and equal to their source.
    SecretsWritten: Calm,
    /// The cluster answers.
    Reachable: Calm,
    /// The cluster does not answer CAPT; others may still reach it.
    Unreachable: Calm,
    /// A new version is on its way.
    RollingOut: Calm,
    /// The version that was asked for runs.
    NotRollingOut: Calm,
    /// The object is not being deleted.
    NotDeleting: Calm,
    /// Everything of the cluster is there.
    Provisioned: Calm,
    /// Cluster API's word: the object is ready.
    Ready: Calm,
    /// Cluster API's word: the object is not ready yet, or no longer is.
    NotReady: Calm,
    /// Cluster API's word: the object cannot be used yet, or no longer can.
    NotAvailable: Calm,
    /// Cluster API's word: nobody knows whether the object can be used.
    AvailableUnknown: Calm,
    /// Cluster API's word: the control plane could be reached once.
    Initialized: Calm,
    /// Cluster API's word: the control plane could never be reached yet.
    NotInitialized: Calm,
    /// Cluster API's word: the cluster answers.
    ProbeSucceeded: Calm,
    /// Cluster API's word: the cluster does not answer.
    ProbeFailed: Calm,
    /// Cluster API's word: nobody knows whether a new version is on its way.
    RollingOutUnknown: Calm,
    /// Cluster API's word: the Cluster has no workers that are objects of their own.
    NoWorkers: Calm,
    /// Cluster API's word: deletion of the Cluster waits for its control plane.
    WaitingForControlPlaneDeletion: Calm,
    /// Cluster API's word: deletion of the Cluster waits for its network.
    WaitingForInfrastructureDeletion: Calm,
    /// Cluster API's word: an object that the Cluster refers to does not exist yet.
    ObjectDoesNotExist: Calm,
    /// Cluster API's word: an object that the Cluster refers to was there and is gone.
    ObjectDeleted: Trouble,
    /// An object that the Cluster refers to belongs to another Cluster.
    ReferenceNotOwned: Trouble,
    /// The kind of an object that the Cluster refers to is not there, so that nobody knows whether the object is.
    ReferenceNotFound: Trouble,
    /// The Cluster refers to a kind that only Cluster API itself looks after.
    ReferenceUnsupported: Trouble,
    /// The spec cannot be used.
    SpecInvalid: Trouble,
    /// Cluster API's word: a resource could not be brought to a cluster.
    NotApplied: Trouble,
    /// Cluster API's word: a Secret with manifests is not of the type that such Secrets have.
    WrongSecretType: Trouble,
    /// A `ConfigMap` or Secret with manifests does not exist.
    ResourceMissing: Trouble,
    /// A manifest cannot be read.
    ManifestInvalid: Trouble,
    /// A manifest asks for a value that the cluster's module does not give.
    OutputMissing: Trouble,
    /// The cluster does not serve a kind that a manifest is of.
    KindNotServed: Trouble,
    /// The cluster has no namespace of the name that a manifest gives.
    NamespaceMissing: Trouble,
    /// The cluster refused an object.
    ObjectRefused: Trouble,
    /// An object is brought to the cluster by somebody else already.
    ObjectClaimed: Trouble,
    /// The cluster cannot be reached with the credentials that are there.
    ClusterUnreachable: Trouble,
    /// The cluster has no credentials yet, or is not there yet.
    WaitingForCredentials: Calm,
    /// Others must be ready first.
    WaitingForAddons: Calm,
    /// The user holds the add-on by its gate label.
    GateClosed: Calm,
    /// No `ClusterResourceSet` selects the gate label.
    ResourceSetMissing: Trouble,
    /// The add-on is on its way to the cluster.
    Delivering: Calm,
    /// The add-on is in the cluster and not ready yet.
    AddonNotReady: Calm,
    /// The add-on should be ready by now; it is waited for all the same.
    AddonOverdue: Trouble,
    /// The add-on says that it has failed.
    AddonFailed: Trouble,
    /// The add-on was ready and no longer is.
    AddonDegraded: Trouble,
    /// The add-on is ready.
    AddonReady: Calm,
    /// What had failed is ready.
    AddonRecovered: Calm,
    /// Every add-on is ready.
    AddonsReady: Calm,
    /// An add-on is tried no more until something changes.
    RetriesExhausted: Trouble,
    /// What was changed in the cluster was brought in line.
    DriftRepaired: Calm,
    /// The credentials of the cluster lack the verb `watch`: CAPT inspects the cluster at intervals.
    WatchForbidden: Trouble,
    /// The add-on is being taken away.
    Removing: Calm,
    /// No cluster is selected.
    NoClusters: Calm,
    /// Machines and add-ons in the cluster are taken down before Terraform destroys it.
    ClearingCluster: Calm,
    /// Something is still in the cluster although the time to take it down is over.
    ClusterNotCleared: Trouble,
    /// Versions of add-ons do not go together, or not with the cluster's Kubernetes.
    Incompatible: Trouble,
    /// A `HelmRelease` would not get its values as they are meant.
    ValuesMisplaced: Trouble,
}
