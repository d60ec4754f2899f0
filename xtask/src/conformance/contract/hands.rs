//! Hands that put, change and delete objects as a user does, and eyes that wait for what comes of it.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context, bail};
use capt_api::names::label;
use capt_api::{
    AddonStack, AddonStackBinding, CAPTCluster, CAPTControlPlane, Cluster, ClusterResourceSet,
    ClusterResourceSetBinding, Workspace, WorkspaceTemplate, WorkspaceTemplateApply,
};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::home::Home;

const PAUSE: Duration = Duration::from_millis(200);
/// How long anything may take that takes seconds.
pub(super) const SOON: Duration = Duration::from_secs(60);
/// Cluster API tries to connect every 30 seconds.
pub(super) const CONNECTED_WITHIN: Duration = Duration::from_secs(150);

/// What carries the name of its Cluster, and goes with it.
const PARTS: [Kind; 6] =
    [Kind::Network, Kind::ControlPlane, Kind::Apply, Kind::Workspace, Kind::Secret, Kind::StackBinding];

/// What tells of itself.
const TELLERS: [Kind; 8] = [
    Kind::Cluster,
    Kind::Network,
    Kind::ControlPlane,
    Kind::Apply,
    Kind::Workspace,
    Kind::ResourceSet,
    Kind::Stack,
    Kind::StackBinding,
];

/// The kinds that are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Cluster,
    Network,
    ControlPlane,
    Template,
    Apply,
    Workspace,
    Secret,
    ConfigMap,
    ResourceSet,
    ResourceSetBinding,
    Stack,
    StackBinding,
}

impl Kind {
    fn resource(self) -> ApiResource {
        match self {
            Self::Cluster => ApiResource::erase::<Cluster>(&()),
            Self::Network => ApiResource::erase::<CAPTCluster>(&()),
            Self::ControlPlane => ApiResource::erase::<CAPTControlPlane>(&()),
            Self::Template => ApiResource::erase::<WorkspaceTemplate>(&()),
            Self::Apply => ApiResource::erase::<WorkspaceTemplateApply>(&()),
            Self::Workspace => ApiResource::erase::<Workspace>(&()),
            Self::Secret => ApiResource::erase::<Secret>(&()),
            Self::ConfigMap => ApiResource::erase::<ConfigMap>(&()),
            Self::ResourceSet => ApiResource::erase::<ClusterResourceSet>(&()),
            Self::ResourceSetBinding => ApiResource::erase::<ClusterResourceSetBinding>(&()),
            Self::Stack => ApiResource::erase::<AddonStack>(&()),
            Self::StackBinding => ApiResource::erase::<AddonStackBinding>(&()),
        }
    }

    fn of(object: &Value) -> anyhow::Result<Self> {
        let capi = [Self::Cluster, Self::Network, Self::ControlPlane, Self::Template];
        let addons = [Self::ConfigMap, Self::Secret, Self::ResourceSet, Self::Stack];
        let kind = object["kind"].as_str().unwrap_or_default();
        capi.into_iter()
            .chain(addons)
            .find(|one| one.resource().kind == kind)
            .with_context(|| format!("no kind {kind}"))
    }
}

impl Home {
    pub(super) fn api(&self, kind: Kind) -> Api<DynamicObject> {
        let resource = kind.resource();
        match kind {
            Kind::Workspace => Api::all_with(self.client.clone(), &resource),
            _ => Api::default_namespaced_with(self.client.clone(), &resource),
        }
    }

    /// Applies an object as it is written in YAML.
    pub(super) async fn put(&self, object: &Value) -> anyhow::Result<()> {
        let name = object["metadata"]["name"].as_str().context("an object without a name")?;
        let parameters = PatchParams::apply("somebody").force();
        let put = self.api(Kind::of(object)?).patch(name, &parameters, &Patch::Apply(object)).await;
        put.map(drop).with_context(|| format!("applying {} {name}", object["kind"]))
    }

    pub(super) async fn change(&self, kind: Kind, name: &str, patch: Value) -> anyhow::Result<()> {
        let changed = self.api(kind).patch(name, &PatchParams::default(), &Patch::Merge(patch)).await;
        changed.map(drop).with_context(|| format!("changing {kind:?} {name}"))
    }

