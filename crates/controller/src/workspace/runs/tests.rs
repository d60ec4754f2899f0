//! Runs and the leadership under which they were wanted.

use capt_core::workspace::decide::{Priority, Which};
use capt_terraform::scripted::{ScriptedEngine, Turn};
use capt_terraform::{Identity, Unfinished, Verb};
use rstest::rstest;

use super::*;
use crate::options::Server;

struct Scene {
    engine: Arc<ScriptedEngine>,
    runs: Arc<Runs>,
    term: LeadershipTerm,
}

impl Scene {
    /// With room for one run of each kind. Every run reports this and then goes on until it is interrupted.
    fn set(event: Event) -> Self {
        let engine = Arc::new(ScriptedEngine::new(move |_| Turn::hangs().after(event.clone())));
        let (home, host) = ("capt-system".to_owned(), "here".to_owned());
        let mut options =
            TerraformOptions::new(engine.clone(), "artifacts".into(), Server::default(), home, host);
        (options.most_plans, options.most_applies) = (1, 1);
        let runs = Arc::new(Runs::new(&options, Metrics::new()));
        Self { engine, runs, term: LeadershipTerm::without_deadline() }
    }

    fn start(&self, name: &str, operation: Operation) {
        self.runs.start(order(name, operation, &self.term));
    }

    /// The names of what the engine was given, in order.
    fn begun(&self) -> Vec<String> {
        self.engine.runs().iter().map(|run| run.identity.to_string()).collect()
    }

    async fn until_begun(&self, names: &[&str]) {
        capt_testkit::eventually("runs to begin", async || {
            let begun = self.begun();
            if begun == names { Ok(()) } else { Err(format!("{begun:?}")) }
        })
        .await;
    }

    /// Waits until no more than this wait or go on.
    async fn left(&self, count: usize) {
        let mut going = self.runs.going.subscribe();
        let left = going.wait_for(|going| *going == count);
        tokio::time::timeout(capt_testkit::DEADLINE, left).await.unwrap().unwrap();
    }

    async fn interrupt(&self, name: &str) {
        assert!(self.engine.interrupt(&identity(name)).await.unwrap(), "{name} does not run");
    }
}

fn identity(name: &str) -> Identity {
    Identity::try_from(name.to_owned()).unwrap()
}

fn order(name: &str, operation: Operation, term: &LeadershipTerm) -> Order {
    let run = serde_json::json!({
        "identity": name, "workspace": "default", "operation": "plan", "backend": "local",
        "source": { "inline": { "format": "Hcl", "content": "" } },
    });
    Order {
        term: term.clone(),
        workspace: name.to_owned(),
        uid: name.to_owned(),
        start: Start { operation, inputs: Which::Current, priority: Priority::Change },
        run: serde_json::from_value(run).unwrap(),
        fingerprint: String::new(),
        digest: None,
        logs: false,
        restored: None,
        preview: None,
        keeper: None,
        journal: None,
    }
}

fn apply() -> Operation {
    Operation::Apply { hash: "x".to_owned() }
}

fn waits() -> Event {
    Event::Waiting(Unfinished { identity: identity("first"), verb: None, started_at: None, alive: true })
}

#[tokio::test]
async fn a_run_that_waits_for_its_turn_is_not_begun_after_the_leadership() {
    let scene = Scene::set(Event::Started(Verb::Apply));
    scene.start("first", apply());
    scene.runs.handle("second", "now");
    scene.start("second", apply());
    scene.until_begun(&["first"]).await;
    scene.term.end();
    scene.left(1).await;
    scene.interrupt("first").await;
    scene.left(0).await;
    assert_eq!(scene.begun(), ["first"]);
    // As if nobody had wanted it: it is no failure.
    assert!(scene.runs.over("second").is_none() && scene.runs.going("second").is_none());
    assert!(scene.runs.logs("second").is_empty());
    assert_eq!(scene.runs.handled("second"), None);
}

#[rstest]
#[case::a_plan(Operation::Plan, Event::Started(Verb::Init))]
#[case::an_apply(apply(), Event::Started(Verb::Apply))]
#[case::a_state_that_is_stored(apply(), Event::Started(Verb::StatePush))]
#[tokio::test]
async fn a_run_that_has_begun_ends_by_itself(#[case] operation: Operation, #[case] event: Event) {
    let scene = Scene::set(event);
    scene.start("first", operation);
    scene.until_begun(&["first"]).await;
    scene.term.end();
    // It was not told anything: it still hangs.
    scene.interrupt("first").await;
    scene.left(0).await;
    assert!(scene.runs.over("first").is_some());
}

#[rstest]
#[case::it_waits_for_an_earlier_run(apply(), waits())]
#[case::it_prepares_an_apply(apply(), Event::Started(Verb::Init))]
#[case::it_prepares_a_destroy(Operation::Destroy { hash: "x".to_owned() }, Event::Started(Verb::Fetch))]
#[tokio::test]
async fn a_run_that_has_not_begun_ends_with_the_leadership(
    #[case] operation: Operation,
    #[case] event: Event,
) {
    let scene = Scene::set(event);
    scene.start("first", operation);
    scene.until_begun(&["first"]).await;
    scene.term.end();
    scene.left(0).await;
    assert!(scene.runs.over("first").is_none());
}

/// What it waits for is asked to stop by the engine, and the manager waits until that has ended.
#[tokio::test]
async fn a_run_that_has_not_begun_is_not_dropped_when_the_manager_stops() {
    let scene = Scene::set(waits());
    scene.start("first", apply());
    scene.until_begun(&["first"]).await;
    scene.runs.stop();
    scene.term.end();
    scene.left(0).await;
    assert!(scene.runs.over("first").is_some());
}

#[tokio::test]
async fn a_run_of_an_earlier_leadership_is_not_started_and_the_next_one_starts_its_own() {
    let mut scene = Scene::set(Event::Started(Verb::Plan));
    scene.term.end();
    scene.start("first", Operation::Plan);
    assert_eq!(scene.runs.count(), 0);
    let earlier = std::mem::replace(&mut scene.term, LeadershipTerm::without_deadline());
    scene.start("first", Operation::Plan);
    scene.until_begun(&["first"]).await;
    scene.runs.start(order("second", Operation::Plan, &earlier));
    assert_eq!(scene.runs.count(), 1);
    scene.interrupt("first").await;
    scene.left(0).await;
    assert_eq!(scene.begun(), ["first"]);
}
