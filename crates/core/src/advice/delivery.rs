//! Reasons that are about objects on their way into clusters.
#![expect(non_upper_case_globals, reason = "entries have the names of their reasons")]

super::advice! {
    ResourceMissing, "AddonStackBinding: Ready; ClusterResourceSet: ResourcesApplied":
        "a ConfigMap or Secret with manifests does not exist"
        => "create it in the namespace of the stack or set; it is brought at once";
    WrongSecretType, "AddonStackBinding: Ready; ClusterResourceSet: ResourcesApplied":
        "a Secret with manifests is not of the type that such Secrets have"
        => "delete it and create it again with `type: addons.cluster.x-k8s.io/resource-set`";
    ManifestInvalid, "AddonStackBinding: Ready; ClusterResourceSet: ResourcesApplied":
        "a manifest cannot be read, or cannot be sent to any cluster; the message says where"
        => "correct it in the ConfigMap or Secret; `capt validate -f FILE` shows line and column";
    KindNotServed, "AddonStackBinding: Ready; ClusterResourceSet: ResourcesApplied":
        "the cluster does not serve the kind of a manifest"
        => "bring what defines the kind first, in an add-on that this one depends on, or write an apiVersion that the \
            cluster's Kubernetes serves";
    NamespaceMissing, "AddonStackBinding: Ready; ClusterResourceSet: ResourcesApplied":
        "the cluster has no namespace of the name that a manifest gives, or it is being deleted"
        => "add the Namespace to the manifests, or create it in the cluster";
    ObjectRefused, "AddonStackBinding: Ready; ClusterResourceSet: ResourcesApplied":
        "the cluster refused an object: it is not valid, forbidden, too large, or the old one is still being deleted"
        => "correct the manifest as the message says; `kubectl apply --server-side --dry-run=server -f FILE` against the \
            cluster shows the same answer";
    ObjectClaimed, "AddonStackBinding: Ready; ClusterResourceSet: ResourcesApplied":
        "an object is brought to the cluster by another add-on already"
        => "take it out of one of the two; the message names the other as namespace/cluster/stack/add-on";
    ClusterUnreachable, "AddonStackBinding: Ready; ClusterResourceSet: ResourcesApplied":
        "the cluster cannot be reached with the credentials that are there"
        => "see the conditions Reachable and SecretsReady of its CAPTControlPlane; it goes on by itself when the cluster \
            answers";
    NotApplied, "AddonStackBinding: Ready":
        "a ClusterResourceSet could not bring its resources to the cluster"
        => "look at it with `kubectl describe clusterresourceset NAME`, and at the ClusterResourceSetBinding of the Cluster";
}
