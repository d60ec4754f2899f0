use std::sync::{Arc, Mutex};

use http::Request;
use kube::client::Body;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::workload::Workload;
use crate::workload::tests::stage::{refusal, scripted, served as kinds};

const GROUP: &str = "karpenter.sh/v1";
const EARLIER: &str = "karpenter.sh/v1beta1";

/// What a cluster answers to one request after the other, the last of them for ever.
#[derive(Clone)]
struct Script {
    /// To the question which kinds it serves in the newest version.
    discovery: Arc<Mutex<Vec<(u16, Value)>>>,
    /// To the request for a page.
    pages: Arc<Mutex<Vec<(u16, Value)>>>,
    /// The continue tokens of the requests for pages.
    asked: Arc<Mutex<Vec<Option<String>>>>,
}

impl Script {
    fn new(pages: Vec<(u16, Value)>) -> Self {
        let discovery = vec![kinds(&[("NodeClaim", "nodeclaims")])];
        Self { discovery: shared(discovery), pages: shared(pages), asked: Arc::default() }
    }

    fn with_discovery(mut self, discovery: Vec<(u16, Value)>) -> Self {
        self.discovery = shared(discovery);
        self
    }

    fn workload(&self) -> Workload {
        let script = self.clone();
        scripted(move |request| script.answer(request))
    }

    fn answer(&self, request: &Request<Body>) -> (u16, Value) {
        match request.uri().path() {
            "/apis/karpenter.sh/v1" => next(&self.discovery),
            "/apis/karpenter.sh/v1beta1" => gone(),
            "/apis/karpenter.sh/v1/nodeclaims" => {
                let query = request.uri().query().unwrap_or_default();
                let token = query.split('&').find_map(|part| part.strip_prefix("continue="));
                self.asked.lock().unwrap().push(token.map(ToOwned::to_owned));
                next(&self.pages)
            }
            path => panic!("nobody is to ask for {path}"),
        }
    }

    /// The names of all objects, or why they are not known.
    async fn list(&self) -> Result<Vec<String>, String> {
        let workload = self.workload();
        let talk = workload.talk();
        let served = served(&talk, &[GROUP, EARLIER], "NodeClaim").await.unwrap().unwrap();
        let listed = served.all().await.map_err(|failure| failure.sentence())?;
        Ok(listed.iter().map(name).collect())
    }

    fn asked(&self) -> Vec<Option<String>> {
        self.asked.lock().unwrap().clone()
    }
}

fn shared(answers: Vec<(u16, Value)>) -> Arc<Mutex<Vec<(u16, Value)>>> {
    Arc::new(Mutex::new(answers))
}

fn next(answers: &Mutex<Vec<(u16, Value)>>) -> (u16, Value) {
    let mut answers = answers.lock().unwrap();
    if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() }
}

fn page(names: &[&str], token: Option<&str>) -> (u16, Value) {
    let items: Vec<_> = names.iter().map(|name| json!({ "metadata": { "name": name } })).collect();
    let metadata = json!({ "resourceVersion": "7", "continue": token });
    (200, json!({ "kind": "NodeClaimList", "apiVersion": GROUP, "metadata": metadata, "items": items }))
}

fn expired() -> (u16, Value) {
    refusal(410, "Expired", "The provided continue parameter is too old")
}

fn gone() -> (u16, Value) {
    refusal(404, "NotFound", "the server could not find the requested resource")
}

#[tokio::test]
async fn a_list_that_expires_between_two_pages_is_read_anew() {
    let script =
        Script::new(vec![page(&["a"], Some("t")), expired(), page(&["a"], Some("u")), page(&["b"], None)]);
    assert_eq!(script.list().await.unwrap(), ["a", "b"]);
    let token = |token: &str| Some(token.to_owned());
    assert_eq!(script.asked(), [None, token("t"), None, token("u")]);
}

#[rstest]
#[case::it_expires_again_and_again(410, "Expired", "too old")]
#[case::it_is_refused_halfway(403, "Forbidden", "too old")]
#[case::it_breaks_off(500, "InternalError", "too old")]
#[tokio::test]
async fn a_list_that_is_never_read_to_its_end_is_no_list(
    #[case] code: u16,
    #[case] reason: &str,
    #[case] told: &str,
) {
    let answers = (0..100).flat_map(|_| [page(&["a"], Some("t")), refusal(code, reason, "it is too old")]);
    let script = Script::new(answers.collect());
    let failure = script.list().await.unwrap_err();
    assert!(failure.contains(told), "{failure}");
    assert!(script.asked().len() < 10, "{} requests", script.asked().len());
}

#[tokio::test]
async fn a_server_that_never_comes_to_an_end_of_its_pages_gives_no_list() {
    let script = Script::new(vec![page(&["a"], Some("t"))]);
    let failure = script.list().await.unwrap_err();
    assert!(failure.contains("NodeClaim"), "{failure}");
}

#[tokio::test]
async fn a_kind_whose_definition_went_between_two_pages_has_no_objects() {
    let script = Script::new(vec![page(&["a"], Some("t")), gone()])
        .with_discovery(vec![kinds(&[("NodeClaim", "nodeclaims")]), gone()]);
    assert_eq!(script.list().await.unwrap(), Vec::<String>::new());
}

#[rstest]
#[case::on_the_first_page(vec![gone()])]
#[case::between_two_pages(vec![page(&["a"], Some("t")), gone()])]
#[tokio::test]
async fn a_kind_that_the_cluster_serves_and_does_not_list_is_not_known(#[case] pages: Vec<(u16, Value)>) {
    let failure = Script::new(pages).list().await.unwrap_err();
    assert!(failure.contains("could not find"), "{failure}");
}

#[tokio::test]
async fn a_kind_that_cannot_be_listed_is_not_known() {
    let script = Script::new(vec![refusal(405, "MethodNotAllowed", "the server does not allow this method")]);
    let failure = script.list().await.unwrap_err();
    assert!(failure.contains("does not allow"), "{failure}");
}
