//! States that could not be stored, locks, and backends of the user's own.

use capt_terraform::{
    Backend, Engine, Error, Event, Format, Left, Operation, Outcome, ProcessEngine, Run, Secret, Settings,
    Source, Verb,
};

use crate::bed::{Bed, Seen, inline};
use crate::fake::script;
use crate::server::StateServer;

/// A module that declares a backend and leaves its address to the settings.
fn declared(server: &StateServer) -> Run {
    let mut run = inline("terraform {\n  backend \"http\" {}\n}\nresource \"terraform_data\" \"a\" {}\n");
    "default".clone_into(&mut run.workspace);
    let address = &server.address;
    let settings =
        format!("address = \"{address}\"\nlock_address = \"{address}\"\nunlock_address = \"{address}\"\n");
    run.backend = Backend::Declared { settings: Secret::from(settings) };
    run
}

#[tokio::test]
async fn a_state_that_could_not_be_stored_is_stored_before_anything_else() {
    let bed = Bed::new().await;
    let server = StateServer::start();
    let run = declared(&server);
    let plan = bed.plan(&run).await.unwrap();
    server.kept.lock().unwrap().refuses = true;

    let error = bed.apply(&run, &plan, &Seen::default()).await.unwrap_err();
    assert!(matches!(error, Error::Failed { verb: Verb::Apply, .. }), "{error:?}");
    assert!(bed.workdir().join("errored.tfstate").exists());

    let error = bed.plan(&run).await.unwrap_err();
    assert_eq!(error.reason(), "StatePushFailed");
    assert!(bed.workdir().join("errored.tfstate").exists());
    assert_eq!(bed.engine.collect(&std::collections::BTreeSet::new()).await.unwrap(), []);
    assert!(bed.engine.left(&run.identity).await.unwrap().unstored);

    server.kept.lock().unwrap().refuses = false;
    let seen = Seen::default();
    let Outcome::Planned(plan) = bed.engine.run(&run, &seen).await.unwrap() else { panic!() };
    assert!(plan.is_empty(), "{plan}");
    assert!(seen.any(|event| *event == Event::StatePushed));
    assert!(!bed.workdir().join("errored.tfstate").exists());
    assert_eq!(bed.engine.left(&run.identity).await.unwrap(), Left::default());
    assert!(server.kept.lock().unwrap().lock.is_none());
}

#[tokio::test]
async fn a_lock_that_is_released_by_force_lets_the_next_apply_go_on() {
    let bed = Bed::new().await;
    let server = StateServer::start();
    let run = declared(&server);
    let plan = bed.plan(&run).await.unwrap();
    let holder = r#"{"ID":"1f2e","Operation":"OperationTypeApply","Who":"capt@gone","Version":"1.11.4","Created":"2026-11-15T23:13:32Z"}"#;
    server.kept.lock().unwrap().lock = Some(holder.to_owned());

    let error = bed.apply(&run, &plan, &Seen::default()).await.unwrap_err();
    assert!(matches!(error, Error::Locked { verb: Verb::Apply, .. }), "{error:?}");

    let unlock = run.with(Operation::ForceUnlock { id: "1f2e".to_owned() });
    assert_eq!(bed.engine.run(&unlock, &Seen::default()).await.unwrap(), Outcome::Unlocked);
    bed.make(&run, &Seen::default()).await.unwrap();
}

#[tokio::test]
async fn the_holder_of_a_lock_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let rest = r#"printf '%s\n' '{"@message":"Error: Error acquiring the state lock","type":"diagnostic","diagnostic":{"severity":"error","summary":"Error acquiring the state lock","detail":"Error message: the state is already locked by another terraform client\nLock Info:\n  ID:        9c1d\n  Path:      \n  Operation: OperationTypeApply\n  Who:       root@capt-0\n  Version:   1.11.4\n  Created:   2026-11-15 23:13:32 +0000 UTC\n  Info:      \n"}}'; exit 1"#;
    let bed = Bed::with(script(&directory, rest)).await;

    let error = bed.plan(&inline("")).await.unwrap_err();

    assert_eq!(
        error.to_string(),
        "the state is locked by root@capt-0 for OperationTypeApply since 2026-11-15 23:13:32 +0000 UTC (lock 9c1d)"
    );
}

