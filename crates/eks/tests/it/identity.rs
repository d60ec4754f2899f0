//! Every way to an identity, and every way in which it can fail.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rstest::rstest;

use crate::process::Process;
use crate::stub::{Stub, caller, document, refusal, session};

const MINT: &str = "mint eu-west-1 demo";
const CALLER: &str = "caller eu-west-1 demo";
const ROLE: &str = "arn:aws:iam::444455556666:role/team/deployer";
const KEYS: [(&str, &str); 2] = [("AWS_ACCESS_KEY_ID", "AKIDOWN"), ("AWS_SECRET_ACCESS_KEY", "s3cr3t-own")];

/// The address that a token asks.
fn url(answer: &str) -> String {
    let token = answer.strip_prefix("ok k8s-aws-v1.").unwrap_or_else(|| panic!("no token: {answer}"));
    String::from_utf8(URL_SAFE_NO_PAD.decode(token).unwrap()).unwrap()
}

fn with_keys(stub: &Stub) -> Vec<(&str, &str)> {
    [&KEYS[..], &[("AWS_ENDPOINT_URL_STS", &stub.url)]].concat()
}

#[test]
fn without_an_identity_it_is_said_where_one_was_looked_for() {
    let mut process = Process::start(&[]);

    let answer = process.ask(MINT);

    assert!(
        answer.starts_with("error no-identity no AWS identity found: no keys in the environment"),
        "{answer}"
    );
    assert!(answer.contains("no role of an instance"), "{answer}");
}

#[rstest]
#[case::a_region("mint eu-west-1.example.com demo")]
#[case::a_cluster("mint eu-west-1 demo/../x")]
#[case::a_role("mint eu-west-1 demo arn:aws:iam::1:user/x")]
#[case::nothing("mint")]
#[tokio::test(flavor = "multi_thread")]
async fn what_could_lead_anywhere_is_refused_before_anybody_is_asked(#[case] question: &str) {
    let stub = Stub::start().await;
    let mut process = Process::start(&with_keys(&stub));

    let answer = process.ask(question);

    assert!(answer.starts_with("error invalid"), "{answer}");
    assert!(stub.asked().is_empty());
}

