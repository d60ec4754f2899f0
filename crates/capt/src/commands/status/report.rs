//! What is known of a home, for programs and for people.

use std::fmt::Write as _;
use std::iter;
use std::path::PathBuf;

use capt_core::columns::aligned;
use capt_local::Ports;
use jiff::Timestamp;
use serde::Serialize;

use super::clusters::ClusterReport;
use crate::home::{self, Process, Record};

const MEBIBYTE: u64 = 1024 * 1024;

/// Whether a home runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum State {
    /// Everything in it runs.
    Running,
    /// It is being started or stopped.
    Busy,
    /// It does not run; its data is there.
    Stopped,
    /// There is none.
    Absent,
}

/// What is known of a home.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    pub(super) state: State,
    pub(super) directory: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) since: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kubeconfig: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) log: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ports: Option<Ports>,
    pub(super) disk_bytes: u64,
    /// What runs in it, where it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) running: Option<Record>,
    /// Not there where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) clusters: Option<Vec<ClusterReport>>,
}

impl Report {
    pub(super) fn sentences(&self) -> String {
        let directory = self.directory.display();
        let mut text = match (self.state, self.pid, self.since) {
            (State::Running, Some(pid), Some(since)) => {
                format!("The home in {directory} runs (pid {pid}, since {since:.0}).\n")
            }
            (State::Running | State::Busy, pid, _) => format!(
                "The home in {directory} is being started or stopped (pid {}).\n",
                pid.unwrap_or_default()
            ),
            (State::Stopped, ..) => format!(
                "The home in {directory} does not run. `{}` starts it.\n",
                home::command("up --detach", &self.directory)
            ),
            (State::Absent, ..) => {
                return format!(
                    "There is no home in {directory}. `{}` makes one.",
                    home::command("up --detach", &self.directory)
                );
            }
        };
        text.push('\n');
        if let Some(Record { server, .. }) = &self.running {
            row(&mut text, "server", server);
        }
        if let Some(kubeconfig) = &self.kubeconfig {
            row(&mut text, "kubeconfig", &kubeconfig.display().to_string());
        }
        if let Some(log) = &self.log {
            row(&mut text, "log", &log.display().to_string());
        }
        if let Some(Ports { etcd_clients, etcd_peers, api_server }) = &self.ports {
            row(
                &mut text,
                "ports",
                &format!("{api_server} (kube-apiserver), {etcd_clients}, {etcd_peers} (etcd)"),
            );
        }
        row(&mut text, "disk", &format!("{} MiB", self.disk_bytes / MEBIBYTE));
        if let Some(record) = &self.running {
            text.push_str(&processes(record));
        }
        if let Some(clusters) = &self.clusters {
            text.push_str(&table_of(clusters));
        }
        text.truncate(text.trim_end().len());
        text
    }
}

fn row(text: &mut String, name: &str, value: &str) {
    let _ = writeln!(text, "{name:<12}{value}");
}

fn processes(record: &Record) -> String {
    let Record { pid, version, processes, terraform, .. } = record;
    let mut text = format!("\n{:<26}{:<10}PID\n", "PART", "VERSION");
    let own = Process { name: "capt".to_owned(), version: version.clone(), pid: *pid };
    for Process { name, version, pid } in [&own].into_iter().chain(processes) {
        let _ = writeln!(text, "{name:<26}{version:<10}{pid}");
    }
    if let Some(terraform) = terraform {
        let _ = writeln!(text, "{} (runs when there is something to do)", terraform.display());
    }
    text
}

fn table_of(clusters: &[ClusterReport]) -> String {
    if clusters.is_empty() {
        return "\nThere are no clusters in it.\n".to_owned();
    }
    let row = |cluster: &ClusterReport| {
        let ready = if cluster.ready { "yes" } else { "no" };
        [format!("{}/{}", cluster.namespace, cluster.name), ready.to_owned(), cluster.message.clone()]
    };
    let headings = ["CLUSTER", "READY", "MESSAGE"].map(ToOwned::to_owned);
    let rows: Vec<_> = iter::once(headings).chain(clusters.iter().map(row)).collect();
    format!("\n{}\n", aligned(&rows, 3).join("\n"))
}

#[cfg(test)]
mod tests;
