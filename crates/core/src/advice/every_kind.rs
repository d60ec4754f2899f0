//! Reasons that objects of every kind may have.
#![expect(non_upper_case_globals, reason = "entries have the names of their reasons")]

super::advice! {
    Paused, "every kind: Paused":
        "nothing is done for this object, because it or its Cluster is paused"
        => "take the annotation away with `kubectl annotate KIND NAME cluster.x-k8s.io/paused-`, or set spec.paused of the \
            Cluster to false; the message says which of the two it is";
    NotPaused, "every kind: Paused":
        "the object is looked after"
        => "nothing: this is how it should be";
    Deleting, "every kind: Ready, Deleting":
        "the object is being deleted, and what it made is being taken down"
        => "nothing: wait until it is gone; if it takes long, `capt describe cluster NAME` says what it waits for";
    NotDeleting, "CAPTControlPlane: Deleting; Cluster: Deleting":
        "nobody has asked to delete the object"
        => "nothing: this is how it should be";
    SpecInvalid, "CAPTCluster: Ready; CAPTControlPlane: Ready; AddonStack: Ready; AddonStackBinding: Ready; \
        ClusterResourceSet: ResourcesApplied":
        "a field of the spec cannot be used as it is written"
        => "write what the message says into the field that it names; `capt validate -f FILE` finds such things before they \
            are applied";
    DependencyCycle, "WorkspaceTemplateApply: Applied, Ready; AddonStack: Ready":
        "objects wait for each other in a circle, so that none can begin"
        => "take one of the names in the message out of spec.waitForWorkspaces, spec.variablesFrom or dependsOn";
    ReferenceNotGranted, "WorkspaceTemplateApply: Applied, Ready; Workspace: Event":
        "a reference leads into another namespace, which has not allowed it"
        => "annotate what it leads to with `capt.cluster.x-k8s.io/granted-to=NAMESPACE`, or copy it beside the object that \
            refers to it";
    WorkspaceRefused, "every kind: Ready":
        "the API server refused what CAPT wrote: a right is missing, a policy forbids it, or the object is not valid"
        => "read the message for what was refused; for a missing right apply config/rbac of this version, for a policy of \
            your own make an exception, else mend the template";
    ApiError, "every kind: Ready":
        "the API server could not be asked, or did not answer as it should"
        => "nothing: it is tried again with growing pauses; if it lasts, see whether the API server is well and whether CAPT \
            reaches it";
    Unreadable, "every kind: Event; WorkspaceTemplateApply: Applied, Ready; Cluster: InfrastructureReady":
        "the object is there, but a field of it has a form that this version of CAPT does not know"
        => "mend the field that the message names with `kubectl edit`; after an upgrade apply the CRDs of this version with \
            `capt crds | kubectl apply --server-side -f -`";
}
