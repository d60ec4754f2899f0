//! A kill leaves no secret behind for longer than until the next engine starts.

use std::fs;
use std::path::{Path, PathBuf};

use capt_terraform::{
    Engine, Event, ExtraFile, Format, Operation, Place, ProcessEngine, Run, Secret, Settings, VariableFile,
    Verb,
};

use capt_testkit::terraform::binary;

use crate::bed::{Bed, Seen, ended, inline, killable, until};

/// Waits in the middle of its apply until it is let go.
fn waiting(mark: &Path) -> Run {
    let mut run = inline(&format!(
        r#"
variable "password" {{
  type      = string
  sensitive = true
}}
resource "terraform_data" "one" {{
  provisioner "local-exec" {{
    command     = "echo $PASSWORD; cat credentials; touch '{mark}'; while [ ! -e '{mark}.go' ]; do sleep 0.05; done"
    environment = {{ PASSWORD = nonsensitive(var.password) }}
  }}
}}
"#,
        mark = mark.display()
    ));
    let content = Secret::from(r#"{"password":"variable-hunter22"}"#);
    run.variables = vec![VariableFile { format: Format::Json, sensitive: true, content }];
    let file = |name: &str, place, content: &str| ExtraFile {
        name: name.to_owned(),
        place,
        sensitive: true,
        content: Secret::from(content),
    };
    run.files = vec![
        file("credentials", Place::Module, "file-hunter22"),
        file("provider.tf", Place::Module, "# configuration-hunter22"),
        file(".netrc", Place::Home, "home-hunter22"),
    ];
    run
}

/// Every file below a directory that shows one of the secrets.
fn showing(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            found.extend(showing(&path));
        } else if String::from_utf8_lossy(&fs::read(&path).unwrap()).contains("hunter22") {
            found.push(path);
        }
    }
    found
}

async fn engine(bed: &Bed) -> ProcessEngine {
    ProcessEngine::start(Settings::new(bed.root.path().join("runs"), binary())).await.unwrap()
}

#[tokio::test]
async fn the_next_engine_removes_the_secrets_that_no_living_process_needs() {
    let bed = Bed::new().await;
    let mark = bed.root.path().join("mark");
    let run = waiting(&mark);
    let plan = bed.plan(&run).await.unwrap();
    let mut parent = killable(&bed, &run.with(Operation::Apply { plan: plan.hash.clone() }));
    until("the apply waits", || mark.exists()).await;
    parent.kill().unwrap();
    parent.wait().unwrap();
    // As if the kill had come in the middle of writing them.
    fs::write(bed.workdir().join(".capt-unfinished-1"), "hunter22").unwrap();
    fs::write(bed.workdir().join("module/.capt-unfinished-2"), "hunter22").unwrap();
    fs::write(bed.workdir().join("errored.tfstate"), "{}").unwrap();

    let second = engine(&bed).await;
    for needed in ["variables/000.tfvars.json", "module/credentials", "logs/apply.out", "plan.bin"] {
        assert!(bed.workdir().join(needed).exists(), "{needed} was taken from a living process");
    }
    fs::write(mark.with_extension("go"), "").unwrap();
    ended(&second).await;
    assert!(!showing(&bed.workdir()).is_empty());
    let third = engine(&bed).await;

    assert_eq!(showing(&bed.workdir()), Vec::<PathBuf>::new());
    for gone in [
        "variables/000.tfvars.json",
        "home/.netrc",
        "module/credentials",
        "logs/apply.out",
        "plan.bin",
        "plan.json",
    ] {
        assert!(!bed.workdir().join(gone).exists(), "{gone} is still there");
    }
    for kept in ["errored.tfstate", "state/network/terraform.tfstate"] {
        assert!(bed.workdir().join(kept).exists(), "{kept} is gone");
    }
    fs::remove_file(bed.workdir().join("errored.tfstate")).unwrap();
    let unfinished = third.unfinished().await.unwrap();
    assert_eq!((unfinished[0].verb, unfinished[0].alive), (Some(Verb::Apply), false));
    let seen = Seen::default();
    third.run(&run, &seen).await.unwrap();
    assert!(seen.any(|event| matches!(event, Event::Survived(survived) if survived.completed)));
}

#[tokio::test]
async fn a_plan_that_can_still_be_applied_outlives_the_engine_that_made_it() {
    let bed = Bed::new().await;
    let run = inline("resource \"terraform_data\" \"a\" {}\n");
    let plan = bed.plan(&run).await.unwrap();

    let second = engine(&bed).await;

    let apply = run.with(Operation::Apply { plan: plan.hash });
    second.run(&apply, &Seen::default()).await.unwrap();
}

#[tokio::test]
async fn a_directory_that_cannot_be_read_keeps_no_engine_from_its_work() {
    let bed = Bed::new().await;
    fs::create_dir_all(bed.root.path().join("runs/uid-0/run.lock")).unwrap();
    fs::create_dir_all(bed.root.path().join("runs/uid-0/journal.json")).unwrap();
    fs::write(bed.root.path().join("runs/uid-2"), "not a directory").unwrap();

    let second = engine(&bed).await;

    assert_eq!(second.unfinished().await.unwrap(), []);
}

#[tokio::test]
async fn looking_for_what_is_unfinished_leaves_no_trace() {
    let bed = Bed::new().await;
    fs::create_dir_all(bed.workdir()).unwrap();

    assert_eq!(bed.engine.unfinished().await.unwrap(), []);

    assert_eq!(fs::read_dir(bed.workdir()).unwrap().count(), 0);
}
