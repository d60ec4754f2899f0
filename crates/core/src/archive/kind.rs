//! The kinds of objects that a backup holds.

use capt_api::names::group;
use serde_json::Value;

/// A kind of objects that a backup holds.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its group; empty for the core group.
    pub group: &'static str,
    /// Its version.
    pub version: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its name in addresses.
    pub plural: &'static str,
    /// Whether its objects lie in namespaces.
    pub namespaced: bool,
    /// How its objects are kept still until all of them are back.
    pub treatment: Treatment,
    /// Who brings the kind.
    pub installed: Installed,
}

/// How objects are kept still until all of them are back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// Nobody acts on them alone.
    Quiet,
    /// By Cluster API's annotation.
    Paused,
    /// By Crossplane's annotation.
    Frozen,
}

/// Who brings a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Installed {
    /// Every API server has it.
    Always,
    /// CAPT.
    ByCapt,
    /// Crossplane, or CAPT in its place.
    ByCrossplane,
    /// Cluster API, or CAPT in its place.
    ByClusterApi,
    /// Cluster API and nobody else.
    ByClusterApiOnly,
}

impl Installed {
    /// What installs the kind where it is missing.
    pub const fn fix(self) -> &'static str {
        match self {
            Self::Always => "see whether this is a Kubernetes API server",
            Self::ByCapt => "capt crds | kubectl apply --server-side -f -",
            Self::ByCrossplane => {
                "install Crossplane's provider-terraform, or: capt crds --include terraform | kubectl apply --server-side -f -"
            }
            Self::ByClusterApi => {
                "install Cluster API (clusterctl init), or: capt crds --include cluster-api | kubectl apply --server-side -f -"
            }
            Self::ByClusterApiOnly => "install Cluster API (clusterctl init)",
        }
    }
}

impl Kind {
    /// Group and version, as objects have it.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_owned()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }
}

const fn kind(
    [group, version, name, plural]: [&'static str; 4],
    namespaced: bool,
    treatment: Treatment,
    installed: Installed,
) -> Kind {
    Kind { group, version, name, plural, namespaced, treatment, installed }
}

/// All kinds, in the order in which they are put back: what others need comes first, what makes others act comes last.
pub static KINDS: [Kind; 16] = {
    use Installed::{Always, ByCapt, ByClusterApi, ByClusterApiOnly, ByCrossplane};
    use Treatment::{Frozen, Paused, Quiet};
    [
        kind(["", "v1", "Namespace", "namespaces"], false, Quiet, Always),
        kind(["", "v1", "Secret", "secrets"], true, Quiet, Always),
        kind(["", "v1", "ConfigMap", "configmaps"], true, Quiet, Always),
        kind([group::TERRAFORM, "v1beta1", "ProviderConfig", "providerconfigs"], false, Quiet, ByCrossplane),
        kind(
            [group::INFRASTRUCTURE, "v1beta1", "WorkspaceTemplate", "workspacetemplates"],
            true,
            Quiet,
            ByCapt,
        ),
        kind(
            [group::INFRASTRUCTURE, "v1beta1", "CAPTClusterTemplate", "captclustertemplates"],
            true,
            Quiet,
            ByCapt,
        ),
        kind(
            [group::CONTROL_PLANE, "v1beta1", "CAPTControlPlaneTemplate", "captcontrolplanetemplates"],
            true,
            Quiet,
            ByCapt,
        ),
        kind([group::CLUSTER, "v1beta2", "ClusterClass", "clusterclasses"], true, Paused, ByClusterApiOnly),
        kind(
            [group::INFRASTRUCTURE, "v1beta1", "WorkspaceTemplateApply", "workspacetemplateapplies"],
            true,
            Paused,
            ByCapt,
        ),
        kind(
            [group::CONTROL_PLANE, "v1beta1", "CAPTControlPlane", "captcontrolplanes"],
            true,
            Paused,
            ByCapt,
        ),
        kind([group::INFRASTRUCTURE, "v1beta1", "CAPTCluster", "captclusters"], true, Paused, ByCapt),
        kind(
            [group::ADDONS, "v1beta2", "ClusterResourceSet", "clusterresourcesets"],
            true,
            Paused,
            ByClusterApi,
        ),
        kind(
            [group::ADDONS, "v1beta2", "ClusterResourceSetBinding", "clusterresourcesetbindings"],
            true,
            Paused,
            ByClusterApi,
        ),
        kind([group::ADDONS, "v1alpha1", "AddonStack", "addonstacks"], true, Paused, ByCapt),
        kind([group::TERRAFORM, "v1beta1", "Workspace", "workspaces"], false, Frozen, ByCrossplane),
        kind([group::CLUSTER, "v1beta2", "Cluster", "clusters"], true, Paused, ByClusterApi),
    ]
};

/// The kind of an object, if a backup holds such.
pub fn kind_of(object: &Value) -> Option<&'static Kind> {
    let (version, name) = (object["apiVersion"].as_str()?, object["kind"].as_str()?);
    KINDS.iter().find(|kind| kind.name == name && kind.api_version() == version)
}

/// The kind of this name.
pub(super) fn named(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}
