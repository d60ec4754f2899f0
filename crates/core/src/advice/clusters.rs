//! Reasons of networks and control planes.
#![expect(non_upper_case_globals, reason = "entries have the names of their reasons")]

super::advice! {
    WaitingForCluster, "CAPTCluster: Ready; CAPTControlPlane: Ready":
        "no Cluster refers to this object yet"
        => "create the Cluster, with spec.infrastructureRef or spec.controlPlaneRef that leads here (kind, apiGroup and name)";
    WaitingForNetwork, "CAPTControlPlane: Ready":
        "the control plane begins when its network is ready"
        => "nothing: it begins by itself; what the network waits for is told by the CAPTCluster";
    NetworkOverdue, "CAPTControlPlane: Ready":
        "the network takes longer than controlPlaneConfig.timeouts.vpcReadyTimeout; it is waited for all the same"
        => "look at the CAPTCluster with `capt describe cluster NAME`; raise the timeout if this network needs longer";
    NetworkNotReady, "CAPTCluster: Ready, VPCReady":
        "the network is not there yet, or no longer is"
        => "nothing while Terraform works; `capt describe cluster NAME` shows how far it is, and what holds it up";
    NetworkReady, "CAPTCluster: Ready, VPCReady":
        "the network is there"
        => "nothing: this is how it should be";
    ControlPlaneNotReady, "CAPTControlPlane: Ready, Available":
        "the control plane is not there yet, or no longer is"
        => "nothing while Terraform works; `capt describe cluster NAME` shows how far it is, and what holds it up";
    ControlPlaneOverdue, "CAPTControlPlane: Ready":
        "the control plane takes longer than controlPlaneConfig.timeouts.controlPlaneTimeout; it is waited for all the same"
        => "look at its Workspace with `capt logs cluster NAME`; raise the timeout if this module needs longer";
    ControlPlaneReady, "CAPTControlPlane: Ready, Available":
        "the control plane is there, and its kubeconfig is in place"
        => "nothing: this is how it should be";
    RollingOut, "CAPTControlPlane: RollingOut; Cluster: RollingOut":
        "another version runs than spec.version asks for, and the new one is on its way"
        => "nothing: wait for Terraform; if it lasts, see whether the module uses kubernetes_version, and whether a plan waits \
            for approval";
    NotRollingOut, "CAPTControlPlane: RollingOut; Cluster: RollingOut":
        "the version that was asked for runs"
        => "nothing: this is how it should be";
    Reachable, "CAPTControlPlane: Reachable":
        "the cluster answers CAPT"
        => "nothing: this is how it should be";
    Unreachable, "CAPTControlPlane: Reachable":
        "the cluster does not answer CAPT; nothing but add-ons waits for that"
        => "see whether the endpoint can be reached from where CAPT runs (network, firewall, private endpoint); others may \
            reach it all the same";
    ApplyNotOwned, "CAPTCluster: Ready; CAPTControlPlane: Ready":
        "a WorkspaceTemplateApply of the name that is needed belongs to somebody else and is left alone"
        => "write another name into spec.workspaceTemplateApplyName, or this one to take over an apply that has no owner";
    ApplyCreated, "CAPTCluster: Event; CAPTControlPlane: Event":
        "the WorkspaceTemplateApply of the network or control plane was made"
        => "nothing: Terraform comes next";
    ApplyUpdated, "CAPTCluster: Event; CAPTControlPlane: Event":
        "the WorkspaceTemplateApply of the network or control plane was changed or taken over"
        => "nothing: Terraform comes next";
    WaitingForControlPlane, "CAPTCluster: Ready":
        "the network is being deleted, and goes when the control planes in it are gone"
        => "nothing if they are being deleted; otherwise delete the Cluster or the CAPTControlPlanes that the message names";
    ClearingCluster, "CAPTControlPlane: Deleting":
        "before Terraform destroys the cluster, machines and add-ons in it are taken down; the message says what is left"
        => "nothing: wait; to go on at once set spec.beforeDestroy.timeout of the CAPTControlPlane to 0s, which may leave \
            machines behind";
    ClusterNotCleared, "CAPTControlPlane: Deleting, Event":
        "something is still in the cluster although spec.beforeDestroy.timeout is over"
        => "help what the message names to go (`capt kubeconfig NAME` gets you in), or set spec.beforeDestroy.onTimeout to \
            Destroy; as an Event: look for machines that Terraform did not know of";
}
