//! Where workloads lie, and how they go away.
//!
//! A directory is renamed before it is removed: what is half removed is never taken for a workload, and is removed to
//! the end by the next home. No name begins with a dot, so the two cannot be mixed up.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::name::WorkloadName;
use crate::private;

const NAME: &str = "workloads";
const DOOMED: &str = ".deleting-";
/// What is copied, or is about to become a workload. Nobody misses it when the home starts anew.
const PASSING: &str = ".passing-";
/// What belongs to the processes of one start and not to the data.
const NO_DATA: [&str; 2] = ["lock", "logs"];

/// The directory of all workloads of a home.
#[derive(Debug)]
pub(super) struct Directory(PathBuf);

impl Directory {
    /// Makes it when it is missing.
    pub(super) fn of_home(home: &Path) -> io::Result<Self> {
        let directory = path_in(home);
        private::directory(&directory)?;
        Ok(Self(directory))
    }

    /// The directory, if it is there.
    pub(super) fn existing(home: &Path) -> Option<Self> {
        Some(path_in(home)).filter(|directory| directory.is_dir()).map(Self)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Where this workload lies.
    pub(super) fn of(&self, name: &WorkloadName) -> PathBuf {
        self.0.join(name.as_str())
    }

    /// The workloads that are there, in the order of their names. Other things are passed over.
    pub(super) fn names(&self) -> io::Result<Vec<WorkloadName>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            let name = entry.file_name().to_str().and_then(|name| name.parse().ok());
            names.extend(name.filter(|_| entry.file_type().is_ok_and(|kind| kind.is_dir())));
        }
        names.sort();
        Ok(names)
    }

    /// Removes what is left of a workload; nothing may run there. One that is not there is no error.
    pub(super) fn remove(&self, name: &WorkloadName) -> io::Result<()> {
        let doomed = self.0.join(format!("{DOOMED}{name}"));
        // What a removal that was interrupted has left is in the way of the next.
        present(fs::remove_dir_all(&doomed))?;
        present(fs::rename(self.of(name), &doomed))?;
        present(fs::remove_dir_all(&doomed))
    }

    /// Removes what was half removed or half copied when the home before this one ended.
    pub(super) fn finish_removals(&self) -> io::Result<()> {
        let is_left = |name: &str| name.starts_with(DOOMED) || name.starts_with(PASSING);
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            if entry.file_name().to_str().is_some_and(is_left) {
                present(fs::remove_dir_all(entry.path()))?;
            }
        }
        Ok(())
    }

    /// Copies the data of a workload, of which nothing may run, to where it passes.
    pub(super) fn copy(&self, name: &WorkloadName) -> io::Result<()> {
        let to = self.passing(name);
        present(fs::remove_dir_all(&to))?;
        copy_tree(&self.of(name), &to, &NO_DATA)
    }

    /// Makes a workload of what passes.
    pub(super) fn adopt(&self, name: &WorkloadName) -> io::Result<()> {
        let of = self.of(name);
        if of.exists() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        fs::rename(self.passing(name), of)?;
        fs::File::open(&self.0)?.sync_all()
    }

    fn passing(&self, name: &WorkloadName) -> PathBuf {
        self.0.join(format!("{PASSING}{name}"))
    }
}

/// Where the data of a workload lies while it is copied, or before it becomes one.
pub(super) fn passing_in(home: &Path, name: &WorkloadName) -> PathBuf {
    path_in(home).join(format!("{PASSING}{name}"))
}

/// Copies directories and files, but for those of these names at the top. What is neither is passed over.
fn copy_tree(from: &Path, to: &Path, without: &[&str]) -> io::Result<()> {
    private::directory(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let (kind, target) = (entry.file_type()?, to.join(&name));
        if without.iter().any(|left| name == *left) {
            continue;
        }
        if kind.is_dir() {
            copy_tree(&entry.path(), &target, &[])?;
        } else if kind.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// The directory of all workloads, whether it is there or not.
pub(super) fn path_in(home: &Path) -> PathBuf {
    home.join(NAME)
}

/// What is not there need not be removed.
fn present(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory() -> (tempfile::TempDir, Directory) {
        let home = tempfile::tempdir().unwrap();
        let directory = Directory::of_home(home.path()).unwrap();
        (home, directory)
    }

    #[test]
    fn what_is_no_workload_is_passed_over_and_left_alone() {
        let (_home, directory) = directory();
        fs::create_dir(directory.path().join("Not A Name")).unwrap();
        fs::write(directory.path().join("file"), "mine").unwrap();
        for name in ["b", "a"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }

        let names = directory.names().unwrap();

        assert_eq!(names.iter().map(WorkloadName::as_str).collect::<Vec<_>>(), ["a", "b"]);
        directory.finish_removals().unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 4);
    }

    #[test]
    fn a_removal_that_was_interrupted_is_finished() {
        let (_home, directory) = directory();
        let half_removed = directory.path().join(".deleting-demo/etcd");
        fs::create_dir_all(half_removed).unwrap();

        assert_eq!(directory.names().unwrap(), []);
        directory.finish_removals().unwrap();

        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_copy_becomes_a_workload_with_the_same_data() {
        let (_home, directory) = directory();
        let (name, copy): (WorkloadName, WorkloadName) = ("demo".parse().unwrap(), "copy".parse().unwrap());
        fs::create_dir_all(directory.of(&name).join("etcd/member")).unwrap();
        fs::write(directory.of(&name).join("etcd/member/db"), "data").unwrap();
        fs::write(directory.of(&name).join("lock"), "1").unwrap();

        directory.copy(&name).unwrap();
        directory.copy(&name).unwrap();
        assert!(directory.adopt(&name).is_err(), "one of this name is there");
        fs::rename(directory.passing(&name), directory.passing(&copy)).unwrap();
        directory.adopt(&copy).unwrap();

        assert_eq!(fs::read_to_string(directory.of(&copy).join("etcd/member/db")).unwrap(), "data");
        assert!(!directory.of(&copy).join("lock").exists());
        assert_eq!(directory.names().unwrap(), [copy, name]);
    }

    #[test]
    fn what_was_half_copied_is_removed_by_the_next_home() {
        let (_home, directory) = directory();
        fs::create_dir_all(directory.path().join(".passing-demo/etcd")).unwrap();
        assert_eq!(directory.names().unwrap(), []);
        directory.finish_removals().unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_removal_succeeds_whatever_the_one_before_has_left() {
        let (_home, directory) = directory();
        let name: WorkloadName = "demo".parse().unwrap();
        fs::create_dir_all(directory.of(&name).join("etcd")).unwrap();
        fs::create_dir_all(directory.path().join(".deleting-demo/etcd")).unwrap();

        directory.remove(&name).unwrap();
        directory.remove(&name).unwrap();

        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
