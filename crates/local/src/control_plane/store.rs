//! What wrote the data of a control plane, and how it gets into the present form.
//!
//! A file says in which form the directory is and which versions wrote it last. What would change the data so that
//! those before cannot read it any more is begun with a copy, which is kept until the control plane has started. Whoever
//! finds a copy puts it back first: nobody has used the data since.

mod copy;
mod skew;
mod upgrade;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use skew::Skew;
pub(crate) use upgrade::Upgrade;

use crate::finder::Versions;
use crate::{Progress, private};

/// The file's name.
pub(crate) const FILE: &str = "version.json";
/// Which `capt` this is.
const CAPT: &str = env!("CARGO_PKG_VERSION");

/// Why the data of a directory is not used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The form is not known yet.
    #[error(
        "{directory} was written by capt {capt}, in a form that this capt ({CAPT}) does not know: use that one, or a newer one",
        directory = directory.display()
    )]
    NewerForm {
        /// Which directory.
        directory: PathBuf,
        /// Who wrote it.
        capt: String,
    },
    /// The data is that of newer parts.
    #[error(
        "{directory} was written by {part} {written} (capt {capt}), which {part} {found} cannot read: use a capt or binaries \
         with {part} {written} or newer",
        directory = directory.display()
    )]
    NewerPart {
        /// Which directory.
        directory: PathBuf,
        /// Which part.
        part: &'static str,
        /// Its version then.
        written: String,
        /// Its version now.
        found: String,
        /// Who wrote it.
        capt: String,
    },
    /// The file is broken.
    #[error("reading {file}, which says what wrote the data: put it right, or delete it if the data is that of this capt", file = file.display())]
    Unreadable {
        /// Which file.
        file: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The data could not be brought into the present form.
    #[error("{doing} in {directory}", directory = directory.display())]
    Files {
        /// What was done.
        doing: &'static str,
        /// Which directory.
        directory: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
}

/// What wrote the data of a directory last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Written {
    /// Counts the forms of the directory.
    format: usize,
    capt: String,
    #[serde(flatten)]
    versions: Versions,
}

impl Written {
    /// What this program writes.
    fn now(format: usize, versions: &Versions) -> Self {
        Self { format, capt: CAPT.to_owned(), versions: versions.clone() }
    }

    /// What the directory says. Before there was such a file, all was in the first form.
    fn read(directory: &Path) -> Result<Self, StoreError> {
        let file = directory.join(FILE);
        match fs::read(&file) {
            Ok(content) => {
                serde_json::from_slice(&content).map_err(|source| StoreError::Unreadable { file, source })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(Self { format: 1, capt: "0.1.0".to_owned(), versions: Versions::default() })
            }
            Err(source) => Err(files("reading what wrote the data", directory)(source)),
        }
    }

    fn write(&self, directory: &Path) -> io::Result<()> {
        let content = serde_json::to_string_pretty(self)?;
        private::write(&directory.join(FILE), content + "\n")
    }

    /// How the parts of now go together with data that was written by these.
    fn skew(&self, directory: &Path, now: &Versions) -> Result<Vec<Skew>, StoreError> {
        let Versions { kubernetes, etcd } = &self.versions;
        let pairs = [("Kubernetes", kubernetes, &now.kubernetes), ("etcd", etcd, &now.etcd)];
        let judged = pairs.map(|(part, written, found)| match skew::judge(part, written, found) {
            Skew::Backwards => Err(StoreError::NewerPart {
                directory: directory.to_owned(),
                part,
                written: written.clone(),
                found: found.clone(),
                capt: self.capt.clone(),
            }),
            skew => Ok(skew),
        });
        judged.into_iter().collect()
    }
}

/// Puts the data back as it was before an upgrade that did not come to its end.
pub(crate) fn recover(directory: &Path, progress: &Progress) -> Result<(), StoreError> {
    let put_back = copy::put_back(directory);
    if put_back.map_err(files("putting back the data of before an upgrade", directory))? {
        progress.say("the last upgrade of the data did not come to its end; it begins anew");
    }
    Ok(())
}

fn files(doing: &'static str, directory: &Path) -> impl Fn(io::Error) -> StoreError + use<> {
    let directory = directory.to_owned();
    move |source| StoreError::Files { doing, directory: directory.clone(), source }
}
