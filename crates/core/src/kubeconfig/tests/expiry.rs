//! When credentials end.

use ::base64::Engine as _;
use ::base64::prelude::BASE64_URL_SAFE_NO_PAD;
use rstest::rstest;

use super::*;
use crate::certificate::fixtures::{CLIENT, KEY};

fn token(claims: &str) -> String {
    format!("header.{}.signature", BASE64_URL_SAFE_NO_PAD.encode(claims))
}

#[rstest]
#[case::web_token(&token("{\"exp\": 1735689600}"), Some(1_735_689_600))]
#[case::with_a_fraction(&token("{\"exp\": 1735689600.5}"), Some(1_735_689_600))]
#[case::never(&token("{}"), None)]
#[case::not_a_number(&token("{\"exp\": \"soon\"}"), None)]
#[case::beyond_all_calendars(&token("{\"exp\": 1e300}"), None)]
#[case::not_json(&token("soon"), None)]
#[case::not_base64("a.?.c", None)]
#[case::two_parts("a.e30", None)]
#[case::four_parts(&format!("{}.x", token("{\"exp\": 1735689600}")), None)]
fn the_end_of_a_token_is_read_where_it_says_so(#[case] token: &str, #[case] expected: Option<i64>) {
    let end = user(&format!("token: {token}")).unwrap().expires_at();
    assert_eq!(end.map(Timestamp::as_second), expected);
}

#[rstest]
#[case::before(1_735_689_599, true)]
#[case::at_the_end(1_735_689_600, false)]
#[case::after(1_735_689_601, false)]
fn credentials_are_valid_until_their_end(#[case] now: i64, #[case] expected: bool) {
    let fields = format!("token: {}", token("{\"exp\": 1735689600}"));
    let kubeconfig = parse(kubeconfig(&good_cluster(), &fields).as_bytes()).unwrap();
    assert_eq!(kubeconfig.check_expiry(Timestamp::from_second(now).unwrap()).is_ok(), expected);
}

#[rstest]
#[case::certificate(
    &format!("client-certificate-data: {}\nclient-key-data: {}", base64(CLIENT), base64(KEY)),
    "the client certificate in the kubeconfig expired at 2025-01-01T00:00:00Z; have the Terraform module make a new one and apply it again"
)]
#[case::token(
    &format!("token: {}", token("{\"exp\": 1735689600}")),
    "the token in the kubeconfig expired at 2025-01-01T00:00:00Z; have the Terraform module make a new one and apply it again"
)]
fn what_has_ended_is_told(#[case] fields: &str, #[case] expected: &str) {
    let kubeconfig = parse(kubeconfig(&good_cluster(), fields).as_bytes()).unwrap();
    let expired = kubeconfig.check_expiry(Timestamp::from_second(1_800_000_000).unwrap()).unwrap_err();
    assert_eq!(expired.to_string(), expected);
}

#[rstest]
#[case::password("username: admin\npassword: hunter2")]
#[case::eks_token("token: k8s-aws-v1.hunter2")]
#[case::plain_token("token: hunter2")]
fn what_does_not_tell_its_end_counts_as_valid(#[case] fields: &str) {
    let kubeconfig = parse(kubeconfig(&good_cluster(), fields).as_bytes()).unwrap();
    assert_eq!(kubeconfig.check_expiry(Timestamp::MAX), Ok(()));
}
