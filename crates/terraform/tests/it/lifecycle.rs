//! Making, changing and destroying.

use capt_terraform::{Action, Engine, Error, Event, Operation, Outcome, Verb, fingerprint};
use serde_json::json;

use crate::bed::{Bed, Seen, inline, variables};

const MODULE: &str = r#"
variable "size" { type = number }
resource "terraform_data" "one" { input = var.size }
resource "terraform_data" "two" { triggers_replace = var.size }
output "size" { value = terraform_data.one.output }
output "huge" { value = 12345678901234567890 }
output "nothing" { value = null }
output "password" {
  value     = "hunter22"
  sensitive = true
}
output "network" { value = { subnets = ["a", "b"], name = "x<y" } }
output "workspace" { value = terraform.workspace }
"#;

#[tokio::test]
async fn a_module_is_made_changed_and_destroyed() {
    let bed = Bed::new().await;
    let mut run = inline(MODULE);
    run.variables = vec![variables(r#"{"size": 1}"#)];

    let plan = bed.plan(&run).await.unwrap();
    assert_eq!((plan.count(Action::Create), plan.steps()), (2, 2));
    let seen = Seen::default();
    let applied = bed.apply(&run, &plan, &seen).await.unwrap();
    let outputs = &applied.outputs;
    assert_eq!(outputs["size"].status_value(), Some(json!(1)));
    assert_eq!(outputs["workspace"].status_value(), Some(json!("network")));
    assert_eq!(outputs["huge"].status_value(), Some(json!("12345678901234567890")));
    assert_eq!(outputs["huge"].secret_bytes().expose(), b"12345678901234567890");
    assert_eq!(outputs["password"].status_value(), None);
    assert_eq!(outputs["password"].secret_bytes().expose(), b"hunter22");
    assert_eq!(outputs["network"].status_value(), Some(json!({"subnets": ["a", "b"], "name": "x<y"})));
    assert!(!outputs.contains_key("nothing"));
    let last = seen.events().into_iter().filter_map(|event| match event {
        Event::Progress(progress) => Some(progress),
        _ => None,
    });
    let last = last.collect::<Vec<_>>().pop().unwrap();
    assert_eq!((last.done, last.total, last.current.len()), (2, 2, 0));

    assert!(bed.plan(&run).await.unwrap().is_empty());

    run.variables = vec![variables(r#"{"size": 1}"#), variables(r#"{"size": 2}"#)];
    let plan = bed.plan(&run).await.unwrap();
    assert_eq!((plan.count(Action::Update), plan.count(Action::Replace), plan.steps()), (1, 1, 3));
    let again = bed.plan(&run).await.unwrap();
    assert_eq!(plan.hash, again.hash);
    bed.apply(&run, &again, &Seen::default()).await.unwrap();

    let plan = bed.plan_as(&run, Operation::PlanDestroy).await.unwrap();
    assert_eq!(plan.count(Action::Delete), 2);
    let applied = bed.apply(&run, &plan, &Seen::default()).await.unwrap();
    assert!(applied.outputs.is_empty());
}

#[tokio::test]
async fn a_new_object_takes_five_commands_and_the_next_plan_one() {
    let bed = Bed::new().await;
    let mut run = inline(MODULE);
    run.variables = vec![variables(r#"{"size": 1}"#)];
    let seen = Seen::default();
    let Outcome::Planned(plan) = bed.engine.run(&run, &seen).await.unwrap() else { panic!() };
    bed.apply(&run, &plan, &seen).await.unwrap();
    assert_eq!(seen.started(), [Verb::Init, Verb::Plan, Verb::Show, Verb::Apply, Verb::Output]);

    let seen = Seen::default();
    bed.engine.run(&run, &seen).await.unwrap();
    assert_eq!(seen.started(), [Verb::Plan]);
}

#[tokio::test]
async fn a_workspace_is_made_beside_others_in_the_same_backend() {
    let bed = Bed::new().await;
    let mut run = inline(MODULE);
    run.variables = vec![variables(r#"{"size": 1}"#)];
    bed.make(&run, &Seen::default()).await.unwrap();
    "cluster".clone_into(&mut run.workspace);
    // As on another machine, where nothing is initialised yet.
    std::fs::remove_file(bed.workdir().join("init.json")).unwrap();

    let applied = bed.make(&run, &Seen::default()).await.unwrap();

    assert_eq!(applied.outputs["workspace"].status_value(), Some(json!("cluster")));
}

#[tokio::test]
async fn only_the_plan_that_was_seen_is_applied_and_only_once() {
    let bed = Bed::new().await;
    let mut run = inline(MODULE);
    run.variables = vec![variables(r#"{"size": 1}"#)];
    let first = bed.plan(&run).await.unwrap();
    run.variables = vec![variables(r#"{"size": 2}"#)];
    let second = bed.plan(&run).await.unwrap();

    let refused = bed.apply(&run, &first, &Seen::default()).await.unwrap_err();
    assert!(matches!(refused, Error::StalePlan { .. }), "{refused}");
    bed.apply(&run, &second, &Seen::default()).await.unwrap();
    let refused = bed.apply(&run, &second, &Seen::default()).await.unwrap_err();
    assert!(matches!(refused, Error::StalePlan { .. }), "{refused}");
}

#[tokio::test]
async fn a_plan_is_stale_when_the_state_moved_on() {
    let bed = Bed::new().await;
    let mut run = inline(MODULE);
    run.variables = vec![variables(r#"{"size": 1}"#)];
    let plan = bed.plan(&run).await.unwrap();
    let saved: Vec<_> =
        ["plan.bin", "plan.json"].map(|name| (name, std::fs::read(bed.workdir().join(name)).unwrap())).into();
    bed.apply(&run, &plan, &Seen::default()).await.unwrap();
    for (name, content) in saved {
        std::fs::write(bed.workdir().join(name), content).unwrap();
    }

    let refused = bed.apply(&run, &plan, &Seen::default()).await.unwrap_err();

    assert_eq!(
        refused.to_string(),
        "the saved plan can no longer be applied (the state changed since it was made): plan again"
    );
}

#[tokio::test]
async fn the_fingerprint_follows_what_goes_in_and_not_what_is_done_with_it() {
    let bed = Bed::new().await;
    let run = inline(MODULE);
    let of = |run: &capt_terraform::Run| fingerprint(run, bed.engine.version()).unwrap();

    assert_eq!(of(&run), of(&run.with(Operation::PlanDestroy)));
    let mut changed = run.clone();
    changed.variables = vec![variables("{}")];
    assert_ne!(of(&run), of(&changed));
    let newer = capt_terraform::Version { version: "99.0.0".to_owned(), ..bed.engine.version().clone() };
    assert_ne!(of(&run), fingerprint(&run, &newer).unwrap());
}

#[tokio::test]
async fn a_run_survives_being_written_down() {
    let mut run = inline(MODULE);
    run.variables = vec![variables(r#"{"size": 1}"#)];

    let text = serde_json::to_string(&run).unwrap();

    assert_eq!(serde_json::from_str::<capt_terraform::Run>(&text).unwrap(), run);
}
