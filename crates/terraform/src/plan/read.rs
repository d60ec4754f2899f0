//! Reads `show -json` of a saved plan. What comes out holds no sensitive value; the text itself does, and is not kept.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::value::{attributes, holds_true};
use super::{Action, Change, OutputChange, Plan, PlanHash, sensitive};
use crate::redact::Redactor;

/// The sections of a plan, as text.
type Sections<'text> = BTreeMap<String, &'text RawValue>;

/// Sections that are read here.
const READ: [&str; 5] = ["checks", "complete", "output_changes", "resource_changes", "resource_drift"];

/// Sections that say what is or was, and nothing of what an apply does.
const DESCRIPTIONS: [&str; 11] = [
    "applyable",
    "configuration",
    "errored",
    "format_version",
    "planned_values",
    "prior_state",
    "provider_format_version",
    "relevant_attributes",
    "terraform_version",
    "timestamp",
    "variables",
];

#[derive(Deserialize)]
struct Check {
    #[serde(default)]
    address: CheckAddress,
    #[serde(default)]
    status: String,
}

#[derive(Deserialize, Default)]
struct CheckAddress {
    #[serde(default)]
    to_display: String,
}

#[derive(Deserialize)]
struct Drifted {
    address: String,
}

#[derive(Deserialize)]
struct ResourceChange<'text> {
    address: String,
    #[serde(default)]
    previous_address: Option<String>,
    #[serde(default)]
    action_reason: Option<String>,
    #[serde(borrow)]
    change: Values<'text>,
}

/// Values stay text: they may be nested deeper, and hold larger numbers, than can be read.
#[derive(Deserialize)]
pub(super) struct Values<'text> {
    actions: Vec<String>,
    #[serde(borrow, default)]
    pub(super) before: Option<&'text RawValue>,
    #[serde(borrow, default)]
    pub(super) after: Option<&'text RawValue>,
    #[serde(borrow, default)]
    pub(super) after_unknown: Option<&'text RawValue>,
    #[serde(borrow, default)]
    pub(super) before_sensitive: Option<&'text RawValue>,
    #[serde(borrow, default)]
    pub(super) after_sensitive: Option<&'text RawValue>,
    #[serde(default)]
    importing: Option<Importing>,
}

#[derive(Deserialize)]
struct Importing {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    identity: Option<Value>,
}

/// The plan, without what `show` does not know: warnings, and where the state is.
///
/// Only a plan that Terraform says to change something is saved and shown, so it is applicable whatever can be read of it.
pub(crate) fn read(text: &str, destroy: bool, redactor: &Redactor) -> Result<Plan, serde_json::Error> {
    let sections: Sections<'_> = serde_json::from_str(text)?;
    let resources: Vec<ResourceChange<'_>> = parsed(&sections, "resource_changes")?;
    let outputs: BTreeMap<String, Values<'_>> = parsed(&sections, "output_changes")?;
    let drift: Vec<Drifted> = parsed(&sections, "resource_drift")?;
    let others = others(&sections)?;
    let values = resources.iter().map(|resource| &resource.change).chain(outputs.values());
    let redactor = &redactor.clone().and(values.flat_map(sensitive::texts));
    Ok(Plan {
        hash: hash(&sections, destroy),
        destroy,
        applicable: true,
        changes: resources.into_iter().filter_map(|resource| change(resource, redactor)).collect(),
        outputs: outputs.into_iter().filter_map(|(name, values)| output(name, &values)).collect(),
        others: others.iter().map(|other| redactor.redact(other)).collect(),
        drift: drift.into_iter().map(|drifted| redactor.redact(&drifted.address)).collect(),
        warnings: Vec::new(),
        elsewhere: None,
        not_imported: Vec::new(),
    })
}

/// A plan of which Terraform says that there is nothing to do.
pub(crate) fn nothing(destroy: bool) -> Plan {
    Plan {
        hash: digest(destroy, ["", ""].into_iter()),
        destroy,
        applicable: false,
        changes: Vec::new(),
        outputs: Vec::new(),
        others: Vec::new(),
        drift: Vec::new(),
        warnings: Vec::new(),
        elsewhere: None,
        not_imported: Vec::new(),
    }
}

/// A section; what it is without anything in it where it is missing or null.
fn parsed<'text, T: Deserialize<'text> + Default>(
    sections: &Sections<'text>,
    name: &str,
) -> Result<T, serde_json::Error> {
    let parsed: Option<Option<T>> =
        sections.get(name).map(|raw| serde_json::from_str(raw.get())).transpose()?;
    Ok(parsed.flatten().unwrap_or_default())
}

