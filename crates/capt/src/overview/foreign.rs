//! Objects whose kinds are not known here: those of other providers, and workers.

use anyhow::Context;
use capt_api::capi::ContractReference;
use capt_api::names::{group, label};
use capt_core::name::is_object_name;
use capt_core::overview::{Foreign, Seen};
use capt_core::tie::label_value;
use kube::api::{Api, ListParams};
use kube::core::{ApiResource, DynamicObject};
use kube::discovery::{self, Scope};
use kube::{Client, ResourceExt};

use super::reader::{listed, seen};

/// The kinds that workers are made of, and are told by.
const WORKERS: [&str; 3] = ["MachineDeployment", "MachinePool", "Machine"];

/// Looks for the object of another provider. Of several versions the one is read that Cluster API would read.
pub(super) async fn read(
    client: &Client,
    namespace: &str,
    reference: &ContractReference,
) -> anyhow::Result<Foreign> {
    let ContractReference { api_group: group, kind, name } = reference.clone();
    let object = if is_object_name(&name) {
        match kinds(client, &group, &[&kind]).await?.pop() {
            Some(resource) => {
                let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), namespace, &resource);
                seen(api.get_opt(&name).await).with_context(|| format!("reading {kind} `{name}`"))?
            }
            None => Seen::Unread(format!("the kind {kind} of the group {group} is not served")),
        }
    } else {
        Seen::Unread(format!("`{name}` is no name of an object"))
    };
    Ok(Foreign { kind, name, object })
}

/// The workers of a cluster that are objects here, or why they cannot be listed. Machines that belong to a set are told by it.
pub(super) async fn workers(
    client: &Client,
    namespace: &str,
    cluster: &str,
) -> anyhow::Result<Result<Vec<Foreign>, String>> {
    let meant = ListParams::default().labels(&format!("{}={}", label::CLUSTER_NAME, label_value(cluster)));
    let mut workers = Vec::new();
    for resource in kinds(client, group::CLUSTER, &WORKERS).await? {
        let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), namespace, &resource);
        let list = listed(api.list(&meant).await.map(|list| list.items), &resource.plural)?;
        let objects = match list {
            Ok(objects) => objects,
            Err(why) => return Ok(Err(why)),
        };
        let of_set = |object: &DynamicObject| {
            resource.kind == "Machine"
                && object.owner_references().iter().any(|owner| owner.controller == Some(true))
        };
        workers.extend(objects.into_iter().filter(|object| !of_set(object)).map(|object| Foreign {
            kind: resource.kind.clone(),
            name: object.name_any(),
            object: Seen::There(object),
        }));
    }
    Ok(Ok(workers))
}

/// How those kinds of a group are asked for that are served.
async fn kinds(client: &Client, group: &str, kinds: &[&str]) -> anyhow::Result<Vec<ApiResource>> {
    let served = match discovery::group(client, group).await {
        Ok(served) => served,
        Err(kube::Error::Discovery(_)) => return Ok(Vec::new()),
        Err(kube::Error::Api(status)) if status.is_not_found() => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| format!("asking for the kinds of {group}")),
    };
    let found = kinds.iter().filter_map(|kind| served.recommended_kind(kind));
    Ok(found
        .filter(|(_, capabilities)| capabilities.scope == Scope::Namespaced)
        .map(|(resource, _)| resource)
        .collect())
}
