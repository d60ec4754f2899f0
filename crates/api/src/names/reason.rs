//! Reasons of conditions and Events.

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
    /// Crossplane's word: the infrastructure is there and its outputs are published.
    Available,
    /// Crossplane's word: the infrastructure is being made.
    Creating,
    /// Crossplane's word: the last attempt succeeded.
    ReconcileSuccess,
    /// Crossplane's word: the last attempt failed.
    ReconcileError,
    /// Crossplane's word: the object is paused.
    ReconcilePaused,
    /// The Workspace is left alone because of its apply.
    Frozen,
    /// The Workspace was let go without a destroy, because its apply lives on elsewhere or is gone.
    Dropped,
    /// The Workspace was let go and its infrastructure stays.
    Orphaned,
    /// The infrastructure was destroyed.
    Destroyed,
    /// A plan was made.
    Planned,
    /// A plan is being applied.
    Applying,
    /// A plan was applied.
    Applied,
    /// The infrastructure is being destroyed.
    Destroying,
    /// What goes into Terraform cannot be used.
    InvalidRun,
    /// Something that goes into Terraform does not exist.
    InputMissing,
    /// The `ProviderConfig` does not exist.
    ProviderConfigMissing,
    /// The Flux source has no artifact yet, or it cannot be had.
    SourceNotReady,
    /// The management policies cannot be combined in this way.
    PolicyInvalid,
    /// The management policies do not permit what would have to be done.
    NotPermitted,
    /// There is no usable Terraform.
    TerraformUnavailable,
    /// A file of the working directory could not be read or written.
    WorkingDirectoryFailed,
    /// The module could not be fetched.
    ModuleUnavailable,
    /// `terraform init` failed.
    InitFailed,
    /// `terraform plan` failed.
    PlanFailed,
    /// `terraform apply` failed.
    ApplyFailed,
    /// Another command of Terraform failed.
    TerraformFailed,
    /// The state of an earlier apply could not be stored.
    StatePushFailed,
    /// The plan could not be applied any more; it is made again.
    PlanStale,
    /// A command took too long.
    TimedOut,
    /// A command was asked to stop.
    Interrupted,
    /// The module declares no backend.
    NoBackend,
    /// What Terraform printed could not be read.
    OutputUnreadable,
    /// Somebody holds the lock on the state.
    Locked,
    /// Nobody holds the lock on the state.
    NotLocked,
    /// A lock whose holder is dead was released.
    OrphanedLockReleased,
    /// A lock was released because the user said so.
    LockForced,
    /// The state of an earlier apply, which could not be stored then, is stored now.
    StatePushed,
    /// The state that was there is missing.
    StateMissing,
    /// The state of this name belongs to another Workspace.
    StateNotOwned,
    /// The state nears the size that a Secret can hold.
    StateNearLimit,
    /// The state is far from the size that a Secret can hold.
    StateSizeFine,
    /// What goes into Terraform is too large to be kept for a destroy.
    InputsTooLarge,
    /// Outputs were published.
    OutputsPublished,
    /// Outputs cannot be published.
    OutputsRefused,
    /// A plan that waited for approval was approved.
    PlanApproved,
    /// No plan waits for approval.
    NothingPending,
    /// The infrastructure was changed behind Terraform's back.
    DriftDetected,
    /// The infrastructure is as it was applied.
    NoDrift,
    /// Deletion waits until others let go of the object.
    WaitingForFinalizers,
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
        Self::Available,
        Self::Creating,
        Self::ReconcileSuccess,
        Self::ReconcileError,
        Self::ReconcilePaused,
        Self::Frozen,
        Self::Dropped,
        Self::Orphaned,
        Self::Destroyed,
        Self::Planned,
        Self::Applying,
        Self::Applied,
        Self::Destroying,
        Self::InvalidRun,
        Self::InputMissing,
        Self::ProviderConfigMissing,
        Self::SourceNotReady,
        Self::PolicyInvalid,
        Self::NotPermitted,
        Self::TerraformUnavailable,
        Self::WorkingDirectoryFailed,
        Self::ModuleUnavailable,
        Self::InitFailed,
        Self::PlanFailed,
        Self::ApplyFailed,
        Self::TerraformFailed,
        Self::StatePushFailed,
        Self::PlanStale,
        Self::TimedOut,
        Self::Interrupted,
        Self::NoBackend,
        Self::OutputUnreadable,
        Self::Locked,
        Self::NotLocked,
        Self::OrphanedLockReleased,
        Self::LockForced,
        Self::StatePushed,
        Self::StateMissing,
        Self::StateNotOwned,
        Self::StateNearLimit,
        Self::StateSizeFine,
        Self::InputsTooLarge,
        Self::OutputsPublished,
        Self::OutputsRefused,
        Self::PlanApproved,
        Self::NothingPending,
        Self::DriftDetected,
        Self::NoDrift,
        Self::WaitingForFinalizers,
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
            Self::Available => "Available",
            Self::Creating => "Creating",
            Self::ReconcileSuccess => "ReconcileSuccess",
            Self::ReconcileError => "ReconcileError",
            Self::ReconcilePaused => "ReconcilePaused",
            Self::Frozen => "Frozen",
            Self::Dropped => "Dropped",
            Self::Orphaned => "Orphaned",
            Self::Destroyed => "Destroyed",
            Self::Planned => "Planned",
            Self::Applying => "Applying",
            Self::Applied => "Applied",
            Self::Destroying => "Destroying",
            Self::InvalidRun => "InvalidRun",
            Self::InputMissing => "InputMissing",
            Self::ProviderConfigMissing => "ProviderConfigMissing",
            Self::SourceNotReady => "SourceNotReady",
            Self::PolicyInvalid => "PolicyInvalid",
            Self::NotPermitted => "NotPermitted",
            Self::TerraformUnavailable => "TerraformUnavailable",
            Self::WorkingDirectoryFailed => "WorkingDirectoryFailed",
            Self::ModuleUnavailable => "ModuleUnavailable",
            Self::InitFailed => "InitFailed",
            Self::PlanFailed => "PlanFailed",
            Self::ApplyFailed => "ApplyFailed",
            Self::TerraformFailed => "TerraformFailed",
            Self::StatePushFailed => "StatePushFailed",
            Self::PlanStale => "PlanStale",
            Self::TimedOut => "TimedOut",
            Self::Interrupted => "Interrupted",
            Self::NoBackend => "NoBackend",
            Self::OutputUnreadable => "OutputUnreadable",
            Self::Locked => "Locked",
            Self::NotLocked => "NotLocked",
            Self::OrphanedLockReleased => "OrphanedLockReleased",
            Self::LockForced => "LockForced",
            Self::StatePushed => "StatePushed",
            Self::StateMissing => "StateMissing",
            Self::StateNotOwned => "StateNotOwned",
            Self::StateNearLimit => "StateNearLimit",
            Self::StateSizeFine => "StateSizeFine",
            Self::InputsTooLarge => "InputsTooLarge",
            Self::OutputsPublished => "OutputsPublished",
            Self::OutputsRefused => "OutputsRefused",
            Self::PlanApproved => "PlanApproved",
            Self::NothingPending => "NothingPending",
            Self::DriftDetected => "DriftDetected",
            Self::NoDrift => "NoDrift",
            Self::WaitingForFinalizers => "WaitingForFinalizers",
        }
    }

    /// Whether it calls for the user. Waiting is not trouble.
    pub const fn is_trouble(self) -> bool {
        match self {
            Self::WorkspaceNotOwned
            | Self::TemplateNotFound
            | Self::TemplateInvalid
            | Self::ModuleInvalid
            | Self::DependencyCycle
            | Self::VariableMissing
            | Self::VariableInvalid
            | Self::ReferenceNotGranted
            | Self::SecretNotOwned
            | Self::WorkspaceTooLarge
            | Self::WorkspaceRefused
            | Self::ApiError
            | Self::Unreadable
            | Self::ReconcileError
            | Self::InvalidRun
            | Self::InputMissing
            | Self::ProviderConfigMissing
            | Self::SourceNotReady
            | Self::PolicyInvalid
            | Self::NotPermitted
            | Self::TerraformUnavailable
            | Self::WorkingDirectoryFailed
            | Self::ModuleUnavailable
            | Self::InitFailed
            | Self::PlanFailed
            | Self::ApplyFailed
            | Self::TerraformFailed
            | Self::StatePushFailed
            | Self::TimedOut
            | Self::NoBackend
            | Self::OutputUnreadable
            | Self::Locked
            | Self::LockForced
            | Self::StateMissing
            | Self::StateNotOwned
            | Self::StateNearLimit
            | Self::InputsTooLarge
            | Self::OutputsRefused
            | Self::DriftDetected => true,
            Self::UpToDate
            | Self::WorkspaceCreated
            | Self::WorkspaceUpdated
            | Self::WorkspaceAdopted
            | Self::WorkspaceReady
            | Self::WorkspaceNotReady
            | Self::WorkspaceMissing
            | Self::WorkspaceRetained
            | Self::WorkspaceMoved
            | Self::WorkspaceKindMissing
            | Self::TemplateValid
            | Self::WaitingForSecrets
            | Self::WaitingForWorkspaces
            | Self::ApprovalRequired
            | Self::Pinned
            | Self::Paused
            | Self::NotPaused
            | Self::Deleting
            | Self::WaitingForDependents
            | Self::Available
            | Self::Creating
            | Self::ReconcileSuccess
            | Self::ReconcilePaused
            | Self::Frozen
            | Self::Dropped
            | Self::Orphaned
            | Self::Destroyed
            | Self::Planned
            | Self::Applying
            | Self::Applied
            | Self::Destroying
            | Self::PlanStale
            | Self::Interrupted
            | Self::NotLocked
            | Self::OrphanedLockReleased
            | Self::StatePushed
            | Self::StateSizeFine
            | Self::OutputsPublished
            | Self::PlanApproved
            | Self::NothingPending
            | Self::NoDrift
            | Self::WaitingForFinalizers => false,
        }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}
