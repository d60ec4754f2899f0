//! Does what only this command does. Each step looks at what is there, so that any can be repeated.

use anyhow::{Context as _, ensure};
use capt_api::Cluster;
use capt_api::crd::own;
use capt_controller::install::{Kinds, Outcome, install};
use capt_core::from_go::Deed;
use kube::{Api, Client};
use serde_json::json;

use super::super::WRITER;
use crate::printer::Printer;

pub(super) async fn carry_out(client: &Client, deeds: &[Deed], printer: Printer) -> anyhow::Result<()> {
    for deed in deeds {
        match deed {
            Deed::Definitions => definitions(client, printer).await?,
            Deed::Endpoint { namespace, name, before, after } => {
                let clusters: Api<Cluster> = Api::namespaced(client.clone(), namespace);
                let doing = format!("putting the endpoint of Cluster `{namespace}/{name}` right");
                printer.message(&doing);
                // One that somebody has put right meanwhile stays as it is.
                let change = |cluster: &Cluster| {
                    let same = cluster.spec.control_plane_endpoint.as_ref() == Some(before);
                    Ok(same.then(|| json!({ "spec": { "controlPlaneEndpoint": after } })))
                };
                WRITER.change(&clusters, name, &doing, change).await?;
            }
        }
    }
    Ok(())
}

async fn definitions(client: &Client, printer: Printer) -> anyhow::Result<()> {
    printer.message("putting CAPT's kinds in the place of the earlier ones");
    let outcomes = install(client, Kinds::Own, &own()).await.context("installing CAPT's kinds")?;
    for (name, outcome) in outcomes {
        ensure!(
            outcome == Outcome::Installed,
            "the CRD {name} was left as it is: somebody else has changed it meanwhile"
        );
    }
    Ok(())
}
