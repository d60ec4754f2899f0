//! What became of the calls of an apply that died.

use capt_api::Workspace;
use capt_api::names::annotation;
use capt_core::workspace::interrupted::{InterruptedCall, remember, unchecked};
use capt_core::workspace::observed::{Ended, Ending};
use capt_core::workspace::runner::Starter;
use kube::{Client, ResourceExt};

use crate::error::Error;
use crate::workspace::place::Place;
use crate::workspace::record::Record;
use crate::workspace::runs::Over;
use crate::workspace::{Terraform, journal, lock_holder};

/// What became of the calls of applies that died.
pub(in crate::workspace) struct Interrupted {
    /// Those that nobody has checked yet.
    pub(in crate::workspace) calls: Vec<InterruptedCall>,
    /// Whether whoever began the calls on record is proved dead, or there are none.
    pub(in crate::workspace) over: bool,
}

pub(super) async fn look(
    workspace: &Workspace,
    place: &Place,
    record: &Record,
    last: Option<&Over>,
    ended: &mut Option<Ended>,
    client: &Client,
    terraform: &Terraform,
) -> Result<Interrupted, Error> {
    let over = are_calls_over(record, client, place, terraform).await?;
    let not_imported = last.map(|last| last.not_imported.as_slice()).unwrap_or_default();
    let new = if over { journal::interrupted(record, not_imported) } else { Vec::new() };
    let known = remember(record.memory.interrupted.clone(), &new);
    let checked = workspace.annotations().get(annotation::CHECKED_INTERRUPTED_CALLS);
    let calls = unchecked(known, checked.map(String::as_str));
    if let Some(Ended { result: Ending::Planned(plan), .. }) = ended
        && over
    {
        // What a person has looked after is no reason to wait any more.
        plan.not_imported
            .retain(|address| calls.iter().any(|call| call.made.is_some() && call.address == *address));
    }
    Ok(Interrupted { calls, over })
}

/// Whether nobody goes on with the calls on record: they are of an apply that died.
async fn are_calls_over(
    record: &Record,
    client: &Client,
    place: &Place,
    terraform: &Terraform,
) -> Result<bool, Error> {
    match &record.memory.begun {
        Some(begun) if !record.calls.is_empty() => {
            let us = |starter: &Starter| starter.runner.as_ref() == Some(&terraform.options.runner);
            for starter in std::iter::once(&begun.by).chain(&begun.earlier).filter(|starter| !us(starter)) {
                if !lock_holder::is_starter_dead(starter, client, place, terraform).await? {
                    return Ok(false);
                }
            }
            Ok(!terraform.left(&place.workspace_uid).await.alive)
        }
        Some(_) | None => Ok(true),
    }
}
