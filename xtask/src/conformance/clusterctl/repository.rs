//! A repository of providers in a directory, as the guide to the installation describes it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use anyhow::Context;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::super::contract::ClusterApi;
use super::core_components;
use crate::dist::{self, Files, Version};

const CORE: &str = "cluster-api";
const INFRASTRUCTURE: &str = "infrastructure-capt";
const CONTROL_PLANE: &str = "control-plane-capt";

pub(super) struct Repository {
    directory: TempDir,
}

impl Repository {
    /// One that has the real Cluster API and nothing of CAPT's yet.
    pub(super) fn with_core(cluster_api: &ClusterApi) -> anyhow::Result<Self> {
        let directory = tempfile::tempdir()?;
        let module = &cluster_api.module;
        let core = directory.path().join(CORE).join(&module.version);
        fs::create_dir_all(&core)?;
        fs::write(core.join("core-components.yaml"), core_components::text(cluster_api)?)?;
        let metadata = fs::read(module.directory.join("metadata.yaml"));
        fs::write(core.join("metadata.yaml"), metadata.context("reading the metadata of Cluster API")?)?;
        // Both providers of CAPT are of the same release.
        symlink(INFRASTRUCTURE, directory.path().join(CONTROL_PLANE))?;
        Ok(Self { directory })
    }

    /// Adds a release of CAPT.
    pub(super) fn release(&self, version: &Version, files: &Files) -> anyhow::Result<()> {
        dist::write(&self.directory.path().join(INFRASTRUCTURE).join(version.to_string()), files)
    }

    fn latest(&self, provider: &str, file: &str) -> PathBuf {
        self.directory.path().join(provider).join("latest").join(file)
    }

    /// The real Cluster API, as `clusterctl.yaml` names it.
    pub(super) fn core(&self) -> Value {
        let url = self.latest(CORE, "core-components.yaml");
        json!({ "name": "cluster-api", "type": "CoreProvider", "url": url })
    }

    /// What has to be in `clusterctl.yaml`.
    pub(super) fn configuration(&self) -> String {
        let providers = json!([
            self.core(),
            {
                "name": "capt",
                "type": "InfrastructureProvider",
                "url": self.latest(INFRASTRUCTURE, "infrastructure-components.yaml"),
            },
            {
                "name": "capt",
                "type": "ControlPlaneProvider",
                "url": self.latest(CONTROL_PLANE, "control-plane-components.yaml"),
            },
        ]);
        // JSON is YAML.
        json!({ "providers": providers }).to_string()
    }
}
