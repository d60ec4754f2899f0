//! Shows a plan that somebody asked to see, with his request beside it.

use std::collections::BTreeMap;

use capt_terraform::Plan;
use futures::StreamExt as _;
use kube::Client;
use kube::runtime::{WatchStreamExt as _, watcher::watch_object};
use tracing::warn;

use super::place::Place;
use super::place::kept::Role;
use super::plan_text::{self, Shown};
use crate::error::Error;

/// The key of the request that is answered.
const REQUEST: &str = "request";
/// The key of the sentence that says why there is no plan.
const REFUSAL: &str = "error";

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The request, as it was written.
    pub request: String,
    /// The plan, or why there is none.
    pub result: Result<Shown, String>,
}

/// Answers a request.
pub(super) async fn answer(
    client: &Client,
    place: &Place,
    request: &str,
    result: Result<&Plan, &str>,
) -> Result<(), Error> {
    let mut data = match result {
        Ok(plan) => plan_text::data(plan),
        Err(refusal) => BTreeMap::from([(REFUSAL.to_owned(), refusal.to_owned())]),
    };
    data.insert(REQUEST.to_owned(), request.to_owned());
    let doing = format!("showing the plan of Workspace `{}` that was asked for", place.workspace);
    plan_text::put(client, place, Role::Preview, &name(place), &data, &doing).await
}

/// The last answer.
pub(super) async fn look(client: &Client, place: &Place) -> Result<Option<Answer>, Error> {
    let doing = format!("reading the plan of Workspace `{}` that was asked for", place.workspace);
    let maps = plan_text::config_maps(client, place);
    let found = maps.get_opt(&name(place)).await.map_err(Error::api(doing))?;
    let data = found.filter(|found| place.made(&found.metadata)).and_then(|found| found.data);
    Ok(data.and_then(read))
}

/// Waits until a request is answered.
pub(super) async fn wait(client: &Client, place: &Place, request: &str) -> Result<Answer, Error> {
    let maps = plan_text::config_maps(client, place);
    let name = name(place);
    let mut changes = std::pin::pin!(watch_object(maps, &name).default_backoff());
    loop {
        match changes.next().await {
            Some(Ok(found)) => {
                let ours = found.filter(|found| place.made(&found.metadata)).and_then(|found| found.data);
                if let Some(answer) = ours.and_then(read).filter(|answer| answer.request == request) {
                    return Ok(answer);
                }
            }
            Some(Err(error)) => {
                warn!(error = &error as &dyn std::error::Error, "watching for a plan was interrupted");
            }
            // A watch has no end.
            None => std::future::pending().await,
        }
    }
}

fn read(mut data: BTreeMap<String, String>) -> Option<Answer> {
    let request = data.remove(REQUEST)?;
    let result = match data.remove(REFUSAL) {
        Some(refusal) => Err(refusal),
        None => Ok(plan_text::read(data)?),
    };
    Some(Answer { request, result })
}

/// Removes the last answer.
pub(super) async fn remove(client: &Client, place: &Place) -> Result<(), Error> {
    plan_text::remove_named(client, place, &name(place)).await
}

fn name(place: &Place) -> String {
    format!("capt-preview-{}", place.short_name())
}
