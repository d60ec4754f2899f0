//! Tokens that botocore made, with the same keys at the same time.

use std::collections::BTreeMap;

use aws_credential_types::Credentials;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use capt_eks::{TokenRequest, describe, mint};
use jiff::{SignedDuration, Timestamp};
use secrecy::ExposeSecret as _;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Vectors {
    access_key_id: String,
    secret_access_key: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    region: String,
    cluster_name: String,
    now: String,
    session_token: Option<String>,
    token: String,
}

/// The host, and the query without its order.
fn content(token: &str) -> (String, BTreeMap<String, String>) {
    let url = URL_SAFE_NO_PAD.decode(token.strip_prefix("k8s-aws-v1.").unwrap()).unwrap();
    let url = String::from_utf8(url).unwrap();
    let (host, query) = url.split_once('?').unwrap();
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap());
    (host.to_owned(), pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

#[test]
fn our_tokens_are_those_of_botocore() {
    let vectors: Vectors = serde_json::from_str(include_str!("botocore.json")).unwrap();
    assert!(!vectors.cases.is_empty());
    for case in vectors.cases {
        let credentials = Credentials::new(
            &vectors.access_key_id,
            &vectors.secret_access_key,
            case.session_token,
            None,
            "test",
        );
        let now: Timestamp = case.now.parse().unwrap();
        let request = TokenRequest { region: &case.region, cluster_name: &case.cluster_name };

        let token = mint(&credentials, &request, now).unwrap();

        assert_eq!(content(token.value.expose_secret()), content(&case.token), "{}", case.region);
        let described = describe(&case.token).unwrap();
        assert_eq!((described.region, described.signed_at), (case.region, now));
        assert_eq!(described.expires_at, now + SignedDuration::from_mins(15));
    }
}
