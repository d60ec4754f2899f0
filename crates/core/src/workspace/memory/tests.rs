use k8s_openapi::jiff::Timestamp;

use super::super::interrupted::InterruptedCall;
use super::super::observed::BegunRecord;
use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn ended(result: Ending) -> Ended {
    Ended { fingerprint: "second".to_owned(), at: at(50), result }
}

const APPLIED: Ending = Ending::Applied { destroyed: false };

/// Something was applied, and then another apply was begun.
fn before() -> Memory {
    Memory {
        applied: Some(AppliedRecord { fingerprint: "first".to_owned(), digest: None, at: at(10) }),
        begun: Some(BegunRecord {
            fingerprint: "second".to_owned(),
            plan: "plan".to_owned(),
            at: at(20),
            by: crate::workspace::runner::Starter {
                host: "here".to_owned(),
                pod_namespace: None,
                runner: None,
            },
            earlier: Vec::new(),
        }),
        observed: Some("second".to_owned()),
        checked_at: Some(at(10)),
        elsewhere: Some("s3".to_owned()),
        published: Some("sha256:1".to_owned()),
        restored: true,
        workspace: Some("uid".to_owned()),
        interrupted: vec![InterruptedCall {
            address: "aws_vpc.main".to_owned(),
            action: "create".to_owned(),
            at: at(15),
            made: None,
        }],
    }
}

fn after() -> Memory {
    let digest = Some("sha256:apply".to_owned());
    Memory {
        applied: Some(AppliedRecord { fingerprint: "second".to_owned(), digest, at: at(50) }),
        begun: None,
        observed: None,
        checked_at: Some(at(50)),
        restored: false,
        ..before()
    }
}

#[test]
fn an_apply_is_on_record_with_what_went_into_it() {
    assert_eq!(before().published_by(&ended(APPLIED), Some("sha256:apply".to_owned()), true, "uid"), after());
}

#[test]
fn outputs_of_what_needs_no_change_are_as_good_as_an_apply() {
    assert_eq!(
        before().published_by(&ended(Ending::Outputs), Some("sha256:apply".to_owned()), true, "uid"),
        Memory { restored: true, ..after() }
    );
}

#[test]
fn outputs_of_what_may_not_be_changed_prove_nothing() {
    let memory =
        Memory { observed: None, ..before() }.published_by(&ended(Ending::Outputs), None, false, "uid");
    assert_eq!(memory, Memory { checked_at: Some(at(50)), ..before() });
}

#[test]
fn publishing_once_more_is_no_look_at_reality() {
    let memory = Memory { checked_at: Some(at(10)), ..after() };
    assert_eq!(memory.clone().published_by(&ended(Ending::Outputs), None, true, "uid"), memory);
}

#[test]
fn a_look_that_ended_before_the_last_one_does_not_count() {
    assert_eq!(before().confirmed_by(&ended(Ending::Unlocked), false, "uid").checked_at, Some(at(50)));
    let later = Memory { checked_at: Some(at(60)), ..before() };
    assert_eq!(later.confirmed_by(&ended(Ending::Unlocked), false, "uid").checked_at, Some(at(60)));
}

#[test]
fn a_backup_is_forgotten_when_something_was_applied_or_seen_to_be_in_line() {
    let looked = ended(Ending::Unlocked);
    assert!(before().confirmed_by(&looked, false, "uid").restored);
    assert!(!before().confirmed_by(&looked, true, "uid").restored);
    assert!(!before().published_by(&ended(APPLIED), None, true, "uid").restored);
}

#[test]
fn a_record_is_of_another_workspace_until_something_is_applied_or_seen_to_be_in_line() {
    let moved = Memory { workspace: Some("before".to_owned()), begun: None, ..before() };
    assert!(moved.is_of_another("uid") && !moved.is_of_another("before"));
    assert!(!Memory::default().is_of_another("uid"), "of an earlier version, which did not say");
    let same = Ended { fingerprint: "first".to_owned(), ..ended(Ending::Outputs) };
    assert!(!moved.clone().published_by(&same, None, true, "uid").is_of_another("uid"));
    assert!(moved.published_by(&same, None, false, "uid").is_of_another("uid"), "nothing may be changed");
}

#[test]
fn what_an_earlier_version_put_on_record_is_of_the_workspace_unless_that_is_younger() {
    let unsaid = || Memory { workspace: None, ..before() };
    // Something was begun in between.
    let (earlier, later) = (at(19), at(21));
    assert!(!unsaid().beside(Some(earlier)).is_of_another("uid"));
    assert!(unsaid().beside(Some(later)).is_of_another("uid"));
    assert!(!unsaid().beside(None).is_of_another("uid"));
    assert!(!Memory::default().beside(Some(later)).is_of_another("uid"), "nothing was made");
    let said = Memory { workspace: Some("uid".to_owned()), ..before() };
    assert_eq!(said.clone().beside(Some(later)), said);

    let looked = ended(Ending::Unlocked);
    assert!(unsaid().confirmed_by(&looked, true, "uid").is_of_another("after"));
    assert!(!unsaid().confirmed_by(&looked, false, "uid").is_of_another("after"));
}
