//! Takes in what an interrupted apply has made and its state does not hold.

use std::ffi::OsString;

use super::session::Session;
use super::steps::joined_path;
use crate::engine::Verb;
use crate::error::Error;
use crate::imports::{FailedImport, Import, failed_imports, is_address};
use crate::instances::instances;
use crate::plan::Plan;

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
                None if id.is_empty() => recovered.failed.push(failed("its identifier is not known")),
                None => recovered.imports.push(import.clone()),
                Some(None) => {}
                // Without an identifier nobody knows better.
                Some(Some(known)) if known == id || id.is_empty() => {}
                Some(Some(known)) if replaces.contains(known) => {
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

    /// Makes a plan with as many of the imports as possible, and says which cannot be. What cannot be imported keeps nothing else from
    /// being planned.
    pub(super) async fn plan_importing(
        &self,
        destroy: bool,
        imports: Vec<Import>,
    ) -> Result<(Plan, Vec<FailedImport>), Error> {
        let (mut good, mut failed, mut is_planned_without) = (Vec::new(), Vec::new(), false);
        let (mut sets, mut last) = (vec![imports], None);
        while let Some(mut set) = sets.pop() {
            let error = match self.plan_with(destroy, &set).await {
                Ok(plan) => {
                    last = Some((set.len(), plan));
                    good.extend(set);
                    continue;
                }
                Err(error @ Error::Failed { verb: Verb::Plan, .. }) if !set.is_empty() => error,
                Err(error) => return Err(error),
            };
            let named = failed_imports(&set, error.diagnostics());
            if named.is_empty() && !is_planned_without {
                // Providers do not say which object they cannot import. Where it is not the imports, that is the error.
                self.plan_with(destroy, &[]).await?;
                is_planned_without = true;
            }
            match (named.is_empty(), set.len()) {
                (false, _) => {
                    set.retain(|import| !named.iter().any(|it| it.address == import.address));
                    failed.extend(named);
                    if !set.is_empty() {
                        sets.push(set);
                    }
                }
                (true, 1) => {
                    let why = error.diagnostics().first().map(ToString::to_string).unwrap_or_default();
                    failed.extend(
                        set.into_iter()
                            .map(|import| FailedImport { address: import.address, why: why.clone() }),
                    );
                }
                (true, length) => {
                    let rest = set.split_off(length / 2);
                    sets.extend([rest, set]);
                }
            }
        }
        match last {
            Some((length, plan)) if length == good.len() => Ok((plan, failed)),
            _ => Ok((self.plan_with(destroy, &good).await?, failed)),
        }
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
