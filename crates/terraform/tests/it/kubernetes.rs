//! State and locks in a real API server.

use std::fs;
use std::path::Path;
use std::time::Duration;

use capt_terraform::{Backend, Engine, Event, Locking, Operation, Outcome, Plan, Run, Secret, Verb};
use capt_testkit::TestCluster;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Secret as StoredSecret;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::{Api, PostParams};
use rustix::process::{Pid, Signal, getpgid, kill_process_group};
use serde_json::json;

use crate::bed::{Bed, Seen, ended, inline, killable, until};

const LEASE: &str = "lock-tfstate-network-cluster";
const STATE: &str = "tfstate-network-cluster";
const COUNT: usize = 6;

/// A run with its state in a namespace of its own.
struct Stored {
    cluster: &'static TestCluster,
    namespace: String,
    run: Run,
}

impl Stored {
    async fn new(module: &str) -> Self {
        let cluster = TestCluster::shared().await;
        let namespace = cluster.namespace("state").await;
        let run = inline(module);
        let backend = backend(&namespace, cluster.control_plane().kubeconfig());
        Self { cluster, namespace, run: Run { backend, ..run } }
    }

    fn leases(&self) -> Api<Lease> {
        Api::namespaced(self.cluster.client(), &self.namespace)
    }

    /// Who holds the lock.
    async fn holder(&self) -> Option<String> {
        self.leases().get_opt(LEASE).await.unwrap()?.spec?.holder_identity
    }

    /// Takes the lock as somebody else does, and answers with its identifier.
    async fn lock_as(&self, who: &str, created: &str) -> String {
        let id = "8d1c7a9e-0000-4000-8000-000000000001".to_owned();
        let info = json!({
            "ID": id, "Operation": "OperationTypeApply", "Who": who, "Version": "1.11.4", "Created": created,
            "Info": "", "Path": "",
        });
        let mut lease = self.leases().get(LEASE).await.unwrap();
        lease.spec.get_or_insert_default().holder_identity = Some(id.clone());
        let annotations = lease.metadata.annotations.get_or_insert_default();
        annotations.insert("app.terraform.io/lock-info".to_owned(), info.to_string());
        self.leases().replace(LEASE, &PostParams::default(), &lease).await.unwrap();
        id
    }

    async fn has_state(&self) -> bool {
        let secrets: Api<StoredSecret> = Api::namespaced(self.cluster.client(), &self.namespace);
        secrets.get_opt(STATE).await.unwrap().is_some()
    }
}

fn backend(namespace: &str, kubeconfig: String) -> Backend {
    Backend::Kubernetes {
        namespace: namespace.to_owned(),
        suffix: "cluster".to_owned(),
        kubeconfig: Secret::from(kubeconfig),
        declared: false,
    }
}

/// Resources that take a while and leave a line each in a file.
fn slow(file: &Path) -> String {
    format!(
        r#"
resource "terraform_data" "slow" {{
  count = {COUNT}
  provisioner "local-exec" {{ command = "sleep 0.3; echo ${{count.index}} >> '{}'" }}
}}
"#,
        file.display()
    )
}

fn made(file: &Path) -> usize {
    fs::read_to_string(file).unwrap_or_default().lines().count()
}

/// Begins the apply in a process of its own, waits until something is made, and kills that process.
async fn begin_and_kill(bed: &Bed, stored: &mut Stored, file: &Path) -> Plan {
    stored.run.arguments.apply = vec!["-parallelism=2".to_owned()];
    let plan = bed.plan(&stored.run).await.unwrap();
    let mut parent = killable(bed, &stored.run.with(Operation::Apply { plan: plan.hash.clone() }));
    until("a resource is made", || made(file) > 0).await;
    parent.kill().unwrap();
    parent.wait().unwrap();
    plan
}

/// The group of the apply that runs in a directory.
fn group(workdir: &Path) -> Pid {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let ours = |entry: &fs::DirEntry| {
        fs::read_link(entry.path().join("cwd")).is_ok_and(|directory| directory.starts_with(workdir))
    };
    let pids = processes.filter(ours).filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut groups = pids.filter_map(|pid| getpgid(Pid::from_raw(pid)).ok());
    groups.next().unwrap()
}

/// Kills everything that runs in a directory at once, as the end of a container does.
pub(crate) fn kill_group_of(workdir: &Path) {
    kill_process_group(group(workdir), Signal::KILL).unwrap();
}

#[tokio::test]
async fn an_apply_that_outlives_its_parent_stores_its_state_and_releases_its_lock() {
    let bed = Bed::new().await;
    let file = bed.root.path().join("made");
    let mut stored = Stored::new(&slow(&file)).await;
    begin_and_kill(&bed, &mut stored, &file).await;
    assert!(stored.holder().await.is_some());

    let seen = Seen::default();
    let Outcome::Planned(plan) = bed.engine.run(&stored.run, &seen).await.unwrap() else { panic!() };

    assert!(seen.any(|event| matches!(event, Event::Survived(survived) if survived.completed)));
    assert!(plan.is_empty(), "{plan}");
    assert_eq!((plan.elsewhere, made(&file)), (None, COUNT));
    assert_eq!(stored.holder().await, None);
    assert!(stored.has_state().await);
}

