//! Who runs the controllers.

use std::time::Duration;

use capt_api::names::MANAGER_LEASE;
use capt_core::doctor::{ClockFacts, LeaseFacts, ManagerFacts};
use capt_core::lease::Manager;
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt as _};

use crate::archive::home::Home;
use crate::archive::live::refusal;
use crate::thread::in_thread;

const PATIENCE: Duration = Duration::from_secs(5);

/// Looks for a home, and for Leases of managers.
pub(super) async fn look(client: &Client, home: Option<Home>, clock: ClockFacts) -> ManagerFacts {
    let home = match home {
        Some(home) => {
            let directory = home.directory().display().to_string();
            let answers = in_thread(move || home.answers(PATIENCE)).await.unwrap_or(false);
            Some((directory, answers))
        }
        None => None,
    };
    let leases: Api<Lease> = Api::all(client.clone());
    let selected = ListParams::default().fields(&format!("metadata.name={MANAGER_LEASE}"));
    let leases = leases.list(&selected).await.map_err(|error| refusal(&error));
    let leases = leases.map(|leases| leases.items.iter().map(facts).collect());
    ManagerFacts { home, leases, now: clock.server.unwrap_or(clock.here) }
}

fn facts(lease: &Lease) -> LeaseFacts {
    let spec = lease.spec.as_ref();
    LeaseFacts {
        namespace: lease.namespace().unwrap_or_default(),
        holder: spec.and_then(|spec| spec.holder_identity.clone()).unwrap_or_default(),
        renewed: spec.and_then(|spec| spec.renew_time.as_ref()).map(|time| time.0),
        seconds: spec.and_then(|spec| spec.lease_duration_seconds).unwrap_or_default().into(),
        manager: Manager::of(lease),
    }
}
