//! Kinds of the core group that are not workloads.

use super::Health;
use super::object::Object;

pub(super) fn persistent_volume_claim(object: Object<'_>) -> Health {
    match object.text("/status/phase") {
        Some("Bound") => Health::current(),
        Some(phase) => Health::in_progress(&format!("it has no volume yet: its phase is {phase}")),
        None => Health::in_progress("it has no volume yet"),
    }
}

pub(super) fn service(object: Object<'_>) -> Health {
    if object.text("/spec/type") != Some("LoadBalancer") {
        return Health::current();
    }
    if object.text("/spec/clusterIP").is_none() {
        return Health::in_progress("it has no cluster IP yet");
    }
    let mut ingress = object.items("/status/loadBalancer/ingress");
    let reachable = ingress.any(|at| at.text("/ip").or_else(|| at.text("/hostname")).is_some());
    if reachable { Health::current() } else { Health::in_progress("its load balancer has no address yet") }
}

pub(super) fn namespace(object: Object<'_>) -> Health {
    match object.text("/status/phase") {
        Some("Active") => Health::current(),
        Some("Terminating") => Health::terminating(),
        Some(_) | None => Health::in_progress("it is not active yet"),
    }
}
