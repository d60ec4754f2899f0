//! Objects of a kind in a cluster, whatever version it serves.

use capt_core::clearing::Left;
use kube::api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, Preconditions};
use kube::discovery::{ApiResource, Scope};
use kube::{Api, ResourceExt};
use serde_json::Value;
use tracing::info;

use crate::workload::{Failure, Talk};

/// How many objects are asked for at a time.
const PAGE: u32 = 500;
/// A list is read as long as it takes to read this many pages; whoever has more is asked again in the next pass.
const PAGES: usize = 200;

/// A kind that a cluster serves.
pub(super) struct Served<'talk> {
    talk: &'talk Talk<'talk>,
    kind: &'static str,
    api_version: String,
    resource: ApiResource,
    scope: Scope,
}

/// The kind in the first of these versions that the cluster serves.
pub(super) async fn served<'talk>(
    talk: &'talk Talk<'talk>,
    api_versions: &[&str],
    kind: &'static str,
) -> Result<Option<Served<'talk>>, Failure> {
    for api_version in api_versions {
        if let Some((resource, scope)) = talk.resolve(api_version, kind).await? {
            return Ok(Some(Served { talk, kind, api_version: (*api_version).to_owned(), resource, scope }));
        }
    }
    Ok(None)
}

impl Served<'_> {
    /// Every object of the kind, in all namespaces.
    pub(super) async fn all(&self) -> Result<Vec<DynamicObject>, Failure> {
        self.with_labels(None).await
    }

    /// Every object of the kind that carries a label.
    pub(super) async fn with_labels(&self, labels: Option<&str>) -> Result<Vec<DynamicObject>, Failure> {
        let all: Api<DynamicObject> = Api::all_with(self.talk.client(), &self.resource);
        let mut parameters = ListParams::default().limit(PAGE);
        parameters.label_selector = labels.map(ToOwned::to_owned);
        let mut found = Vec::new();
        for _ in 0..PAGES {
            let page = match self.talk.ask(all.list(&parameters)).await {
                Ok(page) => page,
                // The kind went with its definition, or the list has changed too much since its first page.
                Err(failure) if is_answer(&failure, 404) => {
                    self.talk.forget(&self.api_version);
                    return Ok(Vec::new());
                }
                Err(failure) if is_answer(&failure, 410) => break,
                Err(failure) => return Err(failure),
            };
            found.extend(page.items);
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => parameters.continue_token = Some(token),
                None => break,
            }
        }
        Ok(found)
    }

    /// Asks for the deletion of an object, unless it is going already.
    pub(super) async fn delete(&self, object: &DynamicObject) -> Result<(), Failure> {
        if object.metadata.deletion_timestamp.is_some() {
            return Ok(());
        }
        let preconditions = Preconditions { uid: object.uid(), resource_version: None };
        let parameters = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::background() };
        let name = object.name_any();
        unless_gone(self.talk.ask(self.of(object).delete(&name, &parameters)).await.map(drop))?;
        info!(
            kind = self.kind,
            namespace = object.namespace(),
            name,
            "asked for its deletion before the cluster is destroyed"
        );
        Ok(())
    }

    /// Changes fields of an object.
    pub(super) async fn change(&self, object: &DynamicObject, patch: &Value) -> Result<(), Failure> {
        let name = object.name_any();
        let parameters = PatchParams {
            field_manager: Some(capt_api::names::FIELD_MANAGER.to_owned()),
            ..PatchParams::default()
        };
        let objects = self.of(object);
        unless_gone(self.talk.ask(objects.patch(&name, &parameters, &Patch::Merge(patch))).await.map(drop))?;
        info!(
            kind = self.kind,
            namespace = object.namespace(),
            name,
            "changed it before the cluster is destroyed"
        );
        Ok(())
    }

    /// What is told of objects that are still there.
    pub(super) fn left(&self, objects: &[DynamicObject], remark: Option<String>) -> Option<Left> {
        let names: Vec<_> = objects.iter().map(name).collect();
        (!names.is_empty()).then_some(Left { kind: self.kind, names, remark })
    }

    fn of(&self, object: &DynamicObject) -> Api<DynamicObject> {
        self.talk.objects(&self.resource, &self.scope, object.metadata.namespace.as_deref())
    }
}

/// An object's name, with its namespace where it has one.
pub(super) fn name(object: &DynamicObject) -> String {
    match object.namespace() {
        Some(namespace) => format!("{namespace}/{}", object.name_any()),
        None => object.name_any(),
    }
}

/// Keeps an object that is going on being there: what holds it.
pub(super) fn held(objects: &[DynamicObject]) -> Option<String> {
    let mut finalizers: Vec<_> = objects.iter().flat_map(ResourceExt::finalizers).cloned().collect();
    finalizers.sort_unstable();
    finalizers.dedup();
    (!finalizers.is_empty()).then(|| format!("held by {}", finalizers.join(", ")))
}

fn is_answer(failure: &Failure, code: u16) -> bool {
    failure.status().is_some_and(|status| status.code == code)
}

/// What is gone, or is another object of the same name by now, is no failure.
fn unless_gone(answer: Result<(), Failure>) -> Result<(), Failure> {
    match answer {
        Err(failure) if is_answer(&failure, 404) || is_answer(&failure, 409) => Ok(()),
        answer => answer,
    }
}
