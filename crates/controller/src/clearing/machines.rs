//! Machines that Karpenter made: they are no part of Terraform's state, and would run on without a cluster.

use std::collections::HashSet;

use capt_core::clearing::Left;
use kube::ResourceExt;
use kube::api::DynamicObject;
use serde_json::json;

use super::objects::{Served, held, served};
use crate::workload::{Failure, Talk};

const VERSIONS: [&str; 2] = ["karpenter.sh/v1", "karpenter.sh/v1beta1"];
/// On nodes and `NodeClaims`: the `NodePool` that they are of.
const POOL: &str = "karpenter.sh/nodepool";
/// On Karpenter's own pods.
const KARPENTER: &str = "app.kubernetes.io/name=karpenter";

/// Deletes `NodePools` and `NodeClaims`; answers what is still there.
pub(super) async fn clear(talk: &Talk<'_>) -> Result<Vec<Left>, Failure> {
    // Either may be served without the other, where a definition was lost.
    let claims = served(talk, &VERSIONS, "NodeClaim").await?;
    let pools = served(talk, &VERSIONS, "NodePool").await?;
    let (machines, sources) = (all(claims.as_ref()).await?, all(pools.as_ref()).await?);
    if machines.is_empty() && sources.is_empty() {
        return Ok(Vec::new());
    }
    let karpenter = karpenter(talk).await?;
    let (hosts, others) = karpenter.hosts(&machines);
    let kept: HashSet<_> = hosts.iter().filter_map(|machine| machine.labels().get(POOL)).collect();
    let mut left = Vec::new();
    if let Some(pools) = &pools {
        for pool in &sources {
            // A pool takes its machines along: while Karpenter lives on one of them, the pool stays and makes no more.
            if !kept.contains(&pool.name_any()) {
                pools.delete(pool).await?;
            } else if pool.data["spec"]["limits"]["cpu"] != json!("0") {
                pools.change(pool, &json!({ "spec": { "limits": { "cpu": "0" } } })).await?;
            }
        }
    }
    if let Some(claims) = &claims {
        for machine in others {
            claims.delete(machine).await?;
        }
        let machines = claims.all().await?;
        left.extend(claims.left(&machines, karpenter.remark(&machines)));
    }
    if let Some(pools) = &pools {
        left.extend(pools.left(&pools.all().await?, None));
    }
    Ok(left)
}

async fn all(kind: Option<&Served<'_>>) -> Result<Vec<DynamicObject>, Failure> {
    match kind {
        Some(kind) => kind.all().await,
        None => Ok(Vec::new()),
    }
}

/// Where Karpenter runs.
#[derive(Debug, Default)]
struct Karpenter {
    /// The nodes with a running pod of it.
    nodes: HashSet<String>,
}

async fn karpenter(talk: &Talk<'_>) -> Result<Karpenter, Failure> {
    let Some(pods) = served(talk, &["v1"], "Pod").await? else { return Ok(Karpenter::default()) };
    let pods = pods.with_labels(Some(KARPENTER)).await?;
    Ok(Karpenter { nodes: pods.iter().filter(|pod| is_running(pod)).filter_map(node).collect() })
}

fn is_running(pod: &DynamicObject) -> bool {
    pod.data["status"]["phase"] == json!("Running") && pod.metadata.deletion_timestamp.is_none()
}

fn node(pod: &DynamicObject) -> Option<String> {
    pod.data["spec"]["nodeName"].as_str().map(ToOwned::to_owned)
}

impl Karpenter {
    /// The machines that Karpenter would take itself down with, and all others. One that runs elsewhere too goes on there.
    fn hosts<'found>(
        &self,
        machines: &'found [DynamicObject],
    ) -> (Vec<&'found DynamicObject>, Vec<&'found DynamicObject>) {
        let node_of = |machine: &&'found DynamicObject| {
            let node = machine.data["status"]["nodeName"].as_str();
            node.filter(|node| self.nodes.contains(*node))
        };
        let own: HashSet<_> = machines.iter().filter_map(|machine| node_of(&machine)).collect();
        let goes_on = own.len() < self.nodes.len();
        machines.iter().partition(|machine| !goes_on && node_of(machine).is_some())
    }

    /// What there is to know about machines that are still there.
    fn remark(&self, machines: &[DynamicObject]) -> Option<String> {
        if machines.is_empty() {
            return None;
        }
        let (hosts, _) = self.hosts(machines);
        let held = held(machines).map(|held| format!("{held}; ")).unwrap_or_default();
        if self.nodes.is_empty() {
            return Some(format!("{held}no Karpenter runs in the cluster that could take them down"));
        }
        if hosts.is_empty() {
            return (!held.is_empty()).then(|| held.trim_end_matches("; ").to_owned());
        }
        let names: Vec<_> = hosts.iter().map(|machine| described(machine)).collect();
        Some(format!(
            "{held}Karpenter runs on machines of its own ({}) and cannot take those down: move it to other nodes, or end these machines by hand and delete their NodeClaims",
            names.join(", ")
        ))
    }
}

/// A machine's name, and how the cloud calls it.
fn described(machine: &DynamicObject) -> String {
    match machine.data["status"]["providerID"].as_str() {
        Some(identifier) => format!("`{}`, {identifier}", machine.name_any()),
        None => format!("`{}`", machine.name_any()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(name: &str, node: &str) -> DynamicObject {
        serde_json::from_value(json!({
            "metadata": { "name": name, "finalizers": ["karpenter.sh/termination"] },
            "status": { "nodeName": node, "providerID": format!("aws:///eu-west-1a/i-{name}") },
        }))
        .unwrap()
    }

    fn on(nodes: &[&str]) -> Karpenter {
        Karpenter { nodes: nodes.iter().map(|&node| node.to_owned()).collect() }
    }

    #[test]
    fn it_is_told_that_nobody_is_there_to_take_machines_down() {
        assert_eq!(
            on(&[]).remark(&[machine("a", "n1")]).unwrap(),
            "held by karpenter.sh/termination; no Karpenter runs in the cluster that could take them down"
        );
        assert_eq!(on(&[]).remark(&[]), None);
    }

    #[test]
    fn karpenter_on_its_own_machines_is_noticed() {
        let machines = [machine("a", "n1"), machine("b", "n2")];
        let karpenter = on(&["n2"]);
        assert_eq!(karpenter.hosts(&machines), (vec![&machines[1]], vec![&machines[0]]));
        let (hosts, others) = on(&["n2", "elsewhere"]).hosts(&machines);
        assert_eq!((hosts.len(), others.len()), (0, 2), "it goes on elsewhere");
        assert_eq!(
            karpenter.remark(&machines).unwrap(),
            "held by karpenter.sh/termination; Karpenter runs on machines of its own (`b`, aws:///eu-west-1a/i-b) and cannot take those down: move it to other nodes, or end these machines by hand and delete their NodeClaims"
        );
    }

    #[test]
    fn karpenter_elsewhere_only_needs_time() {
        assert_eq!(on(&["other"]).remark(&[machine("a", "n1")]).unwrap(), "held by karpenter.sh/termination");
    }

    #[test]
    fn a_pod_that_is_going_or_not_running_takes_nothing_down() {
        let pod = |phase: &str, going: bool| -> DynamicObject {
            let mut pod = json!({ "metadata": { "name": "a" }, "status": { "phase": phase } });
            if going {
                pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            }
            serde_json::from_value(pod).unwrap()
        };
        assert!(is_running(&pod("Running", false)));
        assert!(!is_running(&pod("Running", true)) && !is_running(&pod("Pending", false)));
    }
}
