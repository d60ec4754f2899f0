//! Clusters that do not answer: the whole order ends at once.

use capt_api::names::Reason;
use capt_core::manifest::ObjectKey;
use rstest::rstest;
use serde_json::{Value, json};

use super::stage::{CLAIM, manifests};
use crate::deliver::{Known, Mode, Order, deliver, inventory, prune, remove};
use crate::error::Retry;
use crate::workload::Workload;
use crate::workload::tests::stage::{IMPATIENT, at, silent_server, with_token, workload};

/// Some cluster that cannot be talked to.
#[derive(Clone, Copy)]
enum Bad {
    Closed,
    Silent,
    Rejecting,
}

async fn bad(how: Bad) -> (Option<std::net::TcpListener>, Workload) {
    let (listener, server) = silent_server();
    let kubeconfig = at(&server, None, &json!({ "token": "t0ken" }));
    match how {
        Bad::Closed => (None, workload(&kubeconfig, IMPATIENT).await),
        Bad::Silent => (Some(listener), workload(&kubeconfig, IMPATIENT).await),
        Bad::Rejecting => {
            (None, workload(&with_token("t0ken").await, crate::workload::Patience::default()).await)
        }
    }
}

fn map(name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name } })
}

#[rstest]
#[case::closed(Bad::Closed, "cannot be reached")]
#[case::silent(Bad::Silent, "")]
#[case::rejecting(Bad::Rejecting, "does not accept the credentials")]
#[tokio::test]
async fn an_order_ends_at_once_where_the_cluster_does_not_answer(#[case] how: Bad, #[case] told: &str) {
    let (_listener, workload) = bad(how).await;
    let talk = workload.talk();
    let manifests = manifests(&[map("a"), map("b"), map("c")]);
    let order = Order {
        manifests: &manifests,
        manager: "m",
        claim: Some(CLAIM),
        mode: Mode::Keep,
        known: &Known::new(),
    };

    let delivered = deliver(&talk, &order).await;

    let stopped = delivered.stopped.clone().unwrap();
    assert_eq!((stopped.reason, stopped.retry), (Reason::ClusterUnreachable, Retry::Backoff));
    assert!(stopped.message.contains(told) && !stopped.message.contains("t0ken"), "{}", stopped.message);
    assert!(delivered.outcomes.is_empty());
    assert_eq!(delivered.trouble(), Some(stopped));
    assert_eq!(talk.requests(), 1);
}

#[rstest]
#[case::closed(Bad::Closed)]
#[case::silent(Bad::Silent)]
#[case::rejecting(Bad::Rejecting)]
#[tokio::test]
async fn nothing_counts_as_removed_where_the_cluster_does_not_answer(#[case] how: Bad) {
    let (_listener, workload) = bad(how).await;
    let talk = workload.talk();
    let keys: Vec<_> = ["a", "b"].map(map).iter().map(ObjectKey::of).collect();
    for removed in [remove(&talk, &keys, CLAIM).await, prune(&talk, &keys, &[], CLAIM).await] {
        assert_eq!(removed.trouble().unwrap().reason, Reason::ClusterUnreachable);
        assert_eq!(removed.remaining().len(), 2);
    }
    let removed = prune(&talk, &keys, &keys[..1], CLAIM).await;
    assert_eq!(removed.remaining(), keys[1..], "what is wanted is not on its way out");
    assert_eq!(inventory::read(&talk, CLAIM).await.unwrap_err().reason, Reason::ClusterUnreachable);
    let written = inventory::write(&talk, CLAIM, &keys, None).await;
    assert_eq!(written.unwrap_err().reason, Reason::ClusterUnreachable);
}
