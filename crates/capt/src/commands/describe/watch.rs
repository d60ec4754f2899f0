//! The same with every change, until Ctrl-C.

use std::time::Duration;

use anyhow::Context;
use capt_core::cause::sentence;
use capt_core::overview::{Facts, Overview, news, overview};
use futures::StreamExt as _;
use jiff::Timestamp;
use kube::Client;

use super::drawn;
use crate::cli::Output;
use crate::live::{Live, Stream};
use crate::overview::{changes, gather, paint};
use crate::printer::Printer;
use crate::signals::Stop;

/// How long changes gather before they are looked at.
const SETTLING: Duration = Duration::from_millis(150);
/// How often times that pass are redrawn, and how soon a server that was away is asked again.
const TICK: Duration = Duration::from_secs(1);

/// Shows the cluster with every change.
pub(super) async fn until_told(
    client: &Client,
    namespace: &str,
    name: &str,
    first: Facts,
    printer: Printer,
) -> anyhow::Result<()> {
    let stop = Stop::on_signals().context("listening for Ctrl-C")?;
    let mut changes = changes(client, namespace, name);
    let mut view = View::new(printer);
    let mut facts = first;
    let mut tick = tokio::time::interval(TICK);
    let mut away = false;
    view.show(&facts)?;
    loop {
        tokio::select! {
            () = stop.requested.cancelled() => return Ok(()),
            Some(()) = changes.next() => tokio::time::sleep(SETTLING).await,
            _ = tick.tick() => {
                if !away {
                    view.pass(&facts)?;
                    continue;
                }
            }
        }
        match gather(client, namespace, name).await {
            Ok(Some(found)) => {
                facts = found;
                away = false;
                view.show(&facts)?;
            }
            Ok(None) => {
                printer.message(&format!("Cluster `{name}` of namespace {namespace} is gone"));
                return Ok(());
            }
            Err(error) => {
                if !away {
                    printer.warning(&format!("{}; trying again", sentence(error.as_ref())));
                }
                away = true;
            }
        }
    }
}

/// What was shown so far.
struct View {
    printer: Printer,
    form: Form,
    last: Option<Overview>,
}

/// How changes are shown.
enum Form {
    /// As lines: over those before, or one for each change.
    Lines(Live),
    /// A document for each.
    Documents,
}

impl View {
    fn new(printer: Printer) -> Self {
        let form = match printer.output() {
            Output::Human => Form::Lines(Live::start(printer, Stream::Output)),
            Output::Json | Output::Yaml => Form::Documents,
        };
        Self { printer, form, last: None }
    }

    /// Shows what has changed.
    fn show(&mut self, facts: &Facts) -> anyhow::Result<()> {
        let now = Timestamp::now();
        let seen = overview(facts, now);
        match &mut self.form {
            Form::Lines(live) if live.is_redrawn() => live.show(&on_screen(&seen, now))?,
            Form::Lines(live) => {
                let news = news(self.last.as_ref(), &seen);
                let dated: Vec<String> =
                    news.iter().map(|line| format!("{now:.0} {}", paint(line))).collect();
                live.show(&dated)?;
            }
            Form::Documents if self.last.as_ref() != Some(&seen) => self.document(&seen)?,
            Form::Documents => {}
        }
        self.last = Some(seen);
        Ok(())
    }

    /// Time has passed, and nothing else.
    fn pass(&mut self, facts: &Facts) -> anyhow::Result<()> {
        match &mut self.form {
            Form::Lines(live) if live.is_redrawn() => {
                let now = Timestamp::now();
                live.show(&on_screen(&overview(facts, now), now))
            }
            Form::Lines(_) | Form::Documents => Ok(()),
        }
    }

    fn document(&self, seen: &Overview) -> anyhow::Result<()> {
        match self.printer.output() {
            Output::Yaml => {
                self.printer.text("---\n")?;
                self.printer.value(seen, "")
            }
            Output::Human | Output::Json => self.printer.text(&format!("{}\n", serde_json::to_string(seen)?)),
        }
    }
}

/// As much as there is room for.
fn on_screen(seen: &Overview, now: Timestamp) -> Vec<String> {
    let (columns, rows) = Stream::Output.size().unwrap_or((80, 24));
    let mut lines = drawn(seen, now, Some(columns.saturating_sub(1)));
    fit(&mut lines, rows.saturating_sub(1));
    lines
}

/// Takes away what does not fit on the screen: the end of the tree rather than what blocks, which is told below it.
fn fit(lines: &mut Vec<String>, rows: usize) {
    let below = lines.iter().rposition(String::is_empty).map_or(0, |gap| lines.len() - gap);
    let too_many = lines.len().saturating_sub(rows);
    let end = lines.len() - below;
    lines.drain(end.saturating_sub(too_many)..end);
    lines.truncate(rows);
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::it_fits(6, "a b c | d e")]
    #[case::the_tree_gives_way(4, "a | d e")]
    #[case::nothing_but_what_blocks(3, "| d e")]
    #[case::no_room_even_for_that(2, "| d")]
    #[case::no_room_at_all(0, "")]
    fn what_blocks_stays_on_the_screen(#[case] rows: usize, #[case] expected: &str) {
        let mut lines: Vec<_> = ["a", "b", "c", "", "d", "e"].map(ToOwned::to_owned).into();

        fit(&mut lines, rows);

        let shown: Vec<_> =
            lines.iter().map(|line| if line.is_empty() { "|" } else { line.as_str() }).collect();
        assert_eq!(shown.join(" "), expected);
    }
}
