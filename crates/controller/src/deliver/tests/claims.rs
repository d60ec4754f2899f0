//! Two that bring the same object.

use capt_api::names::Reason;
use serde_json::json;

use super::stage::{CLAIM, Stage, outcomes, trouble};
use crate::deliver::{Mode, Outcome};

#[tokio::test]
async fn what_another_add_on_claims_is_not_touched() {
    let stage = Stage::set().await;
    stage.deliver(&[stage.map("a", "1")]).await;
    let before = stage.version("a").await;

    let delivered = stage
        .deliver_for(Some("fleet/demo/other/addon"), Mode::Keep, &[stage.map("a", "2"), stage.map("b", "2")])
        .await;

    let trouble = trouble(&delivered, 0);
    assert_eq!(trouble.reason, Reason::ObjectClaimed);
    assert!(trouble.message.contains(CLAIM) && trouble.message.contains("document 1"), "{}", trouble.message);
    assert_eq!(stage.version("a").await, before);
    assert_eq!(delivered.outcomes[1].1, Outcome::Created, "others are brought all the same");
}

#[tokio::test]
async fn what_an_add_on_claims_is_not_fought_over() {
    let stage = Stage::set().await;
    stage.deliver(&[stage.map("a", "1")]).await;
    let delivered = stage.deliver_for(None, Mode::Keep, &[stage.map("a", "2")]).await;
    assert_eq!(trouble(&delivered, 0).reason, Reason::ObjectClaimed);
    assert_eq!(stage.value("a").await.as_deref(), Some("1"));
}

#[tokio::test]
async fn an_add_on_takes_what_nobody_claims() {
    let stage = Stage::set().await;
    stage.deliver_for(None, Mode::Keep, &[stage.map("a", "1")]).await;
    assert_eq!(outcomes(&stage.deliver(&[stage.map("a", "2")]).await), [Outcome::Changed]);
    let delivered = stage.deliver_for(None, Mode::Keep, &[stage.map("a", "1")]).await;
    assert_eq!(trouble(&delivered, 0).reason, Reason::ObjectClaimed, "and keeps it");
}

#[tokio::test]
async fn a_claim_that_a_manifest_makes_by_itself_does_not_count() {
    let stage = Stage::set().await;
    let mut object = stage.map("a", "1");
    object["metadata"]["annotations"] = json!({ "capt.cluster.x-k8s.io/addon": "fleet/demo/other/addon" });
    stage.deliver_for(None, Mode::Keep, &[object]).await;
    assert_eq!(outcomes(&stage.deliver(&[stage.map("a", "1")]).await), [Outcome::Changed]);
}
