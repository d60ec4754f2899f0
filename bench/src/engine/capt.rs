//! `capt manager` with a Terraform whose starts are counted.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::stage::Stage;
use crate::capt::CaptProcess;
use crate::diagnostics::Counted;

/// A `capt manager`, and how often it started Terraform.
pub(super) struct CaptManager {
    pub(super) process: CaptProcess,
    terraform: CountedTerraform,
}

impl CaptManager {
    pub(super) async fn start(capt: &Path, stage: &Stage) -> anyhow::Result<Self> {
        let directory = stage.directory.path();
        let terraform = CountedTerraform::make(directory, &stage.binary)?;
        let arguments = [
            "--terraform-directory".into(),
            directory.into(),
            "--terraform-binary".into(),
            terraform.program.clone().into(),
        ];
        let kubeconfig = stage.cluster.control_plane().kubeconfig_path();
        let process =
            CaptProcess::start(capt, kubeconfig, directory, Counted::Workspaces, &arguments).await?;
        Ok(Self { process, terraform })
    }

    /// The first argument of every Terraform that was started.
    pub(super) fn commands(&self) -> anyhow::Result<Vec<String>> {
        self.terraform.commands()
    }
}

/// Terraform behind a script that writes down each start: what nobody can start unseen.
struct CountedTerraform {
    program: PathBuf,
    started: PathBuf,
}

impl CountedTerraform {
    fn make(directory: &Path, binary: &Path) -> anyhow::Result<Self> {
        let (program, started) = (directory.join("terraform"), directory.join("started"));
        fs::write(&started, "").context("making a list of starts")?;
        let quoted = |path: &Path| format!("'{}'", path.display().to_string().replace('\'', r"'\''"));
        let (list, binary) = (quoted(&started), quoted(binary));
        let script = format!("#!/bin/sh\necho \"$1\" >> {list}\nexec {binary} \"$@\"\n");
        fs::write(&program, script).context("writing a script")?;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).context("writing a script")?;
        Ok(Self { program, started })
    }

    fn commands(&self) -> anyhow::Result<Vec<String>> {
        let list = fs::read_to_string(&self.started).context("reading the list of starts")?;
        Ok(list.lines().map(str::to_owned).collect())
    }
}
