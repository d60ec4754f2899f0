//! Keeps the state of a run in its Secrets, and holds the lock on it.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use capt_core::workspace::lock::machine;
use capt_core::workspace::runner::Starter;
use capt_terraform::{Answer, Error as EngineError, LockInfo, StateKeeper, StateVersion, Verb};
use kube::Client;
use tokio::sync::Mutex;

use super::by_hand::{Attempt, Failure, Holder, Lock, LockHolder, Purpose, StateOf};
use super::place::Place;
use super::state::store::{self, Stored};
use super::{Terraform, lock_holder, snapshot, state};
use crate::error::Error;

/// Somebody else may write at the same moment; more often than this it is told.
const MOST_CONFLICTS: usize = 5;
/// Who holds locks of runs, before the machine.
const USER: &str = "capt";

/// Keeps one state.
pub(super) struct SecretKeeper {
    client: Client,
    place: Place,
    terraform: Arc<Terraform>,
    /// What is stored, as it was read or written last.
    stored: Mutex<Option<Stored>>,
    lock: Mutex<Option<Lock>>,
}

impl SecretKeeper {
    pub(super) fn new(client: &Client, place: &Place, terraform: &Arc<Terraform>) -> Self {
        Self {
            client: client.clone(),
            place: place.clone(),
            terraform: Arc::clone(terraform),
            stored: Mutex::default(),
            lock: Mutex::default(),
        }
    }

    async fn read(&self) -> Result<Option<StateVersion>, Error> {
        let mut stored = self.stored.lock().await;
        let (found, version) = store::load(&self.client, &self.place).await?;
        *stored = Some(found);
        Ok(version)
    }

    async fn write(&self, version: &StateVersion, earlier: &[String]) -> Result<(), EngineError> {
        let mut known = self.stored.lock().await;
        for attempt in 1.. {
            let stored = match known.take() {
                Some(stored) => stored,
                None => store::load(&self.client, &self.place).await.map_err(engine_error)?.0,
            };
            match &stored.digest {
                Some(digest) if *digest == version.digest => {
                    *known = Some(stored);
                    return Ok(());
                }
                Some(digest) if !earlier.contains(digest) => return Err(self.forked(version)),
                Some(_) | None => {}
            }
            match store::write(&self.client, &self.place, &stored, version).await {
                Ok(written) => {
                    *known = Some(written);
                    return Ok(());
                }
                // Labels or owners may have changed, or somebody else has stored a version or deleted what was there: it is read
                // again.
                Err(error) if (error.is_conflict() || error.is_gone()) && attempt < MOST_CONFLICTS => {}
                Err(error) => return Err(engine_error(error)),
            }
        }
        Ok(())
    }

    fn forked(&self, version: &StateVersion) -> EngineError {
        let secret = self.place.state_title();
        EngineError::StateForked {
            what: format!(
                "Secret `{secret}` was written by somebody else, and serial {} does not follow from that",
                version.serial
            ),
        }
    }

    async fn keep_aside(&self, version: &StateVersion) -> Result<(), Error> {
        snapshot::keep(&self.client, &self.place, version).await?;
        state::mark_forked(&self.client, &self.place).await?;
        self.stored.lock().await.take();
        Ok(())
    }

    async fn take_lock(&self, verb: Verb) -> Result<(), EngineError> {
        let options = &self.terraform.options;
        let state = StateOf::at(&self.client, &self.place);
        let holder = Holder {
            purpose: Purpose::Apply,
            user: USER.to_owned(),
            host: options.host.clone(),
            pod: options.runner.pod.clone(),
            process: options.runner.process.clone(),
        };
        let mut attempt = state.lock(&holder).await;
        for _ in 0..MOST_CONFLICTS {
            let held = match attempt {
                Ok(Attempt::Taken(lock)) => {
                    *self.lock.lock().await = Some(lock);
                    return Ok(());
                }
                Ok(Attempt::Held(held)) => held,
                Err(failure) if failure.conflict => {
                    attempt = state.lock(&holder).await;
                    continue;
                }
                Err(failure) => {
                    let doing =
                        format!("taking the lock on the state in Secret `{}`", self.place.state_title());
                    return Err(EngineError::Keeper { doing, source: Box::new(failure) });
                }
            };
            if !self.is_dead(&held).await.map_err(engine_error)? {
                return Err(locked(verb, *held));
            }
            tracing::info!(
                workspace = self.place.workspace,
                lock = held.id,
                "the holder of a lock is dead; it is taken over"
            );
            attempt = state.take_over(&held, &holder).await;
        }
        let doing = format!("taking the lock on the state in Secret `{}`", self.place.state_title());
        Err(EngineError::Keeper { doing, source: "others take and release it at the same time".into() })
    }

