//! Which labels a selector selects, as the API server understands it.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use kube::core::{Selector, SelectorExt};

use crate::name::is_object_name;

/// The longest name in a key, and the longest value.
const LONGEST: usize = 63;

/// Whether a selector selects what has these labels. One with a [`problem`] selects nothing; an empty one selects everything.
pub fn matches(selector: &LabelSelector, labels: &BTreeMap<String, String>) -> bool {
    problem(selector).is_none()
        && Selector::try_from(selector.clone()).is_ok_and(|selector| selector.matches(labels))
}

/// What is wrong with a selector, and what to write instead.
pub fn problem(selector: &LabelSelector) -> Option<String> {
    let labels = selector.match_labels.iter().flatten();
    let mut labels = labels.map(|(key, value)| wrong_key(key).or_else(|| wrong_value(key, value)));
    labels
        .find_map(|problem| problem)
        .or_else(|| selector.match_expressions.iter().flatten().find_map(wrong_requirement))
}

fn wrong_requirement(requirement: &LabelSelectorRequirement) -> Option<String> {
    let LabelSelectorRequirement { key, operator, values } = requirement;
    let values = values.as_deref().unwrap_or_default();
    let wrong = match (operator.as_str(), values) {
        ("In" | "NotIn", []) => Some(format!(
            "matchExpressions: {operator} of the key `{key}` has no values: write the values that it is compared with, for example values: [\"true\"]"
        )),
        ("Exists" | "DoesNotExist", [_, ..]) => Some(format!(
            "matchExpressions: {operator} of the key `{key}` takes no values: leave values out, or write the operator In"
        )),
        ("In" | "NotIn" | "Exists" | "DoesNotExist", _) => None,
        _ => Some(format!(
            "matchExpressions: the operator `{operator}` of the key `{key}` is not known: write In, NotIn, Exists or DoesNotExist"
        )),
    };
    wrong.or_else(|| wrong_key(key)).or_else(|| values.iter().find_map(|value| wrong_value(key, value)))
}

fn wrong_key(key: &str) -> Option<String> {
    let (prefix, name) = key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    let right = !name.is_empty() && is_word(name) && prefix.is_none_or(is_object_name);
    (!right).then(|| format!("`{key}` cannot be the key of a label: write one as it is on the object, for example addons or fluxcd.io/enabled"))
}

fn wrong_value(key: &str, value: &str) -> Option<String> {
    (!is_word(value)).then(|| {
        format!("`{value}` cannot be the value of the label `{key}`: write at most {LONGEST} letters, digits, hyphens, dots and underscores, with a letter or digit at either end")
    })
}

/// Nothing, or what is allowed in a label's value and in the name of its key.
fn is_word(text: &str) -> bool {
    let edge = |character: char| character.is_ascii_alphanumeric();
    text.is_empty()
        || (text.len() <= LONGEST
            && text.starts_with(edge)
            && text.ends_with(edge)
            && text.chars().all(|character| edge(character) || matches!(character, '-' | '_' | '.')))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn selector(selector: Value) -> LabelSelector {
        serde_json::from_value(selector).unwrap()
    }

    fn requirement(key: &str, operator: &str, values: &[&str]) -> LabelSelector {
        selector(json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]}))
    }

    fn labels(labels: &[(&str, &str)]) -> BTreeMap<String, String> {
        labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[rstest]
    #[case::operator(requirement("tier", "in", &["a"]), "operator `in` of the key `tier`")]
    #[case::operator_of_another_language(requirement("tier", "Gt", &["1"]), "write In, NotIn, Exists or DoesNotExist")]
    #[case::in_nothing(requirement("tier", "In", &[]), "In of the key `tier` has no values")]
    #[case::not_in_nothing(requirement("tier", "NotIn", &[]), "NotIn of the key `tier` has no values")]
    #[case::exists_with_a_value(requirement("tier", "Exists", &["a"]), "leave values out")]
    #[case::absent_with_a_value(requirement("tier", "DoesNotExist", &["a"]), "leave values out")]
    #[case::no_key(requirement("", "Exists", &[]), "`` cannot be the key")]
    #[case::bad_key(requirement("a b", "Exists", &[]), "`a b` cannot be the key")]
    #[case::bad_prefix(requirement("-a/b", "Exists", &[]), "`-a/b` cannot be the key")]
    #[case::no_name_after_the_prefix(requirement("a.io/", "Exists", &[]), "`a.io/` cannot be the key")]
    #[case::two_slashes(requirement("a/b/c", "Exists", &[]), "`a/b/c` cannot be the key")]
    #[case::bad_value(requirement("tier", "In", &["a", "b c"]), "`b c` cannot be the value of the label `tier`")]
    #[case::long_value(requirement("tier", "In", &[&"a".repeat(64)]), "at most 63 letters")]
    #[case::bad_label(selector(json!({"matchLabels": {"tier": "-"}})), "`-` cannot be the value")]
    #[case::bad_key_of_a_label(selector(json!({"matchLabels": {"t:er": "a"}})), "`t:er` cannot be the key")]
    fn what_the_api_server_would_refuse_is_told_and_selects_nothing(
        #[case] selector: LabelSelector,
        #[case] expected: &str,
    ) {
        let problem = problem(&selector).unwrap();
        assert!(problem.contains(expected), "{problem}");
        for of in [labels(&[]), labels(&[("tier", "a")]), labels(&[("tier", "in")])] {
            assert!(!matches(&selector, &of), "{of:?}");
        }
    }

    #[rstest]
    #[case::empty(selector(json!({})), [true, true, true])]
    #[case::empty_lists(selector(json!({"matchLabels": {}, "matchExpressions": []})), [true, true, true])]
    #[case::label(selector(json!({"matchLabels": {"tier": "a"}})), [false, true, false])]
    #[case::label_without_a_value(selector(json!({"matchLabels": {"tier": ""}})), [false, false, false])]
    #[case::one_of(requirement("tier", "In", &["a", "c"]), [false, true, false])]
    #[case::none_of_matches_what_has_no_such_label(requirement("tier", "NotIn", &["a"]), [true, false, true])]
    #[case::there(requirement("tier", "Exists", &[]), [false, true, true])]
    #[case::not_there(requirement("tier", "DoesNotExist", &[]), [true, false, false])]
    #[case::a_key_with_a_prefix(requirement("fluxcd.io/enabled", "DoesNotExist", &[]), [true, true, true])]
    #[case::all_must_hold(
        selector(json!({
            "matchLabels": {"tier": "a"},
            "matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["a"]}],
        })),
        [false, false, false]
    )]
    fn selectors_select_as_in_kubernetes(#[case] selector: LabelSelector, #[case] expected: [bool; 3]) {
        assert_eq!(problem(&selector), None);
        let of = [labels(&[]), labels(&[("tier", "a")]), labels(&[("tier", "b")])];
        assert_eq!(of.map(|labels| matches(&selector, &labels)), expected);
    }
}
