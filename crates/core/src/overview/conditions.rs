//! What objects say of themselves, in one form whoever says it.

use capt_api::crossplane::WorkspaceCondition;
use capt_api::names::Reason;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::jiff::Timestamp;
use kube::core::DynamicObject;
use serde_json::Value;

use super::plain::plain;
use crate::condition::Truth;

/// One condition.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) type_: String,
    pub(super) holds: bool,
    pub(super) reason: String,
    pub(super) message: String,
    pub(super) since: Option<Timestamp>,
    /// It says itself that it is an error.
    severe: bool,
}

impl Told {
    fn new(type_: &str, status: &str, reason: &str, message: &str, since: Option<Timestamp>) -> Self {
        Self {
            type_: type_.to_owned(),
            holds: status == Truth::True.as_str(),
            reason: plain(reason),
            message: plain(message),
            since,
            severe: false,
        }
    }

    /// Whether it calls for somebody.
    pub(super) fn is_trouble(&self) -> bool {
        self.severe || Reason::find(&self.reason).is_some_and(Reason::is_trouble)
    }

    /// Whether it has this reason.
    pub(super) fn is(&self, reason: Reason) -> bool {
        self.reason == reason.as_str()
    }
}

impl From<&Condition> for Told {
    fn from(condition: &Condition) -> Self {
        let Condition { type_, status, reason, message, last_transition_time, observed_generation: _ } =
            condition;
        Self::new(type_, status, reason, message, Some(last_transition_time.0))
    }
}

impl From<&WorkspaceCondition> for Told {
    fn from(condition: &WorkspaceCondition) -> Self {
        let WorkspaceCondition {
            type_,
            status,
            reason,
            message,
            last_transition_time,
            observed_generation: _,
        } = condition;
        let message = message.as_deref().unwrap_or_default();
        Self::new(type_, status, reason, message, last_transition_time.parse().ok())
    }
}

/// All conditions of an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Conditions(Vec<Told>);

impl Conditions {
    pub(super) fn of<'told, C>(conditions: impl IntoIterator<Item = &'told C>) -> Self
    where
        C: 'told,
        Told: From<&'told C>,
    {
        Self(conditions.into_iter().map(Told::from).collect())
    }

    /// Those of an object whose kind is not known. What is not a condition is passed over.
    pub(super) fn of_foreign(object: &DynamicObject) -> Self {
        // Providers of the older contract have the newer conditions here.
        let places = ["/status/v1beta2/conditions", "/status/conditions"];
        let lists = places.iter().filter_map(|place| object.data.pointer(place)?.as_array());
        Self(lists.flatten().filter_map(foreign).collect())
    }

    pub(super) fn find(&self, type_: &str) -> Option<&Told> {
        self.0.iter().find(|told| told.type_ == type_)
    }

    /// The condition, if it holds.
    pub(super) fn holding(&self, type_: &str) -> Option<&Told> {
        self.find(type_).filter(|told| told.holds)
    }

    /// The condition, if it is told and does not hold.
    pub(super) fn failing(&self, type_: &str) -> Option<&Told> {
        self.find(type_).filter(|told| !told.holds)
    }
}

fn foreign(value: &Value) -> Option<Told> {
    let text = |field: &str| value.get(field).and_then(Value::as_str);
    let since = text("lastTransitionTime").and_then(|time| time.parse().ok());
    let told = Told::new(
        text("type")?,
        text("status")?,
        text("reason").unwrap_or_default(),
        text("message").unwrap_or_default(),
        since,
    );
    Some(Told { severe: text("severity") == Some("Error"), ..told })
}
