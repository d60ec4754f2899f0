//! A state that a keeper stores: loaded before a command works on it, locked meanwhile, stored to the end.

use std::pin::pin;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::sleep;

use super::active::given;
use super::keep::{self, Keeping};
use super::session::Session;
use crate::calls::Calls;
use crate::engine::{Event, Observer, Verb};
use crate::error::Error;
use crate::keeper::StateKeeper;
use crate::run::{Backend, Locking, Operation, Run};
use crate::state::{Reconciled, StateVersion, reconcile};
use crate::workdir::KeptFile;

/// How long it is waited before the last version is stored once more.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);
/// With the pauses before it, a lock is tried to be released for some seconds.
const LAST_PAUSE_OF_RELEASE: Duration = Duration::from_secs(2);

/// Who keeps the state of a run, if somebody does.
pub(super) fn keeper<'o>(run: &Run, observer: &'o dyn Observer) -> Option<&'o dyn StateKeeper> {
    match run.backend {
        Backend::Kubernetes { .. } => observer.keeper(),
        Backend::Local | Backend::Declared { .. } => None,
    }
}

impl Session<'_> {
    pub(super) fn keeper(&self) -> Option<&dyn StateKeeper> {
        keeper(&self.run, self.observer)
    }

    pub(super) fn is_kept(&self) -> bool {
        self.kept.load(Ordering::SeqCst)
    }

    fn kept_file(&self) -> KeptFile {
        KeptFile::new(self.workdir, &self.run.workspace)
    }

    /// Puts the newest version of the state where the tool works on it. What an interrupted run left unstored is stored first.
    pub(super) async fn place_state(&self) -> Result<(), Error> {
        let Some(keeper) = self.keeper() else { return Ok(()) };
        if matches!(self.run.operation, Operation::ForceUnlock { .. }) {
            // Storing takes the lock that is to be released.
            return Ok(());
        }
        let (file, stored) = (self.kept_file(), keeper.load().await?);
        let found = self.read_kept_file().await?;
        match reconcile(found.as_ref(), stored.as_ref(), &file.marks()) {
            Reconciled::Same => Ok(()),
            Reconciled::TakeStored => {
                if found.is_none() && file.is_torn()? {
                    tracing::warn!(identity = %self.run.identity, "the state file of an interrupted run is torn; the stored version is used");
                }
                self.off_thread(move |_, _| file.place(stored.as_ref())).await
            }
            Reconciled::StoreFile => {
                let Some(found) = found else { return Ok(()) };
                let path = file.path().to_owned();
                let failed = |source| Error::StatePush { path, source: Box::new(source) };
                self.under_lock(Verb::StatePush, keep::store(keeper, &file, &found)).await.map_err(failed)?;
                self.observer.observe(Event::StatePushed);
                Ok(())
            }
            Reconciled::Fork => {
                let Some(found) = found else { return Ok(()) };
                keeper.set_aside(&found).await?;
                self.off_thread(move |_, _| file.place(stored.as_ref())).await?;
                Err(forked(&found))
            }
        }
    }

    /// Does work that changes the state under the lock on it. Every version is stored while the work goes on, and the last one
    /// before it counts as ended.
    pub(super) async fn locked<T>(
        &self,
        verb: Verb,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        self.settled.store(false, Ordering::SeqCst);
        let Some(keeper) = self.keeper().filter(|_| self.is_kept()) else {
            let result = work.await;
            self.settle_calls();
            return result;
        };
        let work = async {
            let result = Keeping::new(keeper, self.kept_file()).during(work).await;
            if self.store_last(keeper).await? {
                self.settle_calls();
            }
            result
        };
        self.under_lock(verb, work).await
    }

    /// Reports that the state has the result of every call, where the command came to its own end.
    fn settle_calls(&self) {
        if self.settled.swap(false, Ordering::SeqCst) {
            self.observer.observe(Event::Calls(Calls::default()));
        }
    }

    async fn under_lock<T>(
        &self,
        verb: Verb,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let keeper = match self.run.locking {
            Locking::Wait(_) => self.keeper(),
            Locking::None => None,
        };
        let Some(keeper) = keeper else { return work.await };
        keeper.lock(verb).await?;
        let result = work.await;
        // What is not stored is nobody else's to change. Whoever stores it has the lock again.
        if !matches!(result, Err(Error::StatePush { .. }))
            && let Err(error) = release(keeper).await
        {
            // The next run of ours knows it as its own.
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the lock on the state is not released yet"
            );
        }
        result
    }

    /// Stores what a command has left, however long that takes; whether there was a whole version. When the run is asked to stop, it is tried for as long as a
    /// command has to stop; after that the next run does it.
    async fn store_last(&self, keeper: &dyn StateKeeper) -> Result<bool, Error> {
        let file = self.kept_file();
        let Some(version) = self.read_kept_file().await? else { return Ok(false) };
        let stop = self.stop.clone();
        let grace = self.run.limits.grace;
        let mut given_up = pin!(async move {
            let mut stop = stop;
            given(&mut stop).await;
            sleep(grace).await;
        });
        let mut pause = FIRST_PAUSE;
        loop {
            let error = match keep::store(keeper, &file, &version).await {
                Ok(()) => return Ok(true),
                Err(Error::StateForked { .. }) => {
                    keeper.set_aside(&version).await?;
                    let stored = keeper.load().await?;
                    self.off_thread(move |_, _| file.place(stored.as_ref())).await?;
                    return Err(forked(&version));
                }
                Err(error) => error,
            };
            if pause == FIRST_PAUSE {
                self.observer.observe(Event::StateNotStored(error.to_string()));
            }
            tokio::select! {
                () = sleep(pause) => pause = (pause * 2).min(LONGEST_PAUSE),
                () = &mut given_up => {
                    return Err(Error::StatePush { path: file.path().to_owned(), source: Box::new(error) });
                }
            }
        }
    }

    async fn read_kept_file(&self) -> Result<Option<StateVersion>, Error> {
        let file = self.kept_file();
        self.off_thread(move |_, _| file.read()).await
    }

    /// Removes the file when everything in it is stored: what is stored then may be written by others.
    pub(super) async fn forget_stored_state(&self) -> Result<(), Error> {
        if !self.is_kept() || self.workdir.holds_unstored_state().map_err(Error::file(self.workdir.kept()))? {
            return Ok(());
        }
        let file = self.kept_file();
        self.off_thread(move |_, _| file.remove()).await
    }
}

/// Releases the lock, however often others get in between or the keeper does not answer for a moment.
async fn release(keeper: &dyn StateKeeper) -> Result<(), Error> {
    let mut pause = FIRST_PAUSE;
    loop {
        match keeper.unlock().await {
            Err(_) if pause <= LAST_PAUSE_OF_RELEASE => sleep(pause).await,
            released => return released,
        }
        pause *= 2;
    }
}

fn forked(version: &StateVersion) -> Error {
    Error::StateForked {
        what: format!(
            "the working directory of an interrupted run has serial {} of lineage {}, and somebody else has stored another version since. That serial is kept as a snapshot; CAPT goes on with the stored version, and applies nothing until you approve the plan. To use the snapshot instead: capt state restore",
            version.serial, version.lineage
        ),
    }
}
