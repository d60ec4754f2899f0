//! What a real API server says of every object that Helm makes, without keeping any.

use anyhow::{Context, ensure};
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use super::charts::Rendered;
use super::helm::NAMESPACE;

/// Namespaces that the matrix names.
const NAMESPACES: [&str; 2] = [NAMESPACE, "team-a"];
const FIELD_MANAGER: &str = "matrix";

/// Makes the namespaces; in each of them a pod has to be as restricted as can be.
pub(super) async fn prepare(client: &Client) -> anyhow::Result<()> {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    for name in NAMESPACES {
        let labels = json!({ "pod-security.kubernetes.io/enforce": "restricted" });
        let namespace = serde_json::from_value(json!({ "metadata": { "name": name, "labels": labels } }))?;
        namespaces.create(&PostParams::default(), &namespace).await?;
    }
    Ok(())
}

/// Every object is accepted, and every pod is as restricted as its namespace wants.
pub(super) async fn accepts(client: &Client, rendered: &[Rendered]) -> anyhow::Result<()> {
    let (mut objects, mut pods) = (0, 0);
    for Rendered { name, objects: all } in rendered {
        for object in all {
            accept(client, object).await.with_context(|| format!("the chart with {name}"))?;
            objects += 1;
            if object["kind"] == "Deployment" {
                admit(client, object).await.with_context(|| format!("the chart with {name}"))?;
                pods += 1;
            }
        }
    }
    refuses_a_careless_pod(client).await?;
    println!("ok: the API server accepts {objects} objects and admits {pods} pods as restricted");
    Ok(())
}

/// Objects of the kind and in the namespace of this one.
pub(super) fn api(client: &Client, object: &Value) -> anyhow::Result<Api<DynamicObject>> {
    let field = |path: &str| object.pointer(path).and_then(Value::as_str);
    let (version, kind) = (field("/apiVersion"), field("/kind"));
    let (version, kind) = version.zip(kind).context("an object without apiVersion and kind")?;
    let (group, version) = version.split_once('/').unwrap_or(("", version));
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    Ok(match field("/metadata/namespace") {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    })
}

async fn accept(client: &Client, object: &Value) -> anyhow::Result<()> {
    let name = object["metadata"]["name"].as_str().context("an object without a name")?;
    let parameters = PatchParams::apply(FIELD_MANAGER).force().validation_strict().dry_run();
    let applied = api(client, object)?.patch(name, &parameters, &Patch::Apply(object)).await;
    applied.map(drop).with_context(|| format!("{} {name}", object["kind"]))
}

/// Creates a pod of a Deployment's template, so that admission judges it and does not only warn.
async fn admit(client: &Client, deployment: &Value) -> anyhow::Result<()> {
    let template = &deployment["spec"]["template"];
    create(
        client,
        &json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": "candidate", "namespace": deployment["metadata"]["namespace"],
                "labels": template["metadata"]["labels"], "annotations": template["metadata"]["annotations"],
            },
            "spec": template["spec"],
        }),
    )
    .await
    .context("a pod of the template")
}

async fn create(client: &Client, pod: &Value) -> anyhow::Result<()> {
    let parameters = PostParams { dry_run: true, ..PostParams::default() };
    let object: DynamicObject = serde_json::from_value(pod.clone())?;
    api(client, pod)?.create(&parameters, &object).await?;
    Ok(())
}

/// Whoever judges pods really does.
async fn refuses_a_careless_pod(client: &Client) -> anyhow::Result<()> {
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": "careless", "namespace": NAMESPACE },
        "spec": { "containers": [{ "name": "careless", "image": "registry.example.com/careless" }] },
    });
    let refused = create(client, &pod).await.err().map(|error| error.to_string()).unwrap_or_default();
    ensure!(refused.contains("violates PodSecurity"), "a careless pod is not refused: {refused:?}");
    Ok(())
}
