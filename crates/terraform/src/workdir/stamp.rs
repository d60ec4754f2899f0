//! Small files that say what is in the directory, so that work is not done twice.

use std::fs;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Workdir;
use crate::error::Error;
use crate::plan::PlanHash;
use crate::private;
use crate::state::Marks;

/// A stamp and the file that it is in.
pub(crate) trait Stamp: Serialize + DeserializeOwned {
    const NAME: &'static str;
    /// Whether it has to be there when the machine has lost its power. Most need not: without them work is done again.
    const DURABLE: bool = false;

    /// The stamp; one that is missing or damaged only costs the work to be done again.
    fn read(workdir: &Workdir) -> Option<Self> {
        serde_json::from_slice(&fs::read(workdir.path().join(Self::NAME)).ok()?).ok()
    }

    fn write(&self, workdir: &Workdir) -> Result<(), Error> {
        let path = workdir.path().join(Self::NAME);
        let content = serde_json::to_vec(self).map_err(|error| Error::file(&path)(error.into()))?;
        if fs::read(&path).is_ok_and(|written| written == content) {
            return Ok(());
        }
        let write = if Self::DURABLE { private::write } else { private::put };
        write(&path, &content).map_err(Error::file(path))
    }

    fn remove(workdir: &Workdir) -> Result<(), Error> {
        let path = workdir.path().join(Self::NAME);
        private::remove(&path).map_err(Error::file(path))
    }
}

/// Which module is in the directory. Written when all of the module is on the disk.
#[derive(Serialize, Deserialize)]
pub(crate) struct Module {
    /// The digest of where it comes from.
    pub(crate) source: String,
    /// The digest of what came.
    pub(crate) tree: String,
}

impl Stamp for Module {
    const NAME: &'static str = "module.json";
}

/// For what `init` was done.
#[derive(Serialize, Deserialize)]
pub(crate) struct Initialised {
    pub(crate) digest: String,
}

impl Stamp for Initialised {
    const NAME: &'static str = "init.json";
}

/// The extra files that were written beside the module.
#[derive(Serialize, Deserialize)]
pub(crate) struct Beside {
    /// Where, below the module's root.
    #[serde(default)]
    pub(crate) entrypoint: String,
    pub(crate) names: Vec<String>,
}

impl Stamp for Beside {
    const NAME: &'static str = "files.json";
    const DURABLE: bool = true;
}

/// The plan that is saved.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedPlan {
    pub(crate) hash: PlanHash,
    /// The digest of the file.
    pub(crate) file: String,
    pub(crate) destroy: bool,
    pub(crate) steps: u64,
}

impl Stamp for SavedPlan {
    const NAME: &'static str = "plan.json";
}

impl Stamp for Marks {
    const NAME: &'static str = "stored.json";
}
