//! The versions of a cluster: what it runs, and what its stacks bring to it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, bail};
use capt_api::names::{RESOURCE_SET_SECRET_TYPE, group};
use capt_api::resource_set::{ResourceKind, ResourceReference};
use capt_api::{AddonStack, CAPTControlPlane, Cluster, ClusterResourceSet};
use capt_core::addon::route::{Route, route};
use capt_core::compatibility::{Product, Version};
use capt_core::manifest::{self, Manifest};
use capt_core::name::is_object_name;
use capt_core::selector;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt};

use crate::cli::ConnectionArguments;
use crate::connection;
use crate::printer::Printer;

/// What was found of a cluster.
pub(super) struct Found {
    pub(super) kubernetes: Option<Version>,
    pub(super) manifests: Vec<Manifest>,
    /// Why something could not be read.
    pub(super) doubts: Vec<String>,
}

/// Reads what a Cluster runs, unless that is given, and what is brought to it.
pub(super) async fn read(
    name: &str,
    namespace: Option<String>,
    given: Option<Version>,
    connection: &ConnectionArguments,
    printer: Printer,
) -> anyhow::Result<Found> {
    let client = connection::find_for_person(connection).await?.client;
    let namespace = connection::namespace(&client, namespace)?;
    let clusters: Api<Cluster> = Api::namespaced(client.clone(), &namespace);
    let cluster = clusters.get_opt(name).await.with_context(|| format!("reading Cluster `{name}`"))?;
    let Some(cluster) = cluster else {
        bail!("there is no Cluster `{name}` in the namespace {namespace}");
    };
    let place = Place { client, namespace };
    let mut doubts = Vec::new();
    let kubernetes = match given {
        Some(given) => Some(given),
        None => place.kubernetes(&cluster).await?,
    };
    if kubernetes.is_none() {
        doubts.push(format!(
            "which Kubernetes Cluster `{name}` runs is not known: give it, for example --kubernetes 1.34"
        ));
    }
    let stacks = place.stacks(&cluster).await?;
    if stacks.is_empty() {
        printer.warning(&format!("no AddonStack selects Cluster `{name}`"));
    }
    let manifests = place.manifests(&stacks, &mut doubts).await?;
    Ok(Found { kubernetes, manifests, doubts })
}

/// Where the cluster's objects are.
struct Place {
    client: Client,
    namespace: String,
}

impl Place {
    fn api<Kind>(&self) -> Api<Kind>
    where
        Kind: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope>,
        Kind::DynamicType: Default,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// The version that runs, else the one that was asked for. While a cluster is upgraded, the newest one.
    async fn kubernetes(&self, cluster: &Cluster) -> anyhow::Result<Option<Version>> {
        let told = cluster.status.as_ref().and_then(|status| status.control_plane.as_ref());
        let told = told.and_then(|told| told.versions.last()).map(|running| running.version.clone());
        let control_plane = match told {
            Some(_) => None,
            None => self.control_plane(cluster).await?,
        };
        let running = control_plane.as_ref().and_then(|one| one.status.as_ref()?.version.clone());
        let asked = control_plane.map(|one| one.spec.version);
        let text = told.or(running).or(asked);
        Ok(text.and_then(|text| Product::Kubernetes.version(&text).ok()))
    }

    async fn control_plane(&self, cluster: &Cluster) -> anyhow::Result<Option<CAPTControlPlane>> {
        let is_ours = |one: &&capt_api::capi::ContractReference| {
            one.api_group == group::CONTROL_PLANE
                && one.kind == "CAPTControlPlane"
                && is_object_name(&one.name)
        };
        let Some(reference) = cluster.spec.control_plane_ref.as_ref().filter(is_ours) else {
            return Ok(None);
        };
        let found = self.api::<CAPTControlPlane>().get_opt(&reference.name).await;
        found.with_context(|| format!("reading CAPTControlPlane `{}`", reference.name))
    }

    /// The stacks that select the cluster.
    async fn stacks(&self, cluster: &Cluster) -> anyhow::Result<Vec<AddonStack>> {
        let stacks =
            self.api::<AddonStack>().list(&ListParams::default()).await.context("listing AddonStacks")?;
        let is_meant = |stack: &AddonStack| {
            stack.metadata.deletion_timestamp.is_none()
                && selector::matches(&stack.spec.cluster_selector, cluster.labels())
        };
        Ok(stacks.into_iter().filter(is_meant).collect())
    }

    /// Everything that stacks bring, as it is before it is rendered. What cannot be used is passed over and told.
    async fn manifests(
        &self,
        stacks: &[AddonStack],
        doubts: &mut Vec<String>,
    ) -> anyhow::Result<Vec<Manifest>> {
        if stacks.is_empty() {
            return Ok(Vec::new());
        }
        let sets = self.api::<ClusterResourceSet>().list(&ListParams::default()).await;
        let sets = sets.context("listing ClusterResourceSets")?.items;
        let resources: BTreeSet<_> = stacks.iter().flat_map(|stack| resources(stack, &sets)).collect();
        let mut manifests = Vec::new();
        for ResourceReference { kind, name } in resources {
            let described = format!("{} `{name}`", kind.as_str());
            let data = self.data(kind, &name).await.with_context(|| format!("reading {described}"))?;
            match data.map(|data| manifest::parse(kind, &name, &data)) {
                Some(Ok(found)) => manifests.extend(found),
                Some(Err(problems)) => doubts.push(problems.to_string()),
                None => {
                    doubts.push(format!("{described} is not there, or not of a type that holds manifests"));
                }
            }
        }
        Ok(manifests)
    }

    /// What a `ConfigMap`, or a Secret for manifests, holds.
    async fn data(
        &self,
        kind: ResourceKind,
        name: &str,
    ) -> Result<Option<BTreeMap<String, Vec<u8>>>, kube::Error> {
        Ok(match kind {
            ResourceKind::ConfigMap => self.api::<ConfigMap>().get_opt(name).await?.map(|map| {
                let texts = map.data.unwrap_or_default().into_iter();
                texts.map(|(key, text)| (key, text.into_bytes())).collect()
            }),
            ResourceKind::Secret => {
                let secret = self.api::<Secret>().get_opt(name).await?;
                let secret =
                    secret.filter(|secret| secret.type_.as_deref() == Some(RESOURCE_SET_SECRET_TYPE));
                secret.map(|secret| {
                    let values = secret.data.unwrap_or_default().into_iter();
                    values.map(|(key, value)| (key, value.0)).collect()
                })
            }
        })
    }
}

/// The `ConfigMaps` and Secrets that a stack brings, whoever delivers them.
fn resources(stack: &AddonStack, sets: &[ClusterResourceSet]) -> Vec<ResourceReference> {
    let name = stack.name_any();
    let of_addon = |addon: &capt_api::addon_stack::Addon| -> Vec<ResourceReference> {
        match route(&name, addon, sets) {
            Route::Theirs { sets: theirs } => {
                let theirs = sets.iter().filter(|set| theirs.contains(&set.name_any()));
                theirs.flat_map(|set| set.spec.resources.clone()).collect()
            }
            Route::Direct | Route::Ours { .. } | Route::Nothing | Route::Missing { .. } => {
                let named = addon.resources.iter();
                named.map(|one| ResourceReference { kind: one.kind, name: one.name.clone() }).collect()
            }
        }
    };
    let resources = stack.spec.addons.iter().flat_map(of_addon);
    resources.filter(|resource| is_object_name(&resource.name)).collect()
}
