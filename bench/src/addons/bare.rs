//! Makes the writes of a manager again, on API servers where nobody works: what nobody can undercut.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use anyhow::Context;

use super::fleet::Fleet;
use super::requests::{PREFIX, Server, Write};
use super::servers::Servers;
use crate::clusters::replay::{cluster, in_lanes, without_identity};
use crate::progress::tell;

/// The writes of each cluster go one after the other, those of so many clusters at the same time.
pub(super) async fn measure(
    writes: &[Write],
    clusters: NonZeroU32,
    concurrency: u16,
) -> anyhow::Result<Duration> {
    let servers = Servers::start().await?;
    let fleet =
        Fleet::new(servers.management.client(), servers.workload.control_plane().kubeconfig()).await?;
    fleet.put_clusters(PREFIX, clusters.get()).await?;
    fleet.put_stack().await?;
    tell(&format!("the same {} writes without a manager", writes.len()));
    let (management, workload) = (servers.management.client(), servers.workload.client());
    // What is of no cluster is of the stack itself.
    let mut lanes = BTreeMap::<_, Vec<_>>::new();
    for Write { server, written } in writes {
        let written = without_identity(written)?;
        let client = match server {
            Server::Management => &management,
            Server::Workload => &workload,
        };
        lanes.entry(cluster(&written, PREFIX)).or_default().push((client.clone(), written));
    }
    // The first request opens the connection.
    for client in [&management, &workload] {
        client.apiserver_version().await.context("asking for the version")?;
    }
    in_lanes(lanes.into_values(), concurrency).await
}
