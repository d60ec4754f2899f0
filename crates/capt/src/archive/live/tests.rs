use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::http::StatusCode;
use capt_core::archive::KINDS;
use kube::Config;
use rstest::rstest;
use serde_json::json;

use super::*;

type Answers = Vec<(u16, Value)>;

/// Lists with a server that answers this, one request after the other; the last answer is for all others.
async fn listed(answers: Answers) -> anyhow::Result<Vec<String>> {
    let answers = Arc::new(Mutex::new(VecDeque::from(answers)));
    let answer = move || {
        let mut answers = answers.lock().unwrap();
        let next = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        let (code, body) = next.unwrap();
        std::future::ready((StatusCode::from_u16(code).unwrap(), body.to_string()))
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(answer)).await });
    let mut config = Config::new(format!("http://{address}").parse().unwrap());
    config.default_retry = false;
    let client = Client::try_from(config).unwrap();
    let objects = list(&client, &KINDS[0], None, &ListParams::default()).await?;
    Ok(objects.iter().map(|object| object["metadata"]["name"].as_str().unwrap().to_owned()).collect())
}

fn page(name: &str, token: Option<&str>) -> (u16, Value) {
    let metadata = json!({ "resourceVersion": "7", "continue": token });
    let items = json!([{ "metadata": { "name": name } }]);
    (200, json!({ "kind": "List", "apiVersion": "v1", "metadata": metadata, "items": items }))
}

fn refusal(code: u16) -> (u16, Value) {
    (
        code,
        json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": "R", "message": "m" }),
    )
}

#[rstest]
#[case::it_expires(410)]
#[case::its_kind_is_gone_for_a_moment(404)]
#[tokio::test]
async fn a_list_that_breaks_off_between_two_pages_is_read_anew(#[case] code: u16) {
    let answers = vec![page("a", Some("t")), refusal(code), page("a", Some("u")), page("b", None)];
    assert_eq!(listed(answers).await.unwrap(), ["a", "b"]);
}

#[rstest]
#[case::it_expires(410)]
#[case::its_kind_is_gone(404)]
#[case::it_is_refused(403)]
#[tokio::test]
async fn a_list_that_is_never_read_to_its_end_is_an_error(#[case] code: u16) {
    let answers = (0..20).flat_map(|_| [page("a", Some("t")), refusal(code)]).collect();
    listed(answers).await.unwrap_err();
}

#[tokio::test]
async fn a_kind_that_is_not_served_has_no_objects() {
    assert_eq!(listed(vec![refusal(404)]).await.unwrap(), Vec::<String>::new());
    let gone = vec![page("a", Some("t")), refusal(404), refusal(404)];
    assert_eq!(listed(gone).await.unwrap(), Vec::<String>::new(), "it went between two pages");
}
