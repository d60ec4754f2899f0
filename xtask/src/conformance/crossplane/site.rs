//! A cluster in which Crossplane's provider and CAPT's manager run.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capt_api::crd::own;
use capt_controller::install::{Kinds, install};
use capt_testkit::terraform;
use flate2::read::GzDecoder;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{Api, DeleteParams, DynamicObject, Patch, PatchParams};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::diary::{CAPT, CROSSPLANE, Diary};
use super::{is_settled, provider, soon};
use crate::conformance::clusterctl::eyes::{get, put};
use crate::conformance::modules::{self, Pins};
use crate::conformance::pages::Reader;
use crate::conformance::process::{Process, command};
use crate::conformance::server::Server;
use crate::conformance::table::objects_of;

const API: &str = "tf.upbound.io/v1beta1";
/// Where Crossplane keeps states.
const NAMESPACE: &str = "crossplane-system";
const SUFFIX: &str = "providerconfig-default";

/// Everything that runs.
pub(super) struct Site {
    server: Server,
    capt: PathBuf,
    kubeconfig: PathBuf,
    provider: Process,
    manager: Process,
    pub(super) diary: Diary,
    /// Removed after the processes have ended.
    _directory: TempDir,
}

/// What a Workspace has made, and how it is kept.
#[derive(Debug, PartialEq)]
pub(super) struct Made {
    pub(super) outputs: Value,
    pub(super) lineage: Value,
    /// How often the state was written.
    serial: Value,
    /// What is in the connection Secret.
    secret: Value,
    spec: Value,
}

impl Site {
    /// The kinds as Crossplane installs them, its provider, and CAPT's manager beside it.
    pub(super) async fn set(pins: &Pins, provider: &Path, capt: &Path) -> anyhow::Result<Self> {
        let server = Server::start().await?;
        server.apply(&crds(pins)?).await?;
        install(&server.client, Kinds::Own, &own()).await?;
        for namespace in [NAMESPACE, "capt-system"] {
            let namespace =
                json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": namespace } });
            put(&server.client, &namespace, false).await?;
        }
        let configuration = format!(
            "terraform {{\n  backend \"kubernetes\" {{\n    secret_suffix = \"{SUFFIX}\"\n    namespace     = \"{NAMESPACE}\"\n  }}\n}}\n"
        );
        let config = json!({
            "apiVersion": API, "kind": "ProviderConfig",
            "metadata": { "name": "default" }, "spec": { "configuration": configuration },
        });
        put(&server.client, &config, false).await?;

        let directory = tempfile::Builder::new().prefix("capt-crossplane-").tempdir()?;
        let here = directory.path();
        let kubeconfig = here.join("kubeconfig");
        fs::write(&kubeconfig, server.control_plane.kubeconfig())?;
        let diary = Diary::new(here)?;
        let terraform = terraform::obtain(None)?;
        let provider = provider::start(provider, &kubeconfig, &terraform, &diary, here)?;
        let wrapped = diary.wrap(CAPT, &terraform, &here.join("capt-bin"))?;
        let manager = manager(capt, &kubeconfig, &wrapped, here)?;
        let capt = capt.to_owned();
        Ok(Self { server, capt, kubeconfig, provider, manager, diary, _directory: directory })
    }

    /// Somebody who types what the pages say, in this cluster.
    pub(super) fn reader(&self) -> anyhow::Result<Reader> {
        let reader = Reader::new(&self.capt, &[])?;
        reader.use_cluster(&self.kubeconfig)?;
        Ok(reader)
    }

    /// What the processes said last.
    pub(super) fn last_words(&self) -> String {
        format!(
            "provider-terraform said:\n{}\n\nthe manager said:\n{}",
            self.provider.tail(),
            self.manager.tail()
        )
    }

    pub(super) async fn put_workspace(&self, name: &str, module: &str, greeting: &str) -> anyhow::Result<()> {
        let workspace = json!({
            "apiVersion": API, "kind": "Workspace", "metadata": { "name": name },
            "spec": {
                "forProvider": { "source": "Inline", "module": module, "vars": [{ "key": "greeting", "value": greeting }] },
                "writeConnectionSecretToRef": { "name": format!("{name}-connection"), "namespace": "default" },
            },
        });
        put(&self.server.client, &workspace, false).await
    }

    async fn workspace(&self, name: &str) -> anyhow::Result<Value> {
        self.provider.ensure_running()?;
        self.manager.ensure_running()?;
        let found = get(&self.server.client, API, "Workspace", ("", name)).await?;
        found.with_context(|| format!("Workspace {name} is gone"))
    }

    pub(super) async fn uid(&self, name: &str) -> anyhow::Result<String> {
        let workspace = self.workspace(name).await?;
        workspace["metadata"]["uid"].as_str().map(ToOwned::to_owned).context("a Workspace without a uid")
    }

    /// Waits until a Workspace is as it should be, and its outputs are published.
    pub(super) async fn settled(&self, name: &str) -> anyhow::Result<Made> {
        soon(async || Ok(is_settled(&self.workspace(name).await?))).await?;
        self.made(name).await
    }

    /// Waits until a Workspace has another output.
    pub(super) async fn greets(&self, name: &str, greeting: &str) -> anyhow::Result<Made> {
        soon(async || {
            let workspace = self.workspace(name).await?;
            let said = &workspace["status"]["atProvider"]["outputs"]["greeting"];
            Ok(if said == greeting { is_settled(&workspace) } else { Err(format!("{name} says {said}")) })
        })
        .await?;
        self.made(name).await
    }

