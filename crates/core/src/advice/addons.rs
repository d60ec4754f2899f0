//! Reasons of add-ons.
#![expect(non_upper_case_globals, reason = "entries have the names of their reasons")]

super::advice! {
    WaitingForCredentials, "AddonStackBinding: Ready; ClusterResourceSet: ResourcesApplied":
        "the cluster has no kubeconfig yet, so that nothing can be brought there"
        => "nothing: it begins when the control plane is ready";
    WaitingForAddons, "AddonStackBinding: Ready":
        "the add-on begins when those of its dependsOn were ready once"
        => "nothing: look at the one that is waited for; to begin now, set the gate label on the Cluster yourself";
    GateClosed, "AddonStackBinding: Ready":
        "somebody holds the add-on by its gate label on the Cluster"
        => "nothing if it is to be held; otherwise `kubectl label --overwrite cluster NAME` with the label and value of the \
            message";
    ResourceSetMissing, "AddonStackBinding: Ready":
        "the add-on names no resources, and no ClusterResourceSet selects its gate label"
        => "create a ClusterResourceSet whose clusterSelector has that label, or name resources in the add-on";
    Delivering, "AddonStackBinding: Ready; ClusterResourceSet: ResourcesApplied":
        "the add-on is on its way to the cluster"
        => "nothing: it takes a moment";
    AddonNotReady, "AddonStackBinding: Ready; AddonStack: Ready":
        "the add-on is in the cluster, and something of it is not ready yet; the message names it"
        => "nothing: wait; if it lasts, look at that object in the cluster (`capt kubeconfig NAME` gets you in)";
    AddonOverdue, "AddonStackBinding: Ready":
        "the add-on is not ready after its timeout; it is waited for all the same"
        => "look at the object that the message names in the cluster; raise `timeout` of the add-on if it needs longer";
    AddonFailed, "AddonStackBinding: Ready; AddonStack: Ready":
        "something of the add-on says that it has failed"
        => "look at the object that the message names in the cluster, for a HelmRelease `flux get helmreleases -A`; after the \
            repair `capt reconcile cluster NAME` tries at once";
    AddonDegraded, "AddonStackBinding: Ready":
        "the add-on was ready and no longer is; nothing is undone for that"
        => "look at the object that the message names in the cluster; it is told as ready again by itself";
    RetriesExhausted, "AddonStackBinding: Ready":
        "the add-on has failed as often as its retry.limit permits, and is left alone until something changes"
        => "remove the cause that the message names, then `capt reconcile cluster NAME`";
    Incompatible, "AddonStackBinding: Ready":
        "versions of add-ons do not go together, or not with the cluster's Kubernetes"
        => "`capt compat check` says which pairs, `capt compat path` in which order to upgrade; spec.compatibility of the \
            stack says whether this is told or refused";
    ValuesMisplaced, "AddonStackBinding: Ready":
        "a HelmRelease would not get a value as it is meant: a targetPath is wrong, or a key is fed by nobody"
        => "write the targetPath or the entry of values that the message gives; `capt validate -f DIR` shows all of them";
    OutputMissing, "AddonStackBinding: Ready":
        "a value or a rendered manifest asks for an output that the cluster's module does not give"
        => "add the output to the module, or give `default` or `optional: true` in values; what there is, the message lists";
    AddonReady, "AddonStackBinding: Ready":
        "the add-on is ready"
        => "nothing: this is how it should be; a remark in the message may be worth a look";
    AddonsReady, "AddonStackBinding: Ready; AddonStack: Ready; Cluster: AddonsReady":
        "every add-on is ready"
        => "nothing: this is how it should be";
    AddonRecovered, "AddonStackBinding: Event":
        "an add-on that had failed is ready"
        => "nothing: this is how it should be";
    DriftRepaired, "AddonStackBinding: Event; ClusterResourceSet: Event":
        "what was changed or deleted in the cluster was brought in line again"
        => "nothing; if it happens often, find out who changes it there";
    WatchForbidden, "AddonStackBinding: Event":
        "the credentials of the cluster lack the verb `watch`, so that CAPT inspects what is not ready at intervals instead of at once"
        => "in the cluster, grant the user of the kubeconfig the verb `watch` for the resource that the message names";
    Removing, "AddonStackBinding: Ready":
        "what the add-on brought is being taken away, as `removal: Delete` says"
        => "nothing: wait; if it lasts, the message names the finalizer that holds an object in the cluster";
    NoClusters, "AddonStack: Ready; ClusterResourceSet: ResourcesApplied":
        "the selector matches no Cluster of this namespace"
        => "nothing if there is none yet; otherwise label the Cluster as spec.clusterSelector says, in the same namespace";
}
