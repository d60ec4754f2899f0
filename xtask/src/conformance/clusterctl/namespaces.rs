//! Installed into a namespace that the user names, and one provider at a time.

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::eyes::{SOON, get, is_true, put, until};
use super::installation::inventory;
use super::life::add_kinds_of_terraform;
use super::manager::Manager;
use super::{Site, Tools, installation, ok};
use crate::repository::objects_in;

const NAMESPACE: &str = "platform";
const INFRASTRUCTURE: &str = "infrastructure.cluster.x-k8s.io/v1beta1";
const CONTROL_PLANE: &str = "controlplane.cluster.x-k8s.io/v1beta1";

/// Everything that the manager needs and makes is in that namespace.
pub(super) async fn are_followed(tools: &Tools) -> anyhow::Result<()> {
    let site = Site::new(tools).await?;
    let init = ["init", "--bootstrap", "-", "--target-namespace", NAMESPACE];
    let alone = [&init[..], &["--infrastructure", "capt", "--control-plane", "-"]].concat();
    site.clusterctl.run(&alone).await?;
    add_kinds_of_terraform(&site.server.client).await?;
    let manager = Manager::start(&tools.capt, &site.server, NAMESPACE).await?;
    let worked = works(&site).await;
    worked.with_context(|| format!("the manager said:\n{}", manager.tail()))?;
    manager.stop()
}

async fn works(site: &Site) -> anyhow::Result<()> {
    let client = &site.server.client;
    runs_terraform(site).await?;
    ok("--target-namespace: the manager leads, runs Terraform and makes its accounts there");

    installation::wait_for_the_end_of_its_test(&site.server.client).await?;
    let twice = ["init", "--infrastructure", "capt", "--target-namespace", "other"];
    site.clusterctl.refuses(&twice).await?.names(&["infrastructure-capt", NAMESPACE])?;
    let other = get(client, "v1", "Namespace", ("", "other")).await?;
    ensure!(other.is_none(), "a refused init made a namespace");
    ok("a second instance in another namespace is refused, and nothing of it is made");

    installation::wait_for_the_end_of_its_test(&site.server.client).await?;
    let missing = ["init", "--control-plane", "capt", "--target-namespace", NAMESPACE];
    site.clusterctl.run(&missing).await?;
    ensure!(
        inventory(client).await?.contains_key("platform/control-plane-capt"),
        "no control plane in the inventory"
    );
    takes_up_control_planes(site).await?;
    ok(
        "the infrastructure alone works; the control plane can be added later, and the running manager takes it up",
    );
    Ok(())
}

/// A module of the examples is applied, without any access of its own to the management cluster.
async fn runs_terraform(site: &Site) -> anyhow::Result<()> {
    let client = &site.server.client;
    let wanted = ["network", "demo-network-apply"];
    let objects = objects_in("examples/local")?.into_iter().map(|(_, object)| object);
    for object in objects.filter(|object| wanted.iter().any(|name| object["metadata"]["name"] == *name)) {
        put(client, &object, false).await?;
    }
    until(SOON, async || {
        let place = ("default", "demo-network-apply");
        let apply = get(client, INFRASTRUCTURE, "WorkspaceTemplateApply", place).await?.unwrap_or_default();
        Ok(is_true(&apply, "Ready"))
    })
    .await?;
    let account = get(client, "v1", "ServiceAccount", (NAMESPACE, "capt-terraform-default")).await?;
    ensure!(account.is_none(), "{NAMESPACE} has an account for runs, which need no access");
    Ok(())
}

/// The manager was there before the kind.
async fn takes_up_control_planes(site: &Site) -> anyhow::Result<()> {
    let client = &site.server.client;
    let place = ("default", "lonely");
    let object = json!({
        "apiVersion": CONTROL_PLANE, "kind": "CAPTControlPlane", "metadata": { "namespace": place.0, "name": place.1 },
        "spec": { "version": "1.34", "workspaceTemplateRef": { "name": "none" } },
    });
    put(client, &object, false).await?;
    until(SOON, async || {
        let found: Value = get(client, CONTROL_PLANE, "CAPTControlPlane", place).await?.unwrap_or_default();
        let told = found["status"]["conditions"].as_array().is_some_and(|told| !told.is_empty());
        Ok(if told { Ok(()) } else { Err(format!("nothing is told of the control plane: {found}")) })
    })
    .await
}
