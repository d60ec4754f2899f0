//! A copy of a version that needs more than one Secret, while it is written over the one before.
//!
//! Several Secrets cannot be written at once. Whoever dies in between leaves a state that nobody can read; then the copy is
//! complete, and its digest proves that.

use capt_api::names::annotation;
use capt_terraform::StateVersion;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{ListParams, PostParams};
use kube::{Api, Client, ResourceExt};

use super::store::unpack;
use super::{FULL, KEY};
use crate::error::Error;
use crate::workspace::place::Place;
use crate::workspace::place::kept::{self, Role, aside};

/// Makes the copy. In a namespace that is being deleted nothing can be made: then there is none.
pub(super) async fn put(
    client: &Client,
    place: &Place,
    version: &StateVersion,
    packed: &[u8],
) -> Result<(), Error> {
    remove(client, place).await?;
    let api = secrets(client, place);
    for (index, piece) in packed.chunks(FULL).enumerate() {
        let name = format!("capt-staged-{}-{index}", place.short_name());
        let mut metadata = place.metadata(Role::Staged, &name);
        metadata.annotations.get_or_insert_default().extend([
            (annotation::STATE_DIGEST.to_owned(), version.digest.clone()),
            (annotation::STATE_PART.to_owned(), index.to_string()),
        ]);
        let data = [(KEY.to_owned(), ByteString(piece.to_vec()))].into();
        let secret = Secret { metadata, data: Some(data), ..Secret::default() };
        match api.create(&PostParams::default(), &secret).await {
            Ok(_) => {}
            Err(error) if kept::is_ending(&error) => return Ok(()),
            Err(error) => return Err(Error::api(doing("writing", place))(error)),
        }
    }
    Ok(())
}

/// The version in the copy; nothing where there is none, or where it is not complete.
pub(super) async fn find(client: &Client, place: &Place) -> Result<Option<StateVersion>, Error> {
    let parameters = ListParams::default().labels(&place.selector(Role::Staged));
    let found =
        secrets(client, place).list(&parameters).await.map_err(Error::api(doing("reading", place)))?;
    let mut parts: Vec<(usize, Secret)> = found
        .items
        .into_iter()
        .filter(|secret| place.made(&secret.metadata))
        .filter_map(|secret| Some((secret.annotations().get(annotation::STATE_PART)?.parse().ok()?, secret)))
        .collect();
    parts.sort_by_key(|(index, _)| *index);
    let wanted =
        parts.first().and_then(|(_, first)| first.annotations().get(annotation::STATE_DIGEST).cloned());
    let content = parts.into_iter().filter_map(|(_, secret)| secret.data?.remove(KEY));
    let packed: Vec<u8> = content.flat_map(|piece| piece.0).collect();
    let version = aside(move || StateVersion::read(unpack(&packed)?.expose().to_vec())).await?;
    Ok(version.filter(|version| Some(&version.digest) == wanted.as_ref()))
}

/// Removes the copy.
pub(super) async fn remove(client: &Client, place: &Place) -> Result<(), Error> {
    let (api, doing) = (secrets(client, place), doing("removing", place));
    let parameters = ListParams::default().labels(&place.selector(Role::Staged));
    let found = api.list_metadata(&parameters).await.map_err(Error::api(&doing))?;
    let ours = found.items.into_iter().map(|item| item.metadata);
    for part in ours.filter(|part: &ObjectMeta| place.made(part)) {
        kept::remove(&api, &part, &doing).await?;
    }
    Ok(())
}

fn secrets(client: &Client, place: &Place) -> Api<Secret> {
    Api::namespaced(client.clone(), &place.namespace)
}

fn doing(verb: &str, place: &Place) -> String {
    format!("{verb} the staged copy of the state of Workspace `{}`", place.workspace)
}
