//! A manager and the tool that it runs die together after each of their writes, and another manager goes on.

mod life;

use std::cell::Cell;

use futures::StreamExt as _;
use futures::stream;

use life::{Death, Life, Stores};

/// More writes than an apply has.
const MOST: usize = 80;
/// So many managers run at the same time.
const AT_ONCE: usize = 5;

/// Kills one life after the other at their first, second, … write, until one comes to its own end before. The answer is how many
/// writes that one had.
async fn after_each(deaths: impl Fn(usize) -> Vec<Death>) -> usize {
    let cluster = life::cluster().await;
    let over = Cell::new(false);
    let cases = (1..MOST).take_while(|_| !over.get());
    let cases = cases.flat_map(|number| deaths(number).into_iter().map(move |death| (number, death)));
    let lives = stream::iter(cases).map(async |(number, death)| {
        let died = Life::begin(&cluster, death, number).await.ends_well().await;
        over.set(over.get() || !died);
        (number, died)
    });
    let lives: Vec<(usize, bool)> = lives.buffer_unordered(AT_ONCE).collect().await;
    let ended = lives.into_iter().filter(|(_, died)| !died).map(|(number, _)| number).min();
    assert!(ended.is_some(), "it has not ended after {MOST} writes");
    ended.unwrap_or_default()
}

/// The state is stored at the end, as `OpenTofu` does: what is known of the calls before is on record alone.
#[tokio::test(flavor = "multi_thread")]
async fn after_each_write_of_the_manager_another_one_goes_on_and_nothing_is_made_twice() {
    let writes = after_each(|number| {
        let death = |lost| Death::AfterWriteOfManager { number, lost, stores: Stores::AtTheEnd };
        vec![death(false), death(true)]
    })
    .await;
    assert!(writes > 15, "only {writes} writes");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_each_write_of_the_tool_another_manager_goes_on_and_nothing_is_made_twice() {
    let writes = after_each(|number| {
        let deaths = [Stores::AfterEach, Stores::AtTheEnd]
            .map(|stores| [false, true].map(|lost| Death::AfterWriteOfTool { number, lost, stores }));
        deaths.concat()
    })
    .await;
    // Two messages and an object for each of three resources, the state and a summary.
    assert!(writes > 11, "only {writes} writes");
}
