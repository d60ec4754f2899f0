//! What clusterctl reads to learn which providers a management cluster has. It moves objects only to where every provider of their
//! cluster is, in no older version. A home has no pods, so `clusterctl init` cannot say it: the home says it itself.

use anyhow::Context;
use capt_api::crd::CAPT_VERSION;
use capt_api::names::{CLUSTER_API_VERSION, FIELD_MANAGER, MANAGED_BY_CAPT, annotation, group, label};
use capt_controller::install::{Kinds, install};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};

const VERSION: &str = "v1alpha3";
const KIND: &str = "Provider";

/// A provider as clusterctl knows it.
struct Provider {
    name: &'static str,
    /// What it is called whatever its type; the name of the object has both.
    called: &'static str,
    type_: &'static str,
    version: String,
}

/// Says that this home has Cluster API, which CAPT's own controllers stand for, and CAPT.
pub(super) async fn tell(client: &Client, namespace: &str) -> anyhow::Result<()> {
    install(
        client,
        Kinds::Foreign,
        &[definition().context("describing the kind of clusterctl's inventory")?],
    )
    .await?;
    let kind = GroupVersionKind::gvk(group::CLUSTERCTL, VERSION, KIND);
    let providers: Api<DynamicObject> =
        Api::namespaced_with(client.clone(), namespace, &ApiResource::from_gvk(&kind));
    for provider in providers_of_a_home() {
        let doing = || format!("telling clusterctl of the provider {}", provider.name);
        let found = providers.get_opt(provider.name).await.with_context(doing)?;
        // What a user wrote over it stays until the next upgrade.
        if found
            .is_some_and(|it| it.annotations().get(annotation::VERSION).is_some_and(|it| it == CAPT_VERSION))
        {
            continue;
        }
        let parameters = PatchParams::apply(FIELD_MANAGER).force();
        let object = provider.object();
        providers.patch(provider.name, &parameters, &Patch::Apply(object)).await.with_context(doing)?;
    }
    Ok(())
}

fn providers_of_a_home() -> [Provider; 3] {
    let capt = |name, type_| Provider { name, called: "capt", type_, version: format!("v{CAPT_VERSION}") };
    [
        Provider {
            name: "cluster-api",
            called: "cluster-api",
            type_: "CoreProvider",
            version: CLUSTER_API_VERSION.to_owned(),
        },
        capt("infrastructure-capt", "InfrastructureProvider"),
        capt("control-plane-capt", "ControlPlaneProvider"),
    ]
}

impl Provider {
    fn object(&self) -> Value {
        json!({
            "apiVersion": format!("{}/{VERSION}", group::CLUSTERCTL),
            "kind": KIND,
            "metadata": {
                "name": self.name,
                "labels": { label::MANAGED_BY: MANAGED_BY_CAPT },
                "annotations": { annotation::VERSION: CAPT_VERSION },
            },
            "providerName": self.called,
            "type": self.type_,
            "version": self.version,
        })
    }
}

/// As much of the kind as clusterctl reads. Its own is left alone.
fn definition() -> serde_json::Result<CustomResourceDefinition> {
    let text = json!({ "type": "string" });
    let fields = json!({ "providerName": text, "type": text, "version": text, "watchedNamespace": text });
    serde_json::from_value(json!({
        "metadata": {
            "name": format!("providers.{}", group::CLUSTERCTL),
            "labels": { label::MANAGED_BY: MANAGED_BY_CAPT, label::COMPATIBLE: "true" },
            "annotations": { annotation::VERSION: CAPT_VERSION },
        },
        "spec": {
            "group": group::CLUSTERCTL,
            "scope": "Namespaced",
            "names": { "kind": KIND, "listKind": "ProviderList", "plural": "providers", "singular": "provider" },
            "versions": [{
                "name": VERSION, "served": true, "storage": true,
                "schema": { "openAPIV3Schema": {
                    "description": "A provider of Cluster API that this management cluster has, as clusterctl reads it.",
                    "type": "object",
                    "properties": fields,
                } },
                "additionalPrinterColumns": [
                    { "name": "Type", "type": "string", "jsonPath": ".type" },
                    { "name": "Provider", "type": "string", "jsonPath": ".providerName" },
                    { "name": "Version", "type": "string", "jsonPath": ".version" },
                ],
            }],
        },
    }))
}
