//! Releases of the charts come, change, go and come back on a real API server.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use capt_api::WorkspaceTemplate;
use capt_api::crd::{Foreign, foreign, own};
use capt_controller::install::{Kinds, install};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, PostParams};
use kube::runtime::wait::{await_condition, conditions};
use kube::{Client, ResourceExt};
use serde_json::json;
use tokio::time::timeout;

use super::super::clusterctl::eyes::{SOON, until};
use super::super::pages::{self, Reader};
use super::super::server::Server;
use super::helm::{Chart, Helm, NAMESPACE, REGISTRY};
use crate::repository::{examples, files_under};

/// A CRD that an earlier chart has in another form.
const CHANGED: &str = "workspacetemplates.infrastructure.cluster.x-k8s.io";

/// Where the kinds of Terraform are somebody else's, they stay as they are.
pub(super) async fn leave_others_alone(
    helm: &Helm,
    server: &Server,
    theirs: &[CustomResourceDefinition],
) -> anyhow::Result<()> {
    server.apply(theirs).await?;
    let kubeconfig = server.control_plane.kubeconfig_path();
    let before = server.versions().await?;
    let refused = helm.install(Chart::Crds, &Chart::Crds.values(), kubeconfig).err();
    let told = refused.map(|error| format!("{error:#}")).unwrap_or_default();
    for word in ["tf.upbound.io", "cannot be imported into the current release"] {
        ensure!(told.contains(word), "kinds that are somebody else's are not refused with {word}: {told:?}");
    }
    helm.install(Chart::Crds, &json!({ "terraformKinds": false }), kubeconfig)?;
    let after = server.versions().await?;
    for (name, version) in &before {
        ensure!(after.get(name) == Some(version), "{name} is somebody else's, but was changed");
    }
    println!("ok: kinds of others are refused by name, and left alone with terraformKinds: false");
    helm.uninstall(Chart::Crds, kubeconfig)?;
    remove_all_crds(&server.client).await
}

/// Kinds that were applied without Helm are refused, and taken over when somebody says so.
pub(super) async fn take_over_when_told(helm: &Helm, server: &Server) -> anyhow::Result<()> {
    install(&server.client, Kinds::Own, &own()).await?;
    let kubeconfig = server.control_plane.kubeconfig_path();
    let refused = helm.install(Chart::Crds, &Chart::Crds.values(), kubeconfig).err();
    ensure!(refused.is_some(), "kinds that were applied by hand became a release's without a word");
    let arguments = ["upgrade", "--install", "--take-ownership", "--create-namespace", Chart::Crds.name()];
    let answer = helm.ask(&arguments, &Chart::Crds.directory(), &json!({}), Some(kubeconfig))?;
    ensure!(answer.succeeded, "helm upgrade --take-ownership: {}", answer.messages);
    helm.uninstall(Chart::Crds, kubeconfig)?;
    println!("ok: kinds that were applied by hand become a release's with --take-ownership only");
    remove_all_crds(&server.client).await
}

/// An earlier release of the kinds is upgraded, and objects of these kinds stay as they are, through everything.
pub(super) async fn upgrade_and_stay(capt: &Path, helm: &Helm, server: &Server) -> anyhow::Result<()> {
    let kubeconfig = server.control_plane.kubeconfig_path();
    let earlier = earlier_crds()?;
    helm.install_from(earlier.path(), Chart::Crds, &json!({}), kubeconfig)?;
    let client = &server.client;
    let template = put_template(client).await?;
    ensure!(short_names(client).await? == ["earlier"], "the earlier CRD is not there");
    helm.install(Chart::Crds, &json!({}), kubeconfig)?;
    ensure!(short_names(client).await? == ["wt"], "a CRD was not upgraded with its chart");
    println!("ok: helm upgrade brings the CRDs of the new chart");
    helm.install(Chart::Manager, &Chart::Manager.values(), kubeconfig)?;
    let mut fewer = Chart::Manager.values();
    fewer["replicas"] = json!(1);
    helm.install(Chart::Manager, &fewer, kubeconfig)?;
    ensure!(replicas(client).await? == Some(1), "helm upgrade did not change the Deployment");
    helm.uninstall(Chart::Manager, kubeconfig)?;
    helm.uninstall(Chart::Crds, kubeconfig)?;
    ensure!(same_template(client, &template).await?, "an object went with its release");
    println!("ok: helm uninstall leaves the CRDs and every object");
    let reader = Reader::new(capt, &[("helm", helm.program())])?;
    reader.use_cluster(kubeconfig)?;
    reader.run(pages::INSTALL_CHARTS, &[("WHERE", REGISTRY)]).await?;
    ensure!(replicas(client).await? == Some(2), "the charts of the guide are not there");
    ensure!(same_template(client, &template).await?, "an object went when the charts came back");
    println!("ok: the charts come back to what they left");
    Ok(())
}

