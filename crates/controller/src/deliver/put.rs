//! One object: applied, taken over, or left alone.

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::api::{Patch, PatchParams};
use kube::core::{PartialObjectMeta, Status};
use serde_json::{Value, json};

use super::bring::{Delivery, Obstacle};
use super::look::{claim_of, metadata};
use super::object::{Location, applied};
use super::trouble::{Subject, missing_namespace};
use super::{Mode, Outcome, Trouble};
use crate::workload::{Answer, Failure};
use crate::write::ONLY_IF_ABSENT;

/// How often an object is read again that changes while we look at it.
const ATTEMPTS: usize = 3;
/// What the API server calls a field that another manager has set to something else.
const FIELD_CONFLICT: &str = "FieldManagerConflict";

impl Delivery<'_> {
    /// Brings one object in line.
    pub(super) async fn put(
        &mut self,
        location: &Location,
        subject: Subject<'_>,
        object: &Value,
    ) -> Result<Outcome, Obstacle> {
        let mut object = applied(object, location, self.order.claim);
        if self.order.mode == Mode::Once {
            object["metadata"]["resourceVersion"] = json!(ONLY_IF_ABSENT);
        }
        let failure = match self.apply(location, &object, false).await {
            Ok(answer) => return self.outcome(location, subject, &answer),
            Err(failure) => failure,
        };
        let Some(status) = failure.status() else { return Err(Obstacle::new(&failure, subject)) };
        if let Some(is_terminating) = missing_namespace(status) {
            return Err(Obstacle::Object(self.lacks_namespace(subject, is_terminating)));
        }
        match (status.code, self.order.mode) {
            (404, _) => Err(Obstacle::NotServed),
            (409, Mode::Once) if is_field_conflict(status) || is_about(status, location) => {
                Ok(Outcome::Unchanged)
            }
            (409, Mode::Keep) if is_field_conflict(status) => self.take_over(location, subject, object).await,
            _ => Err(Obstacle::new(&failure, subject)),
        }
    }

    /// Takes the fields that the manifest states from whoever has set them, unless another add-on claims the object.
    async fn take_over(
        &mut self,
        location: &Location,
        subject: Subject<'_>,
        mut object: Value,
    ) -> Result<Outcome, Obstacle> {
        let mut left = ATTEMPTS;
        loop {
            let live =
                metadata(self.talk, location).await.map_err(|failure| Obstacle::new(&failure, subject))?;
            if let Some(other) =
                live.as_ref().and_then(claim_of).filter(|other| Some(*other) != self.order.claim)
            {
                return Err(Obstacle::Object(subject.claimed(other)));
            }
            // A claim that is made in between is not overwritten.
            object["metadata"]["resourceVersion"] = match &live {
                Some(live) => json!(live.resource_version),
                None => json!(ONLY_IF_ABSENT),
            };
            left -= 1;
            match self.apply(location, &object, true).await {
                Ok(answer) => return self.outcome(location, subject, &answer),
                Err(Failure::Refused(status)) if status.code == 409 && left > 0 => {}
                Err(failure) => return Err(Obstacle::new(&failure, subject)),
            }
        }
    }

    async fn apply(&self, location: &Location, object: &Value, force: bool) -> Result<Answer, Failure> {
        let mut parameters = PatchParams::apply(self.order.manager);
        parameters.force = force;
        // Metadata says enough, and a Secret's content need not come back.
        let patch = Patch::Apply(object);
        self.talk.send(location.request().patch_metadata(&location.key.name, &parameters, &patch)).await
    }

    /// What an apply has done.
    fn outcome(
        &mut self,
        location: &Location,
        subject: Subject<'_>,
        answer: &Answer,
    ) -> Result<Outcome, Obstacle> {
        let read = answer.read::<PartialObjectMeta>();
        let metadata = read.map_err(|failure| Obstacle::new(&failure, subject))?.metadata;
        if metadata.deletion_timestamp.is_some() && self.order.mode == Mode::Keep {
            let finalizers = metadata.finalizers.unwrap_or_default();
            return Err(Obstacle::Object(subject.is_leaving(&finalizers)));
        }
        let version = metadata.resource_version.clone().unwrap_or_default();
        let is_known = self.order.known.get(&location.key) == Some(&version);
        self.delivered.known.insert(location.key.clone(), version);
        Ok(if answer.created {
            Outcome::Created
        } else if is_known || !is_fresh(&metadata, self.order.manager, answer.at, answer.took) {
            Outcome::Unchanged
        } else {
            Outcome::Changed
        })
    }

    fn lacks_namespace(&mut self, subject: Subject<'_>, is_terminating: bool) -> Trouble {
        let namespace = subject.key.namespace.clone().unwrap_or_default();
        let trouble = subject.no_namespace(&namespace, is_terminating);
        self.namespaces.insert(namespace.clone(), format!("namespace `{namespace}`"));
        trouble
    }
}

