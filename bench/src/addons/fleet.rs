//! Clusters that have come up, and the stack that they get.

use capt_api::addon_stack::StepState;
use capt_api::{AddonStack, AddonStackBinding, Cluster};
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::Patch;
use kube::{Api, Client};

use super::manifests;
use crate::clusters::manifests::{NAMESPACE, secret};
use crate::clusters::ready::Ready;
use crate::clusters::stage::{parameters, put};

/// How many clusters are put there at the same time.
const AT_ONCE: usize = 8;

/// Clusters of one management API server.
pub(super) struct Fleet {
    client: Client,
    /// Leads to the workload API server.
    kubeconfig: String,
    ready: Ready,
}

impl Fleet {
    /// Clusters whose kubeconfigs are the same.
    pub(super) async fn new(client: Client, kubeconfig: String) -> anyhow::Result<Self> {
        for config_map in manifests::config_maps() {
            put::<ConfigMap>(&client, &config_map).await?;
        }
        let ready = Ready::follow(client.clone(), is_ready);
        Ok(Self { client, kubeconfig, ready })
    }

    /// Puts so many clusters there.
    pub(super) async fn put_clusters(&self, prefix: &str, count: u32) -> anyhow::Result<Vec<String>> {
        let names: Vec<_> = (0..count).map(|number| format!("{prefix}-{number}")).collect();
        let put = stream::iter(&names).map(|name| self.put_cluster(name)).buffer_unordered(AT_ONCE);
        put.try_collect::<()>().await?;
        Ok(names)
    }

    async fn put_cluster(&self, name: &str) -> anyhow::Result<()> {
        put::<Secret>(&self.client, &manifests::kubeconfig(name, &self.kubeconfig)).await?;
        let connection = secret(&format!("{name}-eks-connection"), &manifests::outputs(name));
        put::<Secret>(&self.client, &connection).await?;
        put::<Cluster>(&self.client, &manifests::cluster(name)).await?;
        let clusters: Api<Cluster> = Api::namespaced(self.client.clone(), NAMESPACE);
        let patch = Patch::Apply(manifests::initialized(name));
        clusters.patch_status(name, &parameters(), &patch).await?;
        Ok(())
    }

    pub(super) async fn put_stack(&self) -> anyhow::Result<()> {
        put::<AddonStack>(&self.client, &manifests::stack()).await
    }

    /// Waits until the whole stack is ready in all of these.
    pub(super) async fn until_ready(&self, clusters: &[String]) -> anyhow::Result<()> {
        let bindings: Vec<_> = clusters.iter().map(|name| manifests::binding(name)).collect();
        self.ready.all(&bindings).await
    }
}

fn is_ready(binding: &AddonStackBinding) -> bool {
    let status = binding.status.as_ref();
    status.is_some_and(|status| {
        status.state == Some(StepState::Ready) && status.addons.len() == manifests::STEPS
    })
}