/// The chart of the CRDs as if one of them had been another before.
fn earlier_crds() -> anyhow::Result<tempfile::TempDir> {
    let directory = tempfile::tempdir()?;
    let source = Chart::Crds.directory();
    for file in files_under("charts/capt-crds")? {
        let path = crate::repository::root().join(&file);
        let target = directory.path().join(path.strip_prefix(&source)?);
        let mut text = fs::read_to_string(&path)?;
        if path.file_name() == Some(Path::new(&format!("{CHANGED}.yaml")).as_os_str()) {
            let changed = text.replacen("    shortNames:\n    - wt\n", "    shortNames:\n    - earlier\n", 1);
            ensure!(changed != text, "{CHANGED} has no short name to change");
            text = changed;
        }
        fs::create_dir_all(target.parent().context("a file without a directory")?)?;
        fs::write(target, text)?;
    }
    Ok(directory)
}

async fn short_names(client: &Client) -> anyhow::Result<Vec<String>> {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    Ok(crds.get(CHANGED).await?.spec.names.short_names.unwrap_or_default())
}

/// A template of the examples, as the API server has it.
async fn put_template(client: &Client) -> anyhow::Result<WorkspaceTemplate> {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let established = await_condition(crds, CHANGED, conditions::is_crd_established());
    timeout(SOON, established).await.context("the CRD was not established")??;
    let found = examples()?.into_iter().find(|(_, object)| object["kind"] == "WorkspaceTemplate");
    let (_, template) = found.context("no example has a WorkspaceTemplate")?;
    let templates: Api<WorkspaceTemplate> = Api::default_namespaced(client.clone());
    Ok(templates.create(&PostParams::default(), &serde_json::from_value(template)?).await?)
}

async fn same_template(client: &Client, template: &WorkspaceTemplate) -> anyhow::Result<bool> {
    let templates: Api<WorkspaceTemplate> = Api::default_namespaced(client.clone());
    let found = templates.get_opt(&template.name_any()).await?;
    Ok(found.is_some_and(|found| found.uid() == template.uid() && found.spec == template.spec))
}

async fn replicas(client: &Client) -> anyhow::Result<Option<i32>> {
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), NAMESPACE);
    let found = deployments.get("capt-manager").await?;
    Ok(found.spec.and_then(|spec| spec.replicas))
}

/// What was tried leaves nothing for what is tried next.
async fn remove_all_crds(client: &Client) -> anyhow::Result<()> {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    for crd in own().into_iter().chain(foreign(Foreign::Terraform)) {
        let name = crd.name_any();
        if crds.get_metadata_opt(&name).await?.is_none() {
            continue;
        }
        answers(client, &crd).await?;
        crds.delete(&name, &DeleteParams::default()).await?;
        until(SOON, async || {
            let left = crds.get_opt(&name).await?;
            Ok(left.map_or(Ok(()), |left| Err(format!("{name} does not go: {:?}", left.status))))
        })
        .await?;
    }
    Ok(())
}

/// Waits until the API server has opened the storage of a kind. It deletes a CRD only when it can list its objects, and does not
/// come back to one that was too young for that before minutes have gone by.
async fn answers(client: &Client, crd: &CustomResourceDefinition) -> anyhow::Result<()> {
    let (spec, name) = (&crd.spec, crd.name_any());
    let version = spec.versions.iter().find(|version| version.served).context("a CRD that serves nothing")?;
    let kind = GroupVersionKind::gvk(&spec.group, &version.name, &spec.names.kind);
    let resource = ApiResource::from_gvk_with_plural(&kind, &spec.names.plural);
    let objects: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    until(SOON, async || {
        let listed = objects.list_metadata(&ListParams::default()).await;
        Ok(listed.map(drop).map_err(|error| format!("objects of {name} cannot be listed: {error}")))
    })
    .await
}
