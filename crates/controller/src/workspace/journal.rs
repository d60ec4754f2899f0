//! Puts on record what an apply has begun and finished, while it goes on.
//!
//! What a tool has not stored dies with it. The record names the calls that were in flight then, and what those before them made.

use std::sync::Arc;
use std::time::Duration;

use capt_core::workspace::interrupted::{InterruptedCall, MadeObject};
use capt_terraform::{BegunCall, Calls, FailedImport, FinishedCall, Import};
use kube::Client;
use tokio::sync::watch;
use tokio::time::sleep;
use tracing::warn;

use super::Terraform;
use super::place::Place;
use super::record::Record;
use crate::error::Error;

/// Calls are put on record no more often than this: a call that begins and dies in between is known to nobody.
const PAUSE: Duration = Duration::from_millis(20);
/// A record with many calls is written less often: so much longer is the pause for each of them.
const PAUSE_FOR_EACH: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// After a failure it is tried again after this.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(500);
/// So often it is tried once the run has ended. What is on record then names too much, and a person is asked to look.
const MOST_TRIES_AT_THE_END: usize = 10;

/// Puts the calls of one run on record.
pub(super) struct Journal {
    client: Client,
    place: Place,
    terraform: Arc<Terraform>,
    /// What earlier applies made and what is not known to be in the state.
    earlier: Vec<FinishedCall>,
    /// Calls of an earlier apply of which nobody can say yet whether it died.
    undecided: Vec<BegunCall>,
}

/// What a run has reported of its calls.
#[derive(Clone, Default)]
pub(super) struct Reported {
    calls: Option<Calls>,
    ended: bool,
}

impl Reported {
    pub(super) fn calls(&mut self, calls: &Calls) {
        self.calls = Some(calls.clone());
    }

    pub(super) fn end(&mut self) {
        self.ended = true;
    }
}

impl Journal {
    /// `undecided` are calls that stay on record beside those of this run.
    pub(super) fn new(
        client: &Client,
        place: &Place,
        terraform: &Arc<Terraform>,
        record: &Record,
        undecided: Vec<BegunCall>,
    ) -> Self {
        Self {
            client: client.clone(),
            place: place.clone(),
            terraform: Arc::clone(terraform),
            earlier: unsettled(record).finished,
            undecided,
        }
    }

    /// Puts every report on record, the newest first of all, until the run has ended.
    pub(super) async fn keep(&self, mut reports: watch::Receiver<Reported>) {
        let (mut written, mut failures) = (None, 0);
        let mut touched = Calls::default();
        loop {
            let Reported { calls, ended } = reports.borrow_and_update().clone();
            let is_new = calls.is_some() && calls != written;
            if is_new && let Some(calls) = calls {
                if !calls.is_empty() {
                    touched = calls.clone();
                }
                match self.write(&calls, &touched).await {
                    Ok(()) => (written, failures) = (Some(calls), 0),
                    Err(error) => {
                        if failures == 0 {
                            report_failure(&error);
                        }
                        failures += 1;
                        if ended && failures >= MOST_TRIES_AT_THE_END {
                            return;
                        }
                        sleep(PAUSE_AFTER_FAILURE).await;
                        continue;
                    }
                }
            }
            // What came meanwhile is written, too.
            if ended && !reports.has_changed().unwrap_or_default() {
                return;
            }
            if is_new && !ended {
                sleep(written.as_ref().map_or(PAUSE, pause_after)).await;
            }
            if !ended && reports.changed().await.is_err() {
                return;
            }
        }
    }

    async fn write(&self, calls: &Calls, touched: &Calls) -> Result<(), Error> {
        let mut calls = with_earlier(&self.earlier, touched, calls);
        calls.begun.splice(0..0, self.undecided.iter().cloned());
        self.terraform.records.note_calls(&self.client, &self.place, &calls).await
    }
}

fn pause_after(calls: &Calls) -> Duration {
    let count = u32::try_from(calls.finished.len()).unwrap_or(u32::MAX);
    (PAUSE + PAUSE_FOR_EACH.saturating_mul(count)).min(LONGEST_PAUSE)
}

fn report_failure(error: &Error) {
    let error: &dyn std::error::Error = error;
    warn!(error, "what an apply has begun and finished is not on record yet");
}

/// The calls of an apply whose end is not on record.
pub(super) fn unsettled(record: &Record) -> Calls {
    if record.memory.begun.is_some() { record.calls.clone() } else { Calls::default() }
}

/// What earlier applies made stays on record until it is known to be in the state, or this run has touched it: it was there then.
fn with_earlier(earlier: &[FinishedCall], touched: &Calls, calls: &Calls) -> Calls {
    let untouched = |old: &&FinishedCall| !touched.finished.iter().any(|new| new.address == old.address);
    let finished = earlier.iter().filter(untouched).chain(&calls.finished).cloned().collect();
    Calls { finished, ..calls.clone() }
}

