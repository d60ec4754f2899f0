//! Finds out what the earlier implementation left.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use capt_api::CAPTControlPlane;
use capt_api::crd::own;
use capt_api::names::group;
use capt_core::control_plane::names;
use capt_core::from_go::{Found, OTHER_KINDS, Running, is_manager_deployment, is_manager_lease};
use capt_core::standing::cluster_name;
use futures::future::try_join_all;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{ApiResource, DynamicObject, ListParams};
use kube::{Api, Client, ResourceExt};
use tokio::time::sleep;

use crate::commands::plan::{Takeover, takeover_of};
use crate::printer::Printer;

/// The version of the kinds that CAPT does not have.
const VERSION: &str = "v1beta1";
/// How often a Lease is looked at while it is not known whether somebody renews it.
const GLANCE: Duration = Duration::from_secs(1);
/// How long a Lease lasts that does not say so.
const LEASE_SECONDS: i32 = 15;
/// No Lease is looked at for longer, whatever it says.
const LONGEST_LOOK: i32 = 60;

/// Looks at everything, the objects of `meant` only where that is a namespace. Also says what could not be seen.
pub(super) async fn take(
    client: &Client,
    own_namespace: &str,
    meant: Option<&str>,
    printer: Printer,
) -> anyhow::Result<(Found, Vec<String>)> {
    let mut remarks = Vec::new();
    let mut found = Found {
        definitions: definitions(client).await?,
        running: running(client, &mut remarks, printer).await?,
        ..Found::default()
    };
    let there = |plural: &str| found.definitions.iter().any(|crd| crd.spec.names.plural == plural);
    if there("workspacetemplateapplies") {
        let Takeover { world, workspaces } = takeover_of(client, own_namespace).await?;
        let is_meant = |namespace: &str| meant.is_none_or(|meant| meant == namespace);
        found.networks = values(world.networks, is_meant);
        found.control_planes = values(world.control_planes, is_meant);
        found.clusters = values(world.clusters, is_meant);
        let applies = world.applies.into_iter().filter(|(key, _)| is_meant(&key.namespace));
        found.applies = applies.map(|(_, apply)| Arc::unwrap_or_clone(apply)).collect();
        found.workspaces = workspaces;
    }
    for control_plane in &found.control_planes {
        found.secrets.extend(secrets(client, control_plane).await?);
    }
    for (kind, plural) in OTHER_KINDS {
        found.others.push((kind, count(client, kind, plural, meant).await?));
    }
    Ok((found, remarks))
}

fn values<K>(
    all: std::collections::BTreeMap<capt_core::forecast::Key, K>,
    is_meant: impl Fn(&str) -> bool,
) -> Vec<K> {
    all.into_iter().filter(|((namespace, _), _)| is_meant(namespace)).map(|(_, object)| object).collect()
}

async fn definitions(client: &Client) -> anyhow::Result<Vec<CustomResourceDefinition>> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let mut found = Vec::new();
    for wanted in own() {
        let name = wanted.name_any();
        found.extend(api.get_opt(&name).await.with_context(|| format!("reading the CRD {name}"))?);
    }
    Ok(found)
}

/// The managers that run.
async fn running(
    client: &Client,
    remarks: &mut Vec<String>,
    printer: Printer,
) -> anyhow::Result<Vec<Running>> {
    let (deployments, leases): (Api<Deployment>, Api<Lease>) =
        (Api::all(client.clone()), Api::all(client.clone()));
    let place = |namespace: Option<String>, name: String| (namespace.unwrap_or_default(), name);
    let mut running = Vec::new();
    match deployments.list(&ListParams::default()).await {
        Ok(listed) => running.extend(listed.items.into_iter().filter(is_manager_deployment).map(|it| {
            let (namespace, name) = place(it.namespace(), it.name_any());
            Running::Deployment { namespace, name }
        })),
        Err(error) => unseen("Deployments", error, remarks)?,
    }
    match leases.list(&ListParams::default()).await {
        Ok(listed) => {
            // All at the same time: none has to be waited for after the others.
            let looks = listed.items.into_iter().filter(is_manager_lease);
            let renewed = try_join_all(looks.map(|lease| renewed(client, lease, printer))).await?;
            running.extend(renewed.into_iter().flatten());
        }
        Err(error) => unseen("Leases", error, remarks)?,
    }
    Ok(running)
}

