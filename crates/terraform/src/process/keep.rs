//! Gives every whole version of a state file to its keeper while a command works on it.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::blocking;
use crate::error::Error;
use crate::keeper::StateKeeper;
use crate::state::{Marks, StateVersion};
use crate::workdir::{KeptFile, Look};

/// How often the file is inspected.
const LOOK: Duration = Duration::from_millis(100);
/// A version of this size, in bytes, is stored at once.
const SMALL: u64 = 64 << 10;
/// So many bytes a second are stored of larger ones: 15 MiB a minute, before they are compressed.
const BYTES_A_SECOND: u64 = 256 << 10;
/// After a failure it is tried again after this.
const PAUSE: Duration = Duration::from_secs(1);

/// Stores versions of a file one after the other; the newest wins.
pub(super) struct Keeping<'k> {
    keeper: &'k dyn StateKeeper,
    file: Arc<KeptFile>,
    /// What the file looked like when it was read last.
    seen: Option<Look>,
    /// The newest whole version that is not stored.
    waiting: Option<StateVersion>,
    /// The version that was stored last.
    last: Option<String>,
    /// No version is stored before this time.
    not_before: Instant,
    failed: bool,
}

impl<'k> Keeping<'k> {
    pub(super) fn new(keeper: &'k dyn StateKeeper, file: KeptFile) -> Self {
        Self {
            keeper,
            file: Arc::new(file),
            seen: None,
            waiting: None,
            last: None,
            not_before: Instant::now(),
            failed: false,
        }
    }

    /// Does some work and stores what it writes meanwhile. A store that is under way when the work ends is dropped: whoever
    /// waits for the last version looks again.
    pub(super) async fn during<T>(mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                () = self.step() => {}
            }
        }
    }

    async fn step(&mut self) {
        sleep(LOOK).await;
        if let Err(error) = self.store_newest().await {
            self.not_before = Instant::now() + PAUSE;
            if !self.failed {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, "a version of the state is not stored yet");
            }
            self.failed = true;
        }
    }

    async fn store_newest(&mut self) -> Result<(), Error> {
        let look = self.file.look();
        if look.is_some() && look != self.seen {
            let file = Arc::clone(&self.file);
            let found = blocking(move || file.read()).await?;
            self.seen = look;
            let is_new = |found: &StateVersion| self.last.as_ref() != Some(&found.digest);
            if let Some(found) = found.filter(is_new) {
                self.waiting = Some(found);
            }
        }
        if self.waiting.is_none() || Instant::now() < self.not_before {
            return Ok(());
        }
        let Some(version) = self.waiting.as_ref() else { return Ok(()) };
        store(self.keeper, &self.file, version).await?;
        self.failed = false;
        self.not_before = Instant::now() + pause_after(version.text.expose().len() as u64);
        self.last = self.waiting.take().map(|version| version.digest);
        Ok(())
    }
}

/// How long the next version waits after one of this size.
fn pause_after(bytes: u64) -> Duration {
    Duration::from_millis(bytes.saturating_sub(SMALL) * 1000 / BYTES_A_SECOND)
}

/// Gives one version to the keeper, and marks it before and after: whenever we are killed, it is known what may be stored.
pub(super) async fn store(
    keeper: &dyn StateKeeper,
    file: &KeptFile,
    version: &StateVersion,
) -> Result<(), Error> {
    let before = file.marks();
    if before.stored.as_ref() == Some(&version.digest) {
        return Ok(());
    }
    if !before.are_followed_by(version) {
        return Err(Error::StateForked {
            what: format!(
                "serial {} of lineage {} in the working directory does not follow from the stored version",
                version.serial, version.lineage
            ),
        });
    }
    // A version that was sent before may be the one that is stored.
    let earlier = before.earlier();
    file.mark(&before.sending(&version.digest))?;
    keeper.store(version, &earlier).await?;
    file.mark(&Marks::stored(version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_versions_are_stored_at_once_and_large_ones_within_a_budget() {
        assert_eq!(pause_after(0), Duration::ZERO);
        assert_eq!(pause_after(SMALL), Duration::ZERO);
        let five_megabytes = pause_after(5 << 20);
        assert!(five_megabytes > Duration::from_secs(15) && five_megabytes < Duration::from_secs(25));
    }
}
