//! The objects of the demo, which are those of `examples/demo`.

use std::env;
use std::path::Path;

use anyhow::Context;
use capt_api::Cluster;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Client, ResourceExt};
use serde_json::json;

use super::{NAME, NAMESPACE};

const TEMPLATES: &str = include_str!("../../../../../examples/demo/template.yaml");
const CLUSTER: &str = include_str!("../../../../../examples/demo/cluster.yaml");
const ADDONS: &str = include_str!("../../../../../examples/demo/addons.yaml");
/// Whoever edits the objects afterwards has conflicts with this one only.
const FIELD_MANAGER: &str = "capt-demo";

/// Applies all of them.
pub(super) async fn put(client: &Client, home: &Path) -> anyhow::Result<()> {
    for mut object in read(&[TEMPLATES, ADDONS, CLUSTER])? {
        if object.types.as_ref().is_some_and(|types| types.kind == "WorkspaceTemplate") {
            tell_home(&mut object, home)?;
        }
        apply(client, &object).await?;
    }
    Ok(())
}

/// Deletes the Cluster, and with it everything but the templates and the stack.
pub(super) async fn delete(client: &Client) -> anyhow::Result<()> {
    let clusters: Api<Cluster> = Api::namespaced(client.clone(), NAMESPACE);
    match clusters.delete(NAME, &DeleteParams::default()).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        Err(error) => Err(error).with_context(|| format!("deleting Cluster `{NAME}`")),
    }
}

fn read(documents: &[&str]) -> anyhow::Result<Vec<DynamicObject>> {
    let mut objects = Vec::new();
    for document in documents {
        let parsed = serde_saphyr::from_multiple(document).context("reading the objects of the demo")?;
        objects.extend::<Vec<DynamicObject>>(parsed);
    }
    Ok(objects)
}

/// Templates are told who looks after the cluster and by which program it is reached.
fn tell_home(template: &mut DynamicObject, home: &Path) -> anyhow::Result<()> {
    let program = env::current_exe().context("finding the path of this program")?;
    let values = [("home", home), ("capt_binary", program.as_path())];
    let module = template.data.pointer("/spec/template/spec/forProvider/module").cloned().unwrap_or_default();
    let declares =
        |name: &str| module.as_str().is_some_and(|text| text.contains(&format!("variable \"{name}\"")));
    let vars: Vec<_> = values
        .iter()
        .filter(|(name, _)| declares(name))
        .map(|(name, path)| json!({ "key": name, "value": path.display().to_string() }))
        .collect();
    if !vars.is_empty() {
        template.data["spec"]["template"]["spec"]["forProvider"]["vars"] = json!(vars);
    }
    Ok(())
}

async fn apply(client: &Client, object: &DynamicObject) -> anyhow::Result<()> {
    let types = object.types.clone().unwrap_or_default();
    let kind = GroupVersionKind::try_from(&types).context("reading the objects of the demo")?;
    let api: Api<DynamicObject> = Api::namespaced_with(
        client.clone(),
        object.metadata.namespace.as_deref().unwrap_or(NAMESPACE),
        &ApiResource::from_gvk(&kind),
    );
    let parameters = PatchParams::apply(FIELD_MANAGER).force();
    let name = object.name_any();
    api.patch(&name, &parameters, &Patch::Apply(object))
        .await
        .map(drop)
        .with_context(|| format!("applying {} `{name}`", types.kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_objects_of_the_demo_can_be_read_and_know_their_home() {
        let mut objects = read(&[TEMPLATES, ADDONS, CLUSTER]).unwrap();
        let kinds: Vec<_> =
            objects.iter().map(|object| object.types.as_ref().unwrap().kind.clone()).collect();
        assert_eq!(
            kinds,
            [
                "WorkspaceTemplate",
                "WorkspaceTemplate",
                "AddonStack",
                "ConfigMap",
                "ConfigMap",
                "ConfigMap",
                "Cluster",
                "CAPTCluster",
                "CAPTControlPlane"
            ]
        );
        tell_home(&mut objects[0], Path::new("/data")).unwrap();
        let vars = &objects[0].data["spec"]["template"]["spec"]["forProvider"]["vars"];
        assert_eq!(vars[0], json!({ "key": "home", "value": "/data" }));
        tell_home(&mut objects[1], Path::new("/data")).unwrap();
        assert!(objects[1].data["spec"]["template"]["spec"]["forProvider"].get("vars").is_none());
    }
}
