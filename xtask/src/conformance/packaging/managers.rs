//! Managers as the chart's Deployment would run them: its own arguments, the token of its own account, no other right.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, ensure};
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use super::super::process::{Process, command};
use super::super::server::Server;
use super::helm::NAMESPACE;
use super::rights;

const PAUSE: Duration = Duration::from_millis(200);
const READY_WITHIN: Duration = Duration::from_secs(90);
const ENDED_WITHIN: Duration = Duration::from_secs(60);
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);

/// What the arguments of the Deployment say that is not so here.
const PLACES: [&str; 3] = ["--diagnostics-address=", "--terraform-directory=", "--plugin-cache="];

/// One of several managers.
pub(super) struct Manager {
    process: Process,
    address: SocketAddr,
    // Removed after the process has ended.
    _directory: TempDir,
}

impl Manager {
    /// Starts one, with what the Deployment in the cluster says.
    pub(super) async fn start(capt: &Path, server: &Server) -> anyhow::Result<Self> {
        let directory = tempfile::Builder::new().prefix("capt-manager-").tempdir()?;
        let kubeconfig = rights::as_a_file(server, directory.path()).await?;
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let mut arguments = server.arguments_of(NAMESPACE, "capt-manager").await?;
        for place in PLACES {
            ensure!(
                arguments.iter().any(|argument| argument.starts_with(place)),
                "the chart gives no {place}"
            );
        }
        arguments.retain(|argument| !PLACES.iter().any(|place| argument.starts_with(place)));
        let here = directory.path();
        let mut command = command(capt);
        command
            .args(&arguments)
            .arg(format!("--diagnostics-address={address}"))
            .arg(format!("--terraform-directory={}", here.join("work").display()))
            .arg(format!("--plugin-cache={}", here.join("plugins").display()))
            .arg("--kubeconfig")
            .arg(&kubeconfig)
            .env_remove("KUBECONFIG")
            .env("POD_NAMESPACE", NAMESPACE);
        let process = Process::start("capt manager", command, here.join("log"))?;
        Ok(Self { process, address, _directory: directory })
    }

    /// What it serves under a path.
    pub(super) fn serves(&self, path: &str) -> anyhow::Result<String> {
        let mut stream = TcpStream::connect_timeout(&self.address, ANSWERED_WITHIN)?;
        stream.set_read_timeout(Some(ANSWERED_WITHIN))?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").context("an answer without a body")?;
        ensure!(head.starts_with("HTTP/1.1 200"), "{path}: {}", head.lines().next().unwrap_or_default());
        Ok(body.to_owned())
    }

    /// Whether it is the one that acts.
    pub(super) fn leads(&self) -> anyhow::Result<bool> {
        Ok(self.serves("/metrics")?.lines().any(|line| line == "capt_leader 1"))
    }

    /// Everything that it said so far.
    pub(super) fn said(&self) -> String {
        self.process.said()
    }

    /// Asks it to end, and hands on what it said.
    pub(super) fn end(self) -> anyhow::Result<String> {
        self.process.end(ENDED_WITHIN)?;
        Ok(self.process.said())
    }

    async fn is_ready(&self) -> anyhow::Result<()> {
        let deadline = Instant::now() + READY_WITHIN;
        loop {
            self.process.ensure_running()?;
            let Err(lack) = self.serves("/readyz") else { return Ok(()) };
            let late = Instant::now() > deadline;
            ensure!(!late, "a manager was not ready after {READY_WITHIN:?}: {lack}\n{}", self.process.tail());
            sleep(PAUSE).await;
        }
    }
}

/// Waits until all are ready and one of them acts; that one comes first.
pub(super) async fn sort_themselves_out(managers: Vec<Manager>) -> anyhow::Result<Vec<Manager>> {
    for manager in &managers {
        manager.is_ready().await?;
    }
    let deadline = Instant::now() + READY_WITHIN;
    loop {
        let leaders: Vec<bool> = managers.iter().map(Manager::leads).collect::<anyhow::Result<_>>()?;
        let active = leaders.iter().filter(|leads| **leads).count();
        ensure!(active <= 1, "{active} managers are active");
        if let Some(place) = leaders.iter().position(|leads| *leads) {
            let mut managers = managers;
            managers.swap(0, place);
            return Ok(managers);
        }
        ensure!(Instant::now() < deadline, "no manager is active after {READY_WITHIN:?}");
        sleep(PAUSE).await;
    }
}
