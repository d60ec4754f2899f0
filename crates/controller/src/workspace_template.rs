//! The driver of `WorkspaceTemplate`: says whether its module can be read.

use std::sync::Arc;
use std::time::Instant;

use capt_api::WorkspaceTemplate;
use capt_api::names::{Reason, condition, group};
use capt_core::apply::status::Note;
use capt_core::standing::standing;
use capt_core::template;
use k8s_openapi::api::rbac::v1::PolicyRule;
use kube::runtime::controller::Action;
use kube::{Api, ResourceExt};

use crate::context::{Context, now};
use crate::error::Error;
use crate::events;
use crate::metrics::{Kind, Outcome};
use crate::rbac::rule;
use crate::store::key_of;
use crate::write;

/// What this driver needs permission for.
pub(crate) fn rules() -> Vec<PolicyRule> {
    vec![
        rule(group::INFRASTRUCTURE, &["workspacetemplates"], &["get", "list", "watch"]),
        rule(group::INFRASTRUCTURE, &["workspacetemplates/status"], &["patch"]),
    ]
}

/// Judges one template and writes its status if it has changed.
pub(crate) async fn reconcile(template: WorkspaceTemplate, context: Arc<Context>) -> Result<Action, Error> {
    let started = Instant::now();
    let result = tell(&template, &context).await;
    let outcome = if result.is_ok() { Outcome::Settled } else { Outcome::Failed };
    context.metrics.reconciled(Kind::WorkspaceTemplate, outcome, started.elapsed());
    match result {
        Ok(()) => {
            context.attempts.succeeded(Kind::WorkspaceTemplate, key_of(&template.metadata));
            Ok(Action::await_change())
        }
        Err(error) => {
            context.metrics.failed(Kind::WorkspaceTemplate, error.reason());
            Err(error)
        }
    }
}

async fn tell(template: &WorkspaceTemplate, context: &Context) -> Result<(), Error> {
    let cluster = context.cluster_of(&template.metadata);
    let standing = standing(&template.metadata, cluster.as_deref());
    let Some(next) = template::status(template, &standing, &now()) else { return Ok(()) };
    if template.status.as_ref() == Some(&next) {
        return Ok(());
    }
    let broken =
        next.conditions.iter().find(|entry| entry.type_ == condition::READY && entry.status == "False");
    let news = |entry: &&k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition| {
        let before = template.status.as_ref().map(|status| &status.conditions);
        !before.is_some_and(|before| {
            before.iter().any(|old| old.type_ == entry.type_ && old.message == entry.message)
        })
    };
    if let Some(entry) = broken.filter(news) {
        let note = Note { warning: true, reason: Reason::ModuleInvalid, message: entry.message.clone() };
        events::publish(context, template, &[note]).await;
    }
    let (namespace, name) = (template.namespace().unwrap_or_default(), template.name_any());
    let templates: Api<WorkspaceTemplate> = Api::namespaced(context.client.clone(), &namespace);
    let doing = format!("writing the status of WorkspaceTemplate `{namespace}/{name}`");
    Error::unless_gone(write::apply_status(&templates, template, &next, &doing).await).map(drop)
}
