//! Terraform with somebody who writes down how it is called.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use capt_testkit::terraform;

pub(super) struct Engine {
    program: PathBuf,
    calls: PathBuf,
}

impl Engine {
    pub(super) fn new(place: &Path) -> anyhow::Result<Self> {
        let (program, calls) = (place.join("terraform"), place.join("calls"));
        let real = terraform::obtain(None)?;
        let quoted = |path: &Path| format!("'{}'", path.display());
        let script = format!("#!/bin/sh\necho \"$*\" >> {}\nexec {} \"$@\"\n", quoted(&calls), quoted(&real));
        fs::write(&program, script)?;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
        fs::write(&calls, "")?;
        Ok(Self { program, calls })
    }

    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// How often it was called.
    pub(super) fn calls(&self) -> anyhow::Result<usize> {
        Ok(self.read()?.lines().count())
    }

    /// Calls that destroy something, or would.
    pub(super) fn destroys(&self) -> anyhow::Result<Vec<String>> {
        let calls = self.read()?;
        let destroys = calls.lines().filter(|call| call.contains("destroy"));
        Ok(destroys.map(|call| format!("called: {call}")).collect())
    }

    fn read(&self) -> anyhow::Result<String> {
        fs::read_to_string(&self.calls).context("reading how Terraform was called")
    }
}
