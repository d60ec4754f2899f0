use std::collections::BTreeSet;

use capt_api::names::{annotation, condition};

use super::*;

/// Conditions that an entry may name.
const CONDITIONS: &[&str] = &[
    condition::READY,
    condition::APPLIED,
    condition::SYNCED,
    condition::PAUSED,
    condition::LOCKED,
    condition::DRIFTED,
    condition::APPROVAL_REQUIRED,
    condition::STATE_LARGE,
    condition::INTERRUPTED_CALLS,
    condition::AVAILABLE,
    condition::SECRETS_READY,
    condition::ROLLING_OUT,
    condition::REACHABLE,
    condition::VPC_READY,
    condition::DELETING,
    condition::ADDONS_READY,
    condition::RESOURCES_APPLIED,
    condition::INFRASTRUCTURE_READY,
    condition::CONTROL_PLANE_INITIALIZED,
    condition::CONTROL_PLANE_AVAILABLE,
    condition::WORKERS_AVAILABLE,
    condition::REMOTE_CONNECTION_PROBE,
    "Event",
];

const KINDS: &[&str] = &[
    "every kind",
    "WorkspaceTemplate",
    "WorkspaceTemplateApply",
    "Workspace",
    "CAPTCluster",
    "CAPTControlPlane",
    "Cluster",
    "AddonStack",
    "AddonStackBinding",
    "ClusterResourceSet",
];

/// Annotations that an entry may name; spelt in `names.rs` only, and repeated in advice.
const ANNOTATIONS: &[&str] = &[
    annotation::ACCEPT_MISSING_STATE,
    annotation::ADOPT_WORKSPACE,
    annotation::FORCE_UNLOCK,
    annotation::GRANTED_TO,
    annotation::RUN_BY,
    annotation::SKIP_MODULE_CHECK,
];

/// A sentence that can stand inside another one, on a line of a terminal as well as in a page.
fn is_sentence(text: &str) -> Result<(), &'static str> {
    let first = text.chars().next().unwrap_or(' ');
    match () {
        () if text.len() < 15 => Err("too short to say anything"),
        () if text.len() >= 300 => Err("300 characters or more"),
        () if !(first.is_lowercase() || first == '`' || text.starts_with("CAPT ")) => {
            Err("begins neither in lower case nor with a command nor with CAPT")
        }
        () if text.ends_with(['.', ' ', ':', ';', ',']) => Err("ends in punctuation or space"),
        () if text.contains(['<', '>', '\n', '\t']) => Err("holds a bracket or a line break"),
        () if text.contains("  ") => Err("holds two spaces"),
        () if text.matches('`').count() % 2 == 1 => Err("holds a backtick without its partner"),
        () => Ok(()),
    }
}

#[test]
fn every_text_is_a_sentence_of_the_house() {
    let mut wrong = Vec::new();
    for reason in Reason::ALL {
        let Advice { seen: _, meaning, action } = of(*reason);
        for text in [meaning, action] {
            if let Err(why) = is_sentence(text) {
                wrong.push(format!("{reason}: {why}: {text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_entry_names_kinds_and_conditions_that_there_are() {
    for reason in Reason::ALL {
        for place in of(*reason).seen.split("; ") {
            let (kind, conditions) = place.split_once(": ").unwrap_or_default();
            assert!(KINDS.contains(&kind), "{reason}: kind `{kind}` in `{place}`");
            for condition in conditions.split(", ") {
                assert!(CONDITIONS.contains(&condition), "{reason}: condition `{condition}` in `{place}`");
            }
        }
    }
}

#[test]
fn annotations_in_advice_are_spelt_as_the_api_spells_them() {
    for reason in Reason::ALL {
        let action = of(*reason).action;
        for (at, _) in action.match_indices("capt.cluster.x-k8s.io/") {
            let rest = &action[at..];
            let end = rest.find(['=', '`', ' ']).unwrap_or(rest.len());
            assert!(ANNOTATIONS.contains(&&rest[..end]), "{reason}: `{}`", &rest[..end]);
        }
    }
}

#[test]
fn trouble_always_asks_for_something_or_says_why_not() {
    for reason in Reason::ALL.iter().filter(|reason| reason.is_trouble()) {
        let action = of(*reason).action;
        assert!(!action.contains("this is how it should be"), "{reason}: {action}");
    }
}

#[test]
fn every_reason_is_in_one_topic() {
    let listed: Vec<_> = TOPICS.iter().flat_map(|topic| topic.reasons).collect();
    let once: BTreeSet<_> = listed.iter().collect();
    assert_eq!(listed.len(), Reason::ALL.len());
    assert_eq!(once.len(), Reason::ALL.len());
}

#[test]
fn no_two_reasons_mean_the_same() {
    let meanings: BTreeSet<_> = Reason::ALL.iter().map(|reason| of(*reason).meaning).collect();
    assert_eq!(meanings.len(), Reason::ALL.len());
}
