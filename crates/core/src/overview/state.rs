//! How it is with an object, by its metadata and its conditions.

use capt_api::names::{Reason, annotation, condition as type_};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::jiff::Timestamp;

use super::conditions::{Conditions, Told};
use super::node::Mark;

/// How it is with an object.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) mark: Mark,
    /// Whether it does what it is for, whatever else there is to tell.
    pub(super) holds: bool,
    pub(super) reason: String,
    pub(super) message: String,
    pub(super) since: Option<Timestamp>,
}

impl State {
    pub(super) fn new(mark: Mark, reason: &str, message: impl Into<String>) -> Self {
        Self {
            mark,
            holds: matches!(mark, Mark::Ready | Mark::Unknown),
            reason: reason.to_owned(),
            message: message.into(),
            since: None,
        }
    }

    pub(super) fn since(self, since: Option<Timestamp>) -> Self {
        Self { since, ..self }
    }

    /// The same of something that does what it is for all the same.
    pub(super) fn holding(self, holds: bool) -> Self {
        Self { holds, ..self }
    }

    /// What a condition says that should hold.
    pub(super) fn told(told: &Told) -> Self {
        let mark = match (told.holds, told.is_trouble()) {
            (true, _) => Mark::Ready,
            (false, true) => Mark::Failing,
            (false, false) => Mark::Waiting,
        };
        Self::new(mark, &told.reason, told.message.clone()).since(told.since)
    }

    /// A condition that calls for somebody, or is waited for, of something that does what it is for all the same.
    pub(super) fn beside(told: &Told) -> Self {
        let mark = if told.is_trouble() { Mark::Failing } else { Mark::Waiting };
        Self { mark, ..Self::told(told) }.holding(true)
    }

    /// An object that something refers to and that is not there.
    pub(super) fn missing(what: &str) -> Self {
        Self::new(Mark::Failing, Reason::ObjectDoesNotExist.as_str(), what)
    }

    /// An object that could not be read.
    pub(super) fn unread(why: &str) -> Self {
        Self::new(Mark::Unknown, "", format!("cannot be read: {}", super::plain::plain(why)))
    }
}

/// How it is with an object whose condition of one of these types should hold; the first that is told counts.
pub(super) fn of(metadata: &ObjectMeta, conditions: &Conditions, main: &[&str]) -> State {
    let told = main.iter().find_map(|name| conditions.find(name));
    if let Some(paused) = paused(metadata, conditions) {
        return paused.holding(told.is_some_and(|told| told.holds));
    }
    if let Some(deleted_at) = &metadata.deletion_timestamp {
        return deleting(metadata, conditions, told).since(Some(deleted_at.0));
    }
    let created = metadata.creation_timestamp.as_ref().map(|time| time.0);
    told.map_or_else(|| unheard().since(created), State::told)
}

/// Nobody has said anything yet.
fn unheard() -> State {
    State::new(Mark::Waiting, "", "nothing has been said of it yet")
}

fn paused(metadata: &ObjectMeta, conditions: &Conditions) -> Option<State> {
    if let Some(told) = conditions.holding(type_::PAUSED) {
        return Some(State { mark: Mark::Paused, ..State::told(told) });
    }
    let annotations = metadata.annotations.as_ref()?;
    let message = format!("it has the annotation {}", annotation::PAUSED);
    annotations
        .contains_key(annotation::PAUSED)
        .then(|| State::new(Mark::Paused, Reason::Paused.as_str(), message))
}

/// What holds a deletion: what the object says, or else whoever has not let go of it.
fn deleting(metadata: &ObjectMeta, conditions: &Conditions, told: Option<&Told>) -> State {
    let said = conditions.holding(type_::DELETING).or(told.filter(|told| !told.holds));
    let said = said.filter(|told| !told.message.is_empty());
    if let Some(told) = said {
        let mark = if told.is_trouble() { Mark::Failing } else { Mark::Waiting };
        return State { mark, ..State::told(told) }.holding(false);
    }
    let holders = metadata.finalizers.as_deref().unwrap_or_default();
    let message = if holders.is_empty() {
        "it is being deleted".to_owned()
    } else {
        let names = holders.join(", ");
        format!("it is being deleted; whoever put these finalizers there has not let go of it: {names}")
    };
    State::new(Mark::Waiting, Reason::Deleting.as_str(), super::plain::plain(&message))
}
