use std::fs;

use rstest::rstest;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::control_plane::store::copy::COPY;
use crate::control_plane::store::{FILE, recover};

/// Each writes its number to the end of a file, and the second fails while a file says so.
const STEPS: &[Step] = &[
    Step { touches: &["form"], apply: |directory| add(directory, "2") },
    Step {
        touches: &["form"],
        apply: |directory| {
            add(directory, "3")?;
            if directory.join("broken").exists() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        },
    },
];

fn add(directory: &Path, number: &str) -> io::Result<()> {
    let form = fs::read_to_string(directory.join("form"))?;
    fs::write(directory.join("form"), form + number)
}

fn versions(kubernetes: &str) -> Versions {
    Versions { kubernetes: kubernetes.to_owned(), etcd: "3.6.4".to_owned() }
}

/// A directory of the first form, from before there was a file.
fn first() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("form"), "1").unwrap();
    fs::create_dir_all(directory.path().join("etcd/member")).unwrap();
    fs::write(directory.path().join("etcd/member/data"), "old").unwrap();
    directory
}

fn wrote(directory: &TempDir, content: &Value) {
    fs::write(directory.path().join(FILE), content.to_string()).unwrap();
}

fn read(directory: &TempDir, name: &str) -> String {
    fs::read_to_string(directory.path().join(name)).unwrap()
}

fn begin(directory: &TempDir, kubernetes: &str) -> Result<Upgrade, StoreError> {
    recover(directory.path(), &Progress::silent())?;
    Upgrade::through(STEPS, directory.path(), &versions(kubernetes), &Progress::silent())
}

#[rstest]
#[case::from_the_first(None, "123")]
#[case::from_the_second(Some(2), "13")]
#[case::from_the_present(Some(3), "1")]
fn each_step_that_is_missing_is_taken(#[case] format: Option<u32>, #[case] expected: &str) {
    let directory = first();
    if let Some(format) = format {
        wrote(
            &directory,
            &json!({ "format": format, "capt": "0.1.0", "kubernetes": "1.34.4", "etcd": "3.6.4" }),
        );
    }

    begin(&directory, "1.34.4").unwrap().finish().unwrap();

    assert_eq!(read(&directory, "form"), expected);
    let written: Value = serde_json::from_str(&read(&directory, FILE)).unwrap();
    assert_eq!(
        written,
        json!({ "format": 3, "capt": env!("CARGO_PKG_VERSION"), "kubernetes": "1.34.4", "etcd": "3.6.4" })
    );
    assert!(!directory.path().join(COPY).exists());
}

#[test]
fn what_goes_wrong_halfway_begins_anew_from_what_was_there() {
    let directory = first();
    fs::write(directory.path().join("broken"), "").unwrap();
    let error = begin(&directory, "1.34.4").unwrap_err();
    assert!(error.to_string().starts_with("upgrading the data in "), "{error}");
    assert_eq!(read(&directory, "form"), "123");

    fs::remove_file(directory.path().join("broken")).unwrap();
    begin(&directory, "1.34.4").unwrap().finish().unwrap();

    assert_eq!(read(&directory, "form"), "123");
    assert!(!directory.path().join(COPY).exists());
}

#[test]
fn newer_parts_get_a_copy_of_the_data_until_they_have_started() {
    let directory = first();
    wrote(&directory, &json!({ "format": 3, "capt": "0.1.0", "kubernetes": "1.33.1", "etcd": "3.6.4" }));
    let upgrade = begin(&directory, "1.34.4").unwrap();
    // They change the data, and then they do not start.
    fs::write(directory.path().join("etcd/member/data"), "half new").unwrap();
    fs::write(directory.path().join("etcd/member/more"), "").unwrap();
    drop(upgrade);

    let upgrade = begin(&directory, "1.34.4").unwrap();

    assert_eq!(read(&directory, "etcd/member/data"), "old");
    assert!(!directory.path().join("etcd/member/more").exists());
    upgrade.finish().unwrap();
    assert!(!directory.path().join(COPY).exists());
}

#[test]
fn a_copy_that_was_not_completed_is_not_put_back() {
    let directory = first();
    let unfinished = directory.path().join("before-upgrade.unfinished/etcd");
    fs::create_dir_all(&unfinished).unwrap();

    begin(&directory, "1.34.4").unwrap();

    assert_eq!(read(&directory, "etcd/member/data"), "old");
    assert!(!unfinished.exists());
}

#[rstest]
#[case::a_newer_form(json!({ "format": 4, "capt": "9.9.9", "kubernetes": "1.34.4", "etcd": "3.6.4" }), "was written by capt 9.9.9, in a form that this capt")]
#[case::a_newer_kubernetes(json!({ "format": 3, "capt": "9.9.9", "kubernetes": "1.35.0", "etcd": "3.6.4" }), "was written by Kubernetes 1.35.0 (capt 9.9.9), which Kubernetes 1.34.4 cannot read")]
#[case::a_newer_etcd(json!({ "format": 3, "capt": "9.9.9", "kubernetes": "1.34.4", "etcd": "3.7.0" }), "was written by etcd 3.7.0 (capt 9.9.9), which etcd 3.6.4 cannot read")]
#[case::something_else(json!("soon"), "which says what wrote the data")]
fn what_cannot_be_read_is_refused_and_left_as_it_is(#[case] content: Value, #[case] expected: &str) {
    let directory = first();
    wrote(&directory, &content);

    let error = begin(&directory, "1.34.4").unwrap_err().to_string();

    assert!(error.contains(expected), "{error}");
    assert_eq!(read(&directory, "form"), "1");
    assert_eq!(read(&directory, FILE), content.to_string());
}

#[test]
fn a_leap_of_versions_is_said() {
    let directory = first();
    wrote(&directory, &json!({ "format": 3, "capt": "0.1.0", "kubernetes": "1.31.0", "etcd": "3.6.4" }));
    let said = directory.path().join("said");
    let progress = Progress::lines(fs::File::create(&said).unwrap());

    Upgrade::through(STEPS, directory.path(), &versions("1.34.4"), &progress).unwrap();

    assert!(read(&directory, "said").starts_with("Kubernetes goes from 1.31.0 to 1.34.4 in one step"));
}
