//! Whose the Workspace kind is.

use anyhow::Context;
use capt_api::Workspace;
use capt_controller::install::{Owner, owner as owner_of};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Api, CustomResourceExt};

use crate::connection::{self, Connection};

/// Whom the Workspace kind belongs to; `None` when it is CAPT's, or not there. Waits until the API server answers.
pub(super) async fn owner(connection: &Connection) -> anyhow::Result<Option<Owner>> {
    connection::until_it_answers(connection).await;
    let definitions: Api<CustomResourceDefinition> = Api::all(connection.client.clone());
    let name = Workspace::crd_name();
    let definition = definitions.get_opt(name).await.with_context(|| format!("reading the CRD {name}"))?;
    Ok(definition.as_ref().and_then(owner_of))
}