#[tokio::test]
async fn a_module_without_a_backend_is_refused_when_it_is_to_declare_one() {
    let bed = Bed::new().await;
    let mut run = inline("");
    run.backend = Backend::Declared { settings: Secret::default() };

    let error = bed.plan(&run).await.unwrap_err();

    assert_eq!(error.reason(), "NoBackend");
}

#[tokio::test]
async fn the_kubernetes_backend_gets_its_kubeconfig_in_a_file() {
    let bed = Bed::new().await;
    let mut run = inline("");
    let kubeconfig = "apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]\ncurrent-context: a\nusers: [{name: a, user: {token: hunter22-token}}]\n";
    run.backend = Backend::Kubernetes {
        namespace: "capt-system".to_owned(),
        suffix: "network".to_owned(),
        kubeconfig: Secret::from(kubeconfig),
        declared: false,
    };

    let error = bed.plan(&run).await.unwrap_err();

    assert!(error.to_string().contains("127.0.0.1:1"), "{error}");
    let written = std::fs::read_to_string(bed.workdir().join("module/zz_capt_backend_override.tf")).unwrap();
    assert!(
        written.contains("secret_suffix = \"network\"") && written.contains("namespace = \"capt-system\""),
        "{written}"
    );
    assert!(!bed.workdir().join("kubeconfig").exists());
}

#[tokio::test]
async fn a_state_of_a_newer_version_is_told() {
    let bed = Bed::new().await;
    let server = StateServer::start();
    server.kept.lock().unwrap().state =
        br#"{"version":99,"terraform_version":"9.0.0","serial":1,"lineage":"a"}"#.to_vec();

    let error = bed.plan(&declared(&server)).await.unwrap_err();

    assert!(error.to_string().contains("9.0.0"), "{error}");
}

#[tokio::test]
async fn a_lock_that_a_killed_apply_left_is_known_to_have_a_dead_holder() {
    let bed = Bed::new().await;
    let server = StateServer::start();
    let mut run = declared(&server);
    let module = "terraform {\n  backend \"http\" {}\n}\nresource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" { command = \"kill -9 $PPID\" }\n}\n";
    run.source = Source::Inline { format: Format::Hcl, content: Secret::from(module) };
    let error = bed.make(&run, &Seen::default()).await.unwrap_err();
    assert!(error.to_string().contains("signal: 9"), "{error}");
    let holder = server.kept.lock().unwrap().lock.clone().unwrap();
    let holder: serde_json::Value = serde_json::from_str(&holder).unwrap();

    let created = holder["Created"].as_str().unwrap().replace('T', " ").replace('Z', " +0000 UTC");
    let fields = format!(
        "  ID:        {}\\n  Operation: OperationTypeApply\\n  Who:       {}\\n  Created:   {created}",
        holder["ID"].as_str().unwrap(),
        holder["Who"].as_str().unwrap()
    );
    let message = format!(
        r#"{{"type":"diagnostic","diagnostic":{{"severity":"error","summary":"Error acquiring the state lock","detail":"Lock Info:\n{fields}\n"}}}}"#
    );
    let directory = tempfile::tempdir().unwrap();
    let fake = script(&directory, &format!("printf '%s\\n' '{message}'; exit 1"));
    let later = ProcessEngine::start(Settings::new(bed.root.path().join("runs"), fake)).await.unwrap();

    let error = later.run(&run, &Seen::default()).await.unwrap_err();

    let (lock, left_behind) = error.lock().unwrap();
    assert_eq!(lock.id, holder["ID"].as_str().unwrap());
    assert!(left_behind, "{error}");
}
