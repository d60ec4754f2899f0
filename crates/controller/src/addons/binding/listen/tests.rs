use std::sync::atomic::AtomicUsize;

use rstest::rstest;
use serde_json::json;

use super::*;
use crate::workload::tests::stage::{refusal, scripted, served};

fn awaited(version: Option<&str>) -> Awaited {
    let key = ObjectKey {
        api_version: "apps/v1".to_owned(),
        kind: "Deployment".to_owned(),
        namespace: Some("a".to_owned()),
        name: "x".to_owned(),
    };
    Awaited { key, version: version.map(ToOwned::to_owned) }
}

/// One event of a watch.
fn event(kind: &str, version: &str) -> (u16, String) {
    let object = json!({
        "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
        "metadata": { "name": "x", "namespace": "a", "resourceVersion": version },
    });
    (200, json!({ "type": kind, "object": object }).to_string() + "\n")
}

fn error_event(code: u16, reason: &str) -> (u16, String) {
    let (_, status) = refusal(code, reason, "the watch ends here");
    (200, json!({ "type": "ERROR", "object": status }).to_string() + "\n")
}

fn refused(code: u16, reason: &str) -> (u16, String) {
    let (code, status) = refusal(code, reason, "deployments.apps is forbidden");
    (code, status.to_string())
}

/// A cluster that answers every watch like this, and counts them.
fn cluster(
    answer: impl Fn(&str) -> (u16, String) + Clone + Send + Sync + 'static,
) -> (Arc<Workload>, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let workload = scripted(move |request| {
        if request.uri().path() == "/apis/apps/v1" {
            let (code, kinds) = served(&[("Deployment", "deployments")]);
            return (code, kinds.to_string());
        }
        counted.fetch_add(1, Ordering::Relaxed);
        answer(request.uri().query().unwrap_or_default())
    });
    (Arc::new(workload), asked)
}

const AN_HOUR: Duration = Duration::from_secs(3600);

/// Listens for an hour to a cluster that answers every watch like this; tells whether a change was heard, and how often the
/// cluster was asked.
async fn listen_for_an_hour(
    version: Option<&str>,
    answer: impl Fn(&str) -> (u16, String) + Clone + Send + Sync + 'static,
) -> (bool, usize) {
    let (workload, asked) = cluster(answer);
    let (ear, awaited) = (Ear::default(), awaited(version));
    let heard = tokio::time::timeout(AN_HOUR, change(&workload, &awaited, &ear)).await.is_ok();
    (heard, asked.load(Ordering::Relaxed))
}

#[rstest]
#[case::without_the_verb_watch(refused(403, "Forbidden"))]
#[case::a_kind_that_cannot_be_watched(refused(405, "MethodNotAllowed"))]
#[case::a_kind_that_is_gone(refused(404, "NotFound"))]
#[case::a_version_that_is_too_old(refused(410, "Expired"))]
#[case::a_server_in_trouble(refused(503, "ServiceUnavailable"))]
#[case::a_proxy_that_answers_itself((502, "<html>".to_owned()))]
#[case::a_watch_that_ends_at_once((200, String::new()))]
#[case::a_watch_that_ends_with_an_error(error_event(500, "InternalError"))]
#[case::a_watch_from_too_old_a_version(error_event(410, "Expired"))]
#[case::garbage((200, "garbage\n".to_owned()))]
#[case::nothing_but_bookmarks(event("BOOKMARK", "9"))]
#[case::what_is_known_already(event("ADDED", "5"))]
#[tokio::test(start_paused = true)]
async fn a_watch_that_shows_no_change_wakes_nobody_and_is_not_asked_for_all_the_time(
    #[case] answer: (u16, String),
) {
    let (heard, asked) = listen_for_an_hour(Some("5"), move |_| answer.clone()).await;
    assert!(!heard, "somebody is woken after {asked} requests");
    // Every 15 to 30 seconds, and more often at first.
    assert!((10..=300).contains(&asked), "{asked} requests in an hour");
}

#[rstest]
#[case::changed(Some("5"), event("MODIFIED", "6"))]
#[case::made_again(Some("5"), event("ADDED", "9"))]
#[case::gone(Some("5"), event("DELETED", "6"))]
#[case::there_at_last(None, event("ADDED", "6"))]
#[tokio::test(start_paused = true)]
async fn a_change_is_heard(#[case] version: Option<&str>, #[case] answer: (u16, String)) {
    assert_eq!(listen_for_an_hour(version, move |_| answer.clone()).await, (true, 1));
}

#[tokio::test(start_paused = true)]
async fn a_change_is_heard_after_the_watch_was_interrupted() {
    let answers = [refused(403, "Forbidden"), (200, String::new()), error_event(410, "Expired")];
    let count = Arc::new(AtomicUsize::new(0));
    let (heard, asked) = listen_for_an_hour(Some("5"), move |query| {
        let index = count.fetch_add(1, Ordering::Relaxed);
        let from_version = query.contains("resourceVersion=5");
        assert_eq!(from_version, index < answers.len(), "from a version until it is too old: {query}");
        answers.get(index).cloned().unwrap_or_else(|| event("ADDED", "7"))
    })
    .await;
    assert_eq!((heard, asked), (true, 4));
}

#[tokio::test(start_paused = true)]
async fn a_binding_is_announced_once_and_not_before_the_pause_is_over() {
    let (workload, _) = cluster(|_| event("MODIFIED", "6"));
    let (queue, mut announced) = futures::channel::mpsc::unbounded();
    let pause = Duration::from_secs(5);
    let listener = listen(
        Name::new("a", "b"),
        workload,
        vec![awaited(Some("5"))],
        pause,
        queue,
        &LeadershipTerm::without_deadline(),
    )
    .unwrap();
    assert_eq!(announced.next().await.unwrap(), ObjectRef::new("b").within("a"));
    assert!(listener.has_heard() && listener.age() >= pause);
    assert!(announced.next().await.is_none(), "nobody listens any more");
}

#[tokio::test(start_paused = true)]
async fn what_credentials_lack_is_known_and_announces_nothing() {
    let (workload, _) = cluster(|_| refused(403, "Forbidden"));
    let (queue, mut announced) = futures::channel::mpsc::unbounded();
    let awaited = vec![awaited(Some("5"))];
    let listener = listen(
        Name::new("a", "b"),
        workload,
        awaited,
        Duration::ZERO,
        queue,
        &LeadershipTerm::without_deadline(),
    )
    .unwrap();
    assert!(tokio::time::timeout(AN_HOUR, announced.next()).await.is_err(), "a binding is announced");
    assert_eq!(
        listener.lacks().unwrap(),
        "the credentials in Secret `a/x-kubeconfig` lack the verb `watch` for deployments.apps in namespace `a`: grant it, \
         and CAPT notices at once what becomes ready; until then CAPT inspects the cluster every 30 s"
    );
}

#[tokio::test(start_paused = true)]
async fn whoever_listens_to_the_first_of_many_goes_on() {
    let (workload, _) = cluster(|_| (200, String::new()));
    let (queue, _announced) = futures::channel::mpsc::unbounded();
    let many = vec![awaited(Some("5")); MOST + 1];
    let listener = listen(
        Name::new("a", "b"),
        workload,
        many.clone(),
        Duration::ZERO,
        queue,
        &LeadershipTerm::without_deadline(),
    )
    .unwrap();
    assert!(listener.listens_to(&many) && !listener.listens_to(&[awaited(Some("6"))]));
}
