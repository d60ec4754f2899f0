//! Reads and writes the versions of a state in its Secrets, in the form of Terraform's `kubernetes` backend.

#[cfg(test)]
mod tests;

use std::io::Read;

use capt_api::names::{annotation, label};
use capt_core::workspace::observed::State;
use capt_terraform::{Secret as Hidden, StateVersion};
use flate2::Compression;
use flate2::bufread::{GzDecoder, GzEncoder};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::PostParams;
use kube::{Api, Client, Resource};
use serde_json::{Value, json};

use super::staged;
use super::{FULL, KEY, Part, doing, judge, read, secrets, wanted};
use crate::error::Error;
use crate::workspace::place::Place;
use crate::workspace::place::kept::{self, aside, lacking};

/// A state that is larger than this is not read.
const LARGEST: u64 = 64 << 20;

/// The Secrets of a state as they were read or written last.
#[derive(Debug, Default)]
pub(in crate::workspace) struct Stored {
    /// Names the version that is in them; nothing where none is.
    pub(in crate::workspace) digest: Option<String>,
    /// Every Secret that is there, in order.
    secrets: Vec<ObjectMeta>,
}

/// Reads the version that is stored.
pub(in crate::workspace) async fn load(
    client: &Client,
    place: &Place,
) -> Result<(Stored, Option<StateVersion>), Error> {
    let parts = read(client, place).await?;
    let all: Vec<ObjectMeta> = parts.iter().map(|part| part.metadata.clone()).collect();
    let of = place.clone();
    let (state, version) = aside(move || {
        let found = judge(parts, &of);
        let version =
            unpack(&joined(&found.parts)).and_then(|text| StateVersion::read(text.expose().to_vec()));
        (found.state, version)
    })
    .await?;
    let version = match state {
        State::Present { .. } if version.is_none() => return recover(client, place, all).await,
        State::Absent | State::Elsewhere => None,
        State::NotOurs { .. } => {
            let (namespace, name) = (&place.state.namespace, place.state_secret());
            return Err(kept::not_ours::<Secret>(&doing("reading", place), namespace, &name));
        }
        State::Present { .. } => version,
    };
    let digest = version.as_ref().map(|version| version.digest.clone());
    Ok((Stored { digest, secrets: all }, version))
}

/// Goes on with a version whose writer died before it was whole.
async fn recover(
    client: &Client,
    place: &Place,
    secrets: Vec<ObjectMeta>,
) -> Result<(Stored, Option<StateVersion>), Error> {
    let Some(version) = staged::find(client, place).await? else {
        return Err(Error::Unreadable {
            what: format!("the state in Secret `{}`", place.state_title()),
            why: "it is no whole state of Terraform; put an earlier one back with `capt state restore`"
                .to_owned(),
        });
    };
    tracing::info!(
        workspace = place.workspace,
        serial = version.serial,
        "a state that was half written is completed"
    );
    // It is staged already, and stays so until it is whole.
    let (before, packed) = (Stored { digest: None, secrets }, packed_text(&version).await?);
    let stored = put_packed(client, place, &before, &version, &packed).await?;
    staged::remove(client, place).await?;
    Ok((stored, Some(version)))
}

/// Writes a version over exactly the one that was read. The first Secret is written last: it says how many there are.
pub(in crate::workspace) async fn write(
    client: &Client,
    place: &Place,
    stored: &Stored,
    version: &StateVersion,
) -> Result<Stored, Error> {
    let packed = packed_text(version).await?;
    let is_divided = packed.len() > FULL || stored.secrets.len() > 1;
    if is_divided {
        staged::put(client, place, version, &packed).await?;
    }
    let stored = put_packed(client, place, stored, version, &packed).await?;
    if is_divided {
        staged::remove(client, place).await?;
    }
    Ok(stored)
}

async fn packed_text(version: &StateVersion) -> Result<Vec<u8>, Error> {
    let text = version.text.clone();
    aside(move || pack(text.expose())).await
}

async fn put_packed(
    client: &Client,
    place: &Place,
    stored: &Stored,
    version: &StateVersion,
    packed: &[u8],
) -> Result<Stored, Error> {
    let pieces: Vec<&[u8]> = packed.chunks(FULL).collect();
    let mut written = Vec::new();
    for (index, piece) in pieces.iter().enumerate().rev() {
        let mut metadata = labelled(place, index, pieces.len());
        if stored.secrets.is_empty() {
            // Somebody has taken the state away, perhaps to another cluster. Who holds and owns it is decided after the run.
            (metadata.finalizers, metadata.owner_references) = (None, None);
        }
        written.push(put(client, place, stored.secrets.get(index), metadata, piece).await?);
    }
    written.reverse();
    for left in stored.secrets.iter().skip(pieces.len()) {
        kept::remove(&secrets(client, place), left, &doing("tidying", place)).await?;
    }
    Ok(Stored { digest: Some(version.digest.clone()), secrets: written })
}

