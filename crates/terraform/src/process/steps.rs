//! What the commands are, and in which order.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

use super::recover::Recovered;
use super::session::{Command, Session};
use crate::engine::{Applied, Event, Outcome, Verb};
use crate::error::Error;
use crate::imports::Import;
use crate::output::{self, Outputs};
use crate::plan::{self, Plan, PlanHash};
use crate::private;
use crate::run::{Backend, InvalidRun, Locking, Operation, Source};
use crate::source_address;
use crate::workdir::{SavedPlan, Stamp, Workdir, acquire, declared_name, initialised_kind, initialised_path};

/// Arguments that say what to plan: of those for `apply`, the ones that a saved plan does not take.
const PLANNING: [&str; 9] = [
    "-destroy",
    "-refresh",
    "-refresh-only",
    "-replace",
    "-target",
    "-target-file",
    "-exclude",
    "-var",
    "-var-file",
];

impl Session<'_> {
    /// Does what the run asks for. `last` is a command of an earlier engine that has just ended.
    pub(super) async fn work(&self, last: Option<Verb>) -> Result<Outcome, Error> {
        // Before anything can touch the module.
        self.off_thread(|workdir, _| workdir.rescue_state()).await?;
        match &self.run.operation {
            Operation::Plan => self.plan(false).await.map(Outcome::Planned),
            Operation::PlanDestroy => self.plan(true).await.map(Outcome::Planned),
            Operation::Apply { plan: _ } if last == Some(Verb::Apply) => {
                Err(Error::StalePlan { why: "an apply of an earlier process has just ended" })
            }
            Operation::Apply { plan } => Box::pin(self.apply(plan)).await.map(Outcome::Applied),
            Operation::Outputs => {
                self.make_ready(false).await?;
                self.outputs().await.map(Outcome::Outputs)
            }
            Operation::ForceUnlock { id } => self.force_unlock(id).await.map(|()| Outcome::Unlocked),
        }
    }

    /// Brings the directory to where a plan can be made, and stores a state that was not stored.
    /// The answer is the kind of backend that the module declares itself, where that one is kept.
    async fn make_ready(&self, refresh: bool) -> Result<Option<String>, Error> {
        if self.workdir.errored_state().exists() {
            // With the module as it is: a source that is gone must not keep the state from being stored.
            self.initialise(false).await?;
            self.locked(Verb::StatePush, self.push_state()).await?;
        }
        self.initialise(refresh).await
    }

    async fn initialise(&self, refresh: bool) -> Result<Option<String>, Error> {
        if self.workdir.needs_fetch(&self.run, refresh) {
            self.fetch().await?;
        }
        let (tool, has_keeper) = (self.version.tool, self.keeper().is_some());
        let elsewhere = self
            .off_thread(move |workdir, run| {
                workdir.place_module(run)?;
                workdir.place_inputs(run, tool, has_keeper)
            })
            .await?;
        self.run.check_backend(elsewhere.as_deref())?;
        let kept = has_keeper && elsewhere.is_none();
        self.kept.store(kept, Ordering::SeqCst);
        if kept {
            // Before init, which looks for the workspace there.
            self.place_state().await?;
        }
        let digest = self.workdir.init_digest(&self.run, self.version, self.plugin_cache(), kept);
        if self.workdir.is_initialised(&digest) {
            return Ok(elsewhere);
        }
        self.workdir.set_initialised(None)?;
        match self.init(true).await {
            // Where others are there and ours is not, init goes by way of the default one; plan makes ours.
            Err(error) if is_about_workspace(&error) => self.init(false).await?,
            other => other?,
        }
        self.workdir.keep_provider_lock(&self.run)?;
        if !self.has_lasting_backend(kept) {
            return Err(Error::NoBackend);
        }
        self.workdir.set_initialised(Some(digest))?;
        Ok(elsewhere)
    }

    /// Whether init found the backend that it should. A file of the module that comes after all of ours wins over ours.
    fn has_lasting_backend(&self, kept: bool) -> bool {
        if kept {
            return initialised_path(self.workdir)
                .is_some_and(|path| Path::new(&path) == self.workdir.kept());
        }
        let is_stored_elsewhere = matches!(self.run.backend, Backend::Kubernetes { .. });
        initialised_kind(self.workdir).is_some_and(|kind| !(is_stored_elsewhere && kind == "local"))
    }

    async fn init(&self, in_workspace: bool) -> Result<(), Error> {
        let mut arguments = vec!["init", "-input=false", "-no-color", "-reconfigure"];
        let settings = format!("-backend-config={}", self.workdir.backend_settings().display());
        if matches!(&self.run.backend, Backend::Declared { settings } if !settings.expose().is_empty()) {
            arguments.push(&settings);
        }
        let extra = Some(("init", self.run.arguments.init.clone()));
        self.with_cache(Command { extra, in_workspace, ..self.plain(Verb::Init, &arguments) }).await
    }

    /// Lets Terraform copy a remote module, in a directory of its own.
    async fn fetch(&self) -> Result<(), Error> {
        let Source::Remote { address, pull: _ } = &self.run.source else { return Ok(()) };
        self.workdir.clear_incoming()?;
        self.workdir.create()?;
        self.workdir.place_home(&self.run)?;
        let address = source_address::without_login(&String::from_utf8_lossy(address.expose()));
        let from = format!("-from-module={address}");
        let arguments = ["init", "-input=false", "-no-color", "-backend=false", "-get=false", &from];
        let command = Command { directory: self.workdir.incoming(), ..self.plain(Verb::Fetch, &arguments) };
        self.with_cache(command).await?;
        self.off_thread(Workdir::accept_fetched).await
    }

    /// Terraform itself does not guard its plugin cache: one command at a time may write to it.
    async fn with_cache(&self, command: Command) -> Result<(), Error> {
        let _turn = match self.plugin_cache() {
            None => None,
            Some(cache) => {
                fs::create_dir_all(cache).map_err(Error::file(cache))?;
                let path = cache.join(".capt.lock");
                Some(acquire(&path).await.map_err(Error::file(path))?)
            }
        };
        self.command(command).await?.expect(&[0]).map(drop)
    }

    async fn push_state(&self) -> Result<(), Error> {
        let path = self.workdir.errored_state();
        // The apply that could not store its state could not release its lock either: waiting for that would be in vain.
        let locking = match self.run.locking {
            Locking::Wait(_) if !self.is_kept() => "-lock-timeout=0s".to_owned(),
            Locking::Wait(_) | Locking::None => self.locking(),
        };
        let file = path.to_string_lossy();
        let pushed = self.command(self.plain(Verb::StatePush, &["state", "push", &locking, &file])).await;
        pushed
            .and_then(|ended| ended.expect(&[0]))
            .map_err(|source| Error::StatePush { path: path.clone(), source: Box::new(source) })?;
        fs::rename(&path, self.workdir.pushed_state()).map_err(Error::file(path))?;
        self.observer.observe(Event::StatePushed);
        self.settled.store(true, Ordering::SeqCst);
        Ok(())
    }

    async fn plan(&self, destroy: bool) -> Result<Plan, Error> {
        let elsewhere = self.make_ready(true).await?;
        let elsewhere = match self.run.backend {
            Backend::Declared { .. } => declared_name(self.workdir),
            Backend::Kubernetes { .. } | Backend::Local => elsewhere,
        };
        let Recovered { imports, failed: mut not_imported } = self.recover(destroy).await?;
        let (plan, failed) = self.plan_importing(destroy, imports).await?;
        not_imported.extend(failed);
        Ok(Plan { elsewhere, not_imported, ..plan })
    }

    /// Makes a plan with these imports left to it.
    pub(super) async fn plan_with(&self, destroy: bool, imports: &[Import]) -> Result<Plan, Error> {
        let placed = imports.to_vec();
        self.off_thread(move |workdir, run| workdir.place_imports(run, &placed)).await?;
        SavedPlan::remove(self.workdir)?;
        let path = self.workdir.plan();
        private::remove(&path).map_err(Error::file(&path))?;
        let mut command =
            self.plain(Verb::Plan, &["plan", "-input=false", "-json", "-detailed-exitcode", "-lock=false"]);
        command.arguments.push(joined_path("-out=", &path));
        command.arguments.extend(destroy.then(|| "-destroy".into()));
        command.arguments.extend(
            self.workdir.variable_files(&self.run).iter().map(|file| joined_path("-var-file=", file)),
        );
        command.extra = Some(("plan", self.planning_arguments(destroy)));
        let ended = self.command(command).await?;
        if ended.asks_for_init() {
            self.workdir.set_initialised(None)?;
        }
        let code = ended.expect(&[0, 2])?;
        let warnings = ended.warnings();
        let unreadable = |source| Error::Unreadable { verb: Verb::Show, source };
        if code == 0 {
            private::remove(&path).map_err(Error::file(&path))?;
            return Ok(Plan { warnings, ..plan::nothing(destroy) });
        }
        let shown = self.printed(self.plain(Verb::Show, &["show", "-json", &path.to_string_lossy()])).await?;
        let redactor = self.redactor.clone();
        self.off_thread(move |workdir, _| {
            let plan = plan::read(&shown, destroy, &redactor).map_err(unreadable)?;
            let (hash, file) = (plan.hash.clone(), workdir.plan_digest()?);
            SavedPlan { hash, file, destroy, steps: plan.steps() }.write(workdir)?;
            Ok(Plan { warnings, ..plan })
        })
        .await
    }

    async fn apply(&self, wanted: &PlanHash) -> Result<Applied, Error> {
        let saved =
            SavedPlan::read(self.workdir).ok_or(Error::StalePlan { why: "it is not there any more" })?;
        if saved.hash != *wanted {
            return Err(Error::StalePlan { why: "another plan was made since" });
        }
        if saved.file != self.off_thread(|workdir, _| workdir.plan_digest()).await? {
            return Err(Error::StalePlan { why: "its file was changed" });
        }
        self.make_ready(false).await?;
        self.locked(Verb::Apply, self.apply_saved(saved)).await
    }

    async fn apply_saved(&self, saved: SavedPlan) -> Result<Applied, Error> {
        // Never twice: from here on it is applied, or stale.
        SavedPlan::remove(self.workdir)?;
        let path = self.workdir.plan();
        let mut command = self.plain(Verb::Apply, &["apply", "-input=false", "-json", &self.locking()]);
        command.arguments.push(path.clone().into());
        command.extra = Some(("apply", self.applying_arguments(saved.destroy)));
        command.plan = Some((saved.hash, saved.steps));
        let ended = self.command(command).await?;
        self.workdir.rescue_state()?;
        self.settled.store(ended.settled && !self.workdir.errored_state().exists(), Ordering::SeqCst);
        private::remove(&path).map_err(Error::file(&path))?;
        ended.expect(&[0])?;
        let outputs = if saved.destroy { Outputs::new() } else { self.outputs().await? };
        let redactor = self.redactor.clone().and(outputs.values().flat_map(output::Output::hidden_values));
        let warnings = ended.warnings().into_iter().map(|warning| warning.redacted(&redactor)).collect();
        Ok(Applied { outputs, warnings })
    }

    async fn outputs(&self) -> Result<Outputs, Error> {
        let printed = self.printed(self.plain(Verb::Output, &["output", "-json", "-no-color"])).await?;
        output::parse(&printed).map_err(|source| Error::Unreadable { verb: Verb::Output, source })
    }

    async fn force_unlock(&self, id: &str) -> Result<(), Error> {
        if id.is_empty() || id.starts_with('-') {
            return Err(InvalidRun::Argument { argument: id.to_owned() }.into());
        }
        if let Some(keeper) = self.keeper()
            && keeper.force_unlock(id).await?
        {
            return Ok(());
        }
        // A lock in a backend that the module declares itself.
        self.initialise(false).await?;
        self.command(self.plain(Verb::ForceUnlock, &["force-unlock", "-force", id]))
            .await?
            .expect(&[0])
            .map(drop)
    }

    /// The standard output of a command that succeeded.
    pub(super) async fn printed(&self, command: Command) -> Result<String, Error> {
        let verb = command.verb;
        self.command(command).await?.expect(&[0])?;
        let path = self.workdir.raw(verb, "out");
        let printed = fs::read_to_string(&path).map_err(Error::file(&path))?;
        private::remove(&path).map_err(Error::file(path))?;
        Ok(printed)
    }

    fn planning_arguments(&self, destroy: bool) -> Vec<String> {
        let arguments = &self.run.arguments;
        if destroy {
            return divided(&arguments.destroy).0;
        }
        [arguments.plan.clone(), divided(&arguments.apply).0].concat()
    }

    fn applying_arguments(&self, destroy: bool) -> Vec<String> {
        divided(if destroy { &self.run.arguments.destroy } else { &self.run.arguments.apply }).1
    }
}

fn is_about_workspace(error: &Error) -> bool {
    error.diagnostics().iter().any(|told| told.summary.starts_with("Currently selected workspace"))
}

/// Arguments that say what to plan, and the others. A value that is written apart stays with its name.
fn divided(arguments: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut planning, mut applying) = (Vec::new(), Vec::new());
    let mut plans = false;
    for argument in arguments {
        if argument.starts_with('-') {
            let name = argument.split('=').next().unwrap_or_default();
            plans = PLANNING.contains(&if name.starts_with("--") { &name[1..] } else { name });
        }
        if plans { &mut planning } else { &mut applying }.push(argument.clone());
    }
    (planning, applying)
}

pub(super) fn joined_path(option: &str, path: &Path) -> OsString {
    let mut argument = OsString::from(option);
    argument.push(path);
    argument
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_written_apart_stays_with_its_name() {
        let arguments =
            ["-target", "a.b", "-parallelism=3", "--var=x=1", "-lock-timeout", "5s"].map(str::to_owned);

        let (planning, applying) = divided(&arguments);

        assert_eq!(planning, ["-target", "a.b", "--var=x=1"]);
        assert_eq!(applying, ["-parallelism=3", "-lock-timeout", "5s"]);
    }
}
