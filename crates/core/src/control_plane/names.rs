//! How the objects of a control plane are called.

use capt_api::CAPTControlPlane;
use capt_api::names::APPLY_SUFFIX;

/// Its `WorkspaceTemplateApply`: as the spec says, or by its own name.
pub fn apply(control_plane: &CAPTControlPlane) -> String {
    let given = control_plane.spec.workspace_template_apply_name.as_deref().filter(|name| !name.is_empty());
    given.map_or_else(|| format!("{}-eks-controlplane{APPLY_SUFFIX}", name(control_plane)), ToOwned::to_owned)
}

/// The Secret that the module's outputs go to.
pub fn connection_secret(control_plane: &CAPTControlPlane) -> String {
    format!("{}-eks-connection", name(control_plane))
}

/// The kubeconfig by the control plane's name, as the proposals have it.
pub fn control_plane_kubeconfig(control_plane: &CAPTControlPlane) -> String {
    format!("{}-control-plane-kubeconfig", name(control_plane))
}

/// The kubeconfig that Cluster API reads.
pub fn kubeconfig(cluster: &str) -> String {
    format!("{cluster}-kubeconfig")
}

/// The kubeconfig for people, which asks for a token of their own.
pub fn user_kubeconfig(cluster: &str) -> String {
    format!("{cluster}-user-kubeconfig")
}

/// The certificate authority.
pub fn certificate_authority(cluster: &str) -> String {
    format!("{cluster}-ca")
}

fn name(control_plane: &CAPTControlPlane) -> &str {
    control_plane.metadata.name.as_deref().unwrap_or_default()
}
