use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use capt_api::names::{annotation, label};
use capt_core::workspace::observed::AppliedRecord;
use capt_terraform::{
    Arguments, Backend, Format, Limits, Locking, Operation, Secret as Hidden, Source, VariableFile,
};
use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt;
use rstest::rstest;

use super::*;
use crate::workspace::place::stage::{Stage, gzip};
use crate::workspace::state;

const NAME: &str = "capt-record-demo";

fn memory(fingerprint: &str) -> Memory {
    let applied =
        AppliedRecord { fingerprint: fingerprint.to_owned(), digest: None, at: Timestamp::UNIX_EPOCH };
    Memory { applied: Some(applied), published: Some("sha256:x".to_owned()), ..Memory::default() }
}

fn saving<'a>(
    memory: &'a Memory,
    inputs: Option<(&'a Run, &'a str)>,
    provider_lock: Option<&'a str>,
    logs: &'a [Arc<RunLog>],
    blocks_move: bool,
) -> Saving<'a> {
    Saving { memory, inputs, provider_lock, logs, blocks_move, calls: None }
}

fn run(source: Source) -> Run {
    Run {
        identity: Identity::try_from("uid-of-before".to_owned()).unwrap(),
        workspace: "demo".to_owned(),
        operation: Operation::Plan,
        source,
        entrypoint: String::new(),
        files: Vec::new(),
        variables: Vec::new(),
        environment: Vec::new(),
        arguments: Arguments::default(),
        backend: Backend::Kubernetes {
            namespace: "a".to_owned(),
            suffix: "capt".to_owned(),
            kubeconfig: Hidden::from("token"),
            declared: false,
        },
        locking: Locking::default(),
        limits: Limits::default(),
        hidden: Vec::new(),
        provider_lock: Some("older".to_owned()),
        plugin_cache: true,
        earlier_state: capt_terraform::EarlierState::default(),
        imports: Vec::new(),
    }
}

fn inline(content: &str) -> Source {
    Source::Inline { format: Format::Hcl, content: Hidden::from(content) }
}

fn somewhere() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// What does not get smaller when it is compressed.
fn noise(length: usize) -> Vec<u8> {
    let next = |state: &mut u64, _| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        Some(state.to_be_bytes()[0])
    };
    (0..length).scan(1, next).collect()
}

async fn put_broken(stage: &Stage, data: Value) {
    let labels = json!({ label::MANAGED_BY: "capt" });
    let metadata =
        json!({ "name": NAME, "labels": labels, "annotations": { annotation::WORKSPACE: "demo" } });
    stage.put(json!({ "metadata": metadata, "stringData": data })).await;
}

#[rstest]
#[case::not_managed_by_capt(json!({ "name": NAME }))]
#[case::of_another_workspace(json!({
    "name": NAME, "labels": { label::MANAGED_BY: "capt" }, "annotations": { annotation::WORKSPACE: "other" },
}))]
#[tokio::test(flavor = "multi_thread")]
async fn a_secret_of_somebody_else_is_named_and_left_alone(#[case] metadata: Value) {
    let stage = Stage::set(state::rules()).await;
    let place = stage.bare("demo");
    let foreign = stage.put(json!({ "metadata": metadata, "stringData": { "memory": "{}" } })).await;
    let records = Records::default();

    let error = records.load(&stage.client, &place).await.unwrap_err();
    assert!(error.sentence().contains(&format!("{}/{NAME}", stage.namespace)), "{}", error.sentence());
    assert!(records.save(&stage.client, &place, saving(&memory("a"), None, None, &[], false)).await.is_err());
    assert!(records.inputs(&stage.client, &place, somewhere().path()).await.is_err());
    records.remove(&stage.client, &place).await.unwrap();

    assert_eq!(stage.secrets().get(NAME).await.unwrap(), foreign);
}