    pub(super) async fn delete(&self, kind: Kind, name: &str) -> anyhow::Result<()> {
        match self.api(kind).delete(name, &DeleteParams::default()).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
            deleted => deleted.map(drop).with_context(|| format!("deleting {kind:?} {name}")),
        }
    }

    pub(super) async fn get(&self, kind: Kind, name: &str) -> anyhow::Result<Option<Value>> {
        let found = self.api(kind).get_opt(name).await?;
        Ok(found.map(serde_json::to_value).transpose()?)
    }

    pub(super) async fn expect(&self, kind: Kind, name: &str) -> anyhow::Result<Value> {
        self.get(kind, name).await?.with_context(|| format!("{kind:?} {name} is not there"))
    }

    /// Everything of a kind that belongs to a Cluster.
    pub(super) async fn of_cluster(&self, kind: Kind, cluster: &str) -> anyhow::Result<Vec<Value>> {
        let parameters = ListParams::default().labels(&format!("{}={cluster}", label::CLUSTER_NAME));
        let found = self.api(kind).list(&parameters).await?;
        found.items.into_iter().map(|object| Ok(serde_json::to_value(object)?)).collect()
    }

    /// Looks at an object until nothing is missing; what is missing is said in half sentences.
    pub(super) async fn until(
        &self,
        kind: Kind,
        name: &str,
        within: Duration,
        missing: impl Fn(&Value) -> Vec<String>,
    ) -> anyhow::Result<Value> {
        let deadline = Instant::now() + within;
        loop {
            let found = self.get(kind, name).await?;
            let lack = found.as_ref().map_or_else(|| vec!["it is not there".to_owned()], &missing);
            match found {
                Some(found) if lack.is_empty() => return Ok(found),
                _ => {}
            }
            self.still(deadline, &format!("{kind:?} {name}: {} (after {within:?})", lack.join(", "))).await?;
        }
    }

    /// Looks until nothing of a Cluster is left.
    pub(super) async fn until_gone(&self, cluster: &str, names: &[(Kind, &str)]) -> anyhow::Result<()> {
        let deadline = Instant::now() + SOON;
        loop {
            let mut left = Vec::new();
            for (kind, name) in names {
                if self.get(*kind, name).await?.is_some() {
                    left.push(format!("{kind:?} {name}"));
                }
            }
            for kind in PARTS {
                let found = self.of_cluster(kind, cluster).await?;
                left.extend(found.iter().map(|object| format!("{kind:?} {}", object["metadata"]["name"])));
            }
            if left.is_empty() {
                return Ok(());
            }
            let what = format!("Cluster {cluster}: still there: {} (after {SOON:?})", left.join(", "));
            self.still(deadline, &what).await?;
        }
    }

    /// Waits a moment; an error with everything that is known when it is too late.
    pub(super) async fn still(&self, deadline: Instant, lack: &str) -> anyhow::Result<()> {
        if let Some(core) = &self.core {
            core.ensure_running()?;
        }
        if Instant::now() > deadline {
            bail!("{lack}\n{}", self.story().await);
        }
        sleep(PAUSE).await;
        Ok(())
    }

    /// What everything says about itself.
    async fn story(&self) -> String {
        let mut story = String::new();
        for kind in TELLERS {
            let found = self.api(kind).list(&ListParams::default()).await;
            for object in found.into_iter().flat_map(|found| found.items) {
                let metadata = &object.metadata;
                let _ = writeln!(
                    story,
                    "{kind:?} {} finalizers={:?} deleted={:?}",
                    metadata.name.as_deref().unwrap_or_default(),
                    metadata.finalizers,
                    metadata.deletion_timestamp.as_ref().map(|time| time.0.to_string()),
                );
                for told in object.data["status"]["conditions"].as_array().into_iter().flatten() {
                    let _ = writeln!(
                        story,
                        "  {}={} {} {}",
                        told["type"], told["status"], told["reason"], told["message"]
                    );
                }
            }
        }
        let _ = writeln!(story, "Terraform: {:?} {:?}", self.terraform.events(), self.terraform.trouble());
        if let Some(core) = &self.core {
            let _ = writeln!(story, "the end of Cluster API's log:\n{}", core.tail());
        }
        story
    }
}

/// A condition.
pub(super) fn condition<'object>(object: &'object Value, type_: &str) -> Option<&'object Value> {
    object["status"]["conditions"].as_array()?.iter().find(|told| told["type"] == type_)
}

/// The status of a condition.
pub(super) fn status<'object>(object: &'object Value, type_: &str) -> Option<&'object str> {
    condition(object, type_)?["status"].as_str()
}

/// What is missing of some conditions.
pub(super) fn lacking(object: &Value, wanted: &[(&str, &str)]) -> Vec<String> {
    let lacks = wanted.iter().filter(|(type_, truth)| status(object, type_) != Some(truth));
    lacks.map(|(type_, truth)| format!("{type_} is {:?} and not {truth}", status(object, type_))).collect()
}
