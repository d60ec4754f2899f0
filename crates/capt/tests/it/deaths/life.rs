//! One life of a manager with a scripted tool, its end, and what comes after.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use capt_api::crd::{Foreign, foreign, own};
use capt_api::names::condition;
use capt_api::{Workspace, WorkspaceTemplate, WorkspaceTemplateApply};
use capt_testkit::home::processes_in;
use capt_testkit::way::Way;
use capt_testkit::{TestCluster, eventually};
use flate2::read::GzDecoder;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::up::CAPT;

const TOOL: &str = include_str!("tool.sh");
/// Longer than the manager takes to put a message of the tool on record.
const PAUSE: &str = "0.3";

/// When the tool stores its state.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stores {
    AfterEach,
    AtTheEnd,
}

/// When and how everything dies.
#[derive(Clone, Copy, Debug)]
pub(super) enum Death {
    /// The API server has taken so many writes.
    AfterWriteOfManager { number: usize, lost: bool, stores: Stores },
    /// The tool has written so often.
    AfterWriteOfTool { number: usize, lost: bool, stores: Stores },
}

impl Death {
    fn loses_directory(self) -> bool {
        match self {
            Self::AfterWriteOfManager { lost, .. } | Self::AfterWriteOfTool { lost, .. } => lost,
        }
    }

    fn stores(self) -> &'static str {
        match self {
            Self::AfterWriteOfManager { stores, .. } | Self::AfterWriteOfTool { stores, .. } => {
                match stores {
                    Stores::AfterEach => "each",
                    Stores::AtTheEnd => "end",
                }
            }
        }
    }
}

/// An API server with every kind.
pub(super) async fn cluster() -> TestCluster {
    let cluster = TestCluster::start().await;
    let kinds = [own(), foreign(Foreign::Terraform), foreign(Foreign::ClusterApi)];
    cluster.apply_crds(&kinds.concat()).await;
    make_namespace(&cluster, "capt-system").await;
    cluster
}

async fn make_namespace(cluster: &TestCluster, name: &str) {
    let namespace: Namespace = serde_json::from_value(json!({ "metadata": { "name": name } })).unwrap();
    Api::all(cluster.client()).create(&PostParams::default(), &namespace).await.unwrap();
}

/// A namespace with a Workspace, and a manager that looks after it.
pub(super) struct Life {
    client: kube::Client,
    kubeconfig: PathBuf,
    namespace: String,
    workspace: String,
    death: Death,
    directory: TempDir,
}

