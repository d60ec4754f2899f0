//! Tells what came of a reconcile: status and Events, on every exit.

use capt_api::CAPTCluster;
use capt_api::capt_cluster::CAPTClusterStatus;
use capt_core::network::decide::Step;
use capt_core::network::status::{self, Report};
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::{Map, Value, json};

use super::act::Done;
use super::observe;
use crate::context::{Context, now};
use crate::error::Error;
use crate::events;
use crate::write;

/// Writes the status if it has changed, publishes Events, and hands on what went wrong.
pub(super) async fn report(
    network: &CAPTCluster,
    step: &Step,
    done: Result<Done, Error>,
    context: &Context,
) -> Result<(), Error> {
    if matches!(done, Ok(Done::Released)) {
        return Ok(());
    }
    let outcome = match &done {
        Ok(_) => Ok(()),
        Err(error) => Err(error.blocked()),
    };
    let (apply, workspace) = observe::own(network, context);
    let now = now();
    let facts = Report {
        network,
        step,
        outcome: &outcome,
        apply: apply.as_ref(),
        workspace: workspace.as_ref(),
        now: &now,
    };
    let told = tell(network, facts, context).await;
    done.and(told)
}

async fn tell(network: &CAPTCluster, facts: Report<'_>, context: &Context) -> Result<(), Error> {
    let Some(next) = status::status(facts) else { return Ok(()) };
    events::publish(context, network, &status::notes(facts, &next)).await;
    if network.status.as_ref() == Some(&next) {
        return Ok(());
    }
    let networks: Api<CAPTCluster> =
        Api::namespaced(context.client.clone(), &network.namespace().unwrap_or_default());
    let name = network.name_any();
    let doing = format!("writing the status of CAPTCluster `{name}`");
    let written = Error::unless_gone(write::apply_status(&networks, network, &next, &doing).await)?;
    let Some(written) = written else { return Ok(()) };
    let written = match leftovers(written.status.as_ref(), &next) {
        None => written,
        Some(patch) => {
            let parameters = PatchParams::default();
            let cleared = networks.patch_status(&name, &parameters, &Patch::Merge(patch)).await;
            match Error::unless_gone(cleared.map_err(Error::api(doing)))? {
                Some(cleared) => cleared,
                None => return Ok(()),
            }
        }
    };
    context.networks.remember(written);
    Ok(())
}

/// The patch that takes away what an apply leaves because others wrote it, as the earlier implementation did.
fn leftovers(written: Option<&CAPTClusterStatus>, next: &CAPTClusterStatus) -> Option<Value> {
    let nulls = surplus(&json!(written), &json!(next));
    (!nulls.is_empty()).then(|| json!({ "status": nulls }))
}

/// Every field of `present` that is not in `wanted`, with `null` for its value.
fn surplus(present: &Value, wanted: &Value) -> Map<String, Value> {
    let (Value::Object(present), Value::Object(wanted)) = (present, wanted) else { return Map::new() };
    let fields = present.iter().filter_map(|(key, value)| match wanted.get(key) {
        None => Some((key.clone(), Value::Null)),
        Some(wanted) => {
            let inner = surplus(value, wanted);
            (!inner.is_empty()).then(|| (key.clone(), Value::Object(inner)))
        }
    });
    fields.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_should_not_be_there_is_taken_away() {
        let present = json!({ "a": 1, "b": { "c": 1, "d": 1 }, "e": [{ "f": 1 }] });
        let wanted = json!({ "b": { "c": 2 }, "e": [], "g": 1 });
        assert_eq!(json!(surplus(&present, &wanted)), json!({ "a": null, "b": { "d": null } }));
        assert!(surplus(&wanted, &wanted).is_empty());
    }
}
