//! The way into a home: a socket in its directory.
//!
//! The address of a socket is short. Where the directory's path is too long for it, the socket lies in a private
//! directory elsewhere, and what is in the home's directory is a symbolic link, to be read and not to be followed.

use std::env;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

const NAME: &str = "home.sock";
/// Systems take between 104 and 108 bytes, the last of them zero.
const LONGEST: usize = 103;
/// Where there is a short path in any case.
const SHORT: &str = "/tmp";

/// The file of a socket. Dropped, it is removed.
#[derive(Debug)]
pub(super) struct Address {
    path: PathBuf,
    _elsewhere: Option<TempDir>,
}

impl Drop for Address {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Where others look for the socket of a home.
pub(super) fn path_in(home: &Path) -> PathBuf {
    home.join(NAME)
}

/// Listens in a home that nobody else runs. What a home that was killed has left is taken away first.
pub(super) fn listen(home: &Path) -> io::Result<(UnixListener, Address)> {
    let path = path_in(home);
    clear(&path)?;
    if fits(&path) {
        let listener = bind(&path)?;
        return Ok((listener, Address { path, _elsewhere: None }));
    }
    let elsewhere = short_directory()?;
    let target = elsewhere.path().join(NAME);
    let listener = bind(&target)?;
    symlink(&target, &path)?;
    Ok((listener, Address { path, _elsewhere: Some(elsewhere) }))
}

/// Connects to the home that listens, if one does.
pub(super) fn connect(home: &Path) -> io::Result<UnixStream> {
    let path = path_in(home);
    match fs::read_link(&path) {
        Ok(target) => UnixStream::connect(target),
        // A path that is too long for an address is never that of a socket.
        Err(_) if !fits(&path) => Err(io::ErrorKind::NotFound.into()),
        Err(_) => UnixStream::connect(path),
    }
}

fn fits(path: &Path) -> bool {
    path.as_os_str().len() <= LONGEST
}

/// A directory for its owner alone whose path leaves room for the socket.
fn short_directory() -> io::Result<TempDir> {
    let builder = || {
        let mut builder = tempfile::Builder::new();
        builder.prefix("capt-");
        builder
    };
    let usual = builder().tempdir_in(env::temp_dir())?;
    if fits(&usual.path().join(NAME)) { Ok(usual) } else { builder().tempdir_in(SHORT) }
}

fn bind(path: &Path) -> io::Result<UnixListener> {
    let listener = UnixListener::bind(path)?;
    // The directory that it is in is for its owner alone already.
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(listener)
}

fn clear(path: &Path) -> io::Result<()> {
    if let Ok(target) = fs::read_link(path)
        && fs::symlink_metadata(&target).is_ok_and(|metadata| metadata.file_type().is_socket())
    {
        fs::remove_file(&target)?;
        // A directory with anything else in it is not removed.
        let _ = target.parent().map(fs::remove_dir);
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::mem;

    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::short("home")]
    #[case::too_long_for_an_address(&"long".repeat(40))]
    fn a_home_is_reached_whatever_its_path_and_leaves_nothing(#[case] name: &str) {
        let root = tempfile::tempdir().unwrap();
        let home = root.path().join(name);
        fs::create_dir(&home).unwrap();
        // The home before was killed.
        let (listener, address) = listen(&home).unwrap();
        let before = fs::read_link(path_in(&home)).unwrap_or_default();
        drop(listener);
        mem::forget(address);
        assert_eq!(connect(&home).unwrap_err().kind(), io::ErrorKind::ConnectionRefused);

        let (listener, address) = listen(&home).unwrap();

        assert_eq!(fs::metadata(path_in(&home)).unwrap().permissions().mode() & 0o777, 0o600);
        connect(&home).unwrap().write_all(b"x").unwrap();
        let mut text = String::new();
        listener.accept().unwrap().0.read_to_string(&mut text).unwrap();
        assert_eq!(text, "x");
        assert!(before.parent().is_none_or(|before| !before.exists()), "{}", before.display());
        let target = fs::read_link(path_in(&home)).unwrap_or_default();
        drop(address);
        assert_eq!(fs::read_dir(&home).unwrap().count(), 0);
        assert!(target.parent().is_none_or(|target| !target.exists()), "{}", target.display());
        assert_eq!(connect(&home).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
