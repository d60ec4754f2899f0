//! Reads the connection Secret, only when it is there and has changed.

use std::sync::Arc;

use capt_api::CAPTControlPlane;
use capt_api::names::Reason;
use capt_core::apply::Blocked;
use capt_core::control_plane::connection::{self, Data, Source, Surroundings};
use capt_core::control_plane::{decide, names};
use k8s_openapi::api::core::v1::Secret;
use kube::Api;

use super::Trouble;
use crate::context::Context;
use crate::control_plane::observe::Seen;
use crate::error::Error;
use crate::index::Name;
use crate::stop::Stop;
use crate::store::{key_of, version};

/// The fields that are read; the others are not kept.
const FIELDS: [&str; 4] = [
    connection::KUBECONFIG,
    connection::CERTIFICATE_AUTHORITY,
    connection::ENDPOINT,
    connection::CLUSTER_NAME,
];

/// What the module gave, and whether it had to be read anew.
pub(super) async fn source(
    control_plane: &CAPTControlPlane,
    seen: &Seen,
    context: &Context,
) -> Result<(Source, bool), Trouble> {
    let key = key_of(&control_plane.metadata);
    let secret = Name::new(&key.namespace, names::connection_secret(control_plane));
    let Some((data, anew)) = content(&key, &secret, context).await? else {
        return Err(absent(control_plane, &secret, seen, context, "is not there yet"));
    };
    if data.is_empty() {
        return Err(absent(control_plane, &secret, seen, context, "is there but still empty"));
    }
    let around = Surroundings {
        secret: &format!("{}/{}", secret.namespace, secret.name),
        control_plane,
        workspace: seen.workspace.as_ref(),
        network_region: seen.network_region.as_deref(),
        now: context.now(),
    };
    Ok((connection::read(&data, around)?, anew))
}

/// What counts of the Secret, and whether it was read from the API server.
async fn content(key: &Name, secret: &Name, context: &Context) -> Result<Option<(Arc<Data>, bool)>, Error> {
    let Some(newest) = context.secrets.get(secret) else {
        context.credentials.with(key, |memory| memory.connection = None);
        return Ok(None);
    };
    let known = context.credentials.with(key, |memory| memory.connection.clone());
    if let Some((_, data)) = known.filter(|(known, _)| *known >= newest) {
        return Ok(Some((data, false)));
    }
    let secrets: Api<Secret> = Api::namespaced(context.client.clone(), &secret.namespace);
    let doing = format!("reading Secret `{}/{}`", secret.namespace, secret.name);
    let Some(found) = secrets.get_opt(&secret.name).await.map_err(Error::api(doing))? else {
        return Ok(None);
    };
    let all = found.data.unwrap_or_default();
    // A Secret that has data but none of our fields is not an empty one: what it lacks is told.
    let other = all.keys().any(|name| !FIELDS.contains(&name.as_str()));
    let mut data: Data = all.into_iter().filter(|(name, _)| FIELDS.contains(&name.as_str())).collect();
    if data.is_empty() && other {
        data.insert(connection::KUBECONFIG.to_owned(), k8s_openapi::ByteString(Vec::new()));
    }
    let data = Arc::new(data);
    let read = (version(&found.metadata), Arc::clone(&data));
    context.credentials.with(key, |memory| memory.connection = Some(read));
    Ok(Some((data, true)))
}

/// Waiting turns into a failure when the time is over, and heals all the same.
fn absent(
    control_plane: &CAPTControlPlane,
    secret: &Name,
    seen: &Seen,
    context: &Context,
    how: &str,
) -> Trouble {
    let name = format!("{}/{}", secret.namespace, secret.name);
    let now = context.now();
    let deadline =
        seen.apply.as_ref().map(|apply| decide::control_plane_deadline(control_plane, Some(apply), now));
    let (blocked, next) = match deadline {
        Some(deadline) if deadline <= now => {
            let minutes = decide::timeouts(control_plane).1;
            let message = format!(
                "Secret `{name}` with the module's outputs {how}, after {minutes} minutes (controlPlaneConfig.timeouts.controlPlaneTimeout): see whether the Workspace is ready, and whether something else deletes the Secret"
            );
            (Blocked::new(Reason::ConnectionSecretNotFound, message), None)
        }
        deadline => {
            let message = format!("Secret `{name}` with the module's outputs {how}");
            (Blocked::new(Reason::WaitingForConnectionSecret, message), deadline)
        }
    };
    Trouble { stop: Stop::Blocked(blocked), next }
}
