//! What a tool that is killed had made is known, and taken into the state by the next plan.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capt_terraform::{Action, Calls, Engine, Event, Import, Operation, Run, Verb};
use capt_testkit::terraform::{binary, opentofu};
use rstest::rstest;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::bed::{Bed, Seen, ended, inline, killable, until};

/// Resources that are made one after the other. Each leaves a line, and the third hangs.
fn in_sequence(file: &Path) -> Run {
    let mut run = inline(&format!(
        r#"
resource "terraform_data" "first" {{
  provisioner "local-exec" {{ command = "echo first >> '{0}'" }}
}}
resource "terraform_data" "second" {{
  for_each   = toset(["a \"b\" $${{c}}"])
  depends_on = [terraform_data.first]
  provisioner "local-exec" {{ command = "echo second >> '{0}'" }}
}}
resource "terraform_data" "third" {{
  depends_on = [terraform_data.second]
  provisioner "local-exec" {{ command = "echo third >> '{0}'; test -e '{0}.go' || sleep 60" }}
}}
output "ids" {{ value = concat([terraform_data.first.id], [for it in terraform_data.second : it.id]) }}
"#,
        file.display()
    ));
    run.arguments.apply = vec!["-parallelism=2".to_owned()];
    run
}

fn lines(file: &Path) -> Vec<String> {
    fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Kills the tool and all that it started, as the end of a container does.
fn kill(bed: &Bed) {
    let journal: serde_json::Value =
        serde_json::from_slice(&fs::read(bed.workdir().join("journal.json")).unwrap()).unwrap();
    let pid = i32::try_from(journal["pid"].as_i64().unwrap()).unwrap();
    kill_process_group(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

fn last_calls(seen: &Seen) -> Calls {
    let mut calls = seen.events().into_iter().filter_map(|event| match event {
        Event::Calls(calls) | Event::Survived(capt_terraform::Survived { calls: Some(calls), .. }) => {
            Some(calls)
        }
        _ => None,
    });
    calls.next_back().unwrap_or_default()
}

fn imports(calls: &Calls) -> Vec<Import> {
    calls.made()
}

/// Loses what the tool had stored: as if it had stored nothing yet.
fn lose_state(bed: &Bed) {
    for entry in fs::read_dir(bed.workdir().join("state")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
    }
}

/// The same with the tool in `PATH`, Terraform on most machines, and with OpenTofu.
#[rstest]
#[case::named(binary as fn() -> PathBuf)]
#[case::opentofu(opentofu as fn() -> PathBuf)]
#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_apply_had_made_is_imported_and_nothing_is_made_twice(#[case] tool: fn() -> PathBuf) {
    let bed = Arc::new(Bed::with(tokio::task::spawn_blocking(tool).await.unwrap()).await);
    let file = bed.root.path().join("made");
    let run = in_sequence(&file);
    let plan = bed.plan(&run).await.unwrap();
    let seen = Arc::new(Seen::default());
    let applying = tokio::spawn({
        let (bed, run, seen) = (Arc::clone(&bed), run.clone(), Arc::clone(&seen));
        async move { bed.apply(&run, &plan, &seen).await }
    });
    until("the third is being made", || lines(&file).len() == 3 && last_calls(&seen).begun.len() == 1).await;
    kill(&bed);
    applying.await.unwrap().unwrap_err();

    let calls = last_calls(&seen);
    assert_eq!(calls.begun[0].address, "terraform_data.third");
    let addresses: Vec<&str> = calls.finished.iter().map(|call| call.address.as_str()).collect();
    assert_eq!(addresses, ["terraform_data.first", r#"terraform_data.second["a \"b\" $${c}"]"#]);

    lose_state(&bed);
    fs::write(format!("{}.go", file.display()), "").unwrap();
    let importing = Run { imports: imports(&calls), ..run.clone() };
    let seen = Seen::default();
    let outcome = bed.engine.run(&importing, &seen).await.unwrap();
    let capt_terraform::Outcome::Planned(plan) = outcome else { panic!("{outcome:?}") };
    assert_eq!(seen.started(), [Verb::StatePull, Verb::Plan, Verb::Show], "init is not repeated");
    assert_eq!((plan.count(Action::Import), plan.count(Action::Create)), (2, 1), "{plan}");
    assert!(!bed.workdir().join("module/zz_capt_imports.tf").exists());

    let applied = bed.apply(&run, &plan, &Seen::default()).await.unwrap();
    let ids: Vec<_> = calls.finished.iter().filter_map(|call| call.id_value.clone()).collect();
    assert_eq!(applied.outputs["ids"].status_value(), Some(serde_json::json!(ids)));
    assert_eq!(lines(&file), ["first", "second", "third", "third"]);
    // What is in the state is not imported once more.
    let again = bed.plan(&importing).await.unwrap();
    assert!(again.is_empty(), "{again}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_calls_of_an_apply_that_died_with_its_manager_are_found_in_its_directory() {
    for swept in [false, true] {
        let bed = Bed::new().await;
        let file = bed.root.path().join("made");
        let run = in_sequence(&file);
        let plan = bed.plan(&run).await.unwrap();
        let mut parent = killable(&bed, &run.with(Operation::Apply { plan: plan.hash.clone() }));
        until("the third is being made", || lines(&file).len() == 3).await;
        parent.kill().unwrap();
        parent.wait().unwrap();
        kill(&bed);
        ended(&bed.engine).await;
        if swept {
            let settings = capt_terraform::Settings::new(bed.root.path().join("runs"), binary());
            capt_terraform::ProcessEngine::start(settings).await.unwrap();
            assert!(!bed.workdir().join("logs/apply.out").exists());
        }

        let seen = Seen::default();
        bed.engine.run(&run, &seen).await.unwrap();

        let calls = last_calls(&seen);
        assert_eq!((calls.begun.len(), calls.finished.len()), (1, 2), "{calls:?}");
        let seen = Seen::default();
        bed.engine.run(&run, &seen).await.unwrap();
        assert!(last_calls(&seen).is_empty(), "they are told once");
    }
}

#[tokio::test]
async fn an_apply_that_comes_to_its_own_end_leaves_no_calls() {
    let bed = Bed::new().await;
    let works = inline("resource \"terraform_data\" \"a\" {}");
    let fails = inline(
        "resource \"terraform_data\" \"b\" {\n  provisioner \"local-exec\" { command = \"exit 1\" }\n}",
    );
    for (run, succeeds) in [(works, true), (fails, false)] {
        let seen = Seen::default();
        assert_eq!(bed.make(&run, &seen).await.is_ok(), succeeds);
        assert!(seen.any(|event| matches!(event, Event::Calls(calls) if !calls.is_empty())));
        assert!(last_calls(&seen).is_empty());
    }
}

#[tokio::test]
async fn an_import_that_fails_is_named_and_the_others_are_planned() {
    let bed = Bed::new().await;
    let import = |address: &str| Import {
        address: address.to_owned(),
        id: "${x}\"\n%{y}".to_owned(),
        replaces: Vec::new(),
    };
    let module = "resource \"terraform_data\" \"a\" {}";
    let imports = vec![import("terraform_data.a"), import("terraform_data.gone"), import("broken")];
    let run = Run { imports: imports.clone(), ..inline(module) };

    let plan = bed.plan(&run).await.unwrap();
    let addresses: Vec<&str> = plan.not_imported.iter().map(|failed| failed.address.as_str()).collect();
    assert_eq!(addresses, ["broken", "terraform_data.gone"], "{plan}");
    assert!(plan.to_string().contains("not imported: terraform_data.gone (Configuration for import target"));
    assert_eq!((plan.count(Action::Import), plan.count(Action::Create)), (1, 0), "{plan}");
}

/// What is in the state, by address.
fn state(bed: &Bed) -> Vec<(String, String)> {
    let text = fs::read(bed.workdir().join("state/network/terraform.tfstate")).unwrap();
    let state: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let resources = state["resources"].as_array().unwrap().iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    resources.map(|it| (text(&it["name"]), text(&it["instances"][0]["attributes"]["id"]))).collect()
}

#[rstest]
#[case::named(binary as fn() -> PathBuf)]
#[case::opentofu(opentofu as fn() -> PathBuf)]
#[tokio::test(flavor = "multi_thread")]
async fn a_destroy_takes_down_what_an_interrupted_apply_had_made(#[case] tool: fn() -> PathBuf) {
    let bed = Bed::with(tokio::task::spawn_blocking(tool).await.unwrap()).await;
    let module =
        "resource \"terraform_data\" \"known\" {}\nresource \"terraform_data\" \"lost\" { count = 0 }";
    bed.make(&inline(module), &Seen::default()).await.unwrap();
    let import = |address: &str, id: &str| Import {
        address: address.to_owned(),
        id: id.to_owned(),
        replaces: Vec::new(),
    };
    let run = Run {
        imports: vec![
            import("terraform_data.lost[0]", "made"),
            import("terraform_data.gone", "made"),
            import("terraform_data.known", "another"),
        ],
        ..inline(&module.replace("count = 0", "count = 1"))
    };

    let plan = bed.plan_as(&run, Operation::PlanDestroy).await.unwrap();

    assert_eq!(plan.count(Action::Delete), 2, "{plan}");
    let addresses: Vec<&str> = plan.not_imported.iter().map(|failed| failed.address.as_str()).collect();
    assert_eq!(addresses, ["terraform_data.known", "terraform_data.gone"], "{plan}");
    let names: Vec<String> = state(&bed).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["known", "lost"]);
}

#[rstest]
#[case::named(binary as fn() -> PathBuf)]
#[case::opentofu(opentofu as fn() -> PathBuf)]
#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_took_the_place_of_a_deleted_one_is_imported(#[case] tool: fn() -> PathBuf) {
    let bed = Bed::with(tokio::task::spawn_blocking(tool).await.unwrap()).await;
    let module = "resource \"terraform_data\" \"a\" {}";
    bed.make(&inline(module), &Seen::default()).await.unwrap();
    let known = state(&bed).remove(0).1;
    let import = Import {
        address: "terraform_data.a".to_owned(),
        id: "new".to_owned(),
        replaces: vec!["another".to_owned(), known],
    };
    let run = Run { imports: vec![import], ..inline(module) };

    let seen = Seen::default();
    let outcome = bed.engine.run(&run, &seen).await.unwrap();
    let capt_terraform::Outcome::Planned(plan) = outcome else { panic!("{outcome:?}") };
    assert!(seen.started().contains(&Verb::StateRemove));
    assert_eq!(
        (plan.count(Action::Import), plan.changes.len(), plan.not_imported.len()),
        (1, 1, 0),
        "{plan}"
    );
    bed.apply(&run, &plan, &Seen::default()).await.unwrap();
    assert_eq!(state(&bed), [("a".to_owned(), "new".to_owned())]);
    // Once it is there it is neither removed nor imported again.
    let seen = Seen::default();
    bed.engine.run(&run, &seen).await.unwrap();
    assert_eq!(seen.started(), [Verb::StatePull, Verb::Plan]);
}
