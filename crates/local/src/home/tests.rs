use std::fs::File;

use tempfile::TempDir;

use super::*;
use crate::control_plane::{DirectoryLock, LockError};
use crate::{Cancellation, Progress};

fn home() -> (TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let home = root.path().join("home");
    prepare(&home).unwrap();
    (root, home)
}

fn hold(home: &Path) -> DirectoryLock {
    DirectoryLock::acquire(home, &Cancellation::default(), &Progress::silent()).unwrap()
}

#[test]
fn who_holds_a_home_is_known_until_it_is_let_go() {
    let (_root, home) = home();
    assert_eq!(Holder::of(&home).unwrap(), None);
    let lock = hold(&home);

    let holder = Holder::of(&home).unwrap().unwrap();

    assert_eq!((holder.pid, holder.alive), (std::process::id(), true));
    drop(lock);
    assert_eq!(Holder::of(&home).unwrap(), None);
}

#[test]
fn a_directory_of_other_things_is_never_deleted() {
    let root = tempfile::tempdir().unwrap();
    File::create(root.path().join("kubeconfig")).unwrap();

    let error = remove(root.path()).unwrap_err();

    assert!(matches!(error, RemovalError::NoHome { .. }), "{error}");
    assert!(root.path().join("kubeconfig").exists());
    assert!(matches!(remove(&root.path().join("absent")), Err(RemovalError::NoHome { .. })));
}

#[test]
fn a_home_is_deleted_and_what_others_put_there_stays() {
    let (root, home) = home();
    let elsewhere = root.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    File::create(elsewhere.join("file")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, home.join("workloads")).unwrap();
    for name in ["demo.kubeconfig", "notes.txt"] {
        File::create(home.join(name)).unwrap();
    }

    assert_eq!(remove(&home).unwrap(), ["notes.txt"]);

    let left: Vec<_> = fs::read_dir(&home).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["notes.txt"]);
    assert!(elsewhere.join("file").exists(), "what a link leads to is not deleted");
}

#[test]
fn a_home_that_holds_nothing_else_is_gone() {
    let (_root, home) = home();

    assert_eq!(remove(&home).unwrap(), Vec::<String>::new());

    assert!(!home.exists());
}

#[test]
fn a_home_that_runs_is_not_deleted() {
    let (_root, home) = home();
    let _lock = hold(&home);

    let error = remove(&home).unwrap_err();

    assert!(matches!(error, RemovalError::Lock(LockError::InUse { .. })), "{error}");
    assert!(is_home(&home));
}

#[test]
fn files_take_the_room_that_they_take() {
    let (_root, home) = home();
    let before = disk_use(&home);
    fs::write(home.join("logs/etcd.log"), vec![0; 100_000]).unwrap();

    assert!(disk_use(&home) >= before + 100_000);
}
