//! Files and directories that only their owner can read, written whole or not at all.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// How the names of files begin that are not whole yet.
const UNFINISHED: &str = ".capt-unfinished-";

/// Makes the directory, and those above it that are missing, for its owner alone.
pub(crate) fn directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o700))
}

/// Replaces the file in one step, even when the machine loses its power: a reader sees the old content or the new,
/// never a part.
pub(crate) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let parent = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let file = filled(parent, content)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    File::open(parent)?.sync_all()
}

/// Replaces a file that need not be on the disk when the machine loses its power.
pub(crate) fn put(path: &Path, content: &[u8]) -> io::Result<()> {
    let parent = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    filled(parent, content)?.persist(path).map(drop).map_err(|error| error.error)
}

fn filled(parent: &Path, content: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    // A temporary file is readable by its owner alone from the start.
    let begin = || tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(parent);
    let mut file = match begin() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            directory(parent)?;
            begin()?
        }
        other => other?,
    };
    file.write_all(content)?;
    Ok(file)
}

/// Makes sure that all below a directory is on the disk.
pub(crate) fn sync(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            sync(&entry.path())?;
        } else if kind.is_file() {
            File::open(entry.path())?.sync_all()?;
        }
    }
    File::open(directory)?.sync_all()
}

/// An empty file for a process to write to.
pub(crate) fn empty(path: &Path) -> io::Result<File> {
    remove(path)?;
    OpenOptions::new().create_new(true).append(true).mode(0o600).open(path)
}

/// Removes a file or a whole directory; one that is not there is fine.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Removes all that is in a directory. The directory itself stays, being dear to make; one that is not there is fine.
pub(crate) fn clear(directory: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    entries.into_iter().try_for_each(|entry| remove(&entry?.path()))
}

/// Removes the files in a directory whose writer was killed. To be called when nobody writes there.
pub(crate) fn remove_unfinished(directory: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(UNFINISHED.as_bytes()) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_replaced_is_still_readable_by_its_owner_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();

        write(&path, b"new").unwrap();

        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
