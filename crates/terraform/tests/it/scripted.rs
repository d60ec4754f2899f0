//! The engine for tests keeps the promises of the real one.

use std::sync::Arc;

use capt_terraform::scripted::{ScriptedEngine, Turn, failure};
use capt_terraform::{Engine, Error, Event, Operation, Outcome, Outputs, PlanHash, Verb};

use crate::bed::{Seen, identity, inline, until};

#[tokio::test]
async fn it_succeeds_and_remembers_what_it_was_asked() {
    let engine = ScriptedEngine::succeeding(Outputs::new());
    let run = inline("");

    let Outcome::Planned(plan) = engine.run(&run, &Seen::default()).await.unwrap() else { panic!() };
    let apply = run.with(Operation::Apply { plan: plan.hash });
    assert!(matches!(engine.run(&apply, &Seen::default()).await.unwrap(), Outcome::Applied(_)));

    assert_eq!(engine.runs(), [run, apply]);
    assert_eq!(engine.collect(&[identity()].into()).await.unwrap(), []);
    assert_eq!(engine.collect(&[].into()).await.unwrap(), [identity()]);
}

#[tokio::test]
async fn it_fails_and_hangs_as_its_script_says() {
    let engine = Arc::new(ScriptedEngine::new(|run| match run.operation {
        Operation::Plan => Turn::fails(failure(Verb::Plan, "no luck")),
        _ => Turn::hangs().after(Event::Started(Verb::Apply)),
    }));
    let run = inline("");
    let error = engine.run(&run, &Seen::default()).await.unwrap_err();
    assert_eq!(error.to_string(), "plan failed (exit status: 1): no luck");

    assert!(!engine.interrupt(&identity()).await.unwrap());
    let seen = Arc::new(Seen::default());
    let hanging = tokio::spawn({
        let (engine, seen) = (Arc::clone(&engine), Arc::clone(&seen));
        let apply = run.with(Operation::Apply { plan: PlanHash::from_text("x") });
        async move { engine.run(&apply, &*seen).await }
    });
    until("it hangs", || seen.any(|event| *event == Event::Started(Verb::Apply))).await;
    assert!(engine.interrupt(&identity()).await.unwrap());

    assert!(matches!(hanging.await.unwrap(), Err(Error::Interrupted { verb: Verb::Apply })));
}

#[tokio::test]
async fn it_stops_and_keeps_logs_and_lock_files_as_the_real_one_does() {
    let scripted = ScriptedEngine::new(|_| {
        let line = Event::Line(Verb::Apply, "a.b: made".to_owned());
        Turn::hangs().after(Event::Started(Verb::Apply)).after(line)
    });
    scripted.keep_provider_lock(identity(), "# pinned");
    let engine: Arc<dyn Engine> = Arc::new(scripted);
    let seen = Arc::new(Seen::default());
    let apply = inline("").with(Operation::Apply { plan: PlanHash::from_text("x") });
    let hanging = tokio::spawn({
        let (engine, seen, apply) = (Arc::clone(&engine), Arc::clone(&seen), apply.clone());
        async move { engine.run(&apply, &*seen).await }
    });
    until("it hangs", || seen.any(|event| *event == Event::Started(Verb::Apply))).await;

    engine.stop();

    assert!(matches!(hanging.await.unwrap(), Err(Error::Interrupted { verb: Verb::Apply })));
    assert!(matches!(engine.run(&apply, &*seen).await, Err(Error::Stopping)));
    assert_eq!(engine.log(&identity(), Verb::Apply).unwrap().as_deref(), Some("a.b: made\n"));
    assert_eq!(engine.log(&identity(), Verb::Plan).unwrap(), None);
    assert_eq!(engine.provider_lock(&identity()).unwrap().as_deref(), Some("# pinned"));
}
