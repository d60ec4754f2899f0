//! What Cluster API itself writes down of what it has brought.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capt_core::manifest::hash;
use serde_json::{Value, json};

use super::super::hands::{Kind, SOON};
use super::super::home::Home;

/// A `ClusterResourceSet` and the one resource that it brings.
pub(super) type Set = (&'static str, Kind, &'static str);

pub(super) const FLUX: Set = ("fluxcd-installer", Kind::ConfigMap, "fluxcd-install");
pub(super) const KARPENTER: Set = ("karpenter-installer", Kind::ConfigMap, "karpenter-resources");
pub(super) const VALUES_BY_HAND: Set = ("karpenter-config", Kind::Secret, "demo-eks-connection-resources");

/// Waits until exactly these sets have brought exactly what is in their resources now.
pub(super) async fn exactly(home: &Home, cluster: &str, sets: &[Set]) -> anyhow::Result<()> {
    let mut wanted = BTreeMap::new();
    for (set, kind, name) in sets {
        let entry = json!({
            "kind": format!("{kind:?}"), "name": name, "applied": true, "hash": digest(home, *kind, name).await?,
        });
        wanted.insert((*set).to_owned(), vec![entry]);
    }
    let binding = Kind::ResourceSetBinding;
    home.until(binding, cluster, SOON, |binding| {
        let found = entries(binding);
        if found == wanted { Vec::new() } else { vec![format!("it tells {found:?} and not {wanted:?}")] }
    })
    .await?;
    Ok(())
}

/// By set, without the times.
fn entries(binding: &Value) -> BTreeMap<String, Vec<Value>> {
    let mut entries = BTreeMap::new();
    for binding in binding["spec"]["bindings"].as_array().into_iter().flatten() {
        let mut resources = binding["resources"].as_array().cloned().unwrap_or_default();
        for resource in resources.iter_mut().filter_map(Value::as_object_mut) {
            resource.remove("lastAppliedTime");
        }
        let set = binding["clusterResourceSetName"].as_str().unwrap_or_default();
        entries.insert(set.to_owned(), resources);
    }
    entries
}

/// The digest of what is in a resource, by CAPT's own reckoning.
async fn digest(home: &Home, kind: Kind, name: &str) -> anyhow::Result<String> {
    let resource = home.expect(kind, name).await?;
    let data: BTreeMap<String, String> = serde_json::from_value(resource["data"].clone())?;
    if kind == Kind::ConfigMap {
        return Ok(hash(&data));
    }
    let decoded = data.into_iter().map(|(key, value)| Ok((key, STANDARD.decode(value)?)));
    Ok(hash(&decoded.collect::<anyhow::Result<BTreeMap<_, _>>>()?))
}
