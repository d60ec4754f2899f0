//! `config/crd`: CAPT's own kinds, and below `compatible` those of others.

use std::path::{Path, PathBuf};

use capt_api::crd::{Foreign, foreign, own};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;

use super::{Files, document};
use crate::repository::CONFIG;

pub(super) fn add(files: &mut Files) -> anyhow::Result<()> {
    let directory = Path::new(CONFIG).join("crd");
    for crd in own() {
        files.insert(path(&directory, &crd), document(&crd)?);
    }
    let compatible = directory.join("compatible");
    for crd in [Foreign::Terraform, Foreign::ClusterApi].into_iter().flat_map(foreign) {
        files.insert(path(&compatible, &crd), document(&crd)?);
    }
    Ok(())
}

fn path(directory: &Path, crd: &CustomResourceDefinition) -> PathBuf {
    directory.join(format!("{}.yaml", crd.name_any()))
}
