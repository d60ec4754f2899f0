//! Puts CRDs on an API server, and waits until it serves them.
//!
//! Invariant: a CRD of somebody else's kind is written only if it is absent or CAPT's own, and none that a newer CAPT wrote.
//! Every write carries the resource version that the decision was made on, so an owner who arrives in between is never
//! overwritten.

mod owner;
#[cfg(test)]
mod tests;

use std::time::Duration;

use capt_api::names::{FIELD_MANAGER, label};
use capt_core::skew::{Skew, compare};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, Patch, PatchParams};
use kube::runtime::wait::{await_condition, conditions};
use kube::{Client, ResourceExt};
use serde_json::json;

use crate::write::ONLY_IF_ABSENT;

pub use owner::{Owner, owner};

/// How long the API server may take to serve a CRD that it has accepted.
const ESTABLISHED_WITHIN: Duration = Duration::from_secs(30);
/// How often a write is tried again when the CRD changed in between.
const ATTEMPTS: usize = 10;

/// Why the CRDs are not all there.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The API server could not be asked for a CRD.
    #[error("reading the CRD {name}")]
    Read {
        /// Which CRD.
        name: String,
        /// What the API server said.
        source: kube::Error,
    },
    /// The API server did not take a CRD.
    #[error("applying the CRD {name}")]
    Apply {
        /// Which CRD.
        name: String,
        /// What the API server said.
        source: kube::Error,
    },
    /// The API server could not be watched.
    #[error("waiting until the API server serves {name}")]
    Wait {
        /// Which CRD.
        name: String,
        /// Why the watch ended.
        source: kube::runtime::wait::Error,
    },
    /// The API server took a CRD but does not serve it.
    #[error("the API server does not serve {name} after {} s: see the CRD's conditions", ESTABLISHED_WITHIN.as_secs())]
    NotEstablished {
        /// Which CRD.
        name: String,
    },
}

/// Whose kinds the CRDs describe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kinds {
    /// CAPT's own: always written.
    Own,
    /// Somebody else's: written only where the somebody is not.
    Foreign,
}

/// What was done with one CRD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is there as CAPT wrote it.
    Installed,
    /// It belongs to somebody else and was not touched.
    LeftAlone(Owner),
    /// It is of a newer CAPT and was not touched.
    Newer(Skew),
}

/// Installs the CRDs one by one and returns when the API server serves them all.
pub async fn install(
    client: &Client,
    kinds: Kinds,
    crds: &[CustomResourceDefinition],
) -> Result<Vec<(String, Outcome)>, Error> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let mut outcomes = Vec::with_capacity(crds.len());
    for crd in crds {
        outcomes.push((crd.name_any(), put(&definitions, kinds, crd).await?));
    }
    for (name, outcome) in &outcomes {
        if *outcome == Outcome::Installed {
            await_established(&definitions, name).await?;
        }
    }
    Ok(outcomes)
}

async fn put(
    definitions: &Api<CustomResourceDefinition>,
    kinds: Kinds,
    crd: &CustomResourceDefinition,
) -> Result<Outcome, Error> {
    let name = crd.name_any();
    let mut attempts_left = ATTEMPTS;
    loop {
        let present = definitions.get_opt(&name).await;
        let present = present.map_err(|source| Error::Read { name: name.clone(), source })?;
        if let (Kinds::Foreign, Some(other)) = (kinds, present.as_ref().and_then(owner)) {
            return Ok(Outcome::LeftAlone(other));
        }
        let skew = compare(crd, present.as_ref());
        if skew.is_of_a_newer_capt() {
            return Ok(Outcome::Newer(skew));
        }
        attempts_left -= 1;
        match apply(definitions, crd, present.as_ref()).await {
            Ok(()) => return Ok(Outcome::Installed),
            Err(kube::Error::Api(status)) if status.is_conflict() && attempts_left > 0 => {}
            Err(source) => return Err(Error::Apply { name, source }),
        }
    }
}

async fn apply(
    definitions: &Api<CustomResourceDefinition>,
    crd: &CustomResourceDefinition,
    present: Option<&CustomResourceDefinition>,
) -> Result<(), kube::Error> {
    let mut crd = crd.clone();
    crd.metadata.resource_version =
        Some(present.and_then(ResourceExt::resource_version).unwrap_or_else(|| ONLY_IF_ABSENT.to_owned()));
    crd.metadata.uid = present.and_then(ResourceExt::uid);
    let parameters = PatchParams::apply(FIELD_MANAGER).force();
    definitions.patch(&crd.name_any(), &parameters, &Patch::Apply(&crd)).await?;
    // An apply leaves labels alone that others wrote, but one version must not follow two contracts.
    if present.is_some_and(|present| present.labels().contains_key(label::CONTRACT_V1BETA1)) {
        let without = json!({ "metadata": { "labels": { label::CONTRACT_V1BETA1: null } } });
        definitions.patch(&crd.name_any(), &PatchParams::default(), &Patch::Merge(without)).await?;
    }
    Ok(())
}

async fn await_established(definitions: &Api<CustomResourceDefinition>, name: &str) -> Result<(), Error> {
    let established = await_condition(definitions.clone(), name, conditions::is_crd_established());
    match tokio::time::timeout(ESTABLISHED_WITHIN, established).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(source)) => Err(Error::Wait { name: name.to_owned(), source }),
        Err(_) => Err(Error::NotEstablished { name: name.to_owned() }),
    }
}
