//! Starting the control plane of a workload.

use std::io;
use std::path::PathBuf;

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::control_plane::{ControlPlane, ControlPlaneOptions, Error};
use crate::workload::name::WorkloadName;
use crate::workload::protocol::Workload;
use crate::workload::registry::Registry;
use crate::{Progress, private};

/// What the workload is, for modules that read files and do not ask homes.
const FACTS: &str = "workload.json";

/// Why a workload does not run.
#[derive(Debug, thiserror::Error)]
pub(super) enum LaunchError {
    #[error(transparent)]
    ControlPlane(#[from] Error),
    #[error("writing {path}", path = path.display())]
    Facts { path: PathBuf, source: io::Error },
}

/// Makes the workload, or starts it again as it was. Returns when it is ready and its files are complete.
pub(super) fn launch(
    name: &WorkloadName,
    registry: &Registry,
) -> Result<(ControlPlane, Workload), LaunchError> {
    let directory = registry.directory.of(name);
    let options = ControlPlaneOptions {
        name: name.to_string(),
        durable: registry.options.durable,
        cancellation: registry.cancellation.clone(),
        ..ControlPlaneOptions::new(&directory, registry.options.helper.clone())
    };
    // Several may start at the same time: each has one line in the log, and no bar.
    let control_plane = ControlPlane::start(&registry.options.parts, &options, &Progress::silent())?;
    let workload = Workload {
        name: name.clone(),
        server: control_plane.url().to_owned(),
        certificate_authority_data: STANDARD.encode(control_plane.certificate_authority()),
        kubernetes_version: control_plane.kubernetes_version()?,
        kubeconfig: control_plane.kubeconfig_path().to_owned(),
    };
    let path = directory.join(FACTS);
    let written = serde_json::to_string_pretty(&workload).map_err(io::Error::from);
    let written = written.and_then(|facts| private::write(&path, facts + "\n"));
    written.map_err(|source| LaunchError::Facts { path, source })?;
    Ok((control_plane, workload))
}
