//! The objects of a cluster, of any kind that a backup has.

use anyhow::Context as _;
use capt_core::archive::{Key, Kind};
use capt_core::cause::innermost;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use serde_json::Value;

/// How many objects are asked for at a time; all pages are of the same moment.
const PAGE: u32 = 500;
/// How often a list is begun that cannot be read to its end.
const ATTEMPTS: usize = 3;

/// Objects of this kind, in one namespace or in all of them.
pub(crate) fn api(client: &Client, kind: &Kind, namespace: Option<&str>) -> Api<DynamicObject> {
    let resource = ApiResource {
        group: kind.group.to_owned(),
        version: kind.version.to_owned(),
        api_version: kind.api_version(),
        kind: kind.name.to_owned(),
        plural: kind.plural.to_owned(),
    };
    match namespace.filter(|_| kind.namespaced) {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    }
}

/// An object, if it is there and its kind is served.
pub(crate) async fn get(client: &Client, key: &Key) -> anyhow::Result<Option<Value>> {
    let Some(kind) = key.kind() else { return Ok(None) };
    match api(client, kind, key.namespace.as_deref()).get(&key.name).await {
        Ok(object) => value(kind, object).map(Some),
        // Also where the kind is not served: then there is no Status to read.
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(error).with_context(|| format!("reading {key}")),
    }
}

/// All objects of a kind that are selected; none where the kind is not served. A list that was not read to its end is an error.
pub(crate) async fn list(
    client: &Client,
    kind: &Kind,
    namespace: Option<&str>,
    selected: &ListParams,
) -> anyhow::Result<Vec<Value>> {
    let api = api(client, kind, namespace);
    let mut attempts = 1;
    let objects = loop {
        match pages(&api, selected).await {
            Ok(objects) => break objects,
            Err((kube::Error::Api(status), Page::First)) if status.code == 404 => break Vec::new(),
            // The list has expired, or its kind went: it is another one now.
            Err((kube::Error::Api(status), Page::Later))
                if matches!(status.code, 404 | 410) && attempts < ATTEMPTS =>
            {
                attempts += 1;
            }
            Err((error, _)) => return Err(error).with_context(|| format!("listing {}", kind.plural)),
        }
    };
    objects.into_iter().map(|object| value(kind, object)).collect()
}

/// Which page of a list could not be read.
enum Page {
    First,
    Later,
}

/// One list, page by page.
async fn pages(
    api: &Api<DynamicObject>,
    selected: &ListParams,
) -> Result<Vec<DynamicObject>, (kube::Error, Page)> {
    let mut parameters = selected.clone().limit(PAGE);
    let mut found = Vec::new();
    loop {
        let page = api.list(&parameters).await.map_err(|error| {
            let page = if parameters.continue_token.is_none() { Page::First } else { Page::Later };
            (error, page)
        })?;
        found.extend(page.items);
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => parameters = parameters.continue_token(&token),
            None => return Ok(found),
        }
    }
}

/// What an API server said, in one sentence and without content: it may quote a Secret.
pub(crate) fn refusal(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => format!("{} ({})", status.reason, status.code),
        other => innermost(other),
    }
}

/// An object as a tree, with its kind, which lists leave out.
pub(crate) fn value(kind: &Kind, object: DynamicObject) -> anyhow::Result<Value> {
    let mut value = serde_json::to_value(object).with_context(|| format!("reading {}", kind.plural))?;
    value["apiVersion"] = kind.api_version().into();
    value["kind"] = kind.name.into();
    if let Some(metadata) = value["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
    Ok(value)
}

#[cfg(test)]
mod tests;
