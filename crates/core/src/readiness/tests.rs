//! Objects as API servers show them, and as they never should.

mod batch;
mod check;
mod flux;
mod generic;
mod kinds;
mod robust;
mod workload;

use serde_json::{Value, json};

use super::*;

/// An object of a kind, of the generation 2, with a spec and a status.
fn object(api_version: &str, kind: &str, spec: &Value, status: &Value) -> Value {
    json!({
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "demo", "namespace": "default", "generation": 2},
        "spec": spec,
        "status": status,
    })
}

fn condition(type_: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({"type": type_, "status": status, "reason": reason, "message": message})
}

#[track_caller]
fn assert_health(object: &Value, state: State, message: &str) {
    let health = health(object);
    assert_eq!(health.state, state, "{health:?}");
    assert!(health.message.contains(message), "{health:?}");
}
