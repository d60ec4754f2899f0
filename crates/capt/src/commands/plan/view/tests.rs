use capt_terraform::{OutputChange, PlanHash};

use super::*;

fn change(address: &str, action: Action, attributes: &[(&str, &str, &str)]) -> Change {
    Change {
        address: address.to_owned(),
        action,
        reason: (action == Action::Replace).then(|| "replace_because_cannot_update".to_owned()),
        moved_from: (action == Action::Move).then(|| format!("{address}.old")),
        imported: (action == Action::Import).then(|| "id i-1".to_owned()),
        attributes: attributes
            .iter()
            .map(|(name, before, after)| AttributeChange {
                name: (*name).to_owned(),
                before: (*before).to_owned(),
                after: (*after).to_owned(),
            })
            .collect(),
    }
}

fn plan(changes: Vec<Change>, outputs: Vec<OutputChange>) -> Plan {
    Plan {
        hash: PlanHash::from_text("0123456789abcdef0123"),
        destroy: false,
        applicable: !changes.is_empty() || !outputs.is_empty(),
        changes,
        outputs,
        others: Vec::new(),
        drift: Vec::new(),
        warnings: Vec::new(),
        elsewhere: None,
        not_imported: Vec::new(),
    }
}

fn view(plan: Plan, source: Source, message: &str) -> PlanView {
    let shown = Shown { hash: plan.hash.to_string(), text: plan.to_string(), plan: Some(plan) };
    PlanView::of("prod-vpc".to_owned(), Some("team-a/prod-vpc-apply".to_owned()), source, message, shown)
}

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[test]
fn a_plan_is_shown_by_addresses_with_what_changes() {
    let message = "the plan 0123456789abcdef (…) waits for approval: it destroys or replaces a.disk. To read it: kubectl …. To apply it: kubectl …";
    let plan = plan(
        vec![
            change("a.new", Action::Create, &[("size", "null", "3"), ("password", "null", REDACTED)]),
            change("a.one", Action::Update, &[("input", "\"hello\"", "\"goodbye\"")]),
            change("a.disk", Action::Replace, &[("id", "\"i-1\"", "(known after apply)")]),
            change("a.more[\"x\"]", Action::Delete, &[("input", "\"x\"", "null")]),
        ],
        vec![OutputChange { name: "login".to_owned(), action: Action::Update, sensitive: true, known: true }],
    );
    insta::assert_snapshot!(plain(&view(plan, Source::Waiting, message).sentences()), @r#"
    Workspace `prod-vpc`: the plan 0123456789abcdef (…) waits for approval: it destroys or replaces a.disk

      + a.new
          size: 3
          password: (sensitive)
      ~ a.one
          input: "hello" → "goodbye"
    -/+ a.disk (replace because cannot update)
          id: "i-1" → (known after apply)
      - a.more["x"]
      ~ output login (sensitive)

    Plan: 2 to add, 1 to change, 2 to destroy
    "#);
}

#[test]
fn moves_imports_and_forgotten_resources_are_shown_and_counted() {
    let mut plan = plan(
        vec![
            change("a.new", Action::Move, &[]),
            change("a.vpc", Action::Import, &[]),
            change("a.gone", Action::Forget, &[]),
            change("a.strange", Action::Unknown, &[]),
        ],
        Vec::new(),
    );
    plan.others = vec!["invocations of actions (2)".to_owned()];
    let view = view(plan, Source::Fresh, "");
    assert!(view.changes());
    insta::assert_snapshot!(plain(&view.sentences()), @r"
    Workspace `prod-vpc`: plan 0123456789abcdef, just made

     -> a.new (from a.new.old)
     <- a.vpc (id i-1)
      # a.gone
      ? a.strange
        also invocations of actions (2)

    Plan: 0 to add, 0 to change, 0 to destroy, 1 to import, 1 to move, 1 to forget
    ");
    let data = serde_json::to_value(&view).unwrap();
    assert_eq!((&data["import"], &data["move"], &data["forget"]), (&1.into(), &1.into(), &1.into()));
}

#[test]
fn where_nothing_would_change_that_is_said() {
    let view = view(plan(Vec::new(), Vec::new()), Source::Fresh, "");
    assert!(!view.changes());
    insta::assert_snapshot!(view.sentences(), @r"
    Workspace `prod-vpc`: plan just made

    Nothing to change: the infrastructure is as it should be
    ");
}

#[test]
fn a_plan_that_is_too_long_is_shown_as_it_is_kept() {
    let shown = Shown { hash: "a".repeat(64), text: "100000 to add, …".to_owned(), plan: None };
    let view = PlanView::of("prod".to_owned(), None, Source::Drift, "", shown);
    assert!(view.changes());
    assert!(view.sentences().ends_with("100000 to add, …"));
}

#[test]
fn programs_get_the_same_as_data() {
    let view = view(
        plan(vec![change("a.new", Action::Create, &[("p", "null", REDACTED)])], Vec::new()),
        Source::Fresh,
        "",
    );
    let data = serde_json::to_value(&view).unwrap();
    assert_eq!(data["add"], 1);
    assert_eq!(data["changes"][0]["attributes"][0]["after"], "(sensitive)");
    assert_eq!(data["source"], "Fresh");
}
