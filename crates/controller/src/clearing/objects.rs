//! Objects of a kind in a cluster, whatever version it serves.

use capt_core::clearing::Left;
use kube::api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, Preconditions};
use kube::core::Status;
use kube::discovery::{ApiResource, Scope};
use kube::{Api, ResourceExt};
use serde_json::Value;
use tracing::info;

use crate::workload::{Failure, Talk};

/// How many objects are asked for at a time.
const PAGE: u32 = 500;
/// More objects than any cluster has: a server with more pages never comes to an end.
const PAGES: usize = 1000;
/// How often a list is begun that expires before its last page is read.
const ATTEMPTS: usize = 3;

/// A kind that a cluster serves.
pub(super) struct Served<'talk> {
    talk: &'talk Talk<'talk>,
    kind: &'static str,
    /// Every version in which the cluster may serve it.
    api_versions: Vec<String>,
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
            let api_versions = api_versions.iter().map(|&version| version.to_owned()).collect();
            return Ok(Some(Served { talk, kind, api_versions, resource, scope }));
        }
    }
    Ok(None)
}

impl Served<'_> {
    /// Every object of the kind, in all namespaces.
    pub(super) async fn all(&self) -> Result<Vec<DynamicObject>, Failure> {
        self.with_labels(None).await
    }

    /// Every object of the kind that carries a label. A list that was not read to its end is a failure: what is on its other pages
    /// would be left behind.
    pub(super) async fn with_labels(&self, labels: Option<&str>) -> Result<Vec<DynamicObject>, Failure> {
        let mut attempts = 1;
        loop {
            match self.pages(labels).await {
                // It has changed too much since its first page.
                Err(failure) if is_answer(&failure, 410) && attempts < ATTEMPTS => attempts += 1,
                Err(failure) if is_answer(&failure, 404) => return self.unless_served(failure).await,
                listed => return listed,
            }
        }
    }

    /// One list, page by page.
    async fn pages(&self, labels: Option<&str>) -> Result<Vec<DynamicObject>, Failure> {
        let all: Api<DynamicObject> = Api::all_with(self.talk.client(), &self.resource);
        let mut parameters = ListParams::default().limit(PAGE);
        parameters.label_selector = labels.map(ToOwned::to_owned);
        let mut found = Vec::new();
        for _ in 0..PAGES {
            let page = self.talk.ask(all.list(&parameters)).await?;
            found.extend(page.items);
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => parameters.continue_token = Some(token),
                None => return Ok(found),
            }
        }
        let message = format!("the list of {}s does not end after {PAGES} pages", self.kind);
        Err(Failure::Refused(Status::failure(&message, "").boxed()))
    }

    /// There are no objects where the kind went with its definition. One that the cluster still serves, in whatever version, is
    /// not known.
    async fn unless_served(&self, failure: Failure) -> Result<Vec<DynamicObject>, Failure> {
        for api_version in &self.api_versions {
            self.talk.forget(api_version);
            if self.talk.resolve(api_version, self.kind).await?.is_some() {
                return Err(failure);
            }
        }
        Ok(Vec::new())
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

#[cfg(test)]
mod tests;
