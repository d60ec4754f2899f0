//! Modules that keep their state in a backend of their own, although the run asks for Kubernetes.

use std::fs;
use std::path::Path;

use capt_terraform::{
    Backend, Error, ExtraFile, Operation, Place, PullPolicy, Run, Secret, Source, fingerprint,
};
use rstest::rstest;

use crate::bed::{Bed, Seen, archive, inline, repository};
use crate::server::StateServer;

const RESOURCE: &str = "resource \"terraform_data\" \"a\" {}\n";

/// Leads to no API server, so that only a run that does not use it succeeds.
fn kubernetes(token: &str) -> Backend {
    let kubeconfig = format!(
        "apiVersion: v1\nkind: Config\nclusters: [{{name: a, cluster: {{server: 'https://127.0.0.1:1'}}}}]\ncontexts: \
         [{{name: a, context: {{cluster: a, user: a}}}}]\ncurrent-context: a\nusers: [{{name: a, user: {{token: {token}}}}}]\n"
    );
    Backend::Kubernetes {
        namespace: "capt-system".to_owned(),
        suffix: "network".to_owned(),
        kubeconfig: Secret::from(kubeconfig),
        declared: false,
    }
}

fn asking_for_kubernetes(module: &str) -> Run {
    let mut run = inline(module);
    // All that the backend of the little server knows.
    "default".clone_into(&mut run.workspace);
    run.backend = kubernetes("hunter22");
    run
}

fn declaration(server: &StateServer) -> String {
    let address = &server.address;
    format!(
        "terraform {{\n  backend \"http\" {{\n    address = \"{address}\"\n    lock_address = \"{address}\"\n    \
         unlock_address = \"{address}\"\n  }}\n}}\n"
    )
}

/// Where the declaration stands.
#[derive(Debug, Clone, Copy)]
enum Written {
    Inline,
    Directory,
    Archive,
    Remote,
    BesideTheModule,
}

fn run(written: Written, directory: &Path, declaration: &str) -> Run {
    let mut run = asking_for_kubernetes(RESOURCE);
    if let Written::BesideTheModule = written {
        run.files = vec![ExtraFile {
            name: "provider-configuration.tf".to_owned(),
            place: Place::Module,
            sensitive: true,
            content: Secret::from(declaration),
        }];
        return run;
    }
    if let Written::Inline = written {
        return asking_for_kubernetes(&format!("{RESOURCE}{declaration}"));
    }
    let module = directory.join("module");
    fs::create_dir_all(module.join("network")).unwrap();
    fs::write(module.join("network/main.tf"), RESOURCE).unwrap();
    fs::write(module.join("network/versions.tf"), declaration).unwrap();
    "network".clone_into(&mut run.entrypoint);
    run.source = match written {
        Written::Directory | Written::Inline | Written::BesideTheModule => Source::Directory { path: module },
        Written::Archive => Source::Archive { path: archive(&module, directory) },
        Written::Remote => {
            Source::Remote { address: Secret::from(repository(&module)), pull: PullPolicy::Always }
        }
    };
    run
}

#[rstest]
#[tokio::test]
async fn a_state_that_is_elsewhere_is_found_there(
    #[values(
        Written::Inline,
        Written::Directory,
        Written::Archive,
        Written::Remote,
        Written::BesideTheModule
    )]
    written: Written,
) {
    let bed = Bed::new().await;
    let server = StateServer::start();
    let run = run(written, bed.root.path(), &declaration(&server));

    let plan = bed.plan(&run).await.unwrap();
    assert_eq!(plan.elsewhere.as_deref(), Some("http"));
    bed.apply(&run, &plan, &Seen::default()).await.unwrap();

    assert!(!server.kept.lock().unwrap().state.is_empty());
    let again = bed.plan(&run).await.unwrap();
    assert!(again.is_empty(), "{again}");
    assert_eq!(again.elsewhere.as_deref(), Some("http"));
    assert!(!bed.workdir().join("kubeconfig").exists());
}

#[tokio::test]
async fn a_local_backend_gives_way_to_kubernetes() {
    let bed = Bed::new().await;
    let run = asking_for_kubernetes("terraform {\n  backend \"local\" {}\n}\n");

    let error = bed.plan(&run).await.unwrap_err();

    assert!(error.to_string().contains("127.0.0.1:1"), "{error}");
}

#[tokio::test]
async fn a_local_backend_that_insists_is_refused() {
    let bed = Bed::new().await;
    let mut run = asking_for_kubernetes("");
    run.files = vec![ExtraFile {
        name: "zzz_override.tf".to_owned(),
        place: Place::Module,
        sensitive: false,
        content: Secret::from("terraform {\n  backend \"local\" {}\n}\n"),
    }];

    let error = bed.plan(&run).await.unwrap_err();

    assert!(matches!(error, Error::NoBackend), "{error}");
}

#[tokio::test]
async fn a_broken_file_is_told_by_terraform() {
    let bed = Bed::new().await;
    let error = bed.plan(&asking_for_kubernetes("terraform {\n  backend \"http\n")).await.unwrap_err();

    assert_eq!(error.reason(), "InitFailed");
    assert!(error.diagnostics().iter().any(|told| told.file.as_deref() == Some("main.tf")), "{error}");
}

#[tokio::test]
async fn a_new_token_changes_neither_the_fingerprint_nor_what_init_did() {
    let bed = Bed::new().await;
    let server = StateServer::start();
    let mut run = run(Written::Inline, bed.root.path(), &declaration(&server));
    let version = capt_terraform::Engine::version(&bed.engine).clone();
    let before = fingerprint(&run, &version).unwrap();
    bed.plan(&run).await.unwrap();

    run.backend = kubernetes("another-token");
    run.provider_lock = Some("# pinned".to_owned());
    run.hidden = vec![capt_terraform::HiddenValue { value: Secret::from("hidden") }];
    run.locking = capt_terraform::Locking::None;
    run.limits.plan *= 2;
    run.operation = Operation::PlanDestroy;
    assert_eq!(fingerprint(&run, &version).unwrap(), before);
    run.operation = Operation::Plan;
    let seen = Seen::default();
    capt_terraform::Engine::run(&bed.engine, &run, &seen).await.unwrap();
    assert_eq!(seen.started(), [capt_terraform::Verb::Plan, capt_terraform::Verb::Show]);

    let Backend::Kubernetes { namespace, .. } = &mut run.backend else { panic!() };
    namespace.push_str("-2");
    assert_ne!(fingerprint(&run, &version).unwrap(), before);
}
