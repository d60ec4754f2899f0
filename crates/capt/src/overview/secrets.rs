//! The Secrets of a cluster, without what is in them.

use anyhow::Context;
use capt_core::control_plane::{names, secrets::times_of};
use capt_core::name::is_object_name;
use capt_core::overview::{Facts, SecretFacts, SecretSeen, SecretUse, Seen};
use k8s_openapi::api::core::v1::Secret;
use kube::Client;
use kube::api::Api;

use super::reader::seen;

/// Looks for the Secrets of a cluster's control plane.
pub(super) async fn read(client: &Client, facts: &Facts) -> anyhow::Result<Vec<SecretFacts>> {
    let namespace = facts.cluster.metadata.namespace.as_deref().unwrap_or_default();
    let cluster = facts.cluster.metadata.name.as_deref().unwrap_or_default();
    let api: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let named = [
        (SecretUse::Connection, connection(facts)),
        (SecretUse::Kubeconfig, Some(names::kubeconfig(cluster))),
        (SecretUse::UserKubeconfig, Some(names::user_kubeconfig(cluster))),
        (SecretUse::CertificateAuthority, Some(names::certificate_authority(cluster))),
    ];
    let named =
        named.into_iter().filter_map(|(use_, name)| Some((use_, name.filter(|name| is_object_name(name))?)));
    let looked = named.map(|(use_, name)| look(&api, use_, name));
    futures::future::try_join_all(looked).await
}

/// The Secret that the outputs of the control plane's module go to.
fn connection(facts: &Facts) -> Option<String> {
    facts.control_plane.own().map(names::connection_secret)
}

async fn look(api: &Api<Secret>, use_: SecretUse, name: String) -> anyhow::Result<SecretFacts> {
    let doing = || format!("reading Secret `{name}`");
    let metadata = api.get_metadata_opt(&name).await;
    let found = seen(metadata.map(|found| found.map(|found| found.metadata))).with_context(doing)?;
    let secret = match found {
        // The end of a certificate stands in the certificate alone.
        Seen::There(metadata) if use_ == SecretUse::Kubeconfig && times_of(&metadata).is_none() => {
            let secret = seen(api.get_opt(&name).await).with_context(doing)?;
            map(secret, |secret| SecretSeen::of_kubeconfig(&secret))
        }
        found => map(found, SecretSeen::of_metadata),
    };
    Ok(SecretFacts { use_, name, secret })
}

fn map<A, B>(seen: Seen<A>, change: impl FnOnce(A) -> B) -> Seen<B> {
    match seen {
        Seen::There(object) => Seen::There(change(object)),
        Seen::Missing => Seen::Missing,
        Seen::Unread(why) => Seen::Unread(why),
        Seen::NotAsked => Seen::NotAsked,
    }
}
