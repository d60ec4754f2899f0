//! The same with every change, until Ctrl-C.

use std::time::Duration;

use anyhow::Context;
use capt_core::overview::{Facts, Overview, news, overview};
use futures::StreamExt as _;
use jiff::Timestamp;
use kube::Client;

use super::drawn;
use crate::cli::Output;
use crate::overview::{changes, gather, paint};
use crate::printer::Printer;
use crate::signals::Stop;
use crate::terminal;

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
                    printer.warning(&format!("{error:#}; trying again"));
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
    /// Over what was drawn before, of so many lines.
    Redrawn(usize),
    /// A line for each.
    Appended,
    /// A document for each.
    Documents,
}

impl View {
    fn new(printer: Printer) -> Self {
        let form = match printer.output() {
            Output::Human if terminal::is_live() => Form::Redrawn(0),
            Output::Human => Form::Appended,
            Output::Json | Output::Yaml => Form::Documents,
        };
        Self { printer, form, last: None }
    }

    /// Shows what has changed.
    fn show(&mut self, facts: &Facts) -> anyhow::Result<()> {
        let now = Timestamp::now();
        let seen = overview(facts, now);
        match self.form {
            Form::Redrawn(_) => self.redraw(&seen, now)?,
            Form::Appended => {
                for line in news(self.last.as_ref(), &seen) {
                    self.printer.text(&format!("{now:.0} {}\n", paint(&line)))?;
                }
            }
            Form::Documents if self.last.as_ref() != Some(&seen) => self.document(&seen)?,
            Form::Documents => {}
        }
        self.last = Some(seen);
        Ok(())
    }

    /// Time has passed, and nothing else.
    fn pass(&mut self, facts: &Facts) -> anyhow::Result<()> {
        match self.form {
            Form::Redrawn(_) => {
                let now = Timestamp::now();
                self.redraw(&overview(facts, now), now)
            }
            Form::Appended | Form::Documents => Ok(()),
        }
    }

    fn redraw(&mut self, seen: &Overview, now: Timestamp) -> anyhow::Result<()> {
        let Form::Redrawn(before) = self.form else { return Ok(()) };
        let (columns, rows) = terminal::size().unwrap_or((80, 24));
        let mut lines = drawn(seen, now, Some(columns.saturating_sub(1)));
        fit(&mut lines, rows.saturating_sub(1));
        let up = if before == 0 { String::new() } else { format!("\u{1b}[{before}A") };
        // Each line clears what was behind it; what was below the last one goes too.
        let text = lines.concat().replace('\n', "\u{1b}[K\n");
        self.form = Form::Redrawn(lines.len());
        self.printer.text(&format!("{up}\r{text}\u{1b}[J"))
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

/// Takes away what does not fit on the screen: the end of the tree rather than what blocks, which is told below it.
fn fit(lines: &mut Vec<String>, rows: usize) {
    let below = lines.iter().rposition(|line| line == "\n").map_or(0, |gap| lines.len() - gap);
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
        let mut lines: Vec<_> = ["a\n", "b\n", "c\n", "\n", "d\n", "e\n"].map(ToOwned::to_owned).into();

        fit(&mut lines, rows);

        let shown: Vec<_> = lines.iter().map(|line| if line == "\n" { "|" } else { line.trim() }).collect();
        assert_eq!(shown.join(" "), expected);
    }
}
