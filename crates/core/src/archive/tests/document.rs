use rstest::rstest;
use serde_json::{Value, json};

use super::super::*;

fn header() -> Value {
    json!({ "header": {
        "format": FORMAT, "version": 1, "capt": "0.1.0", "id": "b1", "takenAt": "now", "namespaces": [],
        "objects": { "ConfigMap": 1 },
    }})
}

fn object(name: &str) -> Value {
    json!({ "object": { "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name, "namespace": "a" } } })
}

fn end(lines: usize) -> Value {
    json!({ "end": { "lines": lines } })
}

fn read(lines: &[Value]) -> Result<Vec<Item>, Problem> {
    let mut reading = Reading::default();
    let items: Result<Vec<Item>, Problem> =
        lines.iter().map(|line| reading.take(line.to_string().as_bytes())).collect();
    let items = items?;
    reading.finish().map(|()| items)
}

#[test]
fn a_whole_backup_is_read() {
    let items = read(&[header(), object("x"), end(2)]).unwrap();
    assert!(matches!(&items[1], Item::Object(key, _) if key.to_string() == "ConfigMap `a/x`"), "{items:?}");
    assert_eq!(items[2], Item::End);
}

#[rstest]
#[case::nothing(&[], Problem::NotABackup)]
#[case::something_else(&[json!({ "kind": "List" })], Problem::NotABackup)]
#[case::no_version(&[json!({ "header": { "format": FORMAT } })], Problem::NotABackup)]
#[case::newer(&[json!({ "header": { "format": FORMAT, "version": 7, "news": {} } })], Problem::Newer(7))]
#[case::broken_header(&[json!({ "header": { "format": FORMAT, "version": 1 } })], Problem::Broken(1))]
#[case::no_end(&[header(), object("x")], Problem::Incomplete(2))]
#[case::a_line_is_missing(&[header(), end(2)], Problem::Incomplete(1))]
#[case::goes_on(&[header(), end(1), object("x")], Problem::OutOfPlace(3))]
#[case::begins_again(&[header(), header()], Problem::OutOfPlace(2))]
#[case::twice(&[header(), object("x"), object("x"), end(3)], Problem::Twice("ConfigMap `a/x`".to_owned()))]
#[case::another_kind(&[header(), json!({ "object": { "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "x", "namespace": "a" } } })], Problem::Stranger(2))]
#[case::another_version(&[header(), json!({ "object": { "apiVersion": "v2", "kind": "Secret", "metadata": { "name": "x", "namespace": "a" } } })], Problem::Stranger(2))]
#[case::a_name_that_leads_elsewhere(&[header(), object("../x")], Problem::Stranger(2))]
#[case::no_object(&[header(), json!({ "object": 1 })], Problem::Stranger(2))]
#[case::unknown_line(&[header(), json!({ "odd": 1 })], Problem::Broken(2))]
#[case::a_file_outside(&[header(), json!({ "file": { "workload": "w", "path": "../x", "offset": 0, "data": "" } })], Problem::Stranger(2))]
#[case::an_absolute_file(&[header(), json!({ "file": { "workload": "w", "path": "/etc/x", "offset": 0, "data": "" } })], Problem::Stranger(2))]
fn what_is_wrong_is_told(#[case] lines: &[Value], #[case] expected: Problem) {
    assert_eq!(read(lines).unwrap_err(), expected);
}

#[test]
fn what_others_need_comes_first() {
    let Item::Header(header) = read(&[header(), end(1)]).unwrap().remove(0) else { panic!("no header") };
    let kinds = [
        ("cluster.x-k8s.io/v1beta2", "Cluster", Some("a")),
        ("infrastructure.cluster.x-k8s.io/v1beta1", "WorkspaceTemplateApply", Some("a")),
        ("v1", "Secret", Some("a")),
        ("v1", "Namespace", None),
    ];
    let objects = kinds.map(|(version, kind, namespace)| {
        let object = json!({ "apiVersion": version, "kind": kind, "metadata": { "name": "a", "namespace": namespace } });
        (Key::of(&object).unwrap(), object)
    });
    let backup = Backup::new(header, objects.to_vec());
    let order: Vec<&str> = backup.objects.iter().map(|(key, _)| key.kind).collect();
    assert_eq!(order, ["Namespace", "Secret", "WorkspaceTemplateApply", "Cluster"]);
}
