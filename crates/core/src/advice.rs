//! What every reason means, and what to do about it: the one source of the troubleshooting guide and of what the command line
//! says beside a condition.
//!
//! Total: a reason without an entry does not compile.

mod addons;
mod applies;
mod cluster_api;
mod clusters;
mod delivery;
mod every_kind;
mod secrets;
mod state;
mod terraform;

use capt_api::names::Reason;

/// What a reason means, and what to do about it.
///
/// Texts begin in lower case and end without a full stop, so that they can stand inside a sentence. `NAME` and other words
/// in capital letters inside a command are to be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Where it is set: kinds with their conditions, or `Event`, for example `Workspace: Drifted; AddonStack: Event`.
    pub seen: &'static str,
    /// What has happened, in one sentence.
    pub meaning: &'static str,
    /// What somebody types or edits; begins with `nothing:` where nothing is to be done.
    pub action: &'static str,
}

/// Reasons that are about the same thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topic {
    /// What they are about, as a heading.
    pub title: &'static str,
    /// The reasons, the most frequent first.
    pub reasons: &'static [Reason],
}

/// Declares the advice of one topic: for each reason where it is seen, what it means and what to do.
macro_rules! advice {
    ($($reason:ident, $seen:literal: $meaning:literal => $action:literal;)+) => {
        $(pub(super) const $reason: $crate::advice::Advice =
            $crate::advice::Advice { seen: $seen, meaning: $meaning, action: $action };)+
    };
}
use advice;

/// Puts every reason into one topic.
macro_rules! topics {
    ($($topic:ident $title:literal: $($reason:ident)+;)+) => {
        /// Every reason, by topic.
        pub const TOPICS: &[Topic] = &[$(Topic { title: $title, reasons: &[$(Reason::$reason,)+] },)+];

        /// What a reason means, and what to do about it.
        pub const fn of(reason: Reason) -> Advice {
            match reason {
                $($(Reason::$reason => $topic::$reason,)+)+
            }
        }
    };
}

topics! {
    every_kind "Every kind":
        Paused NotPaused Deleting NotDeleting SpecInvalid DependencyCycle ReferenceNotGranted WorkspaceRefused ApiError
        Unreadable;
    applies "Templates and applies":
        TemplateNotFound TemplateInvalid ModuleInvalid TemplateValid WaitingForSecrets WaitingForWorkspaces VariableMissing
        VariableInvalid ApprovalRequired Pinned WorkspaceNotReady WorkspaceMissing WorkspaceNotOwned WorkspaceTooLarge
        WorkspaceKindMissing WaitingForDependents UpToDate WorkspaceReady WorkspaceCreated WorkspaceUpdated WorkspaceAdopted
        WorkspaceRetained WorkspaceMoved;
    terraform "Runs of Terraform":
        Creating ReconcileError InitFailed PlanFailed ApplyFailed ModuleUnavailable InvalidRun InputMissing
        ProviderConfigMissing SourceNotReady PolicyInvalid NotPermitted TerraformUnavailable WorkingDirectoryFailed
        TerraformFailed OutputUnreadable OutputsRefused TimedOut Interrupted PlanStale ReconcilePaused Available
        ReconcileSuccess Planned Applying Applied Destroying Destroyed Orphaned Dropped TakenOver HandedBack HandBackRefused
        HandoverUnanswered;
    state "State, locks and drift":
        StateMissing StateForked InterruptedCalls NoInterruptedCalls StateLeftBehind StateNotOwned StatePushFailed StatePushed StateNearLimit StateSizeFine NoBackend Locked NotLocked
        OrphanedLockReleased LockForced DriftDetected NoDrift NothingPending;
    clusters "Networks and control planes":
        WaitingForCluster WaitingForNetwork NetworkOverdue NetworkNotReady NetworkReady ControlPlaneNotReady
        ControlPlaneOverdue ControlPlaneReady RollingOut NotRollingOut Reachable Unreachable ApplyNotOwned ApplyCreated
        ApplyUpdated WaitingForControlPlane ClearingCluster ClusterNotCleared;
    secrets "Credentials":
        WaitingForConnectionSecret ConnectionSecretNotFound RequiredFieldMissing KubeconfigInvalid EndpointUnavailable
        SecretNotOwned CredentialsExpired CredentialsRejected CredentialsUnavailable SecretsWritten;
    cluster_api "Clusters":
        Provisioned Ready NotReady NotAvailable AvailableUnknown Initialized NotInitialized ProbeSucceeded ProbeFailed
        RollingOutUnknown NoWorkers WaitingForControlPlaneDeletion WaitingForInfrastructureDeletion ObjectDoesNotExist
        ObjectDeleted ReferenceNotOwned ReferenceNotFound ReferenceUnsupported;
    addons "Add-ons":
        WaitingForCredentials WaitingForAddons GateClosed ResourceSetMissing Delivering AddonNotReady AddonOverdue AddonFailed
        AddonDegraded RetriesExhausted Incompatible ValuesMisplaced OutputMissing AddonReady AddonsReady AddonRecovered
        DriftRepaired WatchForbidden Removing NoClusters;
    delivery "What is brought into clusters":
        ResourceMissing WrongSecretType ManifestInvalid KindNotServed NamespaceMissing ObjectRefused ObjectClaimed
        ClusterUnreachable NotApplied;
}

#[cfg(test)]
mod tests;
