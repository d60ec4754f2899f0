//! How far the cluster is, as its own objects tell it: redrawn on a terminal, a line for each change elsewhere.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use anyhow::Context;
use capt_api::{CAPTCluster, CAPTControlPlane};
use capt_core::cause::sentence;
use capt_core::overview::{Blocker, Facts, Mark, Overview, lines, news, overview};
use futures::StreamExt;
use jiff::Timestamp;
use k8s_openapi::NamespaceResourceScope;
use kube::runtime::wait::{await_condition, conditions};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;

use super::{NAME, NAMESPACE};
use crate::live::{Live, Stream};
use crate::overview::{changes, gather, paint};
use crate::printer::Printer;

/// How long changes gather before they are looked at.
const SETTLING: Duration = Duration::from_millis(100);
/// How often times that pass are redrawn, and how soon a server that was away is asked again.
const TICK: Duration = Duration::from_secs(1);

/// Shows the cluster until it can be used and all its add-ons are ready.
pub(super) async fn until_ready(client: &Client, printer: Printer) -> anyhow::Result<()> {
    let ready = |seen: Option<&Overview>| {
        seen.is_some_and(|Overview { summary, .. }| {
            summary.ready && summary.addons.total > 0 && summary.addons.ready == summary.addons.total
        })
    };
    until(client, printer, ready).await
}

/// Shows the cluster until nothing of it is left.
pub(super) async fn until_gone(client: &Client, printer: Printer) -> anyhow::Result<()> {
    until(client, printer, |seen| seen.is_none()).await?;
    await_gone::<CAPTControlPlane>(client).await?;
    await_gone::<CAPTCluster>(client).await
}

/// Shows the cluster until this holds.
async fn until(
    client: &Client,
    printer: Printer,
    holds: impl Fn(Option<&Overview>) -> bool,
) -> anyhow::Result<()> {
    let mut view = View::new(printer);
    let mut changes = changes(client, NAMESPACE, NAME);
    let mut tick = tokio::time::interval(TICK);
    loop {
        match gather(client, NAMESPACE, NAME).await {
            Ok(facts) => {
                let seen = facts.map(|facts| view.show(facts)).transpose()?;
                if seen.is_none() {
                    view.show_that_it_is_gone()?;
                }
                if holds(seen.as_ref()) {
                    view.live.finish();
                    return Ok(());
                }
            }
            Err(error) => {
                tracing::warn!("{}; trying again", sentence(error.as_ref()));
                tick.tick().await;
                continue;
            }
        }
        // Between two changes only the time passes.
        loop {
            tokio::select! {
                Some(()) = changes.next() => break tokio::time::sleep(SETTLING).await,
                _ = tick.tick() => view.pass()?,
            }
        }
    }
}

/// What was shown so far.
struct View {
    live: Live,
    began: Instant,
    last: Option<(Facts, Overview)>,
}

impl View {
    fn new(printer: Printer) -> Self {
        Self { live: Live::start(printer, Stream::Messages), began: Instant::now(), last: None }
    }

    /// Shows what the facts mean, and answers with it.
    fn show(&mut self, facts: Facts) -> anyhow::Result<Overview> {
        let now = Timestamp::now();
        let seen = overview(&facts, now);
        let shown = if self.live.is_redrawn() {
            drawn(&seen, now)
        } else {
            let last = self.last.as_ref().map(|(_, seen)| seen);
            news(last, &seen).iter().map(|line| self.dated(&paint(line))).collect()
        };
        self.live.show(&shown)?;
        self.last = Some((facts, seen.clone()));
        Ok(seen)
    }

    fn show_that_it_is_gone(&mut self) -> anyhow::Result<()> {
        let line = format!("✓ Cluster/{NAME}  is gone");
        let line = if self.live.is_redrawn() { format!("  {line}") } else { self.dated(&line) };
        self.last = None;
        self.live.show(&[line])
    }

    /// Time has passed, and nothing else.
    fn pass(&mut self) -> anyhow::Result<()> {
        match self.last.take_if(|_| self.live.is_redrawn()) {
            Some((facts, _)) => self.show(facts).map(drop),
            None => Ok(()),
        }
    }

    fn dated(&self, line: &str) -> String {
        format!("{:>4} s  {line}", self.began.elapsed().as_secs())
    }
}

/// The tree, and what is waited for. What is wrong is told in full, with what to do.
fn drawn(seen: &Overview, now: Timestamp) -> Vec<String> {
    let Some(blocker) = seen.summary.blocker.as_ref().filter(|blocker| blocker.state == Mark::Waiting) else {
        return lines(seen, now, None).iter().map(paint).collect();
    };
    let Blocker { kind, name, message, .. } = blocker;
    let waiting = [String::new(), format!("Waiting for {kind}/{name}:")];
    let why = message.lines().next().map(|line| format!("  {line}"));
    let mut tree = seen.clone();
    tree.summary.blocker = None;
    let tree = lines(&tree, now, None);
    tree.iter().map(paint).chain(waiting).chain(why).collect()
}

async fn await_gone<K>(client: &Client) -> anyhow::Result<()>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + Debug
        + DeserializeOwned
        + Send
        + 'static,
{
    let api: Api<K> = Api::namespaced(client.clone(), NAMESPACE);
    let doing = || format!("waiting until {} `{NAME}` is gone", K::kind(&()));
    let Some(found) = api.get_metadata_opt(NAME).await.with_context(doing)? else { return Ok(()) };
    let uid = found.metadata.uid.unwrap_or_default();
    await_condition(api, NAME, conditions::is_deleted(&uid)).await.map(drop).with_context(doing)
}
