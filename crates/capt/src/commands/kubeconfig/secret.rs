//! The Secret that holds the kubeconfig.

use anyhow::{Context, anyhow, bail};
use capt_api::Cluster;
use capt_core::control_plane::names;
use capt_core::control_plane::secrets::{Times, times_of};
use k8s_openapi::api::core::v1::Secret;
use kube::Client;
use kube::api::Api;
use secrecy::SecretString;

use crate::overview::no_such_cluster;

/// A kubeconfig as it was found.
pub(super) struct Found {
    /// The name of the Secret.
    pub(super) secret: String,
    /// What is in it.
    pub(super) content: SecretString,
    /// The life of its token, where CAPT renews it.
    pub(super) times: Option<Times>,
    /// Whether there is one for people too.
    pub(super) for_people: bool,
}

/// Reads the kubeconfig of a cluster, or the one for people.
pub(super) async fn read(
    client: &Client,
    namespace: &str,
    cluster: &str,
    user: bool,
) -> anyhow::Result<Found> {
    let api: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let for_people = names::user_kubeconfig(cluster);
    let name = if user { for_people.clone() } else { names::kubeconfig(cluster) };
    let secret = api.get_opt(&name).await;
    let secret = secret.with_context(|| format!("reading Secret `{name}` of namespace {namespace}"))?;
    let Some(secret) = secret else { return Err(missing(client, namespace, cluster, &name, user).await) };
    let times = times_of(&secret.metadata);
    let value = secret.data.and_then(|mut data| data.remove("value"));
    let value = value.with_context(|| {
        format!(
            "Secret `{name}` has no key `value`, so it is not the kubeconfig of a cluster: see who made it"
        )
    })?;
    let Ok(content) = String::from_utf8(value.0) else {
        bail!("the key `value` of Secret `{name}` is not text, so it is not a kubeconfig");
    };
    // Only whoever reads the one that ends has a use for the other.
    let for_people = !user
        && times.is_some()
        && api.get_metadata_opt(&for_people).await.is_ok_and(|found| found.is_some());
    Ok(Found { secret: name, content: SecretString::from(content), times, for_people })
}

async fn missing(client: &Client, namespace: &str, cluster: &str, secret: &str, user: bool) -> anyhow::Error {
    let clusters: Api<Cluster> = Api::namespaced(client.clone(), namespace);
    match clusters.get_metadata_opt(cluster).await {
        Ok(None) => no_such_cluster(client, namespace, cluster).await,
        Ok(Some(_)) if user => anyhow!(
            "Cluster `{cluster}` has no kubeconfig for people (Secret `{secret}`), which only clusters of EKS have: leave out --user"
        ),
        Ok(Some(_)) => anyhow!(
            "Cluster `{cluster}` has no kubeconfig yet (Secret `{secret}`): `capt describe cluster {cluster}` says what it waits for"
        ),
        Err(error) => anyhow::Error::new(error).context(format!(
            "there is no Secret `{secret}` in the namespace {namespace}; reading Cluster `{cluster}`"
        )),
    }
}
