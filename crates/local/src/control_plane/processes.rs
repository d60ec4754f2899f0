//! The three processes and what they are told.

use std::path::Path;
use std::time::Duration;

use super::files::Files;
use super::ports::Ports;
use crate::supervisor::Process;

/// What the embedded home needs of kube-controller-manager; nodes and workloads are not here.
const CONTROLLERS: &str = "clusterrole-aggregation-controller,garbage-collector-controller,namespace-controller,serviceaccount-controller";

/// The name of the process that runs the controllers.
pub(crate) const CONTROLLER_MANAGER: &str = "kube-controller-manager";

/// Everything the arguments are made of.
pub(crate) struct Settings<'a> {
    pub(crate) files: &'a Files,
    pub(crate) ports: &'a Ports,
    pub(crate) durable: bool,
}

impl Settings<'_> {
    pub(crate) fn etcd(&self, program: &Path) -> Process {
        let clients = format!("https://127.0.0.1:{}", self.ports.etcd_clients);
        let peers = format!("https://127.0.0.1:{}", self.ports.etcd_peers);
        let Files { etcd_data, etcd_authority, etcd_certificate, etcd_key, .. } = self.files;
        let mut arguments = vec![
            "--name=capt".to_owned(),
            flag("data-dir", etcd_data),
            format!("--listen-client-urls={clients}"),
            format!("--advertise-client-urls={clients}"),
            format!("--listen-peer-urls={peers}"),
            format!("--initial-advertise-peer-urls={peers}"),
            format!("--initial-cluster=capt={peers}"),
            "--client-cert-auth".to_owned(),
            flag("trusted-ca-file", etcd_authority),
            flag("cert-file", etcd_certificate),
            flag("key-file", etcd_key),
            "--peer-client-cert-auth".to_owned(),
            flag("peer-trusted-ca-file", etcd_authority),
            flag("peer-cert-file", etcd_certificate),
            flag("peer-key-file", etcd_key),
            "--log-level=warn".to_owned(),
        ];
        if !self.durable {
            arguments.push("--unsafe-no-fsync".to_owned());
        }
        self.process("etcd", program, arguments)
    }

    pub(crate) fn api_server(&self, program: &Path) -> Process {
        let files = self.files;
        let arguments = vec![
            format!("--etcd-servers=https://127.0.0.1:{}", self.ports.etcd_clients),
            flag("etcd-cafile", &files.etcd_authority),
            flag("etcd-certfile", &files.etcd_certificate),
            flag("etcd-keyfile", &files.etcd_key),
            "--bind-address=127.0.0.1".to_owned(),
            "--advertise-address=127.0.0.1".to_owned(),
            // A loopback address may not be an endpoint, and no pod will ever ask for it.
            "--endpoint-reconciler-type=none".to_owned(),
            format!("--secure-port={}", self.ports.api_server),
            flag("tls-cert-file", &files.server_certificate),
            flag("tls-private-key-file", &files.server_key),
            flag("client-ca-file", &files.authority),
            "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
            flag("service-account-key-file", &files.service_account_public),
            flag("service-account-signing-key-file", &files.service_account_key),
            flag("encryption-provider-config", &files.encryption),
            "--authorization-mode=RBAC".to_owned(),
            "--anonymous-auth=false".to_owned(),
            "--disable-admission-plugins=ServiceAccount".to_owned(),
            "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
            "--profiling=false".to_owned(),
            // Otherwise one client that watches holds up the stop until it is killed.
            "--shutdown-watch-termination-grace-period=1s".to_owned(),
        ];
        self.process("kube-apiserver", program, arguments)
    }

    pub(crate) fn controller_manager(&self, program: &Path) -> Process {
        let arguments = vec![
            flag("kubeconfig", &self.files.controller_manager_kubeconfig),
            format!("--controllers={CONTROLLERS}"),
            "--use-service-account-credentials=false".to_owned(),
            "--leader-elect=false".to_owned(),
            // It listens on nothing.
            "--secure-port=0".to_owned(),
            "--profiling=false".to_owned(),
        ];
        self.process(CONTROLLER_MANAGER, program, arguments)
    }

    fn process(&self, name: &str, program: &Path, arguments: Vec<String>) -> Process {
        // Data that need not survive needs no orderly end either.
        let grace = if self.durable { Duration::from_secs(10) } else { Duration::ZERO };
        Process {
            name: name.to_owned(),
            program: program.to_owned(),
            arguments,
            log: self.files.log(name),
            grace,
        }
    }
}

fn flag(name: &str, path: &Path) -> String {
    format!("--{name}={}", path.display())
}