#[test]
fn keys_in_the_environment_sign() {
    let mut process = Process::start(&KEYS);

    assert!(url(&process.ask(MINT)).contains("X-Amz-Credential=AKIDOWN%2F"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_role_behind_our_session_is_told_and_asked_for_once() {
    let stub = Stub::start().await;
    stub.answer(200, caller("arn:aws:sts::111122223333:assumed-role/capt/i-1"));
    let mut process = Process::start(&with_keys(&stub));

    for _ in 0..2 {
        assert_eq!(process.ask(CALLER), "ok arn:aws:iam::111122223333:role/capt");
    }

    assert_eq!(stub.asked().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_is_assumed_is_itself_told_without_a_question() {
    let stub = Stub::start().await;
    let mut process = Process::start(&with_keys(&stub));

    assert_eq!(process.ask(&format!("{CALLER} {ROLE}")), format!("ok {ROLE}"));
    assert!(stub.asked().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_is_assumed_once_for_many_tokens() {
    let stub = Stub::start().await;
    stub.answer(200, session("AssumeRole", "ASIAROLE"));
    let mut process = Process::start(&with_keys(&stub));

    for _ in 0..2 {
        let url = url(&process.ask(&format!("{MINT} {ROLE} outside")));
        assert!(url.contains("X-Amz-Credential=ASIAROLE%2F") && url.contains("t0k3n"), "{url}");
    }

    let asked = stub.asked();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].body.contains("Action=AssumeRole&"), "{}", asked[0].body);
    assert!(asked[0].body.contains("RoleArn=arn%3Aaws%3Aiam%3A%3A444455556666%3Arole%2Fteam%2Fdeployer"));
    assert!(asked[0].body.contains("ExternalId=outside"));
    assert!(asked[0].headers["authorization"].to_str().unwrap().contains("Credential=AKIDOWN/"));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_external_id_or_region_is_another_session() {
    let stub = Stub::start().await;
    let mut process = Process::start(&with_keys(&stub));

    for (key, question) in [
        ("ASIAONE", format!("{MINT} {ROLE}")),
        ("ASIATWO", format!("{MINT} {ROLE} outside")),
        ("ASIATHREE", format!("mint us-east-1 demo {ROLE}")),
    ] {
        stub.answer(200, session("AssumeRole", key));
        assert!(url(&process.ask(&question)).contains(key));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_refuses_is_named_with_what_it_needs() {
    let stub = Stub::start().await;
    let message = "User: arn:aws:sts::111122223333:assumed-role/capt/i-1 is not authorized to perform: \
                   sts:AssumeRole on resource: x";
    stub.answer(403, refusal("AccessDenied", message));
    let mut process = Process::start(&with_keys(&stub));

    let answer = process.ask(&format!("{MINT} {ROLE}"));

    let expected = format!(
        "error role-refused the role {ROLE} may not be assumed by arn:aws:iam::111122223333:role/capt: its trust policy"
    );
    assert!(answer.starts_with(&expected), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_are_no_longer_valid_are_told() {
    let stub = Stub::start().await;
    let message = "The Canonical String for this request should have been x-amz-security-token:s3cr3t";
    stub.answer(403, refusal("SignatureDoesNotMatch", message));
    stub.answer(403, refusal("ExpiredToken", message));
    let mut process = Process::start(&with_keys(&stub));

    for (question, code) in
        [(CALLER.to_owned(), "SignatureDoesNotMatch"), (format!("{MINT} {ROLE}"), "ExpiredToken")]
    {
        let answer = process.ask(&question);
        assert!(answer.starts_with("error rejected") && answer.contains(code), "{answer}");
        assert!(!answer.contains("s3cr3t"), "{answer}");
    }
}

#[test]
fn an_sts_that_nobody_reaches_is_not_a_refusal() {
    let mut process =
        Process::start(&[&KEYS[..], &[("AWS_ENDPOINT_URL_STS", "http://127.0.0.1:1")]].concat());

    let answer = process.ask(&format!("{MINT} {ROLE}"));

    assert!(answer.starts_with("error unreachable no answer while assuming the role: "), "{answer}");
    assert!(answer.contains("refused"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_web_identity_signs() {
    let stub = Stub::start().await;
    stub.answer(200, session("AssumeRoleWithWebIdentity", "ASIAWEB"));
    let home = tempfile::tempdir().unwrap();
    let token = home.path().join("token");
    fs::write(&token, "jwt-of-the-pod").unwrap();
    let mut process = Process::start_in(
        home,
        &[
            ("AWS_WEB_IDENTITY_TOKEN_FILE", token.to_str().unwrap()),
            ("AWS_ROLE_ARN", ROLE),
            ("AWS_ENDPOINT_URL_STS", &stub.url),
        ],
    );

    for _ in 0..2 {
        assert!(url(&process.ask(MINT)).contains("X-Amz-Credential=ASIAWEB%2F"));
    }

    let asked = stub.asked();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].body.contains("WebIdentityToken=jwt-of-the-pod"), "{}", asked[0].body);
}

#[rstest]
#[case::refused("AccessDenied", "AWS STS answered AccessDenied; the trust policy of the role must allow it")]
#[case::not_trusted("InvalidIdentityToken", "must trust the identity provider")]
#[tokio::test(flavor = "multi_thread")]
async fn a_web_identity_that_is_refused_is_not_replaced_by_another(
    #[case] code: &str,
    #[case] expected: &str,
) {
    let stub = Stub::start().await;
    stub.answer(403, refusal(code, "jwt-of-the-pod"));
    let home = tempfile::tempdir().unwrap();
    let token = home.path().join("token");
    fs::write(&token, "jwt-of-the-pod").unwrap();
    let mut process = Process::start_in(
        home,
        &[
            ("AWS_WEB_IDENTITY_TOKEN_FILE", token.to_str().unwrap()),
            ("AWS_ROLE_ARN", ROLE),
            ("AWS_ENDPOINT_URL_STS", &stub.url),
        ],
    );

    let answer = process.ask(MINT);

    assert!(answer.starts_with("error no-identity") && answer.contains(expected), "{answer}");
    assert!(!answer.contains("jwt-of-the-pod") && !answer.contains("metadata"), "{answer}");
}

#[test]
fn a_web_identity_whose_file_is_missing_is_told() {
    let mut process =
        Process::start(&[("AWS_WEB_IDENTITY_TOKEN_FILE", "/nowhere/token"), ("AWS_ROLE_ARN", ROLE)]);

    let answer = process.ask(MINT);

    assert!(answer.starts_with("error no-identity") && answer.contains("No such file"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_identity_signs() {
    let stub = Stub::start().await;
    stub.answer(200, document("ASIAPOD"));
    let home = tempfile::tempdir().unwrap();
    let token = home.path().join("token");
    fs::write(&token, "jwt-of-the-pod").unwrap();
    let mut process = Process::start_in(
        home,
        &[
            ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", token.to_str().unwrap()),
            ("AWS_CONTAINER_CREDENTIALS_FULL_URI", &format!("{}/v1/credentials", stub.url)),
        ],
    );

    assert!(url(&process.ask(MINT)).contains("X-Amz-Credential=ASIAPOD%2F"));

    let asked = stub.asked();
    assert_eq!((asked.len(), asked[0].path.as_str()), (1, "/v1/credentials"));
    assert_eq!(asked[0].headers["authorization"], "jwt-of-the-pod");
}

#[test]
fn a_token_of_a_pod_that_cannot_be_sent_is_not_told() {
    let home = tempfile::tempdir().unwrap();
    let token = home.path().join("token");
    fs::write(&token, "jwt-of-the-pod\n").unwrap();
    let mut process = Process::start_in(
        home,
        &[
            ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", token.to_str().unwrap()),
            ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:1/v1/credentials"),
        ],
    );

    let answer = process.ask(MINT);

    assert!(answer.starts_with("error no-identity"), "{answer}");
    assert!(!answer.contains("jwt-of-the-pod"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_signs() {
    let stub = Stub::start().await;
    stub.answer(200, "session-token");
    stub.answer(200, "role-of-the-instance");
    stub.answer(200, document("ASIAINSTANCE"));
    let mut process = Process::start(&[("AWS_EC2_METADATA_SERVICE_ENDPOINT", stub.url.as_str())]);

    assert!(url(&process.ask(MINT)).contains("X-Amz-Credential=ASIAINSTANCE%2F"));
    assert_eq!(stub.asked()[0].method.as_str(), "PUT");
}

#[test]
fn a_program_named_in_a_profile_is_asked() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(".aws")).unwrap();
    let answer = r#"{"Version":1,"AccessKeyId":"AKIDPROGRAM","SecretAccessKey":"s3cr3t"}"#;
    fs::write(home.path().join("answer"), answer).unwrap();
    let profile = format!("[default]\ncredential_process = cat {}/answer\n", home.path().display());
    fs::write(home.path().join(".aws/config"), profile).unwrap();
    let mut process = Process::start_in(home, &[]);

    assert!(url(&process.ask(MINT)).contains("X-Amz-Credential=AKIDPROGRAM%2F"));
}

#[rstest]
#[case::missing("[profile other]\nregion = eu-west-1\n", "was not defined")]
#[case::sign_in(
    "[profile work]\nsso_start_url = https://example.com\nsso_region = eu-west-1\nsso_account_id = 111122223333\nsso_role_name = a\n",
    "export-credentials"
)]
#[case::a_program_that_fails(
    "[profile work]\ncredential_process = echo s3cr3t >&2; exit 3\n",
    "exit status: 3"
)]
fn a_profile_that_does_not_work_says_why(#[case] profile: &str, #[case] expected: &str) {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(".aws")).unwrap();
    fs::write(home.path().join(".aws/config"), profile).unwrap();
    let mut process = Process::start_in(home, &[("AWS_PROFILE", "work")]);

    let answer = process.ask(MINT);

    assert!(answer.starts_with("error no-identity") && answer.contains(expected), "{answer}");
    assert!(!answer.contains("s3cr3t"), "{answer}");
}