#[rstest]
#[case::nothing(json!({}))]
#[case::no_json(json!({ "memory": "{", "inputs": "not gzip", "archive": "x" }))]
#[case::another_kind_of_json(json!({ "memory": "[1]" }))]
#[case::a_time_that_is_none(json!({ "memory": r#"{"checkedAt":"yesterday"}"# }))]
#[tokio::test(flavor = "multi_thread")]
async fn what_is_broken_counts_as_not_there_and_is_replaced(#[case] data: Value) {
    let stage = Stage::set(state::rules()).await;
    let place = stage.bare("demo");
    put_broken(&stage, data).await;
    let records = Records::default();

    assert_eq!(records.load(&stage.client, &place).await.unwrap(), Record::default());
    assert_eq!(records.inputs(&stage.client, &place, somewhere().path()).await.unwrap(), None);
    records.save(&stage.client, &place, saving(&memory("a"), None, None, &[], false)).await.unwrap();

    let again = Records::default().load(&stage.client, &place).await.unwrap();
    assert_eq!(again.memory, memory("a"));
    assert_eq!(stage.secrets().get(NAME).await.unwrap().finalizers(), [finalizer::STATE]);
}

#[rstest]
#[case::no_run(gzip(b"{}"))]
#[case::a_bomb(gzip(&vec![b' '; 80 << 20]))]
fn inputs_that_are_no_run_are_told_without_their_content(#[case] inputs: Vec<u8>) {
    let identity = Identity::try_from("u".to_owned()).unwrap();
    let packed = Packed { inputs, archive: None };
    assert!(matches!(packed.unpack(&identity, somewhere().path()), Err(packing::Error::Format)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_later_version_wrote_is_read_as_far_as_it_is_known() {
    let stage = Stage::set(state::rules()).await;
    put_broken(&stage, json!({ "memory": r#"{"published":"p","later":{"x":1}}"# })).await;

    let record = Records::default().load(&stage.client, &stage.bare("demo")).await.unwrap();

    assert_eq!(record.memory.published.as_deref(), Some("p"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_survives_a_restart_and_its_namespace() {
    let stage = Stage::set(state::rules()).await;
    let place = stage.place("demo").await;
    let records = Records::default();
    let run = run(inline("# module"));
    let saved = records
        .save(&stage.client, &place, saving(&memory("a"), Some((&run, "a")), Some("lock"), &[], false))
        .await
        .unwrap();
    assert!(!saved.too_large);
    stage.end().await;

    let records = Records::default();
    let record = records.load(&stage.client, &place).await.unwrap();
    let inputs = records.inputs(&stage.client, &place, somewhere().path()).await.unwrap().unwrap();
    records.save(&stage.client, &place, saving(&memory("b"), None, None, &[], false)).await.unwrap();

    let kept = Some("a".to_owned());
    assert_eq!(
        record,
        Record {
            memory: memory("a"),
            kept: kept.clone(),
            provider_lock: Some("lock".to_owned()),
            blocks_move: false,
            calls: Calls::default(),
        }
    );
    assert_eq!(inputs.source, run.source);
    assert_eq!(inputs.identity.as_str(), place.workspace_uid);
    assert_eq!(inputs.provider_lock.as_deref(), Some("lock"));
    let Backend::Kubernetes { kubeconfig, .. } = inputs.backend else { panic!("another backend") };
    assert_eq!(kubeconfig.expose(), b"");
    assert_eq!(Records::default().load(&stage.client, &place).await.unwrap().kept, kept);

    records.remove(&stage.client, &place).await.unwrap();
    records.remove(&stage.client, &place).await.unwrap();
    assert!(stage.secrets().get_opt(NAME).await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_written_when_nothing_is_new() {
    let stage = Stage::set(state::rules()).await;
    let place = stage.place("demo").await;
    let records = Records::default();
    let run = run(inline("# module"));
    let save = async || {
        records
            .save(&stage.client, &place, saving(&memory("a"), Some((&run, "a")), Some("lock"), &[], false))
            .await
            .unwrap();
        stage.secrets().get(NAME).await.unwrap().resource_version()
    };
    assert_eq!(save().await, save().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn inputs_that_are_too_large_are_not_kept_but_the_memory_is() {
    let stage = Stage::set(state::rules()).await;
    let place = stage.bare("demo");
    let records = Records::default();
    let small = run(inline("# module"));
    records
        .save(&stage.client, &place, saving(&memory("a"), Some((&small, "a")), None, &[], false))
        .await
        .unwrap();
    let mut large = run(inline("# module"));
    let content = Hidden::new(noise(LARGEST_INPUTS));
    large.variables = vec![VariableFile { format: Format::Hcl, sensitive: true, content }];

    let saved = records
        .save(&stage.client, &place, saving(&memory("b"), Some((&large, "b")), None, &[], false))
        .await
        .unwrap();

    assert!(saved.too_large);
    let record = Records::default().load(&stage.client, &place).await.unwrap();
    assert_eq!((record.memory, record.kept), (memory("b"), None));
    assert_eq!(records.inputs(&stage.client, &place, somewhere().path()).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_largest_that_is_kept_fits() {
    let stage = Stage::set(state::rules()).await;
    let directory = somewhere();
    let path = directory.path().join("module.tar.gz");
    let content = noise(LARGEST_INPUTS - 1000);
    fs::write(&path, &content).unwrap();
    let run = run(Source::Archive { path: path.clone() });
    let lock = "x".repeat(LARGEST_LOCK);
    let (place, records) = (stage.bare("demo"), Records::default());

    let saved = records
        .save(&stage.client, &place, saving(&memory("a"), Some((&run, "a")), Some(&lock), &[], false))
        .await
        .unwrap();
    assert!(!saved.too_large);
    fs::remove_file(&path).unwrap();
    let inputs = records.inputs(&stage.client, &place, directory.path()).await.unwrap().unwrap();

    let Source::Archive { path } = inputs.source else { panic!("another source") };
    assert_eq!(fs::read(&path).unwrap(), content);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archive_that_is_gone_is_not_kept() {
    let stage = Stage::set(state::rules()).await;
    let run = run(Source::Archive { path: somewhere().path().join("gone") });
    let saved = Records::default()
        .save(&stage.client, &stage.bare("demo"), saving(&memory("a"), Some((&run, "a")), None, &[], false))
        .await
        .unwrap();
    assert!(saved.too_large);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_manager_wrote_is_not_overwritten() {
    let stage = Stage::set(state::rules()).await;
    let place = stage.bare("demo");
    let (one, other) = (Records::default(), Records::default());
    one.load(&stage.client, &place).await.unwrap();
    other.save(&stage.client, &place, saving(&memory("other"), None, None, &[], false)).await.unwrap();

    assert!(one.save(&stage.client, &place, saving(&memory("one"), None, None, &[], false)).await.is_err());
    assert_eq!(one.load(&stage.client, &place).await.unwrap().memory, memory("other"));
    one.save(&stage.client, &place, saving(&memory("one"), None, None, &[], false)).await.unwrap();

    assert!(
        other.save(&stage.client, &place, saving(&memory("again"), None, None, &[], false)).await.is_err()
    );
    assert_eq!(other.load(&stage.client, &place).await.unwrap().memory, memory("one"));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_can_be_kept_in_a_namespace_that_is_being_deleted() {
    let stage = Stage::set(state::rules()).await;
    let place = stage.bare("demo");
    // Something has to hold the namespace, or it is gone.
    Records::default()
        .save(&stage.client, &stage.bare("holding"), saving(&memory("a"), None, None, &[], false))
        .await
        .unwrap();
    stage.end().await;

    let error = Records::default()
        .save(&stage.client, &place, saving(&memory("a"), None, None, &[], false))
        .await
        .unwrap_err();

    assert!(error.is_forbidden(), "{}", error.sentence());
    Records::default().remove(&stage.client, &stage.bare("holding")).await.unwrap();
}

fn log(lines: usize, quiet: bool) -> Arc<RunLog> {
    // Text that cannot be made small.
    let line = |number: usize| capt_core::digest::short_digest([number.to_string().as_str()], 64);
    Arc::new(RunLog {
        operation: capt_api::engine_status::RunOperation::Plan,
        cause: capt_core::workspace::run_log::Cause::Check,
        started_at: "2026-11-16T12:00:00Z".parse().unwrap(),
        ended_at: "2026-11-16T12:00:01Z".parse().unwrap(),
        succeeded: true,
        result: "nothing to do".to_owned(),
        quiet,
        lines: (0..lines).map(line).collect(),
        gap: None,
    })
}

async fn numbers(stage: &Stage, place: &Place) -> Vec<u64> {
    run_logs(&stage.client, place).await.unwrap().into_iter().map(|(number, _)| number).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_are_counted_on_by_every_manager_and_leave_where_something_else_needs_the_room() {
    let stage = Stage::set(state::rules()).await;
    let place = stage.place("demo").await;
    for number in 1..=4 {
        let records = Records::default();
        records
            .save(&stage.client, &place, saving(&memory("a"), None, None, &[log(1000, number == 2)], false))
            .await
            .unwrap();
        assert_eq!(numbers(&stage, &place).await.last(), Some(&number));
    }
    let first = run_logs(&stage.client, &place).await.unwrap().remove(0).1;
    assert_eq!(first, *log(1000, false));

    let large = LARGEST - (60 << 10);
    let sizes = BTreeMap::from([(INPUTS.to_owned(), large)]);
    let mut shelf = Shelf::new(vec![]);
    for number in 0..4 {
        shelf.add(number == 1, 40 << 10);
    }
    let changes = logs::shelve(&[], &mut shelf, room(&sizes)).await.unwrap();
    assert_eq!(changes.keys().collect::<Vec<_>>(), ["check-2", "run-1", "run-3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_cannot_be_read_spoils_nothing() {
    let stage = Stage::set(state::rules()).await;
    let place = stage.place("demo").await;
    Records::default()
        .save(&stage.client, &place, saving(&memory("a"), None, None, &[log(1, false)], false))
        .await
        .unwrap();
    let broken =
        json!({ "data": { "run-2": ByteString(b"garbage".to_vec()), "run-x": ByteString(Vec::new()) } });
    let patch = kube::api::Patch::Merge(broken);
    stage.secrets().patch("capt-record-demo", &kube::api::PatchParams::default(), &patch).await.unwrap();
    assert_eq!(numbers(&stage, &place).await, [1]);
    Records::default()
        .save(&stage.client, &place, saving(&memory("b"), None, None, &[log(1, false)], false))
        .await
        .unwrap();
    assert_eq!(numbers(&stage, &place).await, [1, 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_holds_up_a_move_as_long_as_it_is_told_to() {
    let stage = Stage::set(state::rules()).await;
    let place = stage.place("demo").await;
    let annotated = async || {
        let secret = stage.secrets().get(&name(&place)).await.unwrap();
        secret.metadata.annotations.unwrap().contains_key(annotation::BLOCK_MOVE)
    };
    let records = Records::default();
    records.save(&stage.client, &place, saving(&memory("a"), None, None, &[], true)).await.unwrap();
    assert!(annotated().await);
    let found = Records::default().load(&stage.client, &place).await.unwrap();
    assert!(found.blocks_move, "also for the manager that comes next");
    // What is remembered need not change for it to end.
    records.save(&stage.client, &place, saving(&memory("a"), None, None, &[], false)).await.unwrap();
    assert!(!annotated().await);
    assert!(!records.load(&stage.client, &place).await.unwrap().blocks_move);
    records.save(&stage.client, &place, saving(&memory("a"), None, None, &[], true)).await.unwrap();
    assert!(annotated().await);
}
