//! Files that are no backups, passphrases that are not theirs, and places where nothing is written.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rstest::rstest;
use serde_json::json;

use super::stage::{Stage, command, encrypt, seal};
use crate::{capt, printed, told};

fn header(version: u32) -> String {
    let header = json!({ "header": {
        "format": "capt-backup", "version": version, "capt": "0.1.0", "id": "b", "takenAt": "now", "namespaces": [], "objects": {},
    }});
    format!("{header}\n")
}

/// What is told of a file.
async fn refused(make: impl FnOnce(&Path)) -> String {
    let stage = Stage::bare().await;
    let file = stage.file("backup.age");
    make(&file);
    let said = told(&mut stage.restore(&file), 1);
    said.replace(&file.display().to_string(), "FILE")
}

fn cut(file: &Path) {
    seal(file, &[header(1), "{\"end\":{\"lines\":1}}\n".to_owned()].concat().into_bytes());
    let content = fs::read(file).unwrap();
    fs::write(file, &content[..content.len() - 10]).unwrap();
}

#[rstest]
#[case::absent(|_: &Path| (), "opening FILE")]
#[case::empty(|file: &Path| fs::write(file, "").unwrap(), "FILE is not a backup of capt")]
#[case::something_else(|file: &Path| fs::write(file, "apiVersion: v1\n".repeat(99)).unwrap(), "FILE is not a backup of capt")]
#[case::not_packed(|file: &Path| encrypt(file, b"hello"), "FILE is damaged or not whole")]
#[case::nothing_in_it(|file: &Path| seal(file, b""), "it is not a backup of capt")]
#[case::another_text(|file: &Path| seal(file, b"{}\n"), "it is not a backup of capt")]
#[case::newer(|file: &Path| seal(file, header(9).as_bytes()), "it is of version 9 of the format")]
#[case::without_an_end(|file: &Path| seal(file, header(1).as_bytes()), "it breaks off after 1 lines")]
#[case::cut(cut, "FILE is damaged or not whole")]
#[case::a_line_without_end(|file: &Path| seal(file, &vec![b'x'; 5 << 20]), "FILE is damaged or not whole")]
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_no_backup_is_refused_with_a_sentence(
    #[case] make: impl FnOnce(&Path),
    #[case] expected: &str,
) {
    let said = refused(make).await;
    assert!(said.contains(expected), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_passphrase_opens_nothing() {
    let stage = Stage::bare().await;
    let file = stage.file("backup.age");
    seal(&file, header(1).as_bytes());
    let said = told(stage.restore(&file).env("CAPT_BACKUP_PASSPHRASE", "wrong"), 1);
    assert!(said.contains("the passphrase is not that of"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_private_and_one_that_is_there_is_replaced_only_on_demand() {
    let stage = Stage::set().await;
    let file = stage.file("backup.age");
    printed(&mut stage.backup(&file));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let first = fs::read(&file).unwrap();

    let said = told(&mut stage.backup(&file), 1);
    assert!(said.contains("is there already") && said.contains("--force"), "{said}");
    assert_eq!(fs::read(&file).unwrap(), first);

    printed(stage.backup(&file).arg("--force"));
    assert_ne!(fs::read(&file).unwrap(), first);
    let left = fs::read_dir(stage.directory.path()).unwrap().count();
    assert_eq!(left, 2, "no other file is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passphrase_comes_from_a_file_or_a_variable_and_not_from_nowhere() {
    let stage = Stage::set().await;
    let file = stage.file("backup.age");
    let said = told(stage.backup(&file).env_remove("CAPT_BACKUP_PASSPHRASE"), 1);
    assert!(said.contains("--passphrase-file FILE or in the variable CAPT_BACKUP_PASSPHRASE"), "{said}");
    let said = told(stage.backup(&file).env("CAPT_BACKUP_PASSPHRASE", "short"), 1);
    assert!(said.contains("the passphrase is too short"), "{said}");
    assert!(!file.exists());

    let passphrase = stage.file("passphrase");
    fs::write(&passphrase, "a long sentence\n").unwrap();
    printed(stage.backup(&file).arg("--passphrase-file").arg(&passphrase));
    let said = told(&mut stage.restore(&file), 1);
    assert!(said.contains("the passphrase is not that of"), "{said}");
    printed(stage.restore(&file).arg("--passphrase-file").arg(&passphrase));
    fs::write(&passphrase, vec![b'x'; 9000]).unwrap();
    let said = told(stage.restore(&file).arg("--passphrase-file").arg(&passphrase), 1);
    assert!(said.contains("holds more than 4096 bytes"), "{said}");
}

#[test]
fn a_cluster_that_is_not_there_is_told_before_anything_is_asked() {
    let nowhere = tempfile::tempdir().unwrap();
    let kubeconfig = nowhere.path().join("kubeconfig");
    let said = told(command(&kubeconfig).args(["backup", "x.age"]), 1);
    assert!(said.contains("kubeconfig"), "{said}");
    let said = told(capt().args(["backup", "x.age", "-A", "-n", "x"]), 2);
    assert!(said.contains("cannot be used with"), "{said}");
}
