//! Files and directories that only their owner can read, written whole or not at all.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Makes the directory, and those above it that are missing, for its owner alone.
pub(crate) fn directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o700))
}

/// Replaces the file in one step, even when the machine loses its power: a reader sees the old content or the new,
/// never a part.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let parent = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let file = filled(parent, content.as_ref())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    File::open(parent)?.sync_all()
}

/// Replaces a file that is written anew for every run, so that nothing has to reach the disk.
pub(crate) fn put(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let parent = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    filled(parent, content.as_ref())?.persist(path).map(drop).map_err(|error| error.error)
}

fn filled(parent: &Path, content: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    directory(parent)?;
    // A temporary file is readable by its owner alone from the start.
    let mut file = tempfile::NamedTempFile::new_in(parent)?;
    file.write_all(content)?;
    Ok(file)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_replaced_is_still_readable_by_its_owner_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();

        write(&path, "new").unwrap();

        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
