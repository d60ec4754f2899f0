//! Every cluster, or the one that is named.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use capt_api::names::{condition, label};
use capt_api::{
    AddonStackBinding, CAPTCluster, CAPTControlPlane, Cluster, Workspace, WorkspaceTemplateApply,
};
use capt_core::apply::decide::WorkspaceFacts;
use capt_core::control_plane::names;
use capt_core::control_plane::observed::WorkspaceSeen;
use capt_core::doctor::{BindingFacts, ClockFacts, ClusterFacts, Finding, region_of};
use capt_core::name::is_object_name;
use capt_core::tie;
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, ListParams};
use kube::{Client, Resource, ResourceExt as _};
use serde::de::DeserializeOwned;

use super::states;
use crate::cli::DoctorArguments;

/// What was found at clusters.
pub(super) struct Found {
    pub(super) findings: Vec<Finding>,
    /// The region and the name of a cluster of EKS, if there is one.
    pub(super) eks: Option<(String, String)>,
}

/// Looks at the clusters, and at what belongs to none.
pub(super) async fn look(
    client: &Client,
    arguments: &DoctorArguments,
    clock: ClockFacts,
) -> anyhow::Result<Found> {
    let clusters = clusters(client, arguments).await?;
    let mut found = Found { findings: Vec::new(), eks: None };
    for cluster in &clusters {
        let seen = Seen::of(client, cluster).await?;
        let facts = seen.facts(cluster, clock);
        found.findings.extend(facts.judge());
        found.eks = found.eks.or_else(|| facts.source().as_ref().and_then(region_of));
        let area = facts.area();
        found.findings.extend(states::of_cluster(client, cluster, &area).await?);
    }
    if arguments.cluster.is_none() {
        found.findings.extend(states::of_nobody(client, arguments.namespace.as_deref()).await?);
    }
    Ok(found)
}

async fn clusters(client: &Client, arguments: &DoctorArguments) -> anyhow::Result<Vec<Cluster>> {
    let Some(name) = &arguments.cluster else {
        let api: Api<Cluster> = match &arguments.namespace {
            Some(namespace) => Api::namespaced(client.clone(), namespace),
            None => Api::all(client.clone()),
        };
        return match api.list(&ListParams::default()).await {
            Ok(clusters) => Ok(clusters.items),
            // That the kind is missing is told with the kinds.
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(Vec::new()),
            Err(error) => Err(error).context("listing Clusters"),
        };
    };
    let namespace = arguments.namespace.as_deref().unwrap_or_else(|| client.default_namespace());
    let api: Api<Cluster> = Api::namespaced(client.clone(), namespace);
    let found = api.get_opt(name).await.with_context(|| format!("reading Cluster `{name}`"))?;
    let Some(cluster) = found else { bail!("there is no Cluster `{name}` in the namespace {namespace}") };
    Ok(vec![cluster])
}

/// What belongs to a cluster.
struct Seen {
    control_plane: Option<CAPTControlPlane>,
    workspace: Option<WorkspaceSeen>,
    network_region: Option<String>,
    secrets: BTreeMap<String, Secret>,
    bindings: Vec<BindingFacts>,
}

impl Seen {
    async fn of(client: &Client, cluster: &Cluster) -> anyhow::Result<Self> {
        let place = Place { client, namespace: cluster.namespace().unwrap_or_default() };
        let name = cluster.name_any();
        let referred = |kind: &str, reference: Option<&capt_api::capi::ContractReference>| {
            reference.filter(|reference| reference.kind == kind).map(|reference| reference.name.clone())
        };
        let of = referred("CAPTControlPlane", cluster.spec.control_plane_ref.as_ref());
        let control_plane: Option<CAPTControlPlane> = place.get(of).await?;
        let of = referred("CAPTCluster", cluster.spec.infrastructure_ref.as_ref());
        let network: Option<CAPTCluster> = place.get(of).await?;
        let apply = place.get(control_plane.as_ref().map(names::apply)).await?;
        let workspace = place.workspace(apply.as_ref()).await?;
        let mut secrets = BTreeMap::new();
        for wanted in control_plane.iter().flat_map(|control_plane| {
            [
                names::connection_secret(control_plane),
                names::control_plane_kubeconfig(control_plane),
                names::kubeconfig(&name),
                names::certificate_authority(&name),
                names::user_kubeconfig(&name),
            ]
        }) {
            if let Some(secret) = place.get::<Secret>(Some(wanted.clone())).await? {
                secrets.insert(wanted, secret);
            }
        }
        Ok(Self {
            control_plane,
            workspace,
            network_region: network.map(|network| network.spec.region),
            secrets,
            bindings: place.bindings(&name).await?,
        })
    }

