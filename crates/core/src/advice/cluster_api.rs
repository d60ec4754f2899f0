//! Reasons of Clusters, where CAPT looks after them; mostly Cluster API's words.
#![expect(non_upper_case_globals, reason = "entries have the names of their reasons")]

super::advice! {
    Provisioned, "Cluster: Event":
        "the network is there, and it is known where the API server is reached"
        => "nothing: this is how it should be";
    Ready, "Cluster: InfrastructureReady":
        "the network is ready, or the Cluster has none of its own"
        => "nothing: this is how it should be";
    NotReady, "Cluster: InfrastructureReady":
        "the network has never been ready yet"
        => "nothing while Terraform works; `capt describe cluster NAME` shows how far it is";
    NotAvailable, "Cluster: Available, ControlPlaneAvailable":
        "the cluster cannot be used yet, or no longer can; the message says which part is in the way"
        => "look at that part: `capt describe cluster NAME` marks the first thing that blocks";
    AvailableUnknown, "Cluster: Available":
        "nobody knows whether the cluster can be used, since a part of it says nothing"
        => "see the part that the message names, and whether what looks after it runs";
    Initialized, "Cluster: ControlPlaneInitialized":
        "the control plane could be reached once"
        => "nothing: this is how it should be";
    NotInitialized, "Cluster: ControlPlaneInitialized":
        "the control plane could never be reached yet"
        => "nothing while it is being made; `capt describe cluster NAME` shows what it waits for";
    ProbeSucceeded, "Cluster: RemoteConnectionProbe":
        "the cluster answers"
        => "nothing: this is how it should be";
    ProbeFailed, "Cluster: RemoteConnectionProbe":
        "the cluster does not answer, or not yet"
        => "see the condition Reachable of the CAPTControlPlane, which says why";
    RollingOutUnknown, "Cluster: RollingOut":
        "the control plane does not say whether a new version is on its way"
        => "see the condition RollingOut of the control plane that spec.controlPlaneRef names";
    NoWorkers, "Cluster: WorkersAvailable":
        "the Cluster has no workers that are objects of their own; machines come from the module or from Karpenter"
        => "nothing: this is how it should be";
    WaitingForControlPlaneDeletion, "Cluster: Deleting":
        "the Cluster is being deleted and waits until its control plane is gone"
        => "nothing: wait; the condition Deleting of the CAPTControlPlane says what it waits for";
    WaitingForInfrastructureDeletion, "Cluster: Deleting":
        "the Cluster is being deleted and waits until its network is gone"
        => "nothing: wait; the condition Ready of the CAPTCluster says what it waits for";
    ObjectDoesNotExist, "Cluster: InfrastructureReady, ControlPlaneAvailable, ControlPlaneInitialized":
        "an object that the Cluster refers to does not exist yet"
        => "create the object that the message names, or correct spec.infrastructureRef or spec.controlPlaneRef";
    ObjectDeleted, "Cluster: InfrastructureReady, ControlPlaneAvailable":
        "an object that the Cluster refers to was there and has been deleted"
        => "create it again as it was, and it takes up what is there; or delete the Cluster, if it is not needed any more";
    ReferenceNotOwned, "Cluster: InfrastructureReady, ControlPlaneAvailable":
        "an object that the Cluster refers to belongs to another Cluster and is left alone"
        => "name another object in the field that the message gives";
    ReferenceNotFound, "Cluster: InfrastructureReady, ControlPlaneAvailable":
        "the kind of an object that the Cluster refers to is not served, so that nobody knows whether the object is there"
        => "install the kinds: `capt crds | kubectl apply --server-side -f -`";
    ReferenceUnsupported, "Cluster: InfrastructureReady, ControlPlaneAvailable":
        "the Cluster refers to a kind, or uses a feature, that only Cluster API itself looks after"
        => "refer to a CAPTCluster and a CAPTControlPlane, or install Cluster API with `clusterctl init`";
}
