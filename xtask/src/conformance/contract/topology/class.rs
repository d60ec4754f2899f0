//! The class of the examples, and Clusters of it.

use std::fs;

use anyhow::Context;
use kube::api::{Api, DynamicObject, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::super::home::Home;
use super::hands::{SOON, lacking};
use super::site::Site;
use super::{EXISTING, NEW};
use crate::repository::root;

const MODULES: &str = include_str!("modules.yaml");
/// The id of a VPC that was there before.
pub(super) const VPC: &str = "vpc-0123456789abcdef0";
/// The class that a Cluster is given later.
pub(super) const SECOND: &str = "eks-2";
/// How long what would bring a control plane's deletion to a halt may take, in the second class.
pub(super) const TIMEOUT: &str = "7m";

/// The objects of a file of the example.
fn example(file: &str) -> anyhow::Result<Vec<Value>> {
    let path = root().join("examples/clusterclass").join(file);
    let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    serde_saphyr::from_multiple(&text).with_context(|| format!("reading {}", path.display()))
}

/// The Cluster of the example, in the version that there is.
pub(super) fn cluster(home: &Home) -> anyhow::Result<Value> {
    let mut cluster = example("cluster.yaml")?.pop().context("no Cluster in the example")?;
    anyhow::ensure!(cluster["metadata"]["name"] == NEW.cluster, "the Cluster of the example is another");
    cluster["spec"]["topology"]["version"] = json!(format!("v{}", home.workload.before));
    Ok(cluster)
}

/// The same in a VPC that was there before.
pub(super) fn in_existing_vpc(home: &Home) -> anyhow::Result<Value> {
    let mut cluster = cluster(home)?;
    cluster["metadata"]["name"] = json!(EXISTING.cluster);
    set(&mut cluster, "vpc", &json!({ "existingId": VPC }));
    Ok(cluster)
}

/// Gives a variable of a Cluster a value.
pub(super) fn set(cluster: &mut Value, name: &str, value: &Value) {
    if let Some(variables) = cluster["spec"]["topology"]["variables"].as_array_mut() {
        variables.retain(|variable| variable["name"] != name);
        variables.push(json!({ "name": name, "value": value }));
    }
}

pub(super) fn api(home: &Home, object: &Value) -> anyhow::Result<Api<DynamicObject>> {
    let text = |field: &str| object[field].as_str().with_context(|| format!("an object without {field}"));
    let (group, version) = text("apiVersion")?.split_once('/').context("an object of no group")?;
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, text("kind")?));
    Ok(Api::default_namespaced_with(home.client.clone(), &resource))
}

/// Applies an object as a user does.
pub(super) async fn apply(home: &Home, object: &Value) -> anyhow::Result<()> {
    let name = object["metadata"]["name"].as_str().context("an object without a name")?;
    let parameters = PatchParams::apply("somebody").force();
    let applied = api(home, object)?.patch(name, &parameters, &Patch::Apply(object)).await;
    applied.map(drop).with_context(|| format!("applying {} {name}", object["kind"]))
}

/// Puts the class with its templates, and modules for them.
pub(super) async fn put(home: &Home, site: &Site) -> anyhow::Result<()> {
    let text = MODULES.replace("@site@", &site.directory.display().to_string());
    let mut modules: Vec<Value> = serde_saphyr::from_multiple(&text).context("reading modules.yaml")?;
    let mut other = modules.last().cloned().context("no module of a control plane")?;
    other["metadata"]["name"] = json!("eks-in-existing-vpc");
    modules.push(other);
    for object in modules {
        apply(home, &object).await?;
    }
    put_class(home, &example("clusterclass.yaml")?).await
}

/// Puts a second class that differs from the first in how control planes are taken down.
pub(super) async fn put_second(home: &Home) -> anyhow::Result<()> {
    let mut objects = example("clusterclass.yaml")?;
    for object in &mut objects {
        object["metadata"]["name"] = json!(SECOND);
        for part in ["infrastructure", "controlPlane"] {
            if let Some(name) = object.pointer_mut(&format!("/spec/{part}/templateRef/name")) {
                *name = json!(SECOND);
            }
        }
        if object["kind"] == "CAPTControlPlaneTemplate" {
            object["spec"]["template"]["spec"]["beforeDestroy"] = json!({ "timeout": TIMEOUT });
        }
    }
    put_class(home, &objects).await
}

/// Puts a class, and waits until Cluster API has seen it.
async fn put_class(home: &Home, objects: &[Value]) -> anyhow::Result<()> {
    for object in objects {
        apply(home, object).await?;
    }
    let class = objects.iter().find(|object| object["kind"] == "ClusterClass").context("no class")?;
    let name = class["metadata"]["name"].as_str().unwrap_or_default();
    let deadline = Instant::now() + SOON;
    loop {
        let found = serde_json::to_value(api(home, class)?.get(name).await?)?;
        let mut missing = lacking(&found, &[("VariablesReady", "True"), ("RefVersionsUpToDate", "True")]);
        if found["status"]["observedGeneration"] != found["metadata"]["generation"] {
            missing.push("it was not looked at".to_owned());
        }
        if missing.is_empty() {
            home.ok(&format!("the class `{name}` is understood"));
            return Ok(());
        }
        home.still(deadline, &format!("the class {name}: {}", missing.join(", "))).await?;
    }
}
