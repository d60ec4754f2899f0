//! Keeps the state of a run where it outlives the machine.

use crate::engine::{Answer, Verb};
use crate::state::StateVersion;

/// Stores the versions of one state and holds the lock on it.
///
/// With a keeper the tool works on a file in its working directory. Each whole version of that file is given to the keeper
/// within a moment, and a run has ended only when the last one is stored.
pub trait StateKeeper: Send + Sync {
    /// The version that is stored; nothing where there is none.
    fn load(&self) -> Answer<'_, Option<StateVersion>>;

    /// Stores a version if what is stored is the same, one of `earlier` (by digest), or nothing. Otherwise
    /// [`Error::StateForked`](crate::Error::StateForked): somebody else has stored a version of his own.
    fn store<'a>(&'a self, version: &'a StateVersion, earlier: &'a [String]) -> Answer<'a, ()>;

    /// Puts a version that does not follow from what is stored where a person finds it, and makes sure that nothing is changed
    /// until a person has decided.
    fn set_aside<'a>(&'a self, version: &'a StateVersion) -> Answer<'a, ()>;

    /// Takes the lock on the state, for this command. [`Error::Locked`](crate::Error::Locked) where somebody has it who is not
    /// proved dead.
    fn lock(&self, verb: Verb) -> Answer<'_, ()>;

    /// Releases the lock that [`Self::lock`] took.
    fn unlock(&self) -> Answer<'_, ()>;

    /// Releases a lock of anybody, by its identifier; `false` where no such lock is held.
    fn force_unlock<'a>(&'a self, id: &'a str) -> Answer<'a, bool>;
}
