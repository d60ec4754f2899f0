use State::{Current, Failed, InProgress, Terminating};
use rstest::rstest;

use super::*;

fn checked(expression: Option<&str>) -> ReadinessCheck {
    ReadinessCheck {
        api_version: "example.com/v1".to_owned(),
        kind: "Widget".to_owned(),
        namespace: Some("default".to_owned()),
        name: "demo".to_owned(),
        expression: expression.map(ToOwned::to_owned),
    }
}

#[rstest]
#[case::no_expression(None)]
#[case::expression(Some("true"))]
#[case::broken_expression(Some("("))]
fn what_does_not_exist_is_waited_for(#[case] expression: Option<&str>) {
    let health = check(&checked(expression), None);
    assert_eq!(health, Health { state: InProgress, message: "it does not exist yet".to_owned() });
}

#[rstest]
#[case::rules_of_the_kind(None, InProgress, "Ready is False")]
#[case::expression_instead_of_them(Some("self.status.size == 3"), Current, "it is ready")]
#[case::not_true(Some("self.status.size > 3"), InProgress, "its expression is not true yet")]
#[case::not_there_yet(Some("self.status.later > 3"), InProgress, "its expression is not true yet")]
#[case::no_truth(Some("self.status.size"), Failed, "gives a value of the type int and not true or false")]
#[case::broken(Some("self.status.size >"), Failed, "cannot be understood at line 1")]
fn an_expression_takes_the_place_of_the_rules(
    #[case] expression: Option<&str>,
    #[case] state: State,
    #[case] message: &str,
) {
    let status = json!({"size": 3, "conditions": [condition("Ready", "False", "", "")]});
    let widget = object("example.com/v1", "Widget", &json!({}), &status);
    let health = check(&checked(expression), Some(&widget));
    assert_eq!(health.state, state, "{health:?}");
    assert!(health.message.contains(message), "{health:?}");
}

#[test]
fn what_is_being_deleted_is_not_ready_whatever_the_expression_says() {
    let widget = json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}});
    assert_eq!(check(&checked(Some("true")), Some(&widget)).state, Terminating);
}

fn results(states: &[State]) -> Vec<(String, Health)> {
    let number = |(number, state): (usize, &State)| {
        (format!("Widget default/{number}"), Health::new(*state, &format!("{state:?}")))
    };
    states.iter().enumerate().map(number).collect()
}

#[rstest]
#[case::nothing(&[], Current, "all is ready")]
#[case::all(&[Current, Current], Current, "all is ready")]
#[case::one_waits(&[Current, InProgress], InProgress, "Widget default/1: InProgress")]
#[case::one_goes(
    &[InProgress, Current, Terminating],
    Terminating,
    "Widget default/0: InProgress; Widget default/2: Terminating"
)]
#[case::failed_wins(&[InProgress, Failed, Terminating, Failed], Failed, "Widget default/1: Failed; Widget default/3: Failed")]
#[case::three_are_named(
    &[InProgress; 3],
    InProgress,
    "Widget default/0: InProgress; Widget default/1: InProgress; Widget default/2: InProgress"
)]
#[case::and_the_rest_counted(
    &[InProgress; 5],
    InProgress,
    "Widget default/0: InProgress; Widget default/1: InProgress; Widget default/2: InProgress; and 2 more"
)]
fn a_summary_names_who_is_to_blame(#[case] states: &[State], #[case] state: State, #[case] message: &str) {
    assert_eq!(summary(&results(states)), Health { state, message: message.to_owned() });
}
