//! Brings manifests and values to the cluster.

use capt_api::names::{MANAGED_BY_CAPT, Reason, annotation, label};
use capt_api::resource_set::ResourceKind;
use capt_core::addon::names::field_manager;
use capt_core::apply::Blocked;
use capt_core::manifest::{Manifest, ObjectKey, Place};
use capt_core::values::Wanted;
use k8s_openapi::ByteString;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use tracing::warn;

use super::super::memory::StepMemory;
use crate::deliver::{Delivered, Known, Mode, Order, Trouble, deliver, inventory, prune};
use crate::workload::Talk;

/// The value of Flux's label on what it is to look at as soon as it changes.
const ENABLED: &str = "Enabled";

/// Brings the manifests of an add-on, and takes away what they no longer hold. Answers how many objects were made or changed.
pub(super) async fn manifests(
    talk: &Talk<'_>,
    claim: &str,
    manifests: &[Manifest],
    memory: &mut StepMemory,
) -> Result<usize, Blocked> {
    let wanted: Vec<ObjectKey> = manifests.iter().map(Manifest::key).collect();
    let before = match memory.inventory.take() {
        Some(known) => known,
        None => inventory::read(talk, claim).await.map_err(blocked)?,
    };
    if let Some(problem) = &before.problem {
        warn!(claim, problem, "what was brought before is not known");
    }
    // What is about to be made is written down first: nothing is forgotten if we are killed in between.
    let noted = inventory::write(talk, claim, &before.with(&wanted), Some(&before)).await.map_err(blocked)?;
    let manager = field_manager(claim);
    let order =
        Order { manifests, manager: &manager, claim: Some(claim), mode: Mode::Keep, known: &memory.known };
    let delivered = deliver(talk, &order).await;
    let (written, trouble) = (delivered.written(), delivered.trouble());
    memory.known = delivered.known;
    if let Some(trouble) = trouble {
        memory.inventory = Some(noted);
        return Err(blocked(trouble));
    }
    let removed = prune(talk, &noted.objects, &wanted, claim).await;
    let mut left = wanted;
    left.extend(removed.remaining());
    let trouble = removed.trouble();
    memory.inventory = Some(inventory::write(talk, claim, &left, Some(&noted)).await.map_err(blocked)?);
    trouble.map_or(Ok(written), |trouble| Err(blocked(trouble)))
}

/// Writes a Secret with values, and the namespace that it is in where there is none.
pub(super) async fn values(talk: &Talk<'_>, claim: &str, wanted: &Wanted) -> Result<(), Blocked> {
    let secret = [manifest(secret(wanted))];
    let delivered = put(talk, claim, &secret).await;
    let Some(trouble) = delivered.trouble() else { return Ok(()) };
    if trouble.reason != Reason::NamespaceMissing {
        return Err(blocked(trouble));
    }
    let namespace = [manifest(json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": wanted.namespace },
    }))];
    let manager = field_manager(claim);
    // It is nobody's: it stays when the add-on goes, since others may have put something into it.
    let order = Order {
        manifests: &namespace,
        manager: &manager,
        claim: None,
        mode: Mode::Once,
        known: &Known::new(),
    };
    let made = deliver(talk, &order).await;
    if let Some(trouble) = made.trouble() {
        return Err(blocked(trouble));
    }
    put(talk, claim, &secret).await.trouble().map_or(Ok(()), |trouble| Err(blocked(trouble)))
}

async fn put(talk: &Talk<'_>, claim: &str, manifests: &[Manifest]) -> Delivered {
    let manager = format!("{}-values", field_manager(claim));
    let known = Known::new();
    let order = Order { manifests, manager: &manager, claim: Some(claim), mode: Mode::Keep, known: &known };
    deliver(talk, &order).await
}

fn secret(wanted: &Wanted) -> Value {
    let data = wanted.data.iter();
    let data: serde_json::Map<String, Value> = data
        .map(|(key, value)| (key.clone(), json!(ByteString(value.expose_secret().as_bytes().to_vec()))))
        .collect();
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {
            "name": wanted.name, "namespace": wanted.namespace,
            "labels": { label::MANAGED_BY: MANAGED_BY_CAPT, label::FLUX_WATCH: ENABLED },
            "annotations": { annotation::VALUES_DIGEST: wanted.digest },
        },
        "data": data,
    })
}

/// An object that stands in no `ConfigMap` and no Secret.
fn manifest(object: Value) -> Manifest {
    let place = Place {
        kind: ResourceKind::Secret,
        name: "values".to_owned(),
        key: "values".to_owned(),
        document: 1,
        item: None,
    };
    Manifest { place, object }
}

pub(super) fn blocked(trouble: Trouble) -> Blocked {
    Blocked::new(trouble.reason, trouble.message)
}
