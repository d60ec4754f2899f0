//! What is asked of a home and what it answers: one JSON value a line, one request a connection.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::name::WorkloadName;

/// To the home.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Request {
    /// Make the workload, or start it, and answer when it is ready. One that runs is ready at once.
    Start {
        /// Which one.
        name: WorkloadName,
    },
    /// Stop the workload and delete its data. One that is not there is stopped at once.
    Stop {
        /// Which one.
        name: WorkloadName,
    },
    /// Tell how the workload is, and change nothing.
    Status {
        /// Which one.
        name: WorkloadName,
    },
    /// Stop the workload, copy its data to where [`super::passing_directory`] says, start it again, and answer when it is ready.
    Copy {
        /// Which one.
        name: WorkloadName,
    },
    /// Make a workload of the data that is where [`super::passing_directory`] says, start it, and answer when it is ready.
    Adopt {
        /// Which one; there must not be one of this name.
        name: WorkloadName,
    },
}

/// From the home. All but [`Answer::Progress`] end the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    /// It takes time.
    Progress {
        /// What is being done.
        message: String,
    },
    /// The workload answers requests of its clients.
    Ready(Workload),
    /// Neither processes nor data are left.
    Stopped,
    /// How the workload is.
    Status(Status),
    /// It could not be done.
    Failed {
        /// Why.
        message: String,
    },
}

/// How a workload is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "state")]
pub enum Status {
    /// There is none of this name.
    #[default]
    Absent,
    /// It is being started.
    Starting,
    /// It runs.
    Ready(Workload),
    /// It does not run, and will be started again soon.
    Failed {
        /// Why it does not run.
        message: String,
    },
    /// It is being stopped and deleted.
    Stopping,
}

/// A workload that runs. It stays the same over restarts, unless the version of Kubernetes changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Workload {
    /// Its name.
    pub name: WorkloadName,
    /// Where its API server listens.
    pub server: String,
    /// The certificate that clients know the API server by: PEM in base64, as kubeconfigs have it.
    pub certificate_authority_data: String,
    /// Which Kubernetes it is, for example `1.34.4`.
    pub kubernetes_version: String,
    /// The file with the administrator's kubeconfig, readable by its owner alone.
    pub kubeconfig: PathBuf,
}