    fn facts<'facts>(&'facts self, cluster: &'facts Cluster, clock: ClockFacts) -> ClusterFacts<'facts> {
        ClusterFacts {
            cluster,
            control_plane: self.control_plane.as_ref(),
            workspace: self.workspace.as_ref(),
            network_region: self.network_region.as_deref(),
            secrets: &self.secrets,
            bindings: &self.bindings,
            now: clock.server.unwrap_or(clock.here),
        }
    }
}

/// Where the cluster's objects are.
struct Place<'client> {
    client: &'client Client,
    namespace: String,
}

impl Place<'_> {
    async fn get<Kind>(&self, name: Option<String>) -> anyhow::Result<Option<Kind>>
    where
        Kind: Resource<DynamicType = (), Scope = NamespaceResourceScope>
            + Clone
            + DeserializeOwned
            + std::fmt::Debug,
    {
        let Some(name) = name.filter(|name| is_object_name(name)) else { return Ok(None) };
        let api: Api<Kind> = Api::namespaced(self.client.clone(), &self.namespace);
        api.get_opt(&name)
            .await
            .with_context(|| format!("reading {} `{}/{name}`", Kind::kind(&()), self.namespace))
    }

    async fn workspace(
        &self,
        apply: Option<&WorkspaceTemplateApply>,
    ) -> anyhow::Result<Option<WorkspaceSeen>> {
        let Some(apply) = apply else { return Ok(None) };
        let name = tie::workspace_name(apply);
        let workspaces: Api<Workspace> = Api::all(self.client.clone());
        let found = workspaces.get_opt(&name).await.with_context(|| format!("reading Workspace `{name}`"))?;
        Ok(found.map(|workspace| WorkspaceSeen {
            at_provider: workspace.status.and_then(|status| serde_json::to_value(status.at_provider?).ok()),
            facts: WorkspaceFacts { metadata: workspace.metadata, ..WorkspaceFacts::default() },
        }))
    }

    async fn bindings(&self, cluster: &str) -> anyhow::Result<Vec<BindingFacts>> {
        let api: Api<AddonStackBinding> = Api::namespaced(self.client.clone(), &self.namespace);
        let selected =
            ListParams::default().labels(&format!("{}={}", label::CLUSTER_NAME, tie::label_value(cluster)));
        let found = match api.list(&selected).await {
            Ok(found) => found.items,
            Err(kube::Error::Api(status)) if status.code == 404 => Vec::new(),
            Err(error) => return Err(error).context("listing AddonStackBindings"),
        };
        Ok(found
            .into_iter()
            .filter(|binding| binding.spec.cluster_name == cluster)
            .map(binding_facts)
            .collect())
    }
}

fn binding_facts(binding: AddonStackBinding) -> BindingFacts {
    let conditions = binding.status.iter().flat_map(|status| &status.conditions);
    let ready = conditions.into_iter().find(|found| found.type_ == condition::READY);
    let ready = match ready {
        Some(ready) if ready.status == "True" => Ok(()),
        Some(ready) => Err(format!("{} ({})", ready.message, ready.reason)),
        None => Err("CAPT has not come to it yet".to_owned()),
    };
    BindingFacts { stack: binding.spec.stack_name, ready }
}