/// Over the text, so that values count to the last digit. Times and versions in the rest of the text do not count.
fn hash(sections: &Sections<'_>, destroy: bool) -> PlanHash {
    let changes = ["resource_changes", "output_changes"];
    let changes = changes.map(|name| sections.get(name).map(|text| text.get()).unwrap_or_default());
    let effects = effects(sections).flat_map(|(name, text)| [name, text]);
    digest(destroy, changes.into_iter().chain(effects))
}

fn digest<'text>(destroy: bool, parts: impl Iterator<Item = &'text str>) -> PlanHash {
    let mut hasher = Sha256::new();
    hasher.update([u8::from(destroy)]);
    for text in parts {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    }
    PlanHash(crate::fingerprint::hexadecimal(&hasher.finalize()))
}

/// Sections with something in them that may be done by an apply, and that nothing here reads.
fn effects<'a>(sections: &'a Sections<'_>) -> impl Iterator<Item = (&'a str, &'a str)> {
    let is_known = |name| READ.contains(&name) || DESCRIPTIONS.contains(&name);
    let is_blank = |text: &str| matches!(text, "null" | "[]" | "{}" | "false" | "\"\"");
    let all = sections.iter().map(|(name, text)| (name.as_str(), text.get()));
    all.filter(move |(name, text)| !is_known(name) && !is_blank(text))
}

/// What Terraform says of a plan beside changes to resources and outputs.
fn others(sections: &Sections<'_>) -> Result<Vec<String>, serde_json::Error> {
    let (complete, checks): (Option<bool>, Vec<Check>) =
        (parsed(sections, "complete")?, parsed(sections, "checks")?);
    let effects = effects(sections).map(|(name, text)| {
        let count = serde_json::from_str::<Vec<&RawValue>>(text).map(|items| items.len());
        let count = count.map_or(String::new(), |count| format!(" ({count})"));
        match name {
            "action_invocations" => format!("invocations of actions{count}"),
            "deferred_action_invocations" => {
                format!("invocations of actions, deferred to a later plan{count}")
            }
            "deferred_changes" => format!("changes to resources, deferred to a later plan{count}"),
            other => format!("`{other}`, which this version of CAPT does not know{count}"),
        }
    });
    let unfinished =
        (complete == Some(false)).then(|| "a later plan, since this one is not complete".to_owned());
    let failing = checks.iter().filter(|check| matches!(check.status.as_str(), "fail" | "error"));
    let failing = failing.map(|check| format!("a check that fails: {}", check.address.to_display));
    Ok(effects.chain(unfinished).chain(failing).collect())
}

fn change(resource: ResourceChange<'_>, redactor: &Redactor) -> Option<Change> {
    let ResourceChange { address, previous_address, action_reason, change } = resource;
    let moved_from = previous_address.filter(|previous| *previous != address);
    let imported = change.importing.as_ref().map(|importing| match importing {
        Importing { id: Some(id), .. } => format!("id {id}"),
        Importing { identity: Some(identity), .. } => format!("identity {identity}"),
        Importing { id: None, identity: None } => "id known after apply".to_owned(),
    });
    let action = match action(&change.actions) {
        None if imported.is_some() => Action::Import,
        None if moved_from.is_some() => Action::Move,
        None => return None,
        Some(action) => action,
    };
    let unknown =
        (action == Action::Unknown).then(|| format!("Terraform calls it {}", change.actions.join(", ")));
    Some(Change {
        address: redactor.redact(&address),
        action,
        reason: unknown.or(action_reason),
        moved_from: moved_from.map(|address| redactor.redact(&address)),
        imported: imported.map(|by| redactor.redact(&by)),
        attributes: attributes(&change, redactor),
    })
}

fn output(name: String, values: &Values<'_>) -> Option<OutputChange> {
    let marks = [values.before_sensitive, values.after_sensitive];
    let sensitive = marks.into_iter().any(|mark| mark.is_none_or(|mark| mark.get() != "false"));
    let known = !values.after_unknown.is_some_and(holds_true);
    Some(OutputChange { name, action: action(&values.actions)?, sensitive, known })
}

