//! Finds out what there is: the template, everything that uses it, its states and its Clusters.

mod subject;
mod template;

use anyhow::{Context as _, ensure};
use capt_api::{WorkspaceTemplate, WorkspaceTemplateApply};
use capt_core::tie::ApplyKey;
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt};

use super::Request;

pub(super) use subject::{Standing, Subject, is_held};

/// How many are looked at at the same time.
const AT_ONCE: usize = 8;

/// Everything that is known.
pub(super) struct Survey {
    pub(super) template: WorkspaceTemplate,
    /// Everything that uses the template.
    pub(super) subjects: Vec<Subject>,
}

impl Survey {
    /// Looks for a template that has the releases, or that is being worked on; `None` where there is none.
    pub(super) async fn take(client: &Client, request: &Request) -> anyhow::Result<Option<Self>> {
        let applies: Api<WorkspaceTemplateApply> = Api::all(client.clone());
        // Whoever is overlooked here loses his release.
        let applies = applies.list(&ListParams::default()).await.context(
            "listing the WorkspaceTemplateApplies of all namespaces, each of which may use the template",
        )?;
        let Some(template) = template::find(client, request, &applies.items).await? else { return Ok(None) };
        let key = template_key(&template);
        let users = applies.items.into_iter().filter(|apply| uses(apply) == key);
        let subjects: Vec<Subject> = stream::iter(users)
            .map(|apply| Subject::of(client, apply, request))
            .buffered(AT_ONCE)
            .try_collect()
            .await?;
        for name in &request.applies {
            let meant = ApplyKey { namespace: request.namespace.clone(), name: name.clone() };
            ensure!(
                subjects.iter().any(|subject| subject.key == meant),
                "WorkspaceTemplateApply `{meant}` does not use WorkspaceTemplate `{}`",
                named(&key)
            );
        }
        Ok(Some(Self { template, subjects }))
    }

    /// The template as `namespace/name`.
    pub(super) fn template_name(&self) -> String {
        named(&template_key(&self.template))
    }
}

type TemplateKey = (String, String);

fn template_key(template: &WorkspaceTemplate) -> TemplateKey {
    (template.namespace().unwrap_or_default(), template.name_any())
}

/// The template that an apply uses.
fn uses(apply: &WorkspaceTemplateApply) -> TemplateKey {
    let reference = &apply.spec.template_ref;
    let namespace = reference.namespace.clone().filter(|namespace| !namespace.is_empty());
    (namespace.or_else(|| apply.namespace()).unwrap_or_default(), reference.name.clone())
}

fn named((namespace, name): &TemplateKey) -> String {
    format!("{namespace}/{name}")
}
