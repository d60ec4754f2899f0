//! One object after the other, from the API server or from lists that were read before.

use std::collections::BTreeMap;
use std::fmt::Debug;

use anyhow::Context;
use capt_api::{CAPTCluster, CAPTControlPlane, Workspace, WorkspaceTemplateApply};
use capt_core::name::is_object_name;
use capt_core::overview::Seen;
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::api::{Api, ListParams};
use kube::core::DeserializeGuard;
use kube::{Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;

/// Where objects are read.
pub(super) enum Reader<'client> {
    /// One request for each.
    Live(&'client Client),
    /// Lists of all that there may be.
    Listed(Box<Lists>),
}

/// Everything of the kinds that clusters are made of.
pub(super) struct Lists {
    networks: Shelf<CAPTCluster>,
    control_planes: Shelf<CAPTControlPlane>,
    applies: Shelf<WorkspaceTemplateApply>,
    workspaces: Shelf<Workspace>,
}

/// Objects by namespace and name, or why they could not be listed.
pub(super) type Shelf<K> = Result<BTreeMap<(String, String), Seen<K>>, String>;

/// A kind that is read.
pub(super) trait Kept: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned {
    fn shelf(lists: &Lists) -> &Shelf<Self>;
}

impl Kept for CAPTCluster {
    fn shelf(lists: &Lists) -> &Shelf<Self> {
        &lists.networks
    }
}

impl Kept for CAPTControlPlane {
    fn shelf(lists: &Lists) -> &Shelf<Self> {
        &lists.control_planes
    }
}

impl Kept for WorkspaceTemplateApply {
    fn shelf(lists: &Lists) -> &Shelf<Self> {
        &lists.applies
    }
}

impl Kept for Workspace {
    fn shelf(lists: &Lists) -> &Shelf<Self> {
        &lists.workspaces
    }
}

impl<'client> Reader<'client> {
    pub(super) const fn live(client: &'client Client) -> Self {
        Self::Live(client)
    }

    /// Reads all lists, of one namespace or of all of them.
    pub(super) async fn listing(client: &Client, namespace: Option<&str>) -> anyhow::Result<Self> {
        let (networks, control_planes, applies, workspaces) = futures::future::try_join4(
            shelf(scoped(client, namespace)),
            shelf(scoped(client, namespace)),
            shelf(scoped(client, namespace)),
            shelf(Api::all(client.clone())),
        )
        .await?;
        Ok(Self::Listed(Box::new(Lists { networks, control_planes, applies, workspaces })))
    }

    pub(super) async fn namespaced<K>(&self, namespace: &str, name: &str) -> anyhow::Result<Seen<K>>
    where
        K: Kept + Resource<Scope = NamespaceResourceScope>,
    {
        match self {
            Self::Live(client) => get(&Api::namespaced((*client).clone(), namespace), name).await,
            Self::Listed(lists) => Ok(find(K::shelf(lists), namespace, name)),
        }
    }

    pub(super) async fn cluster_wide<K>(&self, name: &str) -> anyhow::Result<Seen<K>>
    where
        K: Kept + Resource<Scope = ClusterResourceScope>,
    {
        match self {
            Self::Live(client) => get(&Api::all((*client).clone()), name).await,
            Self::Listed(lists) => Ok(find(K::shelf(lists), "", name)),
        }
    }
}

/// Objects of one namespace or of all of them.
pub(super) fn scoped<K>(client: &Client, namespace: Option<&str>) -> Api<K>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    match namespace {
        Some(namespace) => Api::namespaced(client.clone(), namespace),
        None => Api::all(client.clone()),
    }
}

fn find<K: Kept>(shelf: &Shelf<K>, namespace: &str, name: &str) -> Seen<K> {
    match shelf {
        Ok(found) => found.get(&(namespace.to_owned(), name.to_owned())).cloned().unwrap_or(Seen::Missing),
        Err(why) => Seen::Unread(why.clone()),
    }
}

async fn get<K: Kept>(api: &Api<K>, name: &str) -> anyhow::Result<Seen<K>> {
    if !is_object_name(name) {
        return Ok(Seen::Unread(format!("`{name}` is no name of an object")));
    }
    seen(api.get_opt(name).await).with_context(|| format!("reading {} `{name}`", K::kind(&())))
}

/// What became of looking for an object. Only a server that cannot be asked at all ends the look at the whole.
pub(super) fn seen<K>(result: Result<Option<K>, kube::Error>) -> Result<Seen<K>, kube::Error> {
    Ok(match told(result)? {
        Ok(Some(object)) => Seen::There(object),
        Ok(None) => Seen::Missing,
        Err(why) => Seen::Unread(why),
    })
}

/// A list, or why it cannot be had. Where the kind is not served there is nothing of it.
pub(super) fn listed<K>(
    result: Result<Vec<K>, kube::Error>,
    what: &str,
) -> Result<Result<Vec<K>, String>, kube::Error> {
    match result {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(Ok(Vec::new())),
        result => Ok(told(result)?.map_err(|why| format!("{what} cannot be listed: {why}"))),
    }
}

/// What the server says of one request, apart from what keeps us from asking it.
fn told<T>(result: Result<T, kube::Error>) -> Result<Result<T, String>, kube::Error> {
    match result {
        Ok(found) => Ok(Ok(found)),
        Err(kube::Error::Api(status)) => Ok(Err(status.message)),
        Err(kube::Error::SerdeError(error)) => Ok(Err(error.to_string())),
        Err(error) => Err(error),
    }
}

async fn shelf<K: Kept>(api: Api<DeserializeGuard<K>>) -> anyhow::Result<Shelf<K>> {
    let kind = K::plural(&());
    let list = api.list(&ListParams::default()).await.map(|list| list.items);
    let listed = listed(list, &kind).with_context(|| format!("listing {kind}"))?;
    Ok(listed.map(|objects| objects.into_iter().map(shelved).collect()))
}

fn shelved<K: Kept>(guarded: DeserializeGuard<K>) -> ((String, String), Seen<K>) {
    let key = (guarded.meta().namespace.clone().unwrap_or_default(), guarded.name_any());
    let seen = match guarded.0 {
        Ok(object) => Seen::There(object),
        Err(invalid) => Seen::Unread(invalid.error),
    };
    (key, seen)
}
