//! Which local clusters a backup holds.

use std::collections::BTreeSet;

use capt_local::workload::WorkloadName;
use serde_json::Value;

use super::collect::{Collected, Scope};
use crate::archive::home::Home;

/// All local clusters of a home, or those that control planes of the namespace are.
pub(super) fn of(home: &Home, scope: &Scope, collected: &Collected) -> anyhow::Result<Vec<WorkloadName>> {
    let mut names = home.workloads()?;
    if matches!(scope, Scope::Namespace(_)) {
        let servers: BTreeSet<String> = collected.objects.values().filter_map(server).collect();
        names.retain(|name| home.server(name).is_some_and(|server| servers.contains(&server)));
    }
    Ok(names)
}

/// Where a control plane listens.
fn server(object: &Value) -> Option<String> {
    let endpoint = &object["spec"]["controlPlaneEndpoint"];
    Some(format!("https://{}:{}", endpoint["host"].as_str()?, endpoint["port"].as_u64()?))
}
