//! The pauses in which nothing of a cluster runs and more is to come: its control plane waits for its network, for example.

use std::time::Duration;

use anyhow::Context as _;
use capt_core::overview::{Blocker, overview};
use futures::StreamExt as _;
use futures::stream::BoxStream;
use jiff::Timestamp;
use kube::Client;
use tokio::time::timeout;

use crate::overview::{changes, gather};
use crate::printer::Printer;

/// So long nothing changes where somebody has to look.
const MOMENT: Duration = Duration::from_secs(3);

/// A cluster of which nothing runs at the moment.
pub(super) struct Waiting<'cluster> {
    client: &'cluster Client,
    namespace: &'cluster str,
    name: &'cluster str,
    changes: BoxStream<'static, ()>,
    /// What was said last.
    told: String,
}

impl<'cluster> Waiting<'cluster> {
    pub(super) fn new(client: &'cluster Client, namespace: &'cluster str, name: &'cluster str) -> Self {
        let changes = changes(client, namespace, name).boxed();
        Self { client, namespace, name, changes, told: String::new() }
    }

    /// Waits for the next change; `false` where nothing more comes by itself. What is waited for is told.
    pub(super) async fn goes_on(&mut self, printer: Printer) -> anyhow::Result<bool> {
        let Some(facts) = gather(self.client, self.namespace, self.name).await? else { return Ok(false) };
        let summary = overview(&facts, Timestamp::now()).summary;
        if summary.is_moving() {
            self.tell("waiting for", summary.blocker.as_ref(), printer);
            self.changes.next().await.context("watching the cluster ended")?;
            return Ok(true);
        }
        // Objects follow each other: what looks as if somebody had to look at it may be over in a moment.
        if !summary.ready && timeout(MOMENT, self.changes.next()).await.is_ok() {
            return Ok(true);
        }
        self.tell("nothing more comes before somebody looks at", summary.blocker.as_ref(), printer);
        Ok(false)
    }

    fn tell(&mut self, what: &str, blocker: Option<&Blocker>, printer: Printer) {
        let Some(Blocker { kind, name, reason, message, .. }) = blocker else { return };
        let why = message.lines().next().filter(|line| !line.is_empty()).unwrap_or(reason);
        let told = format!("{what} {kind}/{name}: {why}");
        if told != self.told {
            printer.message(&told);
            self.told = told;
        }
    }
}
