//! Volumes: claims are deleted, and what uses them is scaled to nothing before.

use std::collections::HashSet;

use capt_core::clearing::Left;
use kube::ResourceExt;
use kube::api::DynamicObject;
use serde_json::{Value, json};

use super::objects::{Served, held, name, served};
use crate::workload::{Failure, Talk};

/// Deletes `PersistentVolumeClaims`; answers what is still there, with the volumes that go with them.
pub(super) async fn clear(talk: &Talk<'_>) -> Result<Vec<Left>, Failure> {
    let (Some(claims), Some(volumes)) = (
        served(talk, &["v1"], "PersistentVolumeClaim").await?,
        served(talk, &["v1"], "PersistentVolume").await?,
    ) else {
        return Ok(Vec::new());
    };
    let claimed = claims.all().await?;
    if !claimed.is_empty() {
        free(talk).await?;
        for claim in &claimed {
            claims.delete(claim).await?;
        }
    }
    let claimed = claims.all().await?;
    let going: Vec<_> = volumes.all().await?.into_iter().filter(goes_with_its_claim).collect();
    let left = [claims.left(&claimed, held(&claimed)), volumes.left(&going, held(&going))];
    Ok(left.into_iter().flatten().collect())
}

/// Whether the volume in the cloud goes when its claim has gone. Others are kept on purpose.
fn goes_with_its_claim(volume: &DynamicObject) -> bool {
    let spec = &volume.data["spec"];
    spec["persistentVolumeReclaimPolicy"] == json!("Delete") && !spec["claimRef"].is_null()
}

/// Scales to nothing what uses claims, and deletes pods that nobody would make again.
async fn free(talk: &Talk<'_>) -> Result<(), Failure> {
    let Some(pods) = served(talk, &["v1"], "Pod").await? else { return Ok(()) };
    let users: Vec<_> = pods.all().await?.into_iter().filter(uses_claims).collect();
    if users.is_empty() {
        return Ok(());
    }
    let replica_sets = owners(&users, "ReplicaSet");
    scale(talk, "StatefulSet", &owners(&users, "StatefulSet")).await?;
    let deployments = match served(talk, &["apps/v1"], "ReplicaSet").await? {
        None => HashSet::new(),
        Some(served) => {
            let sets = served.all().await?;
            let using: Vec<_> = sets.into_iter().filter(|set| replica_sets.contains(&name(set))).collect();
            owners(&using, "Deployment")
        }
    };
    scale(talk, "Deployment", &deployments).await?;
    for pod in users.iter().filter(|pod| pod.owner_references().is_empty()) {
        pods.delete(pod).await?;
    }
    Ok(())
}

async fn scale(talk: &Talk<'_>, kind: &'static str, names: &HashSet<String>) -> Result<(), Failure> {
    let Some(served) = served(talk, &["apps/v1"], kind).await?.filter(|_: &Served<'_>| !names.is_empty())
    else {
        return Ok(());
    };
    let running = served.all().await?;
    let running = running.iter().filter(|object| names.contains(&name(object)));
    for object in running.filter(|object| object.data["spec"]["replicas"] != json!(0)) {
        served.change(object, &json!({ "spec": { "replicas": 0 } })).await?;
    }
    Ok(())
}

fn uses_claims(pod: &DynamicObject) -> bool {
    let volumes = pod.data["spec"]["volumes"].as_array();
    let is_claim =
        |volume: &Value| !volume["persistentVolumeClaim"].is_null() || !volume["ephemeral"].is_null();
    volumes.is_some_and(|volumes| volumes.iter().any(is_claim))
}

/// The owners of a kind, with their namespaces.
fn owners(objects: &[DynamicObject], kind: &str) -> HashSet<String> {
    let named = objects.iter().flat_map(|object| {
        let namespace = object.namespace().unwrap_or_default();
        let owners = object.owner_references().iter().filter(|owner| owner.kind == kind);
        owners.map(move |owner| format!("{namespace}/{}", owner.name)).collect::<Vec<_>>()
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> DynamicObject {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn only_pods_with_claims_are_in_the_way() {
        let pod = |volumes| object(json!({ "metadata": { "name": "a" }, "spec": { "volumes": volumes } }));
        assert!(uses_claims(&pod(json!([{ "name": "v", "persistentVolumeClaim": { "claimName": "c" } }]))));
        assert!(uses_claims(&pod(json!([{ "name": "v", "ephemeral": { "volumeClaimTemplate": {} } }]))));
        assert!(!uses_claims(&pod(json!([{ "name": "v", "emptyDir": {} }]))));
        assert!(!uses_claims(&pod(json!(null))) && !uses_claims(&pod(json!("odd"))));
    }

    #[test]
    fn volumes_that_are_kept_on_purpose_are_not_waited_for() {
        let volume = |policy: &str, reference: Value| {
            let spec = json!({ "persistentVolumeReclaimPolicy": policy, "claimRef": reference });
            object(json!({ "metadata": { "name": "a" }, "spec": spec }))
        };
        assert!(goes_with_its_claim(&volume("Delete", json!({ "name": "c" }))));
        assert!(!goes_with_its_claim(&volume("Retain", json!({ "name": "c" }))));
        assert!(!goes_with_its_claim(&volume("Delete", json!(null))), "nobody has claimed it");
    }

    #[test]
    fn owners_are_told_apart_by_kind_and_namespace() {
        let pod = object(json!({ "metadata": {
            "name": "a", "namespace": "n",
            "ownerReferences": [
                { "apiVersion": "apps/v1", "kind": "StatefulSet", "name": "s", "uid": "1" },
                { "apiVersion": "v1", "kind": "Node", "name": "s", "uid": "2" },
            ],
        } }));
        assert_eq!(owners(&[pod], "StatefulSet"), HashSet::from(["n/s".to_owned()]));
    }
}
