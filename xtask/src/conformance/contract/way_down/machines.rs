//! Machines of a cluster that Terraform did not make: workers of Cluster API, and what Karpenter made inside.

use anyhow::Context;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::runtime::wait::await_condition;
use kube::runtime::wait::conditions::is_crd_established;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::super::hands::{Kind, SOON};
use super::super::home::Home;
use super::super::way_up::Names;

const HELD: &str = "example.com/drain";

/// Workers, which somebody holds.
pub(super) struct Workers {
    api: Api<DynamicObject>,
    name: String,
}

impl Workers {
    /// Workers of another provider; none of them is asked for, which is enough to be waited for.
    pub(super) async fn put(home: &Home, names: Names) -> anyhow::Result<Self> {
        let resource =
            ApiResource::from_gvk(&GroupVersionKind::gvk("cluster.x-k8s.io", "v1beta2", "MachineDeployment"));
        let api = Api::default_namespaced_with(home.client.clone(), &resource);
        let cluster = home.expect(Kind::Cluster, names.cluster).await?;
        let name = format!("{}-workers", names.cluster);
        let labels = json!({ "cluster.x-k8s.io/cluster-name": names.cluster, "pool": name });
        let machine = json!({
            "clusterName": names.cluster,
            "bootstrap": { "dataSecretName": "none" },
            "infrastructureRef": {
                "apiGroup": "infrastructure.example.com", "kind": "ExampleMachineTemplate", "name": "none",
            },
        });
        let workers = serde_json::from_value(json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2",
            "kind": "MachineDeployment",
            "metadata": {
                "name": name,
                "labels": labels,
                "finalizers": [HELD],
                "ownerReferences": [{
                    "apiVersion": "cluster.x-k8s.io/v1beta2",
                    "kind": "Cluster",
                    "name": names.cluster,
                    "uid": cluster["metadata"]["uid"],
                }],
            },
            "spec": {
                "clusterName": names.cluster,
                "replicas": 0,
                "selector": { "matchLabels": labels },
                "template": { "metadata": { "labels": labels }, "spec": machine },
            },
        }))?;
        api.create(&PostParams::default(), &workers).await.context("putting workers")?;
        Ok(Self { api, name })
    }

    /// Lets go of them, when core has asked for their end.
    pub(super) async fn release(&self) -> anyhow::Result<()> {
        let marked = await_condition(self.api.clone(), &self.name, |found: Option<&DynamicObject>| {
            found.is_some_and(|found| found.metadata.deletion_timestamp.is_some())
        });
        let found = timeout(SOON, marked).await.context("core does not delete the workers")??;
        let others = found.map(|found| found.metadata.finalizers.unwrap_or_default()).unwrap_or_default();
        let others: Vec<_> = others.into_iter().filter(|finalizer| finalizer != HELD).collect();
        let patch = json!({ "metadata": { "finalizers": others } });
        self.api.patch(&self.name, &PatchParams::default(), &Patch::Merge(patch)).await?;
        Ok(())
    }
}

/// What Karpenter has in a cluster.
pub(super) struct Inside<'home> {
    home: &'home Home,
    claims: Api<DynamicObject>,
}

impl<'home> Inside<'home> {
    /// The kind, as far as it matters here.
    pub(super) async fn furnish(home: &'home Home) -> anyhow::Result<Self> {
        let kind = GroupVersionKind::gvk("karpenter.sh", "v1", "NodeClaim");
        let client = home.workload.client.clone();
        let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
        let schema = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": { "name": "nodeclaims.karpenter.sh" },
            "spec": {
                "group": kind.group,
                "scope": "Cluster",
                "names": { "kind": kind.kind, "plural": "nodeclaims" },
                "versions": [{
                    "name": kind.version, "served": true, "storage": true,
                    "schema": { "openAPIV3Schema": schema },
                }],
            },
        });
        let parameters = PatchParams::apply("somebody").force();
        definitions.patch("nodeclaims.karpenter.sh", &parameters, &Patch::Apply(definition)).await?;
        let established = await_condition(definitions, "nodeclaims.karpenter.sh", is_crd_established());
        timeout(SOON, established).await.context("NodeClaims are not served")??;
        Ok(Self { home, claims: Api::all_with(client, &ApiResource::from_gvk(&kind)) })
    }

    pub(super) async fn put(&self, name: &str, finalizers: &[&str]) -> anyhow::Result<()> {
        let claim = serde_json::from_value::<DynamicObject>(json!({
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodeClaim",
            "metadata": { "name": name, "finalizers": finalizers },
        }))?;
        self.claims
            .create(&PostParams::default(), &claim)
            .await
            .with_context(|| format!("putting {name}"))?;
        Ok(())
    }

    pub(super) async fn until(
        &self,
        what: &str,
        holds: impl Fn(&[DynamicObject]) -> bool,
    ) -> anyhow::Result<()> {
        let deadline = Instant::now() + SOON;
        while !holds(&self.claims.list(&ListParams::default()).await?.items) {
            self.home.still(deadline, &format!("waiting for {what}")).await?;
        }
        Ok(())
    }

    /// Lets go of a machine, as Karpenter does when its instance is gone.
    pub(super) async fn release(&self, name: &str) -> anyhow::Result<()> {
        let patch: Value = json!({ "metadata": { "finalizers": null } });
        self.claims.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await?;
        Ok(())
    }
}
