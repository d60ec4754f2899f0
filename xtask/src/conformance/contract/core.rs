//! The real Cluster API core as a process that never outlives this one.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use capt_local::ControlPlane;

use super::super::process::{Process, command};

/// A running core. Dropped, it is killed.
pub(in crate::conformance) struct Core {
    /// Where its webhooks listen.
    pub(super) port: u16,
    /// What its webhooks show, as PEM, and are to be trusted by.
    pub(super) certificate: String,
    process: Process,
}

impl Core {
    /// Starts it for a management cluster, in whose directory it keeps its files, with feature gates (`Name=true`).
    pub(in crate::conformance) fn start(
        program: &Path,
        management: &ControlPlane,
        gates: &[&str],
    ) -> anyhow::Result<Self> {
        let directory = management.directory().join("cluster-api");
        let certificates = directory.join("certificates");
        fs::create_dir_all(&certificates)?;
        let pair = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()])?;
        let certificate = pair.cert.pem();
        fs::write(certificates.join("tls.crt"), &certificate)?;
        fs::write(certificates.join("tls.key"), pair.signing_key.serialize_pem())?;
        let port = free_port()?;
        let mut command = command(program);
        command
            .arg(format!("--kubeconfig={}", management.kubeconfig_path().display()))
            .arg(format!("--webhook-cert-dir={}", certificates.display()))
            .arg(format!("--webhook-port={port}"))
            .arg(format!("--feature-gates={}", gates.join(",")))
            .args(["--leader-elect=false", "--insecure-diagnostics"])
            .args(["--diagnostics-address=127.0.0.1:0", "--health-addr=0"])
            .env_clear()
            .env("POD_NAMESPACE", "capi-system");
        let process = Process::start("Cluster API", command, directory.join("core.log"))?;
        Ok(Self { port, certificate, process })
    }

    /// An error when it has ended.
    pub(super) fn ensure_running(&self) -> anyhow::Result<()> {
        self.process.ensure_running()
    }

    /// How often it has connected to a cluster.
    pub(super) fn connections(&self, cluster: &str) -> usize {
        let about = format!("Cluster=\"default/{cluster}\"");
        let log = self.process.said();
        log.lines().filter(|line| line.contains("\"Connected\"") && line.contains(&about)).count()
    }

    /// The end of its log.
    pub(in crate::conformance) fn tail(&self) -> String {
        self.process.tail()
    }
}

fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind("0.0.0.0:0")?.local_addr()?.port())
}