async fn put(
    client: &Client,
    place: &Place,
    found: Option<&ObjectMeta>,
    metadata: ObjectMeta,
    content: &[u8],
) -> Result<ObjectMeta, Error> {
    let (api, doing) = (secrets(client, place), doing("writing", place));
    let secret = if let Some(found) = found {
        let mut patch = lacking(found, &metadata).unwrap_or_else(|| json!({}));
        patch["resourceVersion"] = json!(found.resource_version);
        patch["uid"] = json!(found.uid);
        if !metadata.annotations.as_ref().is_some_and(|wanted| wanted.contains_key(annotation::STATE_PARTS)) {
            patch["annotations"][annotation::STATE_PARTS] = Value::Null;
        }
        let data = json!({ KEY: ByteString(content.to_vec()) });
        let name = found.name.as_deref().unwrap_or_default();
        kept::merge(&api, name, &json!({ "metadata": patch, "data": data }), &doing).await?
    } else {
        create(&api, place, metadata, content, doing).await?
    };
    Ok(ObjectMeta { managed_fields: None, ..secret.meta().clone() })
}

/// Makes a Secret. One that a writer who died has made for a version that was never whole is written over.
async fn create(
    api: &Api<Secret>,
    place: &Place,
    metadata: ObjectMeta,
    content: &[u8],
    doing: String,
) -> Result<Secret, Error> {
    let name = metadata.name.clone().unwrap_or_default();
    let is_part = name != place.state_secret();
    let data = [(KEY.to_owned(), ByteString(content.to_vec()))].into();
    let secret = Secret { metadata, data: Some(data), ..Secret::default() };
    let created = api.create(&PostParams::default(), &secret).await.map_err(Error::api(&doing));
    let Err(error) = created else { return created };
    if !is_part || !error.is_conflict() {
        return Err(error);
    }
    let found = api.get_metadata_opt(&name).await.map_err(Error::api(&doing))?;
    let Some(found) = found.filter(|found| place.made(&found.metadata)) else { return Err(error) };
    let version = json!({ "resourceVersion": found.metadata.resource_version, "uid": found.metadata.uid });
    let data = json!({ KEY: ByteString(content.to_vec()) });
    kept::merge(api, &name, &json!({ "metadata": version, "data": data }), &doing).await
}

/// What is on a Secret of a state: ours, and that by which Terraform finds it.
pub(super) fn labelled(place: &Place, index: usize, parts: usize) -> ObjectMeta {
    let mut metadata = wanted(place, index, parts);
    let first = place.state_secret();
    metadata.name = Some(if index == 0 { first } else { format!("{first}-part-{index}") });
    metadata.labels.get_or_insert_default().extend(
        [
            (label::MANAGED_BY, "terraform"),
            (label::TERRAFORM_STATE, "true"),
            (label::TERRAFORM_STATE_WORKSPACE, &place.terraform_workspace),
            (label::TERRAFORM_STATE_SUFFIX, &place.state.suffix),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned())),
    );
    let annotations = metadata.annotations.get_or_insert_default();
    annotations.insert(annotation::TERRAFORM_STATE_ENCODING.to_owned(), "gzip".to_owned());
    metadata
}

/// What is in all Secrets of a state together.
fn joined(parts: &[Part]) -> Vec<u8> {
    parts.iter().filter_map(|part| part.content.as_ref()).flat_map(Hidden::expose).copied().collect()
}

/// A state as it was before it was compressed; nothing where that cannot be read, or is too large.
pub(in crate::workspace) fn unpack(packed: &[u8]) -> Option<Hidden> {
    let mut text = Vec::new();
    let length = GzDecoder::new(packed).take(LARGEST + 1).read_to_end(&mut text).ok()?;
    (length as u64 <= LARGEST).then(|| Hidden::new(text))
}

/// A state as it is stored.
pub(in crate::workspace) fn pack(text: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    // Reading from memory cannot fail.
    let _ = GzEncoder::new(text, Compression::default()).read_to_end(&mut packed);
    packed
}