    /// Whether a run of CAPT's that holds a lock is proved dead. Of others nothing is known here.
    async fn is_dead(&self, held: &LockHolder) -> Result<bool, Error> {
        let (Some(runner), Some(host)) = (&held.runner, machine(&held.who)) else { return Ok(false) };
        let starter = Starter {
            host: host.to_owned(),
            pod_namespace: runner.pod.as_ref().map(|pod| pod.namespace.clone()),
            runner: Some(runner.clone()),
        };
        lock_holder::is_starter_dead(&starter, &self.client, &self.place, &self.terraform).await
    }

    /// Releases the lock of a run of CAPT's that died, or of one of this manager's that has ended: no other run may follow that
    /// takes it over. To be called only while no run of this Workspace goes on here.
    pub(super) async fn release_left_lock(&self) -> Result<(), Error> {
        let state = StateOf::at(&self.client, &self.place);
        let Some(held) = state.holder().await.map_err(|failure| self.unreleased(&failure))? else {
            return Ok(());
        };
        let is_ours = held.runner.as_ref() == Some(&self.terraform.options.runner);
        if is_ours || self.is_dead(&held).await? {
            tracing::info!(
                workspace = self.place.workspace,
                lock = held.id,
                "a lock that a run left is released"
            );
            state.force_unlock(&held.id).await.map_err(|failure| self.unreleased(&failure))?;
        }
        Ok(())
    }

    fn unreleased(&self, failure: &Failure) -> Error {
        Error::Unreadable {
            what: format!("the lock on the state in Secret `{}`", self.place.state_title()),
            why: failure.to_string(),
        }
    }

    async fn release(&self) -> Result<(), EngineError> {
        let mut held = self.lock.lock().await;
        let Some(lock) = held.as_ref() else { return Ok(()) };
        let state = StateOf::at(&self.client, &self.place);
        for _ in 0..MOST_CONFLICTS {
            match state.unlock(lock).await {
                Ok(()) => {
                    *held = None;
                    return Ok(());
                }
                Err(failure) if failure.conflict => {}
                Err(failure) => {
                    let doing =
                        format!("releasing the lock on the state in Secret `{}`", self.place.state_title());
                    return Err(EngineError::Keeper { doing, source: Box::new(failure) });
                }
            }
        }
        let doing = format!("releasing the lock on the state in Secret `{}`", self.place.state_title());
        Err(EngineError::Keeper { doing, source: "others change it at the same time".into() })
    }
}

impl StateKeeper for SecretKeeper {
    fn load(&self) -> Answer<'_, Option<StateVersion>> {
        Box::pin(async { self.read().await.map_err(engine_error) })
    }

    fn store<'a>(&'a self, version: &'a StateVersion, earlier: &'a [String]) -> Answer<'a, ()> {
        Box::pin(self.write(version, earlier))
    }

    fn set_aside<'a>(&'a self, version: &'a StateVersion) -> Answer<'a, ()> {
        Box::pin(async { self.keep_aside(version).await.map_err(engine_error) })
    }

    fn lock(&self, verb: Verb) -> Answer<'_, ()> {
        Box::pin(self.take_lock(verb))
    }

    fn unlock(&self) -> Answer<'_, ()> {
        Box::pin(self.release())
    }

    fn force_unlock<'a>(&'a self, id: &'a str) -> Answer<'a, bool> {
        Box::pin(async move {
            let released = StateOf::at(&self.client, &self.place).force_unlock(id).await;
            released.map_err(|failure| EngineError::Keeper {
                doing: format!("releasing lock {id} on the state in Secret `{}`", self.place.state_title()),
                source: Box::new(failure),
            })
        })
    }
}

fn locked(verb: Verb, held: LockHolder) -> EngineError {
    let lock = LockInfo { id: held.id, who: held.who, operation: held.operation, created: held.since };
    EngineError::Locked { verb, lock, left_behind: false }
}

/// What the API server could not do, in the engine's words. It names the Secret and never repeats its content.
fn engine_error(error: Error) -> EngineError {
    match error {
        Error::Api { doing, source } => EngineError::Keeper { doing, source: Box::new(source) },
        Error::Unreadable { what, why } => {
            EngineError::Keeper { doing: format!("reading {what}"), source: why.into() }
        }
        other => EngineError::Keeper { doing: "keeping the state".to_owned(), source: Box::new(other) },
    }
}
