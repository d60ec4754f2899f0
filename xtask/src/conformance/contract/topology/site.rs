//! What stands for a cloud: a directory that modules read and write, and a real API server.

use std::fs;
use std::path::PathBuf;

use super::super::home::Home;

/// The account that Terraform hands out.
const ACCOUNT: &str = "terraform";

/// A directory that modules read and write.
pub(super) struct Site {
    pub(super) directory: PathBuf,
}

impl Site {
    pub(super) async fn prepare(home: &Home) -> anyhow::Result<Self> {
        let site = Self { directory: home.server.control_plane.directory().join("site") };
        fs::create_dir_all(&site.directory)?;
        let workload = &home.workload;
        let files = [
            ("kubeconfig", workload.kubeconfig_of(ACCOUNT).await?),
            ("endpoint", workload.url.clone()),
            ("authority", workload.authority_data()),
        ];
        for (name, content) in files {
            fs::write(site.directory.join(name), content)?;
        }
        site.has(&workload.before)?;
        Ok(site)
    }

    /// From now on the cloud has this version of Kubernetes; a module that asked for it goes on.
    pub(super) fn has(&self, version: &str) -> anyhow::Result<()> {
        Ok(fs::write(self.directory.join(format!("has-{version}")), "")?)
    }

    /// Whether a module asked for this version.
    pub(super) fn is_asked_for(&self, version: &str) -> bool {
        self.directory.join(format!("asked-{version}")).exists()
    }

    /// What Terraform has done, in order.
    pub(super) fn diary(&self) -> Vec<String> {
        let text = fs::read_to_string(self.directory.join("diary")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}
