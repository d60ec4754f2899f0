//! Takes in what an interrupted apply has made and its state does not hold.

use std::ffi::OsString;

use super::session::Session;
use super::steps::joined_path;
use crate::engine::Verb;
use crate::error::Error;
use crate::imports::{FailedImport, Import, is_address};
use crate::instances::instances;

/// What becomes of the objects that a run is asked to import.
#[derive(Debug, Default)]
pub(super) struct Recovered {
    /// To be imported by the plan.
    pub(super) imports: Vec<Import>,
    /// Cannot be imported.
    pub(super) failed: Vec<FailedImport>,
}

impl Session<'_> {
    /// Compares the objects that the run is asked to import with the state. An object that was deleted to make room for a new one
    /// leaves the state, so that the new one fits in. A plan that destroys takes no imports: its objects are imported at once.
    pub(super) async fn recover(&self, destroy: bool) -> Result<Recovered, Error> {
        if self.run.imports.is_empty() {
            return Ok(Recovered::default());
        }
        let text = self.printed(self.plain(Verb::StatePull, &["state", "pull"])).await?;
        let held = instances(&text).map_err(|source| Error::Unreadable { verb: Verb::StatePull, source })?;
        let (mut recovered, mut stale) = (Recovered::default(), Vec::new());
        for import in &self.run.imports {
            let Import { address, id, replaces } = import;
            let failed = |why: &str| FailedImport { address: address.clone(), why: why.to_owned() };
            if !is_address(address) {
                recovered.failed.push(failed("its address cannot be written into an import"));
                continue;
            }
            match held.get(address) {
                None => recovered.imports.push(import.clone()),
                Some(None) => {}
                Some(Some(known)) if known == id => {}
                Some(Some(_)) if *replaces => {
                    stale.push(address.as_str());
                    recovered.imports.push(import.clone());
                }
                Some(Some(_)) => {
                    recovered.failed.push(failed("the state holds another object at this address"));
                }
            }
        }
        if !stale.is_empty() {
            self.locked(Verb::StateRemove, self.remove_from_state(&stale)).await?;
        }
        if destroy {
            let imports = std::mem::take(&mut recovered.imports);
            if !imports.is_empty() {
                let failed = self.locked(Verb::Import, self.import_each(&imports)).await?;
                recovered.failed.extend(failed);
            }
        }
        Ok(recovered)
    }

    async fn remove_from_state(&self, addresses: &[&str]) -> Result<(), Error> {
        let locking = self.locking();
        // The tool insists on a copy. It holds secrets and goes with them.
        let copy = format!("-backup={}", self.workdir.home().join("state.backup").display());
        let mut arguments = vec!["state", "rm", &locking, &copy, "--"];
        arguments.extend(addresses);
        self.command(self.plain(Verb::StateRemove, &arguments)).await?.expect(&[0]).map(drop)
    }

    /// Imports one object after the other. One that cannot be imported keeps none of the others out.
    async fn import_each(&self, imports: &[Import]) -> Result<Vec<FailedImport>, Error> {
        let mut failed = Vec::new();
        for Import { address, id, .. } in imports {
            let mut command =
                self.plain(Verb::Import, &["import", "-input=false", "-no-color", &self.locking()]);
            let files = self.workdir.variable_files(&self.run);
            command.arguments.extend(files.iter().map(|file| joined_path("-var-file=", file)));
            command.arguments.extend(["--", address, id].map(OsString::from));
            match self.command(command).await?.expect(&[0]) {
                Ok(_) => {}
                Err(error @ Error::Failed { .. }) => {
                    let why = error.diagnostics().first().map(ToString::to_string).unwrap_or_default();
                    failed.push(FailedImport { address: address.clone(), why });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(failed)
    }
}
