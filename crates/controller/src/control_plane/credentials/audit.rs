//! One stream of log lines (`target=audit`) about every credential that is written, renewed or refused: what, when and why,
//! never the content.

use capt_api::names::Reason;
use capt_core::control_plane::connection::EksAccess;
use capt_core::control_plane::secrets::{Times, WantedSecret};
use k8s_openapi::jiff::Timestamp;
use tracing::{info, warn};

/// A Secret was written.
pub(super) fn written(name: &str, cluster: &str, secret: &WantedSecret, what: &'static str) {
    let expires_at = secret.times.map(|times| times.expires_at.to_string());
    info!(
        target: "audit",
        action = "written",
        what,
        secret = name,
        purpose = ?secret.purpose,
        cluster,
        expires_at,
        "a credential was written"
    );
}

/// A token was made.
pub(super) fn minted(name: &str, access: &EksAccess, times: Times, why: &'static str) {
    let Times { expires_at, renew_at } = times;
    info!(
        target: "audit",
        action = "rotated",
        why,
        control_plane = name,
        eks_cluster = access.cluster_name,
        region = access.region,
        role = access.role_arn,
        %expires_at,
        %renew_at,
        "a token was made"
    );
}

/// A token could not be made.
pub(super) fn not_minted(name: &str, access: &EksAccess, message: &str, valid_until: Option<Timestamp>) {
    warn!(
        target: "audit",
        action = "refused",
        control_plane = name,
        eks_cluster = access.cluster_name,
        role = access.role_arn,
        valid_until = valid_until.map(|until| until.to_string()),
        message,
        "no token could be made"
    );
}

/// A credential was not written.
pub(super) fn refused(name: &str, cluster: &str, reason: Reason) {
    warn!(target: "audit", action = "refused", secret = name, cluster, %reason, "a credential was not written");
}
