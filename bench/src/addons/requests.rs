//! What the stack asks of both API servers for each cluster, and what is asked while nothing changes.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use anyhow::Context;
use capt_controller::manager;
use capt_controller::options::{LeaderElection, Options};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::fleet::Fleet;
use super::proxy::Proxy;
use super::servers::Servers;
use crate::clusters::manifests::NAMESPACE;
use crate::clusters::recorder::{Asked, Recorder, Who, Written, table};
use crate::clusters::stage::LONG_QUIET;
use crate::progress::tell;

/// The first of every cluster's names.
pub(super) const PREFIX: &str = "fleet";

/// What was seen of a manager.
pub(super) struct Measured {
    pub(super) requests: Value,
    pub(super) idle: Value,
    /// What the manager wrote, in order.
    pub(super) writes: Vec<Write>,
}

/// Which API server was asked.
#[derive(Clone, Copy, Debug)]
pub(super) enum Server {
    Management,
    Workload,
}

/// A write of the manager's.
pub(super) struct Write {
    pub(super) server: Server,
    pub(super) written: Written,
}

/// Both API servers, as they are listened to.
struct Listened {
    management: Recorder,
    workload: Recorder,
    proxy: Proxy,
}

impl Listened {
    /// Waits until the manager asks neither of them for anything.
    async fn quiet(&self) {
        self.workload.quiet(LONG_QUIET).await;
        self.management.quiet(LONG_QUIET).await;
    }

    /// What the manager asked of each since this was called last.
    fn take(&self) -> (Vec<Asked>, Vec<Asked>) {
        (self.management.take(), self.workload.take())
    }
}

/// Brings the stack to so many clusters that are there, then waits for so long.
pub(super) async fn measure(clusters: NonZeroU32, idle: Duration) -> anyhow::Result<Measured> {
    let servers = Servers::start().await?;
    let management = Recorder::default();
    let workload = management.beside();
    let proxy = Proxy::to(workload.listen(servers.workload.client(), Who::Manager)).await?;
    let fleet = Fleet::new(servers.management.client(), proxy.kubeconfig().to_owned()).await?;
    tell(&format!("{clusters} clusters without add-ons"));
    let names = fleet.put_clusters(PREFIX, clusters.get()).await?;

    let shutdown = CancellationToken::new();
    let client = management.listen(servers.management.client(), Who::Manager);
    let manager = tokio::spawn(manager::run(client, options(), shutdown.clone()));
    let listened = Listened { management, workload, proxy };

    listened.quiet().await;
    anyhow::ensure!(!manager.is_finished(), "the manager does not run");

    tell(&format!("a stack is brought to {clusters} clusters, and each request is noted"));
    listened.take();
    fleet.put_stack().await?;
    fleet.until_ready(&names).await?;
    listened.quiet().await;
    let (on_management, on_workload) = listened.take();
    let requests = json!({
        "management": told(&on_management, clusters),
        "workload": told(&on_workload, clusters),
        "workload_connections": listened.proxy.connections(),
    });

    tell(&format!("nothing changes for {} s", idle.as_secs()));
    let idle = while_idle(&listened, idle).await;
    shutdown.cancel();
    manager.await.context("waiting for the manager")??;
    Ok(Measured { requests, idle, writes: writes(on_management, on_workload) })
}

fn options() -> Options {
    Options {
        leader_election: Some(LeaderElection {
            namespace: NAMESPACE.to_owned(),
            name: "capt-bench".to_owned(),
            identity: "capt-bench".to_owned(),
            lease_duration: Duration::from_secs(15),
        }),
        ..Options::default()
    }
}

/// What was asked of one API server.
fn told(asked: &[Asked], clusters: NonZeroU32) -> Value {
    let (events, rest): (Vec<_>, Vec<_>) = asked
        .iter()
        .filter(|asked| !asked.is_watch() && !asked.is_lease())
        .partition(|asked| asked.is_event());
    let each = |count: usize| u32::try_from(count).map(|count| f64::from(count) / f64::from(clusters.get()));
    let per_cluster: BTreeMap<_, _> =
        table(rest.iter().copied()).into_iter().map(|(what, count)| (what, each(count).ok())).collect();
    json!({
        "per_cluster": each(rest.len()).ok(),
        "per_cluster_by_verb_and_resource": per_cluster,
        "events_per_cluster": each(events.len()).ok(),
        "watches": asked.iter().filter(|asked| asked.is_watch()).count(),
        "refused": table(asked.iter().filter(|asked| !asked.succeeded)),
    })
}

/// What is asked for in a while in which nothing changes.
async fn while_idle(listened: &Listened, duration: Duration) -> Value {
    listened.take();
    tokio::time::sleep(duration).await;
    let (on_management, on_workload) = listened.take();
    let (kept_up, others): (Vec<_>, Vec<_>) =
        on_management.iter().partition(|asked| asked.is_watch() || asked.is_lease());
    json!({
        "seconds": duration.as_secs(),
        "workload_requests": on_workload.len(),
        "workload_requests_by_verb_and_resource": table(&on_workload),
        "workload_requests_that_are_still_open": listened.proxy.open_requests(),
        "management_watches_and_lease": table(kept_up),
        "management_others": table(others),
    })
}

/// What was written on both, in the order in which it was sent.
fn writes(management: Vec<Asked>, workload: Vec<Asked>) -> Vec<Write> {
    let of = |asked: Vec<Asked>, server| {
        let succeeded = asked.into_iter().filter(|asked| asked.succeeded && !asked.is_lease());
        succeeded.filter_map(move |asked| Some((asked.sent, Write { server, written: asked.written? })))
    };
    let mut writes: Vec<_> =
        of(management, Server::Management).chain(of(workload, Server::Workload)).collect();
    writes.sort_by_key(|(sent, _)| *sent);
    writes.into_iter().map(|(_, write)| write).collect()
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;

    fn asked(sent: usize, resource: &str, succeeded: bool, is_write: bool) -> Asked {
        let written = is_write.then(|| Written {
            method: Method::PATCH,
            path: format!("{sent}"),
            content_type: String::new(),
            body: Vec::new(),
        });
        Asked { sent, who: Who::Manager, verb: "", resource: resource.to_owned(), succeeded, written }
    }

    #[test]
    fn what_was_written_on_both_servers_keeps_its_order() {
        let management = vec![
            asked(0, "clusters", true, true),
            asked(3, "leases", true, true),
            asked(4, "clusters", true, true),
        ];
        let workload = vec![
            asked(1, "configmaps", true, false),
            asked(2, "configmaps", true, true),
            asked(5, "configmaps", false, true),
        ];
        let writes = writes(management, workload);
        let paths: Vec<_> = writes.iter().map(|write| write.written.path.as_str()).collect();
        assert_eq!(paths, ["0", "2", "4"], "neither reads nor leadership nor what was refused");
        assert!(matches!(writes[1].server, Server::Workload));
    }
}
