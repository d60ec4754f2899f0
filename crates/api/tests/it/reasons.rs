//! The words of conditions and Events.

use capt_api::names::Reason;

#[test]
fn every_reason_is_listed_in_its_order_and_spelt_as_it_is_called() {
    for (place, reason) in Reason::ALL.iter().enumerate() {
        assert_eq!(*reason as usize, place, "{reason}");
        assert_eq!(reason.as_str(), format!("{reason:?}"));
    }
    assert_eq!(Reason::ALL.last(), Some(&Reason::ValuesMisplaced), "the last one is listed too");
}

#[test]
fn only_what_calls_for_the_user_is_trouble() {
    let mut trouble: Vec<&str> =
        Reason::ALL.iter().filter(|reason| reason.is_trouble()).map(|reason| reason.as_str()).collect();
    trouble.sort_unstable();
    assert_eq!(
        trouble,
        [
            "AddonDegraded",
            "AddonFailed",
            "AddonOverdue",
            "ApiError",
            "ApplyFailed",
            "ApplyNotOwned",
            "ClusterNotCleared",
            "ClusterUnreachable",
            "ConnectionSecretNotFound",
            "ControlPlaneOverdue",
            "CredentialsExpired",
            "CredentialsRejected",
            "CredentialsUnavailable",
            "DependencyCycle",
            "DriftDetected",
            "EndpointUnavailable",
            "HandBackRefused",
            "HandoverUnanswered",
            "Incompatible",
            "InitFailed",
            "InputMissing",
            "InterruptedCalls",
            "InvalidRun",
            "KindNotServed",
            "KubeconfigInvalid",
            "LockForced",
            "Locked",
            "ManifestInvalid",
            "ModuleInvalid",
            "ModuleUnavailable",
            "NamespaceMissing",
            "NetworkOverdue",
            "NoBackend",
            "NotApplied",
            "NotPermitted",
            "ObjectClaimed",
            "ObjectDeleted",
            "ObjectRefused",
            "OutputMissing",
            "OutputUnreadable",
            "OutputsRefused",
            "PlanFailed",
            "PolicyInvalid",
            "ProviderConfigMissing",
            "ReconcileError",
            "ReferenceNotFound",
            "ReferenceNotGranted",
            "ReferenceNotOwned",
            "ReferenceUnsupported",
            "RequiredFieldMissing",
            "ResourceMissing",
            "ResourceSetMissing",
            "RetriesExhausted",
            "SecretNotOwned",
            "SourceNotReady",
            "SpecInvalid",
            "StateForked",
            "StateLeftBehind",
            "StateMissing",
            "StateNearLimit",
            "StateNotOwned",
            "StatePushFailed",
            "TemplateInvalid",
            "TemplateNotFound",
            "TerraformFailed",
            "TerraformUnavailable",
            "TimedOut",
            "Unreadable",
            "ValuesMisplaced",
            "VariableInvalid",
            "VariableMissing",
            "WatchForbidden",
            "WorkingDirectoryFailed",
            "WorkspaceNotOwned",
            "WorkspaceRefused",
            "WorkspaceTooLarge",
            "WrongSecretType",
        ]
    );
}
