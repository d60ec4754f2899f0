//! `clusterctl upgrade` and `clusterctl delete`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context, ensure};
use capt_api::crd::own;
use capt_api::{Workspace, WorkspaceTemplate};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt};

use super::super::server;
use super::installation::{DEPLOYMENT, NAMESPACE, inventory};
use super::life::{Living, is_available};
use super::{Site, Tools, ok};
use crate::dist::{self, Files, Version};

const PROVIDERS: [&str; 2] =
    ["capt-control-plane-system/control-plane-capt", "capt-system/infrastructure-capt"];

/// The next release of this series is offered and installed, then that of the next series; the cluster stays as it is.
pub(super) async fn keeps_everything(site: &Site, tools: &Tools, living: Living) -> anyhow::Result<Living> {
    let client = &site.server.client;
    let before = workspaces(client).await?;
    ensure!(!before.is_empty(), "there is nothing that could be lost");
    site.clusterctl.run(&["upgrade", "plan"]).await?.names(&["You are already up to date!"])?;
    let earlier = server::client(&site.server.kubeconfig_of(NAMESPACE, DEPLOYMENT).await?).await?;
    let living = living
        .with_new_manager(site, tools, async || {
            let patch = Version::of_this().next_patch();
            offers(site, &patch, &dist::files(&patch, None)?).await?;
            site.clusterctl.run(&["upgrade", "apply", "--contract", "v1beta2"]).await?;
            is_at(client, &patch).await?;
            let minor = Version::of_this().next_minor();
            offers(site, &minor, &of_next_series(&minor)?).await?;
            let named = format!("capt:{minor}");
            let question = ["upgrade", "apply", "--control-plane", &named, "--infrastructure", &named];
            site.clusterctl.run(&question).await?;
            is_at(client, &minor).await
        })
        .await?;
    // Which is why the guide says that no apply should run meanwhile.
    let refused = workspaces(&earlier).await.is_err();
    ensure!(
        refused,
        "the account of the earlier manager is still good: the guide to the installation says otherwise"
    );
    is_available(site).await.with_context(|| living.story())?;
    let after = workspaces(client).await?;
    ensure!(before == after, "the upgrade touched what Terraform made: {before:?}, then {after:?}");
    ok(
        "upgrade: the next patch and the next minor version are offered and installed, and the cluster stays as it is",
    );
    Ok(living)
}

/// The files of a release of a series that `metadata.yaml` does not know yet.
fn of_next_series(version: &Version) -> anyhow::Result<Files> {
    let mut files = dist::files(&Version::of_this(), Some(&format!("capt:{version}")))?;
    let metadata = files.entry("metadata.yaml".to_owned()).or_default();
    // Writing to a String does not fail.
    let _ = write!(metadata, "- major: {}\n  minor: {}\n  contract: v1beta2\n", version.major, version.minor);
    Ok(files)
}

/// Adds a release, which `upgrade plan` then shows for both providers.
async fn offers(site: &Site, version: &Version, files: &Files) -> anyhow::Result<()> {
    site.repository.release(version, files)?;
    let plan = site.clusterctl.run(&["upgrade", "plan"]).await?;
    for provider in ["control-plane-capt", "infrastructure-capt"] {
        let line = plan.data.lines().find(|line| line.starts_with(provider)).unwrap_or_default();
        let offered = line.split_whitespace().last();
        ensure!(offered == Some(&version.to_string()), "{version} is not offered:\n{}", plan.data);
    }
    plan.names(&["clusterctl upgrade apply --contract v1beta2"])
}

/// Both providers are of a version, and so is the manager.
async fn is_at(client: &Client, version: &Version) -> anyhow::Result<()> {
    let inventory = inventory(client).await?;
    for provider in PROVIDERS {
        let told = inventory.get(provider).map(|(_, version)| version.as_str());
        ensure!(told == Some(&version.to_string()), "{provider} is at {told:?} and not at {version}");
    }
    let deployment = Api::<Deployment>::namespaced(client.clone(), NAMESPACE).get(DEPLOYMENT).await?;
    let pod = deployment.spec.and_then(|spec| spec.template.spec).context("a Deployment without pods")?;
    let image = pod.containers.into_iter().find_map(|container| container.image);
    let ends = image.as_ref().is_some_and(|image| image.ends_with(&format!("/capt:{version}")));
    ensure!(ends, "the manager is {image:?} and not of {version}");
    Ok(())
}

/// What Terraform looks after, and which wish of the user it is at.
async fn workspaces(client: &Client) -> anyhow::Result<BTreeMap<String, (Option<String>, Option<i64>)>> {
    let found = Api::<Workspace>::all(client.clone()).list(&ListParams::default()).await?;
    let entry =
        |workspace: Workspace| (workspace.name_any(), (workspace.uid(), workspace.metadata.generation));
    Ok(found.items.into_iter().map(entry).collect())
}

/// Without the providers the kinds are still there, and so is what people made of them.
pub(super) async fn leaves_the_kinds(site: &Site) -> anyhow::Result<()> {
    let client = &site.server.client;
    let question = ["delete", "--infrastructure", "capt", "--include-crd"];
    site.clusterctl.refuses(&question).await?.names(&["found existing objects"])?;
    site.clusterctl.run(&["delete", "--all"]).await?;
    let left = inventory(client).await?;
    ensure!(left.is_empty(), "the inventory still has {left:?}");
    let definitions = Api::<CustomResourceDefinition>::all(client.clone());
    for crd in own() {
        definitions.get(&crd.name_any()).await.context("a kind went with its provider")?;
    }
    let templates = Api::<WorkspaceTemplate>::all(client.clone()).list(&ListParams::default()).await?;
    ensure!(!templates.items.is_empty(), "objects went with their provider");
    let mut roles = names::<Deployment>(client).await?;
    roles.extend(names::<ClusterRole>(client).await?);
    roles.extend(names::<ClusterRoleBinding>(client).await?);
    roles.retain(|name| name.contains("capt"));
    ensure!(roles.is_empty(), "left of CAPT: {roles:?}");
    ok("delete: the manager and its rights go, the kinds and their objects stay");
    Ok(())
}

async fn names<K>(client: &Client) -> anyhow::Result<Vec<String>>
where
    K: kube::Resource<DynamicType = ()> + Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    let found = Api::<K>::all(client.clone()).list(&ListParams::default()).await?;
    Ok(found.items.iter().map(ResourceExt::name_any).collect())
}
