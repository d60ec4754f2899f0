//! Flux's kinds.

use super::object::Object;
use super::{Health, generic};

const SOURCES: &str = "source.toolkit.fluxcd.io";

/// Whether Flux never says anything of the object: it makes nothing of an OCI `HelmRepository` by itself, and newer versions
/// leave its status at the -1 that the CRD fills in. Earlier ones gave it conditions, which count.
pub(super) fn has_no_status(object: Object<'_>) -> bool {
    object.group_and_kind() == (SOURCES, "HelmRepository")
        && object.text("/spec/type") == Some("oci")
        && object.items("/status/conditions").next().is_none()
}

/// Whether Flux says of every object of a kind that it is ready, sooner or later.
pub(super) fn reports_ready(group: &str, kind: &str) -> bool {
    matches!(
        (group, kind),
        (SOURCES, "Bucket" | "GitRepository" | "HelmChart" | "OCIRepository")
            | ("helm.toolkit.fluxcd.io", "HelmRelease")
            | ("kustomize.toolkit.fluxcd.io", "Kustomization")
    )
}

pub(super) fn ready(object: Object<'_>) -> Health {
    generic::required(object, "Ready", "Flux has not looked at it yet")
}
