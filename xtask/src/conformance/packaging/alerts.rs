//! Alerts and panels, as Prometheus reads them: on series that should make them speak, on healthy ones, and on what a real
//! manager served.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::tool::Tool;
use super::scrape;
use crate::expressions::{alerts, check, metrics, panels};

const TABLE: &str = include_str!("alerts.yaml");
/// What fires at a time.
const FIRING: &str = "count by (alertname) (ALERTS{alertstate=\"firing\"})";

const PROMTOOL: Tool = Tool {
    name: "promtool",
    part: "promtool",
    module: "github.com/prometheus/prometheus",
    package: "github.com/prometheus/prometheus/cmd/promtool",
    ldflags: |_| "-s -w".to_owned(),
};

/// Served only when something has failed.
const LATER: [&str; 2] = ["capt_reconcile_failures_total", "capt_watch_failures_total"];

type Series = BTreeMap<String, String>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    healthy: Series,
    cases: Vec<Case>,
    silent: Vec<Silent>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    alert: String,
    minutes: u32,
    not_at: u32,
    /// Whether there is nothing beside these series.
    #[serde(default)]
    none: bool,
    series: Series,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Silent {
    minutes: u32,
    series: Series,
}

/// promtool, and the rules that it reads.
pub(super) struct Prometheus {
    program: PathBuf,
    directory: tempfile::TempDir,
}

impl Prometheus {
    /// Builds promtool the first time.
    pub(super) fn obtain() -> anyhow::Result<Self> {
        check()?;
        let prometheus = Self { program: PROMTOOL.obtain()?, directory: tempfile::tempdir()? };
        prometheus.write("alerts.json", &json!({ "groups": [{ "name": "capt", "rules": alerts()? }] }))?;
        Ok(prometheus)
    }

    fn write(&self, name: &str, content: &Value) -> anyhow::Result<()> {
        // JSON is YAML.
        Ok(fs::write(self.directory.path().join(name), content.to_string())?)
    }

    fn run(&self, arguments: &[&str]) -> anyhow::Result<()> {
        let mut command = Command::new(&self.program);
        let output = command.args(arguments).current_dir(self.directory.path()).output();
        let output = output.context("running promtool")?;
        let told = [output.stdout, output.stderr].concat();
        ensure!(output.status.success(), "promtool {arguments:?}:\n{}", String::from_utf8_lossy(&told));
        Ok(())
    }

    /// Each alert fires when it should, alone, and not before; none does where all is well.
    pub(super) fn alerts_speak_when_they_should(&self) -> anyhow::Result<()> {
        self.run(&["check", "rules", "alerts.json"])?;
        let table: Table = serde_saphyr::from_str(TABLE).context("reading alerts.yaml")?;
        let tests = tests(&table);
        let count = tests.len();
        self.write("tests.json", &json!({ "rule_files": ["alerts.json"], "tests": tests }))?;
        self.run(&["test", "rules", "tests.json"])?;
        println!("ok: every alert fires when it should and only then ({count} tests of promtool)");
        Ok(())
    }

    /// Every panel shows something of what a real manager served, and no alert fires on it.
    pub(super) fn panels_show_what_is_served(&self, served: &str) -> anyhow::Result<()> {
        let something = |expression: &str| {
            let samples = [json!({ "labels": "{}", "value": 1 })];
            json!({ "expr": format!("count({expression}) > bool 0"), "eval_time": "20m", "exp_samples": samples })
        };
        let panels = panels()?;
        let late = panels.iter().flat_map(|panel| metrics(panel)).map(|used| used.metric);
        let late: BTreeSet<String> = late.filter(|metric| !scrape::has(served, metric)).collect();
        let unexpected: Vec<&String> =
            late.iter().filter(|metric| !LATER.contains(&metric.as_str())).collect();
        ensure!(unexpected.is_empty(), "a manager that had much to do serves no {unexpected:?}");
        let shown = panels.iter().filter(|panel| !LATER.iter().any(|metric| panel.contains(metric)));
        let mut expected: Vec<Value> = shown.map(|expression| something(expression)).collect();
        let count = expected.len();
        expected.push(firing(20, None));
        let test =
            json!({ "interval": "1m", "input_series": scrape::series(served), "promql_expr_test": expected });
        self.write("scrape.json", &json!({ "rule_files": ["alerts.json"], "tests": [test] }))?;
        self.run(&["test", "rules", "scrape.json"])?;
        println!("ok: {count} panels show something of what a manager serves, on which no alert fires");
        Ok(())
    }
}

fn tests(table: &Table) -> Vec<Value> {
    let mut tests = vec![test(table, &Series::new(), false, &[firing(30, None), firing(180, None)])];
    for case in &table.cases {
        let asked = [firing(case.not_at, None), firing(case.minutes, Some(&case.alert))];
        tests.push(test(table, &case.series, case.none, &asked));
    }
    for Silent { minutes, series } in &table.silent {
        tests.push(test(table, series, false, &[firing(*minutes, None)]));
    }
    tests
}

fn test(table: &Table, series: &Series, none: bool, asked: &[Value]) -> Value {
    let mut all = if none { Series::new() } else { table.healthy.clone() };
    all.extend(series.clone());
    let all: Vec<Value> =
        all.into_iter().map(|(series, values)| json!({ "series": series, "values": values })).collect();
    json!({ "interval": "1m", "input_series": all, "promql_expr_test": asked })
}

fn firing(minutes: u32, alert: Option<&str>) -> Value {
    let samples = alert.map(|alert| json!({ "labels": format!("{{alertname=\"{alert}\"}}"), "value": 1 }));
    json!({ "expr": FIRING, "eval_time": format!("{minutes}m"), "exp_samples": Vec::from_iter(samples) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_alert_has_series_on_which_it_fires() {
        let table: Table = serde_saphyr::from_str(TABLE).unwrap();
        let tried: BTreeSet<String> = table.cases.into_iter().map(|case| case.alert).collect();

        let all = alerts().unwrap().into_iter().map(|alert| alert["alert"].as_str().unwrap().to_owned());
        assert_eq!(tried, all.collect());
    }
}