    /// Waits until Crossplane has looked at a Workspace so often.
    pub(super) async fn looked_at(&self, uid: &str, times: usize) -> anyhow::Result<()> {
        let before = self.diary.look()?.0.of_verb(uid, CROSSPLANE, "plan");
        soon(async || {
            self.provider.ensure_running()?;
            let now = self.diary.look()?.0.of_verb(uid, CROSSPLANE, "plan");
            let seen = now - before;
            Ok(if seen >= times {
                Ok(())
            } else {
                Err(format!("Crossplane has looked at {uid} {seen} times"))
            })
        })
        .await
    }

    /// What a Workspace has made.
    pub(super) async fn made(&self, name: &str) -> anyhow::Result<Made> {
        let workspace = self.workspace(name).await?;
        let secret = self.secret("default", &format!("{name}-connection")).await?;
        let secret = secret.with_context(|| format!("{name} has no connection Secret"))?;
        ensure!(
            secret["type"] == "connection.crossplane.io/v1alpha1",
            "it is of the type {}",
            secret["type"]
        );
        let state = self.state(name).await?.with_context(|| format!("{name} has no state"))?;
        Ok(Made {
            outputs: workspace["status"]["atProvider"]["outputs"].clone(),
            lineage: state["lineage"].clone(),
            serial: state["serial"].clone(),
            secret: secret["data"].clone(),
            spec: workspace["spec"].clone(),
        })
    }

    async fn secret(&self, namespace: &str, name: &str) -> anyhow::Result<Option<Value>> {
        get(&self.server.client, "v1", "Secret", (namespace, name)).await
    }

    async fn state(&self, name: &str) -> anyhow::Result<Option<Value>> {
        let Some(secret) = self.secret(NAMESPACE, &format!("tfstate-{name}-{SUFFIX}")).await? else {
            return Ok(None);
        };
        let packed =
            STANDARD.decode(secret["data"]["tfstate"].as_str().context("a Secret without a state")?)?;
        let mut text = String::new();
        GzDecoder::new(packed.as_slice()).read_to_string(&mut text)?;
        Ok(Some(serde_json::from_str(&text)?))
    }

    async fn objects(&self, name: &str) -> anyhow::Result<Api<DynamicObject>> {
        let about = json!({ "apiVersion": API, "kind": "Workspace", "metadata": { "name": name } });
        objects_of(&self.server.client, &serde_json::from_value(about)?).await
    }

    pub(super) async fn change(&self, name: &str, patch: Value) -> anyhow::Result<()> {
        let patch = Patch::Merge(patch);
        self.objects(name).await?.patch(name, &PatchParams::default(), &patch).await?;
        Ok(())
    }

    pub(super) async fn delete(&self, name: &str) -> anyhow::Result<()> {
        self.objects(name).await?.delete(name, &DeleteParams::default()).await?;
        Ok(())
    }

    /// Waits until nothing is left of a Workspace and its state.
    pub(super) async fn gone(&self, name: &str) -> anyhow::Result<()> {
        soon(async || {
            let workspace = get(&self.server.client, API, "Workspace", ("", name)).await?;
            let state = self.state(name).await?;
            Ok(match (workspace, state) {
                (None, None) => Ok(()),
                (workspace, state) => Err(format!("{name} is still there: {workspace:?} {state:?}")),
            })
        })
        .await
    }

    /// Runs a verb, and reads what it prints.
    pub(super) fn capt(&self, arguments: &[&str]) -> anyhow::Result<Value> {
        let mut command = Command::new(&self.capt);
        command.args(arguments).args(["--output", "json", "--kubeconfig"]).arg(&self.kubeconfig);
        let output = command.output().context("running capt")?;
        let told = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "capt {} ended with {}: {told}", arguments.join(" "), output.status);
        Ok(serde_json::from_slice(&output.stdout)?)
    }
}

/// The kinds of the provider, as those of a package.
fn crds(pins: &Pins) -> anyhow::Result<Vec<CustomResourceDefinition>> {
    let directory = pins.fetch("github.com/upbound/provider-terraform")?.directory.join("package/crds");
    let mut crds = Vec::new();
    for entry in fs::read_dir(&directory).with_context(|| format!("reading {}", directory.display()))? {
        let mut crd = modules::read(&entry?.path())?;
        crd.metadata.owner_references = Some(vec![OwnerReference {
            api_version: "pkg.crossplane.io/v1".to_owned(),
            kind: "ProviderRevision".to_owned(),
            name: "provider-terraform".to_owned(),
            uid: "6b0f0fb4-5a0f-4d3c-8f43-0b1a1b1a1b1a".to_owned(),
            ..OwnerReference::default()
        }]);
        crds.push(crd);
    }
    Ok(crds)
}

fn manager(capt: &Path, kubeconfig: &Path, terraform: &Path, directory: &Path) -> anyhow::Result<Process> {
    let mut command = command(capt);
    command
        .args([
            "manager",
            "--leader-elect=false",
            "--diagnostics-address=none",
            "--engine=auto",
            "--kubeconfig",
        ])
        .arg(kubeconfig)
        .arg("--terraform-binary")
        .arg(terraform)
        .arg("--terraform-directory")
        .arg(directory.join("capt-work"))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", directory)
        .env("POD_NAMESPACE", "capt-system");
    Process::start("the manager", command, directory.join("manager.log"))
}
