//! From the form and the versions of the last start to those of this one.

use std::io;
use std::path::{Path, PathBuf};

use super::skew::Skew;
use super::{StoreError, Written, copy, files};
use crate::Progress;
use crate::finder::Versions;

/// Leads from one form of the directory to the next.
struct Step {
    /// What it changes, which is copied first.
    touches: &'static [&'static str],
    apply: fn(&Path) -> io::Result<()>,
}

/// The first leads from the first form to the second. A directory is in the present form when none is left to do.
const STEPS: &[Step] = &[];

/// What the data is kept in; newer parts write it anew.
const DATA: &str = "etcd";

/// A start that may change the data. Left unfinished, the next start finds the data as it was.
#[derive(Debug)]
pub(crate) struct Upgrade {
    directory: PathBuf,
    written: Written,
    now: Written,
}

impl Upgrade {
    /// Makes the data ready for these versions; data that is new is ready. Only for one who holds the directory, in which
    /// nothing is to be recovered.
    pub(crate) fn begin(
        directory: &Path,
        new: bool,
        versions: &Versions,
        progress: &Progress,
    ) -> Result<Self, StoreError> {
        if new {
            let now = Written::now(STEPS.len() + 1, versions);
            return Ok(Self { directory: directory.to_owned(), written: now.clone(), now });
        }
        Self::through(STEPS, directory, versions, progress)
    }

    fn through(
        steps: &[Step],
        directory: &Path,
        versions: &Versions,
        progress: &Progress,
    ) -> Result<Self, StoreError> {
        let written = Written::read(directory)?;
        let format = steps.len() + 1;
        if written.format > format {
            let (directory, capt) = (directory.to_owned(), written.capt);
            return Err(StoreError::NewerForm { directory, capt });
        }
        let skews = written.skew(directory, versions)?;
        let steps = &steps[written.format.saturating_sub(1)..];
        let mut touched: Vec<&str> = steps.iter().flat_map(|step| step.touches).copied().collect();
        for skew in &skews {
            if let Skew::Leap(sentence) = skew {
                progress.say(sentence);
            }
            if *skew != Skew::None && !touched.contains(&DATA) {
                touched.push(DATA);
            }
        }
        if !touched.is_empty() {
            progress.say(&format!("upgrading the data in {}", directory.display()));
            copy::make(directory, &touched)
                .map_err(files("copying the data before an upgrade", directory))?;
        }
        for step in steps {
            (step.apply)(directory).map_err(files("upgrading the data", directory))?;
        }
        let now = Written::now(format, versions);
        Ok(Self { directory: directory.to_owned(), written, now })
    }

    /// The control plane has started: this is how the data is from now on.
    pub(crate) fn finish(self) -> Result<(), StoreError> {
        let Self { directory, written, now } = self;
        if written != now || !directory.join(super::FILE).exists() {
            now.write(&directory).map_err(files("writing what wrote the data", &directory))?;
        }
        copy::discard(&directory).map_err(files("removing the data of before an upgrade", &directory))
    }
}

#[cfg(test)]
mod tests;
