//! Every metric, for its documentation.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use capt_api::engine_status::RunOperation;
use capt_api::names::Reason;

use super::{Kind, Metrics, Outcome};
use crate::index::Name;

/// A metric as it is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its name, without what Prometheus adds for a counter or histogram.
    pub name: String,
    /// `counter`, `gauge` or `histogram`.
    pub kind: String,
    /// What its series are told apart by, with values that they have.
    pub labels: BTreeMap<String, BTreeSet<String>>,
    /// What it says.
    pub help: String,
}

/// Every metric, in the order in which they are served.
pub fn all() -> Result<Vec<Metric>, fmt::Error> {
    Ok(read(&sampled().encode()?))
}

/// Metrics with a series in every family: a family without one is not served.
fn sampled() -> Metrics {
    let metrics = Metrics::new();
    metrics.reconciled(Kind::Workspace, Outcome::Settled, Duration::ZERO);
    for reason in Reason::ALL {
        metrics.failed(Kind::Workspace, *reason);
        metrics.secrets_kept(&Name::new("", ""), *reason, Duration::ZERO);
    }
    metrics.watch_failed(Kind::Workspace);
    metrics.objects(Kind::Workspace, 0);
    metrics.terraform_ran(RunOperation::Plan, true, Duration::ZERO);
    metrics
}

/// Reads what is served. `le` belongs to histograms and tells nothing apart.
fn read(text: &str) -> Vec<Metric> {
    let mut all: Vec<Metric> = Vec::new();
    for line in text.lines() {
        let words = |prefix: &str| line.strip_prefix(prefix).and_then(|rest| rest.split_once(' '));
        if let Some((name, help)) = words("# HELP ") {
            let help = format!("{}.", help.trim_end_matches('.'));
            all.push(Metric { name: name.to_owned(), kind: String::new(), labels: BTreeMap::new(), help });
        } else if let (Some((_, kind)), Some(metric)) = (words("# TYPE "), all.last_mut()) {
            kind.clone_into(&mut metric.kind);
        } else if let (Some(labels), Some(metric)) = (labels(line), all.last_mut()) {
            for (name, value) in labels {
                metric.labels.entry(name).or_default().insert(value);
            }
        }
    }
    all
}

fn labels(line: &str) -> Option<impl Iterator<Item = (String, String)>> {
    let (_, rest) = line.split_once('{')?;
    let (inside, _) = rest.rsplit_once('}')?;
    let pairs = inside.split(',').filter_map(|pair| pair.split_once('='));
    let pairs = pairs.map(|(name, value)| (name.to_owned(), value.trim_matches('"').to_owned()));
    Some(pairs.filter(|(name, _)| name != "le"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_that_is_registered_is_in_the_reference() {
        let registered = format!("{:?}", sampled().registry).matches("Descriptor {").count();
        let all = all().unwrap();

        assert_eq!(all.len(), registered, "{all:#?}");
    }

    #[test]
    fn a_label_tells_its_values() {
        let all = all().unwrap();
        let tokens = all.iter().find(|metric| metric.name == "capt_tokens").unwrap();

        assert_eq!(tokens.labels["result"], BTreeSet::from(["Failed".to_owned(), "Succeeded".to_owned()]));
    }

    #[test]
    fn a_metric_tells_its_type_labels_and_help() {
        let all = all().unwrap();
        let runs = all.iter().find(|metric| metric.name == "capt_terraform_run_duration_seconds").unwrap();

        assert_eq!(runs.kind, "histogram");
        assert_eq!(runs.labels.keys().collect::<Vec<_>>(), ["operation", "result"]);
        assert_eq!(
            runs.help,
            "How long runs of Terraform took, without the time that they waited for their turn."
        );
    }
}
