use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use futures::FutureExt as _;

use super::*;

/// A clock that stands where the test puts it.
#[derive(Clone, Default)]
struct TestClock(Arc<Mutex<Duration>>);

impl TestClock {
    fn set(&self, seconds: u64) {
        *self.0.lock().unwrap() = Duration::from_secs(seconds);
    }

    fn term(&self, seconds: u64) -> LeadershipTerm {
        let now = Arc::clone(&self.0);
        let clock = UptimeClock::new(move || *now.lock().unwrap());
        LeadershipTerm::until(Duration::from_secs(seconds), clock)
    }
}

/// The process was stopped: no timer has fired, the work is the first to go on.
#[tokio::test]
async fn work_does_not_go_on_after_the_deadline_even_if_nobody_has_noticed_it() {
    let clock = TestClock::default();
    let term = clock.term(10);
    let (answer, answered) = tokio::sync::oneshot::channel::<()>();
    let went_on = AtomicBool::new(false);
    let mut work = Box::pin(term.bind(async {
        answered.await.unwrap();
        went_on.store(true, Ordering::SeqCst);
    }));
    assert!(work.as_mut().now_or_never().is_none());
    clock.set(10);
    answer.send(()).unwrap();
    assert_eq!(work.as_mut().now_or_never(), Some(None));
    assert!(!went_on.load(Ordering::SeqCst));
    assert!(term.is_over());
}

#[tokio::test]
async fn work_that_hangs_is_dropped_when_the_term_ends() {
    let term = LeadershipTerm::without_deadline();
    let held = Arc::new(());
    let hanging = {
        let held = Arc::clone(&held);
        term.spawn(async move {
            std::future::pending::<()>().await;
            drop(held);
        })
    };
    assert!(term.end_within(Duration::from_secs(60)).await);
    assert_eq!(hanging.await.unwrap(), None);
    assert_eq!(Arc::strong_count(&held), 1);
}

#[tokio::test]
async fn nothing_begins_in_a_term_that_is_over() {
    let term = LeadershipTerm::without_deadline();
    term.end();
    let began = AtomicBool::new(false);
    assert_eq!(term.bind(async { began.store(true, Ordering::SeqCst) }).await, None);
    assert!(!began.load(Ordering::SeqCst));
    // Another one is another matter.
    assert_eq!(LeadershipTerm::without_deadline().bind(async { 1 }).await, Some(1));
}

#[test]
fn a_term_is_extended_only_while_it_lasts_and_never_cut_short() {
    let clock = TestClock::default();
    let term = clock.term(10);
    clock.set(9);
    term.extend(Duration::from_secs(20));
    term.extend(Duration::from_secs(15));
    assert_eq!(term.deadline(), Duration::from_secs(20));
    clock.set(20);
    term.extend(Duration::from_secs(30));
    assert!(term.is_over());
    assert_eq!(term.deadline(), Duration::from_secs(20));
}

/// Whoever waits for runs of Terraform to end keeps its Lease, but begins nothing.
#[test]
fn a_term_that_was_ended_is_over_before_its_deadline() {
    let clock = TestClock::default();
    let term = clock.term(10);
    term.end();
    term.extend(Duration::from_secs(20));
    assert!(term.is_over() && !term.has_run_out());
    clock.set(20);
    assert!(term.has_run_out());
}