#[tokio::test]
async fn a_lock_that_a_killed_terraform_left_is_known_and_can_be_released() {
    let bed = Bed::new().await;
    let file = bed.root.path().join("made");
    let mut stored = Stored::new(&slow(&file)).await;
    begin_and_kill(&bed, &mut stored, &file).await;
    kill_process_group(group(&bed.workdir()), Signal::KILL).unwrap();
    ended(&bed.engine).await;
    let holder = stored.holder().await.unwrap();

    let seen = Seen::default();
    let Outcome::Planned(plan) = bed.engine.run(&stored.run, &seen).await.unwrap() else { panic!() };
    assert!(seen.any(|event| matches!(event, Event::Survived(survived) if survived.verb == Verb::Apply && !survived.completed)));
    let error = bed.apply(&stored.run, &plan, &Seen::default()).await.unwrap_err();

    let (lock, left_behind) = error.lock().unwrap();
    assert_eq!((&lock.id, left_behind), (&holder, true), "{error}");
    let unlock = stored.run.with(Operation::ForceUnlock { id: lock.id.clone() });
    assert_eq!(bed.engine.run(&unlock, &Seen::default()).await.unwrap(), Outcome::Unlocked);
    assert_eq!(stored.holder().await, None);
    bed.make(&stored.run, &Seen::default()).await.unwrap();
    assert!(bed.plan(&stored.run).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_lock_that_somebody_else_holds_is_not_ours_to_release() {
    let bed = Bed::new().await;
    let mut stored = Stored::new("resource \"terraform_data\" \"a\" {}\n").await;
    bed.make(&stored.run, &Seen::default()).await.unwrap();
    let id = stored.lock_as("somebody@elsewhere", "2026-01-02T03:04:05.678Z").await;

    stored.run.locking = Locking::Wait(Duration::ZERO);
    let plan = bed.plan_as(&stored.run, Operation::PlanDestroy).await.unwrap();
    let error = bed.apply(&stored.run, &plan, &Seen::default()).await.unwrap_err();

    let (lock, left_behind) = error.lock().unwrap();
    assert_eq!((lock.who.as_str(), left_behind), ("somebody@elsewhere", false), "{error}");
    assert_eq!(lock.id, id);
    assert_eq!(error.reason(), "Locked");
}

#[tokio::test]
async fn a_lock_that_somebody_on_this_machine_took_while_we_waited_for_it_is_not_ours_either() {
    let bed = Bed::new().await;
    let mut stored = Stored::new("resource \"terraform_data\" \"a\" {}\n").await;
    bed.make(&stored.run, &Seen::default()).await.unwrap();
    let who = format!("me@{}", rustix::system::uname().nodename().to_string_lossy());
    let plan = bed.plan_as(&stored.run, Operation::PlanDestroy).await.unwrap();
    // Within the time that the next command waits for it.
    let created = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(1);
    stored.lock_as(&who, &created.to_string()).await;
    stored.run.locking = Locking::Wait(Duration::from_secs(3));
    bed.apply(&stored.run, &plan, &Seen::default()).await.unwrap_err();

    let plan = bed.plan_as(&stored.run, Operation::PlanDestroy).await.unwrap();
    let error = bed.apply(&stored.run, &plan, &Seen::default()).await.unwrap_err();

    let (lock, left_behind) = error.lock().unwrap();
    assert_eq!((&lock.who, left_behind), (&who, false), "{error}");
}

#[tokio::test]
async fn without_a_lock_a_state_is_changed_where_leases_cannot_be_made() {
    let bed = Bed::new().await;
    let mut stored = Stored::new("resource \"terraform_data\" \"a\" {}\n").await;
    bed.make(&stored.run, &Seen::default()).await.unwrap();
    let user = format!("only-secrets-{}", stored.namespace);
    allow_secrets(&stored, &user).await;
    let kubeconfig = stored.cluster.control_plane().kubeconfig_for(&user, &[]).unwrap();
    stored.run.backend = backend(&stored.namespace, kubeconfig);
    let plan = bed.plan_as(&stored.run, Operation::PlanDestroy).await.unwrap();
    let error = bed.apply(&stored.run, &plan, &Seen::default()).await.unwrap_err();
    assert!(error.lock().is_none() && error.to_string().contains("forbidden"), "{error}");

    stored.run.locking = Locking::None;
    let plan = bed.plan_as(&stored.run, Operation::PlanDestroy).await.unwrap();
    bed.apply(&stored.run, &plan, &Seen::default()).await.unwrap();

    assert!(bed.plan_as(&stored.run, Operation::PlanDestroy).await.unwrap().is_empty());
}

/// Lets a user do all with Secrets, and nothing with Leases.
async fn allow_secrets(stored: &Stored, user: &str) {
    let role: Role = serde_json::from_value(json!({
        "metadata": { "name": user },
        "rules": [{ "apiGroups": [""], "resources": ["secrets"], "verbs": ["*"] }],
    }))
    .unwrap();
    let binding: RoleBinding = serde_json::from_value(json!({
        "metadata": { "name": user },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": user },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user }],
    }))
    .unwrap();
    let client = stored.cluster.client();
    let roles: Api<Role> = Api::namespaced(client.clone(), &stored.namespace);
    roles.create(&PostParams::default(), &role).await.unwrap();
    let bindings: Api<RoleBinding> = Api::namespaced(client, &stored.namespace);
    bindings.create(&PostParams::default(), &binding).await.unwrap();
}
