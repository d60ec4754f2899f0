//! Two managers of one management cluster, each with a way of its own to the API server.

use std::fs::{self, File};
use std::path::{Path as Directory, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};
use capt_api::{WorkspaceTemplate, WorkspaceTemplateApply};
use capt_local::ControlPlane;
use capt_testkit::home::{signal, wait};
use kube::api::{Api, Patch, PatchParams};
use kube::{Client, ResourceExt};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::time::{sleep, timeout};

use super::path::{Log, Path};
use crate::soak::management::{client, control_plane, prepare};

/// How many applies are changed, one after the other.
const APPLIES: usize = 5;
/// How often one of them is.
const BETWEEN_CHANGES: Duration = Duration::from_millis(200);
const CHANGED_WITHIN: Duration = Duration::from_secs(2);
const STOPPED_WITHIN: Duration = Duration::from_secs(30);
const LINES: usize = 40;

/// Two managers and what they work on.
pub(super) struct Pair {
    pub(super) managers: [Manager; 2],
    pub(super) client: Client,
    control_plane: ControlPlane,
}

/// A manager. Dropped, it is killed.
pub(super) struct Manager {
    child: Child,
    pub(super) path: Path,
    messages: PathBuf,
}

impl Pair {
    pub(super) async fn start(capt: &Directory, place: &Directory, log: &Log) -> anyhow::Result<Self> {
        let control_plane = control_plane(&place.join("control-plane")).await?;
        let kubeconfig = place.join("kubeconfig");
        fs::write(&kubeconfig, control_plane.kubeconfig())?;
        let client = client(&kubeconfig).await?;
        prepare(&client).await?;
        put_objects(&client).await?;
        let managers = [
            Manager::start(0, capt, place, &kubeconfig, log).await?,
            Manager::start(1, capt, place, &kubeconfig, log).await?,
        ];
        Ok(Self { managers, client, control_plane })
    }

    /// Stops the API server as it stands, or lets it go on.
    pub(super) fn signal_server(&self, signal: Signal) -> anyhow::Result<()> {
        let processes = self.control_plane.processes();
        let server = processes.iter().find(|(name, _)| name == "kube-apiserver");
        let pid = server.and_then(|(_, pid)| Pid::from_raw(i32::try_from(*pid).ok()?));
        Ok(kill_process(pid.context("finding the API server")?, signal)?)
    }

    /// Ends both managers in order.
    pub(super) fn stop(&mut self) -> anyhow::Result<()> {
        for manager in &mut self.managers {
            manager.signal(Signal::TERM)?;
        }
        for manager in &mut self.managers {
            let status = wait(&mut manager.child, STOPPED_WITHIN).context("stopping a manager")?;
            ensure!(status.success(), "a manager ended with {status}");
        }
        Ok(())
    }
}

impl Manager {
    async fn start(
        number: usize,
        capt: &Directory,
        place: &Directory,
        kubeconfig: &Directory,
        log: &Log,
    ) -> anyhow::Result<Self> {
        let path = Path::open(number, client(kubeconfig).await?, log.clone()).await?;
        let through = place.join(format!("kubeconfig-{number}"));
        let content = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "way",
            "clusters": [{ "name": "way", "cluster": { "server": format!("http://{}", path.address) } }],
            "contexts": [{ "name": "way", "context": { "cluster": "way", "user": "way" } }],
            "users": [{ "name": "way", "user": {} }],
        });
        fs::write(&through, content.to_string())?;
        let messages = place.join(format!("messages-{number}"));
        let child = Command::new(capt)
            .args(["manager", "--engine", "crossplane", "--diagnostics-address", "none", "--kubeconfig"])
            .arg(&through)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&messages)?)
            .spawn()
            .context("starting `capt manager`")?;
        Ok(Self { child, path, messages })
    }

    pub(super) fn signal(&self, with: Signal) -> anyhow::Result<()> {
        signal(&self.child, with).context("sending a signal to a manager")
    }

    /// The end of what it said.
    pub(super) fn tail(&self) -> String {
        let said = fs::read_to_string(&self.messages).unwrap_or_default();
        let lines: Vec<&str> = said.lines().collect();
        format!("{}:\n{}", self.messages.display(), lines[lines.len().saturating_sub(LINES)..].join("\n"))
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        // Both fail when it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn name(number: usize) -> String {
    format!("busy-{number}")
}

async fn put_objects(client: &Client) -> anyhow::Result<()> {
    let template = json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplate",
        "metadata": { "name": "busy" },
        "spec": { "template": { "spec": { "forProvider": {
            "source": "Inline", "module": "variable \"round\" {}\n",
        } } } },
    });
    put(&Api::<WorkspaceTemplate>::default_namespaced(client.clone()), &template).await?;
    for number in 0..APPLIES {
        change(client, number, 0).await?;
    }
    Ok(())
}

async fn change(client: &Client, number: usize, to: u64) -> anyhow::Result<()> {
    let apply = json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplateApply",
        "metadata": { "name": name(number) },
        "spec": { "templateRef": { "name": "busy" }, "variables": { "round": to.to_string() } },
    });
    put(&Api::<WorkspaceTemplateApply>::default_namespaced(client.clone()), &apply).await
}

async fn put<K>(api: &Api<K>, object: &serde_json::Value) -> anyhow::Result<()>
where
    K: kube::Resource + Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let parameters = PatchParams::apply("soak").force();
    let written = api.patch(name, &parameters, &Patch::Apply(object)).await;
    written.map(|written| drop(written.name_any())).with_context(|| format!("writing {name}"))
}

/// Changes the applies for ever, so that whoever leads always has something to write. A server that does not answer is asked
/// again.
pub(super) async fn keep_busy(client: Client) {
    for round in 1.. {
        for number in 0..APPLIES {
            let _ = timeout(CHANGED_WITHIN, change(&client, number, round)).await;
            sleep(BETWEEN_CHANGES).await;
        }
    }
}
