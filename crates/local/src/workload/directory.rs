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

    /// Removes what was half removed when the home before this one ended.
    pub(super) fn finish_removals(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            if entry.file_name().to_str().is_some_and(|name| name.starts_with(DOOMED)) {
                present(fs::remove_dir_all(entry.path()))?;
            }
        }
        Ok(())
    }
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
