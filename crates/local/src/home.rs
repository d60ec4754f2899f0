//! The directory of a home, as others see it: whether it is one, who runs it, and how it goes away.

mod removal;

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub use crate::control_plane::Holder;
pub use removal::{RemovalError, remove};

use crate::control_plane::{Files, Ports};

/// The unit in which systems count the room that files take.
const BLOCK: u64 = 512;

/// Makes an empty home. A directory that holds other things is left as it is and refused.
pub fn prepare(directory: &Path) -> io::Result<()> {
    Files::at(directory).map(drop)
}

/// Whether the directory is that of a home, however far its first start came.
pub fn is_home(directory: &Path) -> bool {
    ["etcd", "logs", "pki"].iter().all(|name| directory.join(name).is_dir())
}

/// The ports that the home keeps, once it has chosen them.
pub fn ports(directory: &Path) -> Option<Ports> {
    Ports::read(&directory.join("ports.json"))
}

/// Where the home logs when it runs in the background.
pub fn log(directory: &Path) -> PathBuf {
    directory.join("logs").join("capt.log")
}

/// How many bytes of the disk the directory takes. What goes away meanwhile, or cannot be read, counts as nothing.
pub fn disk_use(directory: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(directory) else { return 0 };
    let of_entry = |entry: fs::DirEntry| {
        // Links are not followed.
        let Ok(metadata) = entry.metadata() else { return 0 };
        let below = if metadata.is_dir() { disk_use(&entry.path()) } else { 0 };
        metadata.blocks() * BLOCK + below
    };
    entries.flatten().map(of_entry).sum()
}

#[cfg(test)]
mod tests;
