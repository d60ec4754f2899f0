//! Reads `show -json` of a saved plan. What comes out holds no sensitive value; the text itself does, and is not kept.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::value::attributes;
use super::{Action, Change, OutputChange, Plan, PlanHash, sensitive};
use crate::redact::Redactor;

#[derive(Deserialize)]
struct Shown<'text> {
    #[serde(borrow, default)]
    resource_changes: Option<&'text RawValue>,
    #[serde(borrow, default)]
    output_changes: Option<&'text RawValue>,
    #[serde(default)]
    resource_drift: Vec<Drifted>,
}

#[derive(Deserialize)]
struct Drifted {
    address: String,
}

#[derive(Deserialize)]
struct ResourceChange<'text> {
    address: String,
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
}

/// The plan, without what `show` does not know: warnings, and where the state is.
pub(crate) fn read(text: &str, destroy: bool, redactor: &Redactor) -> Result<Plan, serde_json::Error> {
    let shown: Shown<'_> = serde_json::from_str(text)?;
    let resources: Vec<ResourceChange<'_>> = parsed(shown.resource_changes)?.unwrap_or_default();
    let outputs: BTreeMap<String, Values<'_>> = parsed(shown.output_changes)?.unwrap_or_default();
    let values = resources.iter().map(|resource| &resource.change).chain(outputs.values());
    let redactor = &redactor.clone().and(values.flat_map(sensitive::texts));
    Ok(Plan {
        hash: hash(&shown, destroy),
        destroy,
        changes: resources.into_iter().filter_map(|resource| change(resource, redactor)).collect(),
        outputs: outputs.into_iter().filter_map(|(name, values)| output(name, &values)).collect(),
        drift: shown.resource_drift.into_iter().map(|drifted| redactor.redact(&drifted.address)).collect(),
        warnings: Vec::new(),
        elsewhere: None,
    })
}

fn parsed<'text, T: Deserialize<'text>>(
    raw: Option<&'text RawValue>,
) -> Result<Option<T>, serde_json::Error> {
    raw.map(|raw| serde_json::from_str(raw.get())).transpose()
}

/// Over the text, so that values count to the last digit. Times and versions in the rest of the text do not count.
fn hash(shown: &Shown<'_>, destroy: bool) -> PlanHash {
    let mut hasher = Sha256::new();
    hasher.update([u8::from(destroy)]);
    for part in [shown.resource_changes, shown.output_changes] {
        let text = part.map(RawValue::get).unwrap_or_default();
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    }
    PlanHash(crate::fingerprint::hexadecimal(&hasher.finalize()))
}

fn change(resource: ResourceChange<'_>, redactor: &Redactor) -> Option<Change> {
    let action = action(&resource.change.actions)?;
    Some(Change {
        address: redactor.redact(&resource.address),
        action,
        reason: resource.action_reason,
        attributes: attributes(&resource.change, redactor),
    })
}

fn output(name: String, values: &Values<'_>) -> Option<OutputChange> {
    let marks = [values.before_sensitive, values.after_sensitive];
    let sensitive = marks.into_iter().any(|mark| mark.is_none_or(|mark| mark.get() != "false"));
    Some(OutputChange { name, action: action(&values.actions)?, sensitive })
}

fn action(actions: &[String]) -> Option<Action> {
    let words: Vec<&str> = actions.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["create"] => Some(Action::Create),
        ["update"] => Some(Action::Update),
        ["delete"] => Some(Action::Delete),
        ["read"] => Some(Action::Read),
        ["forget"] => Some(Action::Forget),
        [_, _] => Some(Action::Replace),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
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
             replace a.b (replace_because_cannot_update)\n           \
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
}
