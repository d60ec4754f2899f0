//! `clusterctl init`, and what it leaves in the cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::time::Duration;

use anyhow::{Context, ensure};
use capt_api::crd::own;
use capt_api::names::{group, label};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Namespace, Pod};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{
    Api, ApiResource, DynamicObject, GroupVersionKind, ListParams, PartialObjectMeta, PostParams,
};
use kube::runtime::wait::{await_condition, conditions};
use kube::{Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::super::server::Server;
use super::{Site, ok};
use crate::dist::Version;

/// Where the manager is.
pub(super) const NAMESPACE: &str = "capt-system";
pub(super) const DEPLOYMENT: &str = "capt-manager";

/// Where clusterctl tries cert-manager.
const TEST_NAMESPACE: &str = "cert-manager-test";
const GONE_WITHIN: Duration = Duration::from_secs(90);

/// CAPT needs no bootstrap provider: it makes no machines.
pub(super) const INIT: [&str; 7] =
    ["init", "--infrastructure", "capt", "--control-plane", "capt", "--bootstrap", "-"];

/// clusterctl looks whether it can make a certificate. Nobody needs one here, so that the kinds alone will do.
pub(super) async fn pretend_that_cert_manager_is_there(server: &Server) -> anyhow::Result<()> {
    let kinds = [("Certificate", "certificates"), ("Issuer", "issuers")];
    let crds: Result<Vec<CustomResourceDefinition>, _> = kinds
        .map(|(kind, plural)| {
            json!({
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": { "name": format!("{plural}.cert-manager.io") },
                "spec": {
                    "group": "cert-manager.io",
                    "names": { "kind": kind, "plural": plural },
                    "scope": "Namespaced",
                    "versions": [{
                        "name": "v1", "served": true, "storage": true,
                        "schema": { "openAPIV3Schema": {
                            "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                        } },
                    }],
                },
            })
        })
        .into_iter()
        .map(serde_json::from_value)
        .collect();
    server.apply(&crds?).await
}

/// clusterctl tries cert-manager in a namespace that it deletes again. While that is going, the next `init` takes cert-manager for
/// missing.
pub(super) async fn wait_for_the_end_of_its_test(client: &Client) -> anyhow::Result<()> {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let Some(found) = namespaces.get_opt(TEST_NAMESPACE).await? else { return Ok(()) };
    let uid = found.uid().unwrap_or_default();
    let gone = await_condition(namespaces, TEST_NAMESPACE, conditions::is_deleted(&uid));
    let gone = timeout(GONE_WITHIN, gone).await;
    gone.with_context(|| format!("namespace `{TEST_NAMESPACE}` does not go"))??;
    Ok(())
}

/// Everything is there, under the names and labels that clusterctl and Cluster API look for.
pub(super) async fn is_complete(site: &Site) -> anyhow::Result<()> {
    site.clusterctl.run(&INIT).await?;
    let client = &site.server.client;
    let version = Version::of_this().to_string();
    let expected = [
        ("capt-control-plane-system", "control-plane-capt", "ControlPlaneProvider"),
        (NAMESPACE, "infrastructure-capt", "InfrastructureProvider"),
    ];
    let inventory = inventory(client).await?;
    for (namespace, name, type_) in expected {
        let told = inventory.get(&format!("{namespace}/{name}"));
        ensure!(told == Some(&(type_.to_owned(), version.clone())), "the inventory says of {name}: {told:?}");
    }
    kinds_are_labelled(client).await?;
    pod_is_admitted(client).await?;
    ok("init: inventory, kinds with contract and provider, a pod that restricted namespaces admit");
    Ok(())
}

/// What is installed: its place and name, its type and its version.
pub(super) async fn inventory(client: &Client) -> anyhow::Result<BTreeMap<String, (String, String)>> {
    let kind = GroupVersionKind::gvk("clusterctl.cluster.x-k8s.io", "v1alpha3", "Provider");
    let providers: Api<DynamicObject> = Api::all_with(client.clone(), &ApiResource::from_gvk(&kind));
    let found = providers.list(&ListParams::default()).await.context("listing the inventory")?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let entry = |provider: DynamicObject| {
        let place = format!("{}/{}", provider.namespace().unwrap_or_default(), provider.name_any());
        (place, (text(&provider.data["type"]), text(&provider.data["version"])))
    };
    Ok(found.items.into_iter().map(entry).collect())
}

async fn kinds_are_labelled(client: &Client) -> anyhow::Result<()> {
    let installed = Api::<CustomResourceDefinition>::all(client.clone());
    for crd in own() {
        let name = crd.name_any();
        let found = installed.get(&name).await?;
        let provider =
            if crd.spec.group == group::CONTROL_PLANE { "control-plane-capt" } else { "infrastructure-capt" };
        ensure!(found.labels().get(label::PROVIDER).is_some_and(|label| label == provider), "{name}");
        for (key, value) in crd.labels() {
            ensure!(found.labels().get(key) == Some(value), "{name} has lost its label {key}");
        }
    }
    Ok(())
}

/// The namespace admits the manager's pod, and no other.
async fn pod_is_admitted(client: &Client) -> anyhow::Result<()> {
    let namespace = Api::<Namespace>::all(client.clone()).get(NAMESPACE).await?;
    let enforced = namespace.labels().get("pod-security.kubernetes.io/enforce").map(String::as_str);
    ensure!(enforced == Some("restricted"), "the namespace enforces {enforced:?}");
    let deployment = Api::<Deployment>::namespaced(client.clone(), NAMESPACE).get(DEPLOYMENT).await?;
    let template = deployment.spec.context("a Deployment without a spec")?.template;
    let mut pod = Pod { metadata: template.metadata.unwrap_or_default(), spec: template.spec, status: None };
    pod.metadata.name = Some("try".to_owned());
    let pods = Api::<Pod>::namespaced(client.clone(), NAMESPACE);
    let dry_run = PostParams { dry_run: true, ..PostParams::default() };
    pods.create(&dry_run, &pod).await.context("creating the pod of the manager")?;
    let containers = pod.spec.iter_mut().flat_map(|spec| &mut spec.containers);
    containers.for_each(|container| container.security_context = None);
    ensure!(pods.create(&dry_run, &pod).await.is_err(), "pod security is not at work here");
    Ok(())
}

/// The same command again changes nothing.
pub(super) async fn is_harmless_twice(site: &Site) -> anyhow::Result<()> {
    wait_for_the_end_of_its_test(&site.server.client).await?;
    let before = state(site).await?;
    site.clusterctl.run(&INIT).await?;
    let after = state(site).await?;
    ensure!(before == after, "a second init changed something: {:?}", before.symmetric_difference(&after));
    ok("init a second time changes nothing");
    Ok(())
}

/// What people look at; what the API server writes itself, such as that a kind is established, may come late.
async fn state(site: &Site) -> anyhow::Result<BTreeSet<String>> {
    let client = &site.server.client;
    let mut state = marks::<CustomResourceDefinition>(client).await?;
    state.extend(marks::<Deployment>(client).await?);
    state.extend(inventory(client).await?.into_iter().map(|entry| format!("{entry:?}")));
    Ok(state)
}

async fn marks<K>(client: &Client) -> anyhow::Result<BTreeSet<String>>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned,
{
    let found = Api::<K>::all(client.clone()).list_metadata(&ListParams::default()).await?;
    let mark = |object: &PartialObjectMeta<K>| {
        let ObjectMeta { name, uid, generation, labels, .. } = object.meta();
        format!("{name:?} {uid:?} {generation:?} {labels:?}")
    };
    Ok(found.iter().map(mark).collect())
}
