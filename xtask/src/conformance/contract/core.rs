//! The real Cluster API core as a process that never outlives this one.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, bail};
use capt_local::ControlPlane;

/// What makes this program, by `capt_local::supervisor::run_if_asked`, become another one that dies with it.
const EXEC: &str = "__exec";
const PAUSE: Duration = Duration::from_millis(100);
const LINES: usize = 40;

/// A running core. Dropped, it is killed.
pub(super) struct Core {
    log: PathBuf,
    ended: Arc<OnceLock<String>>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Core {
    /// Starts it for a management cluster, in whose directory it keeps its files.
    pub(super) fn start(program: &Path, management: &ControlPlane) -> anyhow::Result<Self> {
        let directory = management.directory().join("cluster-api");
        let certificates = directory.join("certificates");
        fs::create_dir_all(&certificates)?;
        let pair = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
        fs::write(certificates.join("tls.crt"), pair.cert.pem())?;
        fs::write(certificates.join("tls.key"), pair.signing_key.serialize_pem())?;
        let log = directory.join("core.log");
        let file = File::create(&log)?;
        let mut command = Command::new("/proc/self/exe");
        command
            .args([EXEC, &std::process::id().to_string()])
            .arg(program)
            .arg(format!("--kubeconfig={}", management.kubeconfig_path().display()))
            .arg(format!("--webhook-cert-dir={}", certificates.display()))
            .arg(format!("--webhook-port={}", free_port()?))
            .args(["--leader-elect=false", "--insecure-diagnostics"])
            .args(["--diagnostics-address=127.0.0.1:0", "--health-addr=0"])
            .env_clear()
            .env("POD_NAMESPACE", "capi-system")
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file);
        let ended = Arc::new(OnceLock::new());
        let (stop, told) = channel();
        let (started, starting) = channel();
        let end = Arc::clone(&ended);
        // The kernel ends the process with the thread that started it, so that thread stays.
        let thread = thread::spawn(move || match command.spawn() {
            Ok(child) => {
                let _ = started.send(Ok(()));
                look_after(child, &told, &end);
            }
            Err(error) => drop(started.send(Err(error))),
        });
        starting.recv()?.context("starting Cluster API")?;
        Ok(Self { log, ended, stop: Some(stop), thread: Some(thread) })
    }

    /// An error when it has ended.
    pub(super) fn ensure_running(&self) -> anyhow::Result<()> {
        match self.ended.get() {
            None => Ok(()),
            Some(how) => bail!("Cluster API ended ({how}):\n{}", self.tail()),
        }
    }

    /// How often it has connected to a cluster.
    pub(super) fn connections(&self, cluster: &str) -> usize {
        let about = format!("Cluster=\"default/{cluster}\"");
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        log.lines().filter(|line| line.contains("\"Connected\"") && line.contains(&about)).count()
    }

    /// The end of its log.
    pub(super) fn tail(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(LINES)..].join("\n")
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn look_after(mut child: Child, told: &Receiver<()>, ended: &OnceLock<String>) {
    while let Err(RecvTimeoutError::Timeout) = told.recv_timeout(PAUSE) {
        if let Ok(Some(status)) = child.try_wait() {
            let _ = ended.set(status.to_string());
            return;
        }
    }
    // Both fail when it has ended already.
    let _ = child.kill();
    let _ = child.wait();
}

fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind("0.0.0.0:0")?.local_addr()?.port())
}