impl Life {
    pub(super) async fn begin(cluster: &TestCluster, death: Death, number: usize) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("tool"), TOOL).unwrap();
        fs::set_permissions(path("tool"), Permissions::from_mode(0o755)).unwrap();
        fs::write(path("stores"), death.stores()).unwrap();
        fs::write(path("objects"), "").unwrap();
        fs::write(path("kubeconfig"), cluster.control_plane().kubeconfig()).unwrap();
        match death {
            Death::AfterWriteOfManager { .. } => fs::write(path("pause"), PAUSE).unwrap(),
            Death::AfterWriteOfTool { number, .. } => {
                fs::write(path("pause"), "0").unwrap();
                fs::write(path("die-at"), number.to_string()).unwrap();
            }
        }
        let random = directory.path().file_name().unwrap().to_string_lossy().to_lowercase();
        let random = random.trim_start_matches(|char: char| !char.is_ascii_alphanumeric());
        let namespace = format!("life-{number}-{random}");
        let client = cluster.client();
        make_namespace(cluster, &namespace).await;
        let template = json!({
            "metadata": { "name": "three" },
            "spec": { "template": { "spec": { "forProvider": { "source": "Inline", "module": "# scripted" } } } },
        });
        let templates: Api<WorkspaceTemplate> = Api::namespaced(client.clone(), &namespace);
        templates.create(&PostParams::default(), &serde_json::from_value(template).unwrap()).await.unwrap();
        let workspace = format!("three-{number}-{random}");
        let apply = json!({
            "metadata": { "name": format!("{workspace}-apply") },
            "spec": { "templateRef": { "name": "three" } },
        });
        let applies: Api<WorkspaceTemplateApply> = Api::namespaced(client.clone(), &namespace);
        applies.create(&PostParams::default(), &serde_json::from_value(apply).unwrap()).await.unwrap();
        let kubeconfig = path("kubeconfig");
        Self { client, kubeconfig, namespace, workspace, death, directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn manager(&self, kubeconfig: &Path) -> Manager {
        let messages = fs::File::options().append(true).create(true).open(self.path("messages")).unwrap();
        let mut command = Command::new(CAPT);
        for variable in crate::VARIABLES {
            command.env_remove(variable);
        }
        let child = command
            .args(["manager", "--engine", "process", "--leader-elect=false", "--diagnostics-address", "none"])
            .args(["--namespace", &self.namespace, "--kubeconfig"])
            .arg(kubeconfig)
            .arg("--terraform-directory")
            .arg(self.path("work"))
            .arg("--terraform-binary")
            .arg(self.path("tool"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(messages)
            .spawn()
            .unwrap();
        Manager(child)
    }

    /// Lets it die and another manager go on; whether it died before it came to its own end.
    pub(super) async fn ends_well(self) -> bool {
        let died = self.dies().await;
        if died && self.death.loses_directory() {
            fs::remove_dir_all(self.path("work")).unwrap_or_default();
        }
        let manager = self.manager(&self.kubeconfig);
        self.is_ready().await;
        let named = self.named().await;
        let held = self.known().await;
        self.nothing_is_twice(&held, &named);
        self.nothing_is_locked().await;
        self.goes_away(&named).await;
        drop(manager);
        died
    }

    async fn dies(&self) -> bool {
        match self.death {
            Death::AfterWriteOfManager { number, .. } => {
                let way = Way::open(self.client.clone(), number).await.unwrap();
                let manager = self.manager(way.kubeconfig());
                let died = tokio::select! {
                    () = way.is_over() => true,
                    () = self.is_ready() => false,
                };
                self.kill(manager);
                died
            }
            Death::AfterWriteOfTool { .. } => {
                let manager = self.manager(&self.kubeconfig);
                let dead = self.path("dead");
                let died = tokio::select! {
                    () = until("the tool to die", async || dead.exists()) => true,
                    () = self.is_ready() => false,
                };
                if died {
                    // What the tool has said is put on record within a moment. Whoever dies before that is another case.
                    until("the record to have every message", async || self.is_recorded().await).await;
                }
                self.kill(manager);
                fs::remove_file(self.path("die-at")).unwrap();
                died
            }
        }
    }

    /// Kills the manager and all that it started, as the end of a container does.
    fn kill(&self, manager: Manager) {
        drop(manager);
        while self.kill_all() {}
    }

    /// Kills every process that works here; whether there was one.
    fn kill_all(&self) -> bool {
        let left = processes_in(self.directory.path()).unwrap_or_default();
        for (process, _) in &left {
            let process = i32::try_from(*process).ok().and_then(Pid::from_raw);
            // Gone already is as good.
            let _ = process.map(|process| kill_process(process, Signal::KILL));
        }
        !left.is_empty()
    }

    /// Whether the record, or the state, has what the tool said last.
    async fn is_recorded(&self) -> bool {
        let stream =
            find(&self.path("work"), "apply.out").map(|path| fs::read_to_string(path).unwrap_or_default());
        let said: Vec<Value> =
            stream.unwrap_or_default().lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let count = |kind: &str| said.iter().filter(|message| message["type"] == kind).count();
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), &self.namespace);
        let record = secrets.get_opt(&format!("capt-record-{}", self.workspace)).await.unwrap();
        let calls = record.and_then(|record| unpacked(record.data?.get("calls")?.0.as_slice()));
        let calls = calls.unwrap_or_default();
        let listed = |key: &str| calls[key].as_array().map_or(0, Vec::len);
        let on_record = (listed("begun"), listed("finished"))
            == (count("apply_start") - count("apply_complete"), count("apply_complete"));
        let stored = self.known().await;
        on_record && self.file().is_none_or(|file| file == stored)
    }

    /// What the state file of the tool holds, if it is whole.
    fn file(&self) -> Option<BTreeMap<String, String>> {
        let path = find(&self.path("work"), "terraform.tfstate")?;
        serde_json::from_slice(&fs::read(path).ok()?).ok().map(|state| objects_of(&state))
    }

    async fn is_ready(&self) {
        let workspaces: Api<Workspace> = Api::all(self.client.clone());
        eventually(&format!("{:?}: {} to be ready", self.death, self.workspace), async || {
            let found = workspaces.get_opt(&self.workspace).await.unwrap();
            let conditions =
                found.and_then(|found| found.status).map(|status| status.conditions).unwrap_or_default();
            let holds = |type_| conditions.iter().any(|entry| entry.type_ == type_ && entry.status == "True");
            if holds(condition::READY) && holds(condition::SYNCED) {
                return Ok(());
            }
            let told = fs::read_to_string(self.path("messages")).unwrap_or_default();
            let tail: Vec<&str> = told.lines().rev().take(20).collect();
            Err(format!("{conditions:#?}\n{}", tail.into_iter().rev().collect::<Vec<_>>().join("\n")))
        })
        .await;
    }

    /// The calls that the Workspace names as interrupted.
    async fn named(&self) -> String {
        let workspaces: Api<Workspace> = Api::all(self.client.clone());
        let found = workspaces.get(&self.workspace).await.unwrap();
        let conditions = found.status.map(|status| status.conditions).unwrap_or_default();
        let named = conditions.iter().find(|entry| entry.type_ == condition::INTERRUPTED_CALLS);
        let named = named.filter(|entry| entry.status == "True");
        named.and_then(|entry| entry.message.clone()).unwrap_or_default()
    }

    /// What is in the state, by address.
    async fn known(&self) -> BTreeMap<String, String> {
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), &self.namespace);
        let found = secrets.get_opt(&format!("tfstate-{}-capt", self.workspace)).await.unwrap();
        let state = found.and_then(|secret| unpacked(secret.data?.get("tfstate")?.0.as_slice()));
        state.map(|state| objects_of(&state)).unwrap_or_default()
    }

    /// Each object is in the state, but those of calls that are named.
    fn nothing_is_twice(&self, known: &BTreeMap<String, String>, named: &str) {
        let death = self.death;
        let text = fs::read_to_string(self.path("objects")).unwrap();
        let mut made: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (address, id) in text.lines().filter_map(|line| line.split_once(' ')) {
            made.entry(address).or_default().push(id);
        }
        for (address, ids) in made {
            let unknown =
                ids.iter().filter(|id| known.get(address).map(String::as_str) != Some(**id)).count();
            let is_named = named.contains(&format!("create {address} (since "));
            assert!(
                unknown <= usize::from(is_named),
                "{death:?}: {address} is there as {ids:?}, the state has {known:?}; named: {named:?}"
            );
        }
        assert!(named.matches("create ").count() <= 1, "{death:?}: one call was in flight: {named}");
    }

    async fn nothing_is_locked(&self) {
        let leases: Api<Lease> = Api::namespaced(self.client.clone(), &self.namespace);
        for lease in leases.list(&ListParams::default()).await.unwrap() {
            let holder = lease.spec.and_then(|spec| spec.holder_identity);
            assert_eq!(holder, None, "{:?}: {:?} is held", self.death, lease.metadata.name);
        }
    }

    /// Deleted, nothing is left, but what calls in flight made.
    async fn goes_away(&self, named: &str) {
        let applies: Api<WorkspaceTemplateApply> = Api::namespaced(self.client.clone(), &self.namespace);
        let apply = format!("{}-apply", self.workspace);
        applies.delete(&apply, &DeleteParams::default()).await.unwrap();
        until(&format!("{:?}: {apply} to be gone", self.death), async || {
            applies.get_opt(&apply).await.unwrap().is_none()
        })
        .await;
        let left = fs::read_to_string(self.path("objects")).unwrap();
        for (address, _) in left.lines().filter_map(|line| line.split_once(' ')) {
            assert!(named.contains(&format!("create {address} (since ")), "{:?}: {left} is left", self.death);
        }
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        self.kill_all();
    }
}

/// A manager that is killed when it is dropped.
struct Manager(Child);

impl Drop for Manager {
    fn drop(&mut self) {
        // Both fail when it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    eventually(what, async || if holds().await { Ok(()) } else { Err("not yet") }).await;
}

fn unpacked(packed: &[u8]) -> Option<Value> {
    let mut text = String::new();
    GzDecoder::new(packed).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

fn objects_of(state: &Value) -> BTreeMap<String, String> {
    let resources = state["resources"].as_array().into_iter().flatten();
    resources
        .map(|resource| {
            let id = resource["instances"][0]["attributes"]["id"].as_str().unwrap_or_default();
            (format!("terraform_data.{}", resource["name"].as_str().unwrap_or_default()), id.to_owned())
        })
        .collect()
}

/// A file of this name somewhere below a directory, outside of what the tool keeps for itself.
fn find(directory: &Path, name: &str) -> Option<PathBuf> {
    for entry in fs::read_dir(directory).ok()?.flatten() {
        let path = entry.path();
        if path.is_dir() && entry.file_name() != "data" {
            if let Some(found) = find(&path, name) {
                return Some(found);
            }
        } else if entry.file_name() == name {
            return Some(path);
        }
    }
    None
}
