//! Resources whose making was interrupted. Terraform makes them anew, and does not run the destroy provisioner of the old ones:
//! so what those left in the world is nobody's fault.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use k8s_openapi::api::core::v1::Secret;
use kube::Client;
use kube::api::{Api, ListParams};
use serde_json::Value;

/// Every state of the soak has this key, and so has every copy.
const KEY: &str = "tfstate";
/// A state that could not be stored.
const ERRORED: &str = "errored.tfstate";

/// A state that a Secret holds.
pub(in crate::soak) fn unpack(secret: &Secret) -> Option<Value> {
    let packed = secret.data.as_ref()?.get(KEY)?;
    let mut text = String::new();
    GzDecoder::new(packed.0.as_slice()).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// `<number>/<id>` of every resource of a state, and whether it is tainted.
pub(in crate::soak) fn resources(state: &Value) -> Vec<(String, bool)> {
    let all = state["resources"].as_array().into_iter().flatten();
    let instances = all.flat_map(|resource| resource["instances"].as_array().into_iter().flatten());
    instances
        .map(|instance| {
            let id = instance["attributes"]["id"].as_str().unwrap_or_default();
            (format!("{}/{id}", instance["index_key"]), instance["status"] == "tainted")
        })
        .collect()
}

/// Collects tainted resources from states, their copies, and states that are only in files.
pub(super) async fn collect(
    client: &Client,
    directory: &Path,
    found: &mut BTreeSet<String>,
) -> anyhow::Result<()> {
    let secrets: Api<Secret> = Api::default_namespaced(client.clone());
    for secret in secrets.list(&ListParams::default()).await? {
        found.extend(unpack(&secret).iter().flat_map(tainted));
    }
    from_files(directory, found)
}

fn from_files(directory: &Path, found: &mut BTreeSet<String>) -> anyhow::Result<()> {
    // Directories come and go while runs go on.
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            from_files(&path, found)?;
        } else if path.file_name().is_some_and(|name| name == ERRORED) {
            let state = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
            found.extend(state.iter().flat_map(tainted));
        }
    }
    Ok(())
}

fn tainted(state: &Value) -> Vec<String> {
    resources(state).into_iter().filter_map(|(name, tainted)| tainted.then_some(name)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_was_interrupted_is_excused() {
        let state = json!({ "resources": [{ "instances": [
            { "index_key": 0, "attributes": { "id": "a" } },
            { "index_key": 1, "attributes": { "id": "b" }, "status": "tainted" },
        ] }] });
        assert_eq!(tainted(&state), ["1/b"]);
        assert_eq!(resources(&state).len(), 2);
    }
}
