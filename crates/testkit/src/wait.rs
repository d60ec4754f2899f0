//! Waiting for what must come true, instead of sleeping and hoping.

use std::fmt::{Debug, Display};
use std::panic::Location;
use std::time::Duration;

use kube::Api;
use kube::core::Resource;
use kube::runtime::wait::await_condition;
use serde::de::DeserializeOwned;
use tokio::time::Instant;

/// How long a condition may take; far more than it should, because test machines are busy.
pub const DEADLINE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(20);

/// What one look at the world gave: what we wait for, or a text that says what was there instead.
pub trait Seen {
    /// What we wait for.
    type Wanted;
    /// The same as a result.
    fn seen(self) -> Result<Self::Wanted, String>;
}

impl<T> Seen for Option<T> {
    type Wanted = T;
    fn seen(self) -> Result<T, String> {
        self.ok_or_else(|| "nothing yet".to_owned())
    }
}

impl<T, E: Display> Seen for Result<T, E> {
    type Wanted = T;
    fn seen(self) -> Result<T, String> {
        self.map_err(|error| error.to_string())
    }
}

impl Seen for bool {
    type Wanted = ();
    fn seen(self) -> Result<(), String> {
        if self { Ok(()) } else { Err("not yet".to_owned()) }
    }
}

/// Looks again and again until the condition holds, and answers with what it gave.
///
/// Fails the test when the deadline is over, with the last thing seen.
#[track_caller]
pub fn eventually<F, O>(what: &str, mut look: F) -> impl Future<Output = O::Wanted>
where
    F: AsyncFnMut() -> O,
    O: Seen,
{
    let place = Location::caller();
    async move {
        let deadline = Instant::now() + DEADLINE;
        loop {
            match look().await.seen() {
                Ok(wanted) => return wanted,
                Err(last) if Instant::now() > deadline => {
                    panic!("{place}: {what} did not happen within {DEADLINE:?}; last seen: {last}")
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }
}

/// Watches one object until the predicate holds for it, and answers with the object.
#[track_caller]
pub fn watch_until<K, P>(what: &str, api: &Api<K>, name: &str, predicate: P) -> impl Future<Output = K>
where
    P: Fn(&K) -> bool,
    K: Resource + Clone + Debug + Send + DeserializeOwned + 'static,
{
    let place = Location::caller();
    let api = api.clone();
    async move {
        let holds = move |object: Option<&K>| object.is_some_and(&predicate);
        let found = tokio::time::timeout(DEADLINE, await_condition(api.clone(), name, holds)).await;
        match found {
            Ok(Ok(Some(object))) => object,
            Ok(Ok(None)) => panic!("{place}: {what}: {name} is gone"),
            Ok(Err(error)) => panic!("{place}: {what}: watching {name}: {error}"),
            Err(_) => {
                let last = api.get_opt(name).await;
                panic!("{place}: {what} did not happen within {DEADLINE:?}; last seen: {last:#?}")
            }
        }
    }
}
