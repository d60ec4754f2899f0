//! Whatever an API server answers, the log is for people.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use capt_testkit::eventually;
use rstest::rstest;
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpListener;

use super::process::Manager;

/// So many answers, and every part of the manager has had one.
const ANSWERS: usize = 40;

/// What everything is answered with, after the first.
#[derive(Clone)]
struct Server {
    code: StatusCode,
    body: String,
    /// Lets the manager get as far as its own Lease and its watches: whoever may not read CRDs is not kept from working.
    lets_in: bool,
    answers: Arc<AtomicUsize>,
}

/// An API server that answers like this, and the kubeconfig for it.
async fn start(server: Server) -> (TempDir, PathBuf) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().fallback(answer).with_state(server);
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    super::file(&super::NOBODY_THERE.replace("https://127.0.0.1:1", &address))
}

async fn answer(State(server): State<Server>, request: Request) -> Response {
    let path = request.uri().path();
    if path == "/version" {
        let version = json!({
            "major": "1", "minor": "34", "gitVersion": "v1.34.0", "gitCommit": "", "gitTreeState": "",
            "buildDate": "", "goVersion": "", "compiler": "", "platform": "",
        });
        return ([(CONTENT_TYPE, "application/json")], version.to_string()).into_response();
    }
    server.answers.fetch_add(1, Ordering::Relaxed);
    let looks_around =
        path.ends_with("/customresourcedefinitions") || path == "/apis/coordination.k8s.io/v1/leases";
    if looks_around && server.lets_in {
        return (StatusCode::FORBIDDEN, status(StatusCode::FORBIDDEN)).into_response();
    }
    (server.code, [(CONTENT_TYPE, "application/json")], server.body).into_response()
}

/// As API servers answer, with all the details.
fn status(code: StatusCode) -> String {
    let details = json!({
        "name": "demo", "kind": "things",
        "causes": [{ "reason": "FieldValueInvalid", "message": "no", "field": "spec" }],
    });
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": { "continue": "x" }, "status": "Failure",
        "message": "the message of the server", "reason": code.canonical_reason(), "details": details,
        "code": code.as_u16(),
    })
    .to_string()
}

#[rstest]
#[case::forbidden(403, None)]
#[case::not_found(404, None)]
#[case::conflict(409, None)]
#[case::invalid(422, None)]
#[case::broken(500, None)]
#[case::a_page_of_a_proxy(502, Some("<html>\n<h1>Bad Gateway</h1>\n</html>"))]
#[case::garbage(200, Some("{ \"kind\": 17, \"items\": \"none\" "))]
#[case::something_else(200, Some("{ \"kind\": \"Pancake\", \"apiVersion\": \"v1\", \"metadata\": {} }"))]
#[tokio::test(flavor = "multi_thread")]
async fn no_line_prints_an_answer_in_the_form_for_programmers(
    #[case] code: u16,
    #[case] body: Option<&str>,
    #[values("--leader-elect=true", "--leader-elect=false")] election: &str,
) {
    let code = StatusCode::from_u16(code).unwrap();
    let answers = Arc::<AtomicUsize>::default();
    let body = body.map_or_else(|| status(code), ToOwned::to_owned);
    let server = Server { code, body, lets_in: true, answers: Arc::clone(&answers) };
    let (_directory, kubeconfig) = start(server).await;

    let manager = Manager::start(&kubeconfig, &[election]);

    eventually("the manager has had many answers, and has said something", async || {
        let heard = answers.load(Ordering::Relaxed) >= if election.ends_with("true") { 6 } else { ANSWERS };
        let said = manager.log().iter().any(|line| line.contains("\"WARN\""));
        if heard && said { Ok(()) } else { Err(manager.log().join("\n")) }
    })
    .await;
    manager.speaks_to_people();
}
