//! The workloads of the home as seen from asynchronous code.

use std::sync::Arc;

use anyhow::Context;
use capt_local::Helper;
use capt_local::workload::{self, Notice, WorkloadsOptions};

use super::control_plane::Running;
use crate::signals::Stop;
use crate::thread::{in_thread, spawn};

/// The control planes that this home looks after, besides its own.
pub(super) struct Workloads(Arc<workload::Workloads>);

impl Workloads {
    /// Begins to start those that are there, and to take requests for more.
    pub(super) async fn start(control_plane: &Running) -> anyhow::Result<Self> {
        let options = WorkloadsOptions {
            home: control_plane.directory().to_owned(),
            parts: control_plane.parts().clone(),
            helper: Helper::current_exe().context("finding the path of this program")?,
            durable: true,
            notify: Box::new(tell),
        };
        let workloads = in_thread(move || workload::Workloads::start(options)).await?;
        Ok(Self(Arc::new(workloads.context("looking after workloads")?)))
    }

    /// Stops all in order, or kills all when hurried.
    pub(super) async fn stop(self, stop: &Stop) {
        let workloads = Arc::clone(&self.0);
        let stopped = spawn(move || workloads.stop());
        // What is being started when all else is killed ends with us.
        if stop.hurried.run_until_cancelled(stopped).await.is_none() {
            self.0.kill();
        }
    }
}

fn tell(notice: Notice) {
    let Notice { workload, message, trouble } = notice;
    if trouble {
        tracing::warn!(workload, "{message}");
    } else {
        tracing::info!(workload, "{message}");
    }
}
