//! Clusters as a table, one line each.

use k8s_openapi::jiff::Timestamp;

use super::age::age;
use super::plain::one_line;
use super::summary::{AddonCount, Summary};
use crate::columns::aligned;

/// How much is told of why a cluster is not ready; the rest is for `describe`.
const LONGEST_REASON: usize = 100;

/// The table, with the namespace where clusters of several are in it. Every line ends in a line break.
pub fn table(clusters: &[Summary], with_namespace: bool, now: Timestamp) -> String {
    let headings = ["NAMESPACE", "NAME", "READY", "VERSION", "ENDPOINT", "ADD-ONS", "AGE", "WHY"];
    let rows = clusters.iter().map(|cluster| row(cluster, now));
    let rows: Vec<_> = std::iter::once(headings.map(ToOwned::to_owned)).chain(rows).collect();
    let shown: Vec<_> = rows.iter().map(|row| &row[usize::from(!with_namespace)..]).collect();
    aligned(&shown, 3).into_iter().map(|line| line + "\n").collect()
}

fn row(cluster: &Summary, now: Timestamp) -> [String; 8] {
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let AddonCount { ready, total } = cluster.addons;
    [
        cluster.namespace.clone(),
        cluster.name.clone(),
        if cluster.ready { "True" } else { "False" }.to_owned(),
        or_none(&cluster.version),
        or_none(&cluster.endpoint),
        if total == 0 { "-".to_owned() } else { format!("{ready}/{total}") },
        cluster.created.as_ref().map(|time| age(time.0, now)).unwrap_or_default(),
        why(cluster),
    ]
}

/// What blocks, short.
fn why(cluster: &Summary) -> String {
    let Some(blocker) = &cluster.blocker else { return String::new() };
    let words = if blocker.message.is_empty() { &blocker.reason } else { &blocker.message };
    let text = format!("{}/{}: {}", blocker.kind, blocker.name, one_line(words));
    super::line::shortened(&text, LONGEST_REASON)
}