/// What the next plan takes in.
pub(super) fn imports(record: &Record) -> Vec<Import> {
    unsettled(record).made()
}

/// The calls on record when another apply begins. Those that were in flight when an apply died are remembered elsewhere by then.
pub(super) fn carried(record: &Record, over: bool) -> Calls {
    let calls = unsettled(record);
    if over { Calls { begun: Vec::new(), ..calls } } else { calls }
}

/// The calls of which nobody knows what they made: those in flight when an apply died, and those whose objects the last plan did
/// not take in.
pub(super) fn interrupted(record: &Record, not_imported: &[FailedImport]) -> Vec<InterruptedCall> {
    let calls = unsettled(record);
    let in_flight = calls.begun.iter().map(|call| InterruptedCall {
        address: call.address.clone(),
        action: call.action.clone(),
        at: call.at,
        made: None,
    });
    let made = |call: &FinishedCall, why: &str| InterruptedCall {
        address: call.address.clone(),
        action: call.action.clone(),
        at: call.at,
        made: Some(MadeObject { id: call.id_value.clone(), why: why.to_owned() }),
    };
    let failed = not_imported.iter().filter_map(|FailedImport { address, why }| {
        let call =
            calls.finished.iter().rev().find(|call| call.address == *address && call.action == "create")?;
        Some(made(call, why))
    });
    in_flight.chain(failed).collect()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::Timestamp;

    use super::*;

    fn finished(address: &str, action: &str, id: Option<&str>) -> FinishedCall {
        FinishedCall {
            address: address.to_owned(),
            resource_type: String::new(),
            action: action.to_owned(),
            id_key: None,
            id_value: id.map(str::to_owned),
            at: Timestamp::UNIX_EPOCH,
        }
    }

    fn record(begun: bool) -> Record {
        let in_flight = BegunCall {
            address: "a.flying".to_owned(),
            resource_type: String::new(),
            action: "create".to_owned(),
            at: Timestamp::UNIX_EPOCH,
            id_value: None,
            failed: false,
        };
        let calls = Calls {
            begun: vec![in_flight],
            finished: vec![finished("a.made", "create", Some("1")), finished("a.hidden", "create", None)],
            more_finished: 0,
        };
        let memory = serde_json::from_value(if begun {
            serde_json::json!({ "begun": {
                "fingerprint": "f", "plan": "p", "at": "1970-01-01T00:00:00Z", "host": "here",
            } })
        } else {
            serde_json::json!({})
        });
        Record { memory: memory.unwrap(), calls, ..Record::default() }
    }

    #[test]
    fn calls_count_until_the_end_of_their_apply_is_on_record() {
        assert_eq!(imports(&record(true)).len(), 2);
        assert_eq!(imports(&record(false)), []);
        assert_eq!(interrupted(&record(false), &[]), []);
        assert!(carried(&record(true), true).begun.is_empty());
        assert_eq!(carried(&record(true), true).finished.len(), 2);
        assert_eq!(carried(&record(true), false), record(true).calls);
    }

    #[test]
    fn what_is_in_flight_or_not_imported_is_named() {
        let failed = FailedImport { address: "a.made".to_owned(), why: "no importer".to_owned() };
        let unknown = FailedImport { address: "a.unknown".to_owned(), why: "no importer".to_owned() };
        let hidden = FailedImport { address: "a.hidden".to_owned(), why: "no identifier".to_owned() };
        let calls = interrupted(&record(true), &[failed, hidden, unknown]);
        let told: Vec<_> = calls
            .iter()
            .map(|call| {
                (
                    call.address.as_str(),
                    call.made.as_ref().map(|made| (made.id.as_deref(), made.why.as_str())),
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("a.flying", None),
                ("a.made", Some((Some("1"), "no importer"))),
                ("a.hidden", Some((None, "no identifier"))),
            ]
        );
    }

    #[test]
    fn what_an_earlier_apply_made_stays_beside_the_calls_of_the_next() {
        let earlier = [finished("a.b", "create", Some("1")), finished("a.c", "create", Some("2"))];
        let calls = Calls { finished: vec![finished("a.c", "create", Some("3"))], ..Calls::default() };
        let ids = |touched: &Calls, calls: &Calls| -> Vec<String> {
            let finished = with_earlier(&earlier, touched, calls).finished;
            finished.into_iter().map(|call| call.id_value.unwrap()).collect()
        };
        assert_eq!(ids(&calls, &calls), ["1", "3"]);
        assert_eq!(ids(&calls, &Calls::default()), ["1"], "what the next apply replaced does not come back");
        assert_eq!(ids(&Calls::default(), &Calls::default()), ["1", "2"]);
        assert!(with_earlier(&[], &calls, &Calls::default()).is_empty());
    }
}
