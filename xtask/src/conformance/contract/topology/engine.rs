//! Terraform itself, in the hands of CAPT's manager.

use std::sync::Arc;

use anyhow::Context;
use capt_controller::options::{Server as Address, TerraformOptions};
use capt_terraform::{ProcessEngine, Settings};

use super::super::super::server::Server;

/// CAPT's own namespace, which the chart is installed in.
const NAMESPACE: &str = "capt-system";
/// What this machine calls itself in locks.
const HOST: &str = "conformance";

/// An engine that works in the directory of a management cluster.
pub(in super::super) async fn start(server: &Server) -> anyhow::Result<TerraformOptions> {
    let binary = tokio::task::spawn_blocking(|| capt_testkit::terraform::obtain(None)).await??;
    let directory = server.control_plane.directory().join("terraform");
    let settings = Settings::new(directory.join("workspaces"), binary);
    let engine = ProcessEngine::start(settings).await.context("starting the Terraform engine")?;
    let address = Address {
        address: server.control_plane.url().to_owned(),
        certificate_authority: Some(server.control_plane.certificate_authority().to_owned()),
        server_name: None,
    };
    let artifacts = directory.join("artifacts");
    Ok(TerraformOptions::new(Arc::new(engine), artifacts, address, NAMESPACE.to_owned(), HOST.to_owned()))
}