/// Whether an answer shows that it was our apply that changed the object. The version alone does not tell: a status that
/// somebody wrote changes it too. The time of our fields is set by the API server when an apply of ours changes something,
/// and only then; it is compared with the API server's own clock.
fn is_fresh(metadata: &ObjectMeta, manager: &str, at: Option<Timestamp>, took: Duration) -> bool {
    let ours = metadata.managed_fields.iter().flatten().filter(|entry| {
        entry.manager.as_deref() == Some(manager)
            && entry.operation.as_deref() == Some("Apply")
            && entry.subresource.as_deref().unwrap_or_default().is_empty()
    });
    let times = ours.filter_map(|entry| entry.time.as_ref()).map(|time| time.0);
    // Both are cut to the second.
    let margin = SignedDuration::try_from(took).unwrap_or_default() + SignedDuration::from_secs(1);
    match (times.max(), at) {
        (Some(changed), Some(answered)) => answered.duration_since(changed) <= margin,
        (None, _) => false,
        (Some(_), None) => true,
    }
}

fn is_field_conflict(status: &Status) -> bool {
    status.details.iter().flat_map(|details| &details.causes).any(|cause| cause.reason == FIELD_CONFLICT)
}

/// Whether a conflict is about the object itself, and not about something that is counted with it (a quota, for example).
fn is_about(status: &Status, location: &Location) -> bool {
    let details = status.details.as_ref();
    details.is_some_and(|details| details.name == location.key.name && details.kind == location.plural())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn entry(manager: &str, operation: &str, subresource: Option<&str>, time: Option<&str>) -> Value {
        json!({ "manager": manager, "operation": operation, "subresource": subresource, "time": time })
    }

    #[rstest]
    #[case::changed_just_now(entry("ours", "Apply", None, Some("2026-01-01T00:00:09Z")), true)]
    #[case::changed_while_it_took_long(entry("ours", "Apply", None, Some("2026-01-01T00:00:07Z")), true)]
    #[case::changed_before(entry("ours", "Apply", None, Some("2026-01-01T00:00:05Z")), false)]
    #[case::nothing_to_change(entry("ours", "Apply", None, None), false)]
    #[case::changed_by_others(entry("theirs", "Apply", None, Some("2026-01-01T00:00:09Z")), false)]
    #[case::status(entry("ours", "Apply", Some("status"), Some("2026-01-01T00:00:09Z")), false)]
    #[case::not_by_apply(entry("ours", "Update", None, Some("2026-01-01T00:00:09Z")), false)]
    fn only_what_our_own_apply_changed_counts_as_changed(#[case] entry: Value, #[case] changed: bool) {
        let metadata: ObjectMeta = serde_json::from_value(json!({ "managedFields": [entry] })).unwrap();
        let answered = "2026-01-01T00:00:10Z".parse().unwrap();
        assert_eq!(is_fresh(&metadata, "ours", Some(answered), Duration::from_secs(3)), changed);
    }
}
