//! A real API server for one question.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Context;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capt_local::{ControlPlane, ControlPlaneOptions, Helper, Parts, Progress};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::authentication::v1::TokenRequest;
use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ListParams, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::runtime::wait::{await_condition, conditions};
use kube::{Client, Config, ResourceExt};
use serde_json::json;
use tokio::time::timeout;

/// Who installs the real CRDs.
const OWNER: &str = "the-real-owner";
const ESTABLISHED_WITHIN: Duration = Duration::from_secs(30);

/// An API server whose data nobody will miss; dropped, it stops.
pub(super) struct Server {
    pub(super) client: Client,
    pub(super) control_plane: ControlPlane,
}

impl Server {
    /// An API server and nothing else.
    pub(super) async fn start() -> anyhow::Result<Self> {
        Self::start_with(false).await
    }

    /// An API server, and whoever collects what lost its owner.
    pub(super) async fn start_with_garbage_collection() -> anyhow::Result<Self> {
        Self::start_with(true).await
    }

    async fn start_with(controller_manager: bool) -> anyhow::Result<Self> {
        let control_plane = tokio::task::spawn_blocking(move || start(controller_manager)).await??;
        Ok(Self { client: client(&control_plane.kubeconfig()).await?, control_plane })
    }

    fn definitions(&self) -> Api<CustomResourceDefinition> {
        Api::all(self.client.clone())
    }

    /// Installs CRDs as their real owner does, also over those of others.
    pub(super) async fn apply(&self, crds: &[CustomResourceDefinition]) -> anyhow::Result<()> {
        let definitions = self.definitions();
        for crd in crds {
            let name = crd.name_any();
            let applied =
                definitions.patch(&name, &PatchParams::apply(OWNER).force(), &Patch::Apply(crd)).await;
            applied.with_context(|| format!("applying {name}"))?;
            let established = await_condition(definitions.clone(), &name, conditions::is_crd_established());
            let established = timeout(ESTABLISHED_WITHIN, established).await;
            established.with_context(|| format!("{name} was not established"))??;
        }
        Ok(())
    }

    /// A kubeconfig with a token of an account, and nothing else.
    pub(super) async fn kubeconfig_of(&self, namespace: &str, account: &str) -> anyhow::Result<String> {
        let accounts = Api::<ServiceAccount>::namespaced(self.client.clone(), namespace);
        let (url, authority) = (self.control_plane.url(), self.control_plane.certificate_authority());
        kubeconfig_of_account(&accounts, account, url, authority).await
    }

    /// The arguments of a Deployment, as the API server has them.
    pub(super) async fn arguments_of(
        &self,
        namespace: &str,
        deployment: &str,
    ) -> anyhow::Result<Vec<String>> {
        let deployments: Api<Deployment> = Api::namespaced(self.client.clone(), namespace);
        let pod = deployments.get(deployment).await?.spec.and_then(|spec| spec.template.spec);
        let containers = pod.context("a Deployment without a pod")?.containers;
        let container = containers.into_iter().next().context("a pod without a container")?;
        container.args.context("a container without arguments")
    }

    /// Every CRD and the version it is at.
    pub(super) async fn versions(&self) -> anyhow::Result<BTreeMap<String, Option<String>>> {
        let crds = self.definitions().list_metadata(&ListParams::default()).await?;
        Ok(crds.iter().map(|crd| (crd.name_any(), crd.resource_version())).collect())
    }
}

/// A client with the rights of whom the kubeconfig names.
pub(super) async fn client(kubeconfig: &str) -> anyhow::Result<Client> {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}

/// A kubeconfig for an API server, with a token of one of its accounts.
pub(super) async fn kubeconfig_of_account(
    accounts: &Api<ServiceAccount>,
    account: &str,
    url: &str,
    authority: &str,
) -> anyhow::Result<String> {
    let request: TokenRequest = serde_json::from_value(json!({
        "metadata": {}, "spec": { "audiences": [], "expirationSeconds": 7200 },
    }))?;
    let answer = accounts.create_token_request(account, &PostParams::default(), &request).await;
    let answer = answer.with_context(|| format!("asking for a token of {account}"))?;
    let token = answer.status.context("a request for a token that got none")?.token;
    let cluster = json!({ "server": url, "certificate-authority-data": STANDARD.encode(authority) });
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "it",
        "clusters": [{ "name": "it", "cluster": cluster }],
        "users": [{ "name": "it", "user": { "token": token } }],
        "contexts": [{ "name": "it", "context": { "cluster": "it", "user": "it" } }],
    });
    Ok(kubeconfig.to_string())
}

fn start(controller_manager: bool) -> anyhow::Result<ControlPlane> {
    let progress = Progress::stderr();
    let parts = Parts::find(&progress)?;
    // Removed by the supervisor, which is there even when this process is killed.
    let directory = tempfile::Builder::new().prefix("capt-conformance-").tempdir()?.keep();
    let options = ControlPlaneOptions {
        durable: false,
        remove_when_stopped: true,
        controller_manager,
        ..ControlPlaneOptions::new(directory, Helper::current_exe()?)
    };
    Ok(ControlPlane::start(&parts, &options, &progress)?)
}
