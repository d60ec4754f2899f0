//! What Helm makes of the charts, before any cluster sees it.

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

use super::helm::{Answer, Chart, Helm};

const MATRIX: &str = include_str!("matrix.yaml");
const NONSENSE: &str = include_str!("nonsense.yaml");

/// Values, and what comes of them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    #[serde(default)]
    values: Value,
    #[serde(default)]
    expect: Vec<Expected>,
    #[serde(default)]
    absent: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    kind: String,
    path: String,
    is: Value,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nonsense {
    #[serde(default)]
    chart: Chart,
    values: Value,
    says: String,
}

/// What a row of values became.
pub(super) struct Rendered {
    pub(super) name: String,
    pub(super) objects: Vec<Value>,
}

/// Helm finds nothing to complain of.
pub(super) fn are_without_blemish(helm: &Helm) -> anyhow::Result<()> {
    for chart in [Chart::Crds, Chart::Manager] {
        let values = chart.values();
        let answer = helm.ask(&["lint", "--strict"], &chart.directory(), &values, None)?;
        let Answer { succeeded, output, messages } = answer;
        ensure!(succeeded, "helm lint --strict {}:\n{output}{messages}", chart.name());
    }
    println!("ok: helm lint --strict has nothing to say of both charts");
    Ok(())
}

/// Every row of the matrix becomes what it should.
pub(super) fn render(helm: &Helm) -> anyhow::Result<Vec<Rendered>> {
    let rows: Vec<Row> = serde_saphyr::from_str(MATRIX).context("reading matrix.yaml")?;
    let mut all = Vec::new();
    for row in rows {
        let objects = helm.template(Chart::Manager, &values(Chart::Manager, &row.values));
        let objects = objects.with_context(|| format!("the chart with {}", row.name))?;
        let problems = problems(&row, &objects);
        ensure!(problems.is_empty(), "the chart with {}:\n  {}", row.name, problems.join("\n  "));
        all.push(Rendered { name: row.name, objects });
    }
    for kinds in [true, false] {
        let objects = helm.template(Chart::Crds, &json!({ "terraformKinds": kinds }))?;
        all.push(Rendered { name: format!("CRDs, terraformKinds: {kinds}"), objects });
    }
    println!("ok: helm template makes what it should of {} rows of values", all.len());
    Ok(all)
}

/// A value that makes no sense is refused, and the message names it.
pub(super) fn refuse_nonsense(helm: &Helm) -> anyhow::Result<()> {
    let rows: Vec<Nonsense> = serde_saphyr::from_str(NONSENSE).context("reading nonsense.yaml")?;
    let mut problems = Vec::new();
    for Nonsense { chart, values: said, says } in &rows {
        match helm.template(*chart, &values(*chart, said)) {
            Ok(_) => problems.push(format!("{said} is accepted")),
            Err(error) => {
                let told = format!("{error:#}");
                if !told.contains(says.as_str()) {
                    problems.push(format!("{said} is refused without {says:?}: {told}"));
                }
            }
        }
    }
    ensure!(problems.is_empty(), "values that make no sense:\n  {}", problems.join("\n  "));
    println!("ok: {} values that make no sense are refused by name", rows.len());
    Ok(())
}

/// The least that has to be said, and what else is.
fn values(chart: Chart, said: &Value) -> Value {
    let mut values = chart.values();
    merge(&mut values, said);
    values
}

fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                match into.get_mut(key) {
                    Some(present) => merge(present, value),
                    None => drop(into.insert(key.clone(), value.clone())),
                }
            }
        }
        (_, Value::Null) => {}
        (into, from) => into.clone_from(from),
    }
}

fn problems(row: &Row, objects: &[Value]) -> Vec<String> {
    let mut problems = Vec::new();
    let of_kind = |kind: &str| objects.iter().filter(|object| object["kind"] == *kind).collect::<Vec<_>>();
    for Expected { kind, path, is } in &row.expect {
        let found: Vec<Value> = of_kind(kind)
            .into_iter()
            .map(|object| object.pointer(path).cloned().unwrap_or_default())
            .collect();
        if !found.contains(is) {
            problems.push(format!("{kind} {path} is {found:?} and not {is}"));
        }
    }
    for kind in &row.absent {
        if !of_kind(kind).is_empty() {
            problems.push(format!("there is a {kind}"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_can_be_read() {
        let rows: Vec<Row> = serde_saphyr::from_str(MATRIX).unwrap();
        let nonsense: Vec<Nonsense> = serde_saphyr::from_str(NONSENSE).unwrap();

        assert!(rows.len() > 15 && nonsense.len() >= 25);
    }

    #[test]
    fn what_is_said_is_laid_over_the_least() {
        let said = json!({ "image": { "tag": "1" }, "replicas": null });

        let expected =
            json!({ "image": { "repository": "registry.example.com/capt", "tag": "1" }, "replicas": null });
        assert_eq!(values(Chart::Manager, &said), expected);
    }
}
