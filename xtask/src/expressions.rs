//! The expressions of the alerts and of the dashboard.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, ensure};
use capt_controller::metrics_reference::{Metric, all};
use serde_json::Value;

use crate::repository::root;

/// Labels that Prometheus or its operator adds, and that of histograms.
const ADDED: [&str; 3] = ["job", "le", "namespace"];

/// Alerts and panels ask for metrics, labels and values that there are, and no metric is without a panel.
pub(crate) fn check() -> anyhow::Result<()> {
    let all = all()?;
    let served: BTreeMap<String, &Metric> = all.iter().flat_map(names).collect();
    let panels = panels()?;
    let mut problems = Vec::new();
    for alert in alerts()? {
        problems.extend(problems_of(alert["expr"].as_str().unwrap_or_default(), &served));
    }
    for panel in &panels {
        problems.extend(problems_of(panel, &served));
    }
    for Metric { name, .. } in &all {
        if !panels.iter().any(|panel| panel.contains(name)) {
            problems.push(format!("{name} has no panel"));
        }
    }
    ensure!(problems.is_empty(), "alerts and panels:\n  {}", problems.join("\n  "));
    Ok(())
}

/// The names under which a metric is served.
fn names(metric: &Metric) -> Vec<(String, &Metric)> {
    let endings: &[&str] = match metric.kind.as_str() {
        "counter" => &["_total"],
        "histogram" => &["_bucket", "_sum", "_count"],
        _ => &[""],
    };
    endings.iter().map(|ending| (format!("{}{ending}", metric.name), metric)).collect()
}

fn problems_of(expression: &str, served: &BTreeMap<String, &Metric>) -> Vec<String> {
    let mut problems = Vec::new();
    let mut known = BTreeSet::new();
    for Used { metric, values } in metrics(expression) {
        let Some(found) = served.get(&metric) else {
            problems.push(format!("there is no {metric}: {expression}"));
            continue;
        };
        for (label, value) in values {
            if !found.labels.get(&label).is_some_and(|values| values.contains(&value)) {
                problems.push(format!("{metric} has no {label}={value}: {expression}"));
            }
        }
        known.extend(found.labels.keys().cloned());
    }
    let unknown = labels(expression).into_iter().filter(|label| !known.contains(label));
    problems.extend(unknown.map(|label| format!("nothing has the label {label}: {expression}")));
    problems
}

/// A metric that an expression is about, with the values of labels that it asks for.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Used {
    /// Its name as it is served.
    pub(crate) metric: String,
    /// Label and value.
    values: BTreeSet<(String, String)>,
}

/// The alerts of the chart.
pub(crate) fn alerts() -> anyhow::Result<Vec<Value>> {
    serde_saphyr::from_str(&file("alerts.yaml")?).context("reading alerts.yaml")
}

/// What the panels of the chart show, with an interval where Grafana puts one.
pub(crate) fn panels() -> anyhow::Result<Vec<String>> {
    let dashboard: Value =
        serde_json::from_str(&file("dashboard.json")?).context("reading dashboard.json")?;
    let mut all = Vec::new();
    for panel in dashboard["panels"].as_array().into_iter().flatten() {
        for target in panel["targets"].as_array().into_iter().flatten() {
            let expression = target["expr"].as_str().context("a panel without an expression")?;
            all.push(expression.replace("$__rate_interval", "5m"));
        }
    }
    Ok(all)
}

fn file(name: &str) -> anyhow::Result<String> {
    let path = root().join("charts/capt/files").join(name);
    fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))
}

/// The metrics of an expression.
pub(crate) fn metrics(expression: &str) -> Vec<Used> {
    let starts = expression.match_indices("capt_").map(|(start, _)| &expression[start..]);
    starts
        .map(|text| {
            let end = text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            let (metric, rest) = text.split_at(end.unwrap_or(text.len()));
            let inside =
                rest.strip_prefix('{').and_then(|rest| rest.split_once('}')).map(|(inside, _)| inside);
            Used { metric: metric.to_owned(), values: inside.map(values).unwrap_or_default() }
        })
        .collect()
}

fn values(inside: &str) -> BTreeSet<(String, String)> {
    let matchers = inside.split(',').filter_map(|matcher| matcher.split_once('='));
    matchers
        .flat_map(|(label, value)| {
            let value = value.trim_start_matches('~').trim_matches('"');
            value.split('|').map(|value| (label.trim().to_owned(), value.to_owned())).collect::<Vec<_>>()
        })
        .collect()
}

/// The labels by which an expression groups or joins, without those that are not ours.
fn labels(expression: &str) -> BTreeSet<String> {
    let mut labels = BTreeSet::new();
    for word in ["by (", "ignoring ("] {
        for (start, _) in expression.match_indices(word) {
            let inside = expression[start + word.len()..].split(')').next().unwrap_or_default();
            labels.extend(inside.split(',').map(|label| label.trim().to_owned()));
        }
    }
    labels.retain(|label| !ADDED.contains(&label.as_str()));
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alerts_and_panels_are_about_what_is_served() {
        check().unwrap();
    }

    #[test]
    fn what_is_not_served_is_told() {
        let all = all().unwrap();
        let served = all.iter().flat_map(names).collect();
        let expression = r#"sum by (nobody) (capt_tokens_total{result="Lost"} + capt_luck)"#;

        let told = problems_of(expression, &served);
        let beginnings =
            ["capt_tokens_total has no result=Lost", "there is no capt_luck", "nothing has the label nobody"];
        assert_eq!(told.len(), beginnings.len());
        for (told, beginning) in told.iter().zip(beginnings) {
            assert!(told.starts_with(beginning), "{told}");
        }
    }

    #[test]
    fn metrics_and_labels_of_an_expression_are_found() {
        let expression =
            r#"sum by (kind, le) (capt_a{kind=~"A|B",result="C"} and ignoring (state) capt_b == 1)"#;

        let owned = |(label, value): (&str, &str)| (label.to_owned(), value.to_owned());
        let values = [("kind", "A"), ("kind", "B"), ("result", "C")].map(owned);
        let expected = [
            Used { metric: "capt_a".to_owned(), values: BTreeSet::from(values) },
            Used { metric: "capt_b".to_owned(), values: BTreeSet::new() },
        ];
        assert_eq!(metrics(expression), expected);
        assert_eq!(labels(expression), BTreeSet::from(["kind".to_owned(), "state".to_owned()]));
    }
}