/// Nothing where there is nothing to do.
fn action(actions: &[String]) -> Option<Action> {
    let words: Vec<&str> = actions.iter().map(String::as_str).collect();
    Some(match words.as_slice() {
        ["no-op"] => return None,
        ["create"] => Action::Create,
        ["update"] => Action::Update,
        ["delete"] => Action::Delete,
        ["read"] => Action::Read,
        ["forget"] => Action::Forget,
        ["delete", "create"] | ["create", "delete"] => Action::Replace,
        _ => Action::Unknown,
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const SHOWN: &str = r#"{"format_version":"1.2","terraform_version":"1.11.4","resource_changes":[
      {"address":"a.same","change":{"actions":["no-op"],"before":{},"after":{}}},
      {"address":"a.b","action_reason":"replace_because_cannot_update","change":{"actions":["delete","create"],
        "before":{"size":1,"password":"old-hunter22","id":"i-1"},"after":{"size":2,"password":"hunter22"},
        "after_unknown":{"id":true},"before_sensitive":{"password":true},"after_sensitive":{"password":true}}}],
      "output_changes":{"p":{"actions":["create"],"before":null,"after":"hunter22","after_unknown":false,"before_sensitive":true,"after_sensitive":true},
        "q":{"actions":["no-op"],"before":1,"after":1,"after_unknown":false,"before_sensitive":false,"after_sensitive":false}},
      "timestamp":"2026-11-15T23:13:32Z"}"#;

    #[test]
    fn changes_are_told_without_sensitive_values() {
        let plan = read(SHOWN, false, &Redactor::default()).unwrap();

        assert_eq!(
            plan.to_string(),
            "0 to add, 0 to change, 1 to replace, 0 to destroy\n \
             replace a.b (replace because cannot update)\n           \
             id: \"i-1\" -> (known after apply)\n           \
             password: (sensitive value) -> (sensitive value)\n           \
             size: 1 -> 2\n  \
             create output p"
        );
        assert!(!format!("{plan:?}{}", serde_json::to_string(&plan).unwrap()).contains("hunter22"));
    }

    #[test]
    fn what_is_sensitive_in_one_place_is_hidden_in_all() {
        let shown = r#"{"resource_changes":[{"address":"a.b","change":{"actions":["create"],"before":null,
          "after":{"input":"hunter22","list":[{"text":"so hunter22 it is"}]},"after_sensitive":{"input":true,"list":[{}]}}}]}"#;
        let plan = read(shown, false, &Redactor::default()).unwrap();

        assert!(!plan.to_string().contains("hunter22"), "{plan}");
        assert!(plan.to_string().contains("so "), "{plan}");
    }

    #[test]
    fn values_beyond_all_bounds_are_told_all_the_same() {
        let deep = "[".repeat(300) + &"]".repeat(300);
        let shown = format!(
            r#"{{"resource_changes":[{{"address":"a.b","change":{{"actions":["update"],"before":{{"n":1,"d":1,"s":1}},"after":{{"n":1e999,"d":{deep},"s":"hunter22"}},"after_sensitive":{{"s":{deep}}}}}}}],"output_changes":{{"o":{{"actions":["create"],"after":1e999,"before_sensitive":false,"after_sensitive":false}}}},"resource_drift":[{{"address":"a.c","change":{{"before":{deep}}}}}]}}"#
        );

        let plan = read(&shown, false, &Redactor::default()).unwrap();

        let told = plan.to_string();
        assert!(told.contains("n: 1 -> 1e999") && told.contains("d: 1 -> [[["), "{told}");
        assert!(!told.contains("hunter22"), "{told}");
        assert_eq!(
            (plan.outputs[0].sensitive, plan.drift.as_slice()),
            (false, ["a.c".to_owned()].as_slice())
        );
    }

    #[test]
    fn the_hash_follows_the_values_and_nothing_else() {
        let hash = |text: &str, destroy| read(text, destroy, &Redactor::default()).unwrap().hash;

        assert_eq!(hash(SHOWN, false), hash(&SHOWN.replace("23:13:32Z", "23:59:59Z"), false));
        assert_ne!(hash(SHOWN, false), hash(&SHOWN.replace("\"size\":2", "\"size\":3"), false));
        assert_ne!(hash(SHOWN, false), hash(SHOWN, true));
    }

    /// What a plan of these resource changes, and of this beside them, is told as.
    fn told(changes: &str, beside: &str) -> String {
        let shown = format!(r#"{{"resource_changes":[{changes}]{beside}}}"#);
        read(&shown, false, &Redactor::default()).unwrap().to_string()
    }

    #[rstest]
    #[case::a_move(
        r#"{"address":"a.new","previous_address":"a.old","change":{"actions":["no-op"]}}"#,
        "",
        "0 to add, 0 to change, 0 to replace, 0 to destroy, 1 to move\n    move a.new (from a.old)"
    )]
    #[case::a_move_with_a_change(
        r#"{"address":"a.new","previous_address":"a.old","change":{"actions":["update"]}}"#,
        "",
        "0 to add, 1 to change, 0 to replace, 0 to destroy\n  update a.new (moved from a.old)"
    )]
    #[case::an_import(
        r#"{"address":"a.b","change":{"actions":["no-op"],"importing":{"id":"i-1"}}}"#,
        "",
        "0 to add, 0 to change, 0 to replace, 0 to destroy, 1 to import\n  import a.b (id i-1)"
    )]
    #[case::an_import_by_identity(
        r#"{"address":"a.b","change":{"actions":["no-op"],"importing":{"identity":{"arn":"x"}}}}"#,
        "",
        "0 to add, 0 to change, 0 to replace, 0 to destroy, 1 to import\n  import a.b (identity {\"arn\":\"x\"})"
    )]
    #[case::an_import_of_something_unknown(
        r#"{"address":"a.b","change":{"actions":["update"],"importing":{"unknown":true}}}"#,
        "",
        "0 to add, 1 to change, 0 to replace, 0 to destroy\n  update a.b (imported, id known after apply)"
    )]
    #[case::an_action_of_the_future(
        r#"{"address":"a.b","change":{"actions":["create","forget"]}}"#,
        "",
        "0 to add, 0 to change, 0 to replace, 0 to destroy, 1 to treat in a way that CAPT does not know\n   other a.b (Terraform calls it create, forget)"
    )]
    #[case::deferred_changes(
        "",
        r#","complete":false,"deferred_changes":[{"reason":"provider_config_unknown"}]"#,
        "0 to add, 0 to change, 0 to replace, 0 to destroy\n    also changes to resources, deferred to a later plan (1)\n    also a later plan, since this one is not complete"
    )]
    #[case::actions(
        "",
        r#","action_invocations":[{"address":"action.x.y"},{"address":"action.x.z"}]"#,
        "0 to add, 0 to change, 0 to replace, 0 to destroy\n    also invocations of actions (2)"
    )]
    #[case::a_failing_check(
        "",
        r#","checks":[{"address":{"to_display":"check.x"},"status":"fail"},{"address":{"to_display":"check.y"},"status":"pass"}]"#,
        "0 to add, 0 to change, 0 to replace, 0 to destroy\n    also a check that fails: check.x"
    )]
    #[case::a_section_of_the_future(
        "",
        r#","moon_changes":[1],"sun_changes":[],"timestamp":"x","applyable":true,"complete":true"#,
        "0 to add, 0 to change, 0 to replace, 0 to destroy\n    also `moon_changes`, which this version of CAPT does not know (1)"
    )]
    #[case::nothing_that_can_be_read("", "", "0 to add, 0 to change, 0 to replace, 0 to destroy")]
    fn what_terraform_calls_a_change_is_one_and_is_told(
        #[case] changes: &str,
        #[case] beside: &str,
        #[case] expected: &str,
    ) {
        assert_eq!(told(changes, beside), expected);
        let shown = format!(
            r#"{{"resource_changes":[{changes}],"output_changes":{{"o":{{"actions":["update"]}}}}{beside}}}"#
        );
        let plan = read(&shown, false, &Redactor::default()).unwrap();
        assert!(!plan.is_empty());
        assert_eq!(plan.changes_outputs_alone(), changes.is_empty() && plan.others.is_empty(), "{plan}");
    }

    #[test]
    fn effects_that_nobody_reads_count_for_the_hash() {
        let hash = |beside: &str| {
            let shown = format!(r#"{{"resource_changes":[]{beside}}}"#);
            read(&shown, false, &Redactor::default()).unwrap().hash
        };

        assert_eq!(hash(""), hash(r#","deferred_changes":[],"timestamp":"2026-11-15T23:13:32Z""#));
        assert_ne!(hash(""), hash(r#","action_invocations":[{"address":"a"}]"#));
    }

    #[test]
    fn data_that_is_only_read_changes_outputs_alone() {
        let shown = r#"{"resource_changes":[{"address":"data.a.b","change":{"actions":["read"]}}]}"#;

        assert!(read(shown, false, &Redactor::default()).unwrap().changes_outputs_alone());
    }

    #[test]
    fn an_output_whose_value_the_apply_makes_is_told_from_one_that_is_known_before() {
        let only_unknown = |outputs: &str| {
            let shown = format!(r#"{{"output_changes":{{{outputs}}}}}"#);
            read(&shown, false, &Redactor::default()).unwrap().changes_only_unknown_outputs()
        };
        let (now, known) = (
            r#""now":{"actions":["update"],"after_unknown":true}"#,
            r#""x":{"actions":["update"],"after":"two","after_unknown":false}"#,
        );

        assert!(only_unknown(now));
        assert!(!only_unknown(known));
        assert!(!only_unknown(&format!("{now},{known}")));
    }

    #[test]
    fn outputs_that_follow_a_resource_which_somebody_changed_do_not_change_alone() {
        let shown = r#"{"output_changes":{"o":{"actions":["update"]}},"resource_drift":[{"address":"a.b"}]}"#;

        assert!(!read(shown, false, &Redactor::default()).unwrap().changes_outputs_alone());
    }
}
