//! One real control plane for each test process.

use std::sync::atomic::{AtomicU32, Ordering};

use capt_local::{ControlPlane, ControlPlaneOptions, Helper, Parts, Progress};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::runtime::conditions::is_crd_established;
use kube::runtime::wait::await_condition;
use kube::{Client, Config, ResourceExt};
use tokio::sync::{Mutex, OnceCell};

use crate::helper::helper;
use crate::wait::DEADLINE;

static SHARED: OnceCell<TestCluster> = OnceCell::const_new();
static NAMESPACES: AtomicU32 = AtomicU32::new(0);

/// A control plane whose data nobody will miss. It goes away with the test process, however that ends.
#[derive(Debug)]
pub struct TestCluster {
    control_plane: ControlPlane,
    administrator: Config,
    applying: Mutex<()>,
}

impl TestCluster {
    /// The control plane of this test process, started by the first test that asks.
    pub async fn shared() -> &'static Self {
        SHARED.get_or_init(Self::start).await
    }

    /// A control plane of one's own, for tests that stop or break it.
    pub async fn start() -> Self {
        Self::start_with(helper).await
    }

    /// A control plane of one's own, supervised by another executable than the test's helper.
    pub async fn start_with(helper: impl FnOnce() -> Helper + Send + 'static) -> Self {
        let control_plane =
            tokio::task::spawn_blocking(|| start(helper())).await.expect("starting a control plane");
        let administrator = config(&control_plane.kubeconfig()).await;
        Self { control_plane, administrator, applying: Mutex::new(()) }
    }

    /// A client that may do everything.
    ///
    /// Each call makes a new one: a client works only as long as the runtime of the test that made it.
    pub fn client(&self) -> Client {
        Client::try_from(self.administrator.clone()).expect("a client for the administrator")
    }

    /// A client with the rights that RBAC gives to this user and these groups, and no others.
    pub async fn client_as(&self, user: &str, groups: &[&str]) -> Client {
        let kubeconfig = self.control_plane.kubeconfig_for(user, groups).expect("a certificate for a user");
        Client::try_from(config(&kubeconfig).await).expect("a client for a user")
    }

    /// The control plane itself.
    pub fn control_plane(&self) -> &ControlPlane {
        &self.control_plane
    }

    /// Makes a namespace that no other test uses and answers with its name.
    pub async fn namespace(&self, prefix: &str) -> String {
        let number = NAMESPACES.fetch_add(1, Ordering::Relaxed);
        let name = format!("{prefix}-{number}");
        let namespace: Namespace =
            serde_json::from_value(serde_json::json!({ "metadata": { "name": name } })).expect("a namespace");
        let namespaces: Api<Namespace> = Api::all(self.client());
        namespaces.create(&PostParams::default(), &namespace).await.expect("creating a namespace");
        name
    }

    /// Applies definitions and waits until the API server serves them and garbage collection knows them.
    pub async fn apply_crds(&self, definitions: &[CustomResourceDefinition]) {
        let _one_at_a_time = self.applying.lock().await;
        let api: Api<CustomResourceDefinition> = Api::all(self.client());
        let parameters = PatchParams::apply("capt-testkit").force();
        let mut any_new = false;
        for definition in definitions {
            let name = definition.name_any();
            any_new |= api.get_opt(&name).await.expect("reading a definition").is_none();
            api.patch(&name, &parameters, &Patch::Apply(definition))
                .await
                .unwrap_or_else(|error| panic!("applying the definition {name}: {error}"));
        }
        for definition in definitions {
            let name = definition.name_any();
            let established = await_condition(api.clone(), &name, is_crd_established());
            tokio::time::timeout(DEADLINE, established)
                .await
                .unwrap_or_else(|_| panic!("{name} was not established within {DEADLINE:?}"))
                .unwrap_or_else(|error| panic!("watching {name}: {error}"));
        }
        if any_new {
            // Takes milliseconds: the supervisor answers as soon as the process is started.
            self.control_plane.refresh_controllers().expect("starting the controllers again");
        }
    }
}

fn start(helper: Helper) -> ControlPlane {
    let progress = Progress::stderr();
    let parts = Parts::find(&progress).unwrap_or_else(|error| panic!("{error}"));
    // Removed by the supervisor, which is there even when this process is killed.
    let directory = tempfile::Builder::new().prefix("capt-test-").tempdir().expect("a directory").keep();
    let options = ControlPlaneOptions {
        durable: false,
        remove_when_stopped: true,
        ..ControlPlaneOptions::new(directory, helper)
    };
    ControlPlane::start(&parts, &options, &progress).unwrap_or_else(|error| panic!("{error}"))
}

async fn config(kubeconfig: &str) -> Config {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig).expect("a kubeconfig");
    Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.expect("a configuration")
}
