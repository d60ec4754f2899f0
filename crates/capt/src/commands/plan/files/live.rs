//! What there is on the server.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use anyhow::Context as _;
use capt_api::{
    CAPTCluster, CAPTControlPlane, Cluster, Workspace, WorkspaceTemplate, WorkspaceTemplateApply,
};
use capt_core::forecast::{Key, World};
use capt_core::tie::ApplyKey;
use k8s_openapi::NamespaceResourceScope;
use kube::api::ListParams;
use kube::{Api, Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;

/// What there is, and the Workspaces by their names.
pub(super) async fn read(
    client: &Client,
    namespace: &str,
) -> anyhow::Result<(World, BTreeMap<String, Workspace>)> {
    let applies = list::<WorkspaceTemplateApply>(client, namespace).await?.context(
        "the kind WorkspaceTemplateApply is missing: `capt crds | kubectl apply --server-side -f -` installs it",
    )?;
    let all: Api<Workspace> = Api::all(client.clone());
    let workspaces = match all.list(&ListParams::default()).await {
        Ok(listed) => listed.items,
        Err(kube::Error::Api(status)) if status.code == 404 => Vec::new(),
        Err(error) => return Err(error).context("listing Workspaces"),
    };
    let outputs = workspaces.iter().filter_map(|workspace| {
        let observed = workspace.status.as_ref()?.at_provider.as_ref()?;
        Some((workspace.name_any(), observed.outputs.keys().cloned().collect()))
    });
    let world = World {
        clusters: keyed(list::<Cluster>(client, namespace).await?),
        networks: keyed(list::<CAPTCluster>(client, namespace).await?),
        control_planes: keyed(list::<CAPTControlPlane>(client, namespace).await?),
        templates: keyed(list::<WorkspaceTemplate>(client, namespace).await?),
        outputs: outputs.collect(),
        applies: applies.into_iter().map(|apply| (ApplyKey::of(&apply), Arc::new(apply))).collect(),
        ..World::default()
    };
    Ok((world, workspaces.into_iter().map(|workspace| (workspace.name_any(), workspace)).collect()))
}

/// All objects of a kind; those of one namespace where no more may be seen, and `None` where there is no such kind.
async fn list<K>(client: &Client, namespace: &str) -> anyhow::Result<Option<Vec<K>>>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
{
    let listed = match Api::<K>::all(client.clone()).list(&ListParams::default()).await {
        Err(kube::Error::Api(status)) if status.code == 403 => {
            Api::<K>::namespaced(client.clone(), namespace).list(&ListParams::default()).await
        }
        listed => listed,
    };
    match listed {
        Ok(listed) => Ok(Some(listed.items)),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(error).with_context(|| format!("listing objects of kind {}", K::kind(&()))),
    }
}

fn keyed<K: ResourceExt>(objects: Option<Vec<K>>) -> BTreeMap<Key, K> {
    let key = |object: K| ((object.namespace().unwrap_or_default(), object.name_any()), object);
    objects.into_iter().flatten().map(key).collect()
}
