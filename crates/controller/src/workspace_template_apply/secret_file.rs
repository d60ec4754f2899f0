//! The Secret that carries secret values to Terraform.
//!
//! Each content has a Secret of its own, named in the Workspace's spec: so a changed value changes the spec, goes through
//! approval like any other change, and reaches Terraform at once. No digest of the content is ever written down.

use std::collections::BTreeMap;

use capt_api::WorkspaceTemplateApply;
use capt_api::names::Reason;
use capt_core::apply::Blocked;
use capt_core::apply::render::SECRET_FILE_KEY;
use capt_core::apply::variables::Hidden;
use capt_core::digest::short_digest;
use capt_core::tie::{self, ApplyKey};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, ListParams};
use kube::{Api, Resource, ResourceExt};
use serde_json::json;

use super::sources::Sources;
use crate::context::Context;
use crate::error::Error;
use crate::index::{Dependency, Name};
use crate::stop::Stop;
use crate::write;

/// The Secret that holds the present values.
pub(super) struct SecretFile {
    pub(super) name: String,
    content: Hidden,
    state: State,
}

/// Where the Secret stands.
enum State {
    /// It holds the content.
    Written,
    /// It is ours and holds something else.
    Outdated {
        /// Its uid.
        uid: Option<String>,
    },
    /// It is not there.
    Absent,
}

/// The Secret that holds this content already, or the name of one that will.
pub(super) async fn choose(
    sources: &Sources<'_>,
    content: Hidden,
    versions: &[String],
) -> Result<SecretFile, Stop> {
    let existing = list(sources.apply, sources.context).await?;
    for secret in &existing {
        sources.notes.on(Dependency::Secret(Name::new(sources.namespace, secret.name_any())));
    }
    if let Some(secret) = existing.iter().find(|secret| holds(secret, &content)) {
        return Ok(SecretFile { name: secret.name_any(), content, state: State::Written });
    }
    // Versions of the sources, not their content, tell one name from the next.
    let base = tie::label_value(&ApplyKey::of(sources.apply).workspace_name());
    let name = format!("{base}-variables-{}", short_digest(versions.iter().map(String::as_str), 8));
    if let Some(ours) = existing.iter().find(|secret| secret.name_any() == name) {
        return Ok(SecretFile { name, content, state: State::Outdated { uid: ours.uid() } });
    }
    sources.notes.on(Dependency::Secret(Name::new(sources.namespace, &name)));
    let api: Api<Secret> = Api::namespaced(sources.context.client.clone(), sources.namespace);
    let doing = format!("reading Secret `{}/{name}`", sources.namespace);
    if api.get_metadata_opt(&name).await.map_err(Error::api(doing))?.is_some() {
        let message = format!(
            "Secret `{}/{name}` is needed for values from Secrets, but is not CAPT's: delete or rename it",
            sources.namespace
        );
        return Err(Blocked::new(Reason::SecretNotOwned, message).into());
    }
    Ok(SecretFile { name, content, state: State::Absent })
}

fn holds(secret: &Secret, content: &Hidden) -> bool {
    let held = secret.data.as_ref().and_then(|data| data.get(SECRET_FILE_KEY));
    held.is_some_and(|held| held.0 == content.expose().as_bytes())
        && secret.metadata.deletion_timestamp.is_none()
}

impl SecretFile {
    /// Writes the Secret if it does not hold the content yet. One that somebody else made in between is not touched.
    pub(super) async fn write(&self, apply: &WorkspaceTemplateApply, context: &Context) -> Result<(), Error> {
        let key = ApplyKey::of(apply);
        let mut secret = write::header::<Secret>(&self.name);
        match &self.state {
            State::Written => return Ok(()),
            State::Outdated { uid } => secret["metadata"]["uid"] = json!(uid),
            State::Absent => secret["metadata"]["resourceVersion"] = json!(write::ONLY_IF_ABSENT),
        }
        let cluster = capt_core::standing::cluster_name(&apply.metadata);
        secret["metadata"]["labels"] = json!(tie::labels(&key, &apply.uid().unwrap_or_default(), cluster));
        secret["metadata"]["ownerReferences"] = json!([apply.owner_ref(&())]);
        secret["type"] = json!("Opaque");
        secret["stringData"] = json!(BTreeMap::from([(SECRET_FILE_KEY, self.content.expose())]));
        let api: Api<Secret> = Api::namespaced(context.client.clone(), &key.namespace);
        let doing = format!("writing Secret `{}/{}`", key.namespace, self.name);
        write::apply(&api, &self.name, &secret, &doing).await.map(drop)
    }
}

/// Deletes the Secrets with earlier values, once the Workspace names another.
pub(super) async fn delete_others(
    apply: &WorkspaceTemplateApply,
    keep: Option<&str>,
    context: &Context,
) -> Result<(), Error> {
    let namespace = apply.namespace().unwrap_or_default();
    let api: Api<Secret> = Api::namespaced(context.client.clone(), &namespace);
    for secret in list(apply, context).await? {
        let name = secret.name_any();
        if Some(name.as_str()) == keep {
            continue;
        }
        let doing = format!("deleting Secret `{namespace}/{name}`");
        Error::unless_gone(api.delete(&name, &DeleteParams::default()).await.map_err(Error::api(doing)))?;
    }
    Ok(())
}

/// Ours: by label and owner. An owner with an older uid (restore, move) still counts by its name.
async fn list(apply: &WorkspaceTemplateApply, context: &Context) -> Result<Vec<Secret>, Error> {
    let key = ApplyKey::of(apply);
    let api: Api<Secret> = Api::namespaced(context.client.clone(), &key.namespace);
    let selector = format!(
        "{}={},{}={}",
        capt_api::names::label::MANAGED_BY,
        capt_api::names::MANAGED_BY_CAPT,
        capt_api::names::label::APPLY_NAME,
        tie::label_value(&key.name),
    );
    let doing = format!("listing the Secrets of WorkspaceTemplateApply `{key}`");
    let found = api.list(&ListParams::default().labels(&selector)).await.map_err(Error::api(doing))?;
    let kind = WorkspaceTemplateApply::kind(&());
    let owned = |secret: &Secret| {
        secret.owner_references().iter().any(|owner| owner.kind == kind && owner.name == key.name)
    };
    let has_file =
        |secret: &Secret| secret.data.as_ref().is_some_and(|data| data.contains_key(SECRET_FILE_KEY));
    Ok(found.items.into_iter().filter(|secret| owned(secret) && has_file(secret)).collect())
}
