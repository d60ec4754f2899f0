//! `capt describe`: everything that makes up a cluster.

mod watch;

use capt_core::overview::{Overview, lines, overview};
use jiff::Timestamp;

use crate::cli::{DescribeArguments, DescribeTarget, Output};
use crate::connection;
use crate::live::Stream;
use crate::overview::{gather, no_such_cluster, paint};
use crate::printer::Printer;

pub(crate) async fn run(arguments: DescribeArguments, printer: Printer) -> anyhow::Result<()> {
    let DescribeTarget::Cluster { name, watch, namespace, connection } = arguments.target;
    let client = connection::find_for_person(&connection).await?.client;
    let namespace = connection::namespace(&client, namespace)?;
    let Some(facts) = gather(&client, &namespace, &name).await? else {
        return Err(no_such_cluster(&client, &namespace, &name).await);
    };
    for doubt in &facts.doubts {
        printer.warning(doubt);
    }
    if watch {
        return watch::until_told(&client, &namespace, &name, facts, printer).await;
    }
    let now = Timestamp::now();
    let seen = overview(&facts, now);
    match printer.output() {
        Output::Human => {
            let width = Stream::Output.size().map(|(columns, _)| columns);
            let lines: Vec<String> =
                drawn(&seen, now, width).iter().map(|line| format!("{line}\n")).collect();
            printer.text(&lines.concat())
        }
        Output::Json | Output::Yaml => printer.value(&seen, ""),
    }
}

/// The lines for people.
fn drawn(seen: &Overview, now: Timestamp, width: Option<usize>) -> Vec<String> {
    lines(seen, now, width).iter().map(paint).collect()
}