/// Whoever may not look has to make sure himself.
fn unseen(what: &str, error: kube::Error, remarks: &mut Vec<String>) -> anyhow::Result<()> {
    match error {
        kube::Error::Api(status) if status.code == 403 => {
            let remark = format!(
                "{what} of all namespaces may not be listed: make sure yourself that no Go manager runs"
            );
            remarks.push(remark);
            Ok(())
        }
        error => Err(error).with_context(|| format!("listing {what}")),
    }
}

/// How long a Lease is looked at: for as long as it lasts, but who wrote it may be a stranger.
fn patience(lasts: Option<i32>) -> i32 {
    lasts.filter(|seconds| *seconds > 0).unwrap_or(LEASE_SECONDS).min(LONGEST_LOOK)
}

/// Whoever held a Lease at his end still stands in it. It is looked at for as long as it lasts, within reason: clocks of different
/// machines are not compared.
async fn renewed(client: &Client, lease: Lease, printer: Printer) -> anyhow::Result<Option<Running>> {
    let (namespace, name) = (lease.namespace().unwrap_or_default(), lease.name_any());
    let spec = lease.spec.clone().unwrap_or_default();
    let seconds = patience(spec.lease_duration_seconds);
    printer.message(&format!(
        "looking for up to {seconds} s whether somebody renews Lease `{namespace}/{name}`"
    ));
    let leases: Api<Lease> = Api::namespaced(client.clone(), &namespace);
    for _ in 0..seconds {
        sleep(GLANCE).await;
        let doing = || format!("reading Lease `{namespace}/{name}`");
        let Some(now) = leases.get_opt(&name).await.with_context(doing)? else { return Ok(None) };
        if now.spec != lease.spec {
            let holder = now.spec.and_then(|spec| spec.holder_identity).filter(|holder| !holder.is_empty());
            return Ok(holder.map(|holder| Running::Lease { namespace, name, holder }));
        }
    }
    Ok(None)
}

/// The Secrets of names that a control plane needs; of their content nothing is kept.
async fn secrets(
    client: &Client,
    control_plane: &CAPTControlPlane,
) -> anyhow::Result<Vec<(ObjectMeta, Option<String>)>> {
    let Some(cluster) = cluster_name(&control_plane.metadata) else { return Ok(Vec::new()) };
    let namespace = control_plane.namespace().unwrap_or_default();
    let api: Api<Secret> = Api::namespaced(client.clone(), &namespace);
    let needed = [
        names::kubeconfig(cluster),
        names::certificate_authority(cluster),
        names::control_plane_kubeconfig(control_plane),
        names::user_kubeconfig(cluster),
    ];
    let mut found = Vec::new();
    for name in needed {
        let doing = || format!("reading Secret `{namespace}/{name}`");
        if let Some(secret) = api.get_opt(&name).await.with_context(doing)? {
            found.push((secret.metadata, secret.type_));
        }
    }
    Ok(found)
}

/// How many objects there are of a kind that CAPT does not have.
async fn count(client: &Client, kind: &str, plural: &str, meant: Option<&str>) -> anyhow::Result<usize> {
    let resource = ApiResource {
        group: group::INFRASTRUCTURE.to_owned(),
        version: VERSION.to_owned(),
        api_version: format!("{}/{VERSION}", group::INFRASTRUCTURE),
        kind: kind.to_owned(),
        plural: plural.to_owned(),
    };
    let api: Api<DynamicObject> = match meant {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    match api.list_metadata(&ListParams::default()).await {
        Ok(listed) => Ok(listed.items.len()),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(0),
        Err(error) => Err(error).with_context(|| format!("listing objects of kind {kind}")),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::as_it_says(Some(20), 20)]
    #[case::that_says_nothing(None, 15)]
    #[case::that_says_nonsense(Some(-1), 15)]
    #[case::of_a_stranger(Some(i32::MAX), 60)]
    fn a_lease_is_looked_at_for_as_long_as_it_lasts_within_reason(
        #[case] lasts: Option<i32>,
        #[case] expected: i32,
    ) {
        assert_eq!(patience(lasts), expected);
    }
}
