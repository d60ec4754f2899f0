//! Our preview of the values of a `HelmRelease` beside those that Flux's own code makes, which `parts/helm-values` runs.

mod case;
mod corpus;
mod files;
mod random;

use std::fmt::Write as _;

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::Value;

use super::oracle;
use case::Case;

/// How many differences somebody reads at once.
const SHOWN: usize = 10;

/// What Flux's code says to a case.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Answer {
    Values(Value),
    Error(String),
}

/// For every case of the corpus Flux has the same values as we do, or both have an error.
pub(super) fn agree_with_flux() -> anyhow::Result<()> {
    let cases = corpus::cases();
    let answers = oracle::ask("helm-values", &cases)?;
    let mut errors = 0;
    let mut differences = Vec::new();
    for (number, (case, answer)) in cases.iter().zip(&answers).enumerate() {
        let answer: Answer =
            serde_json::from_str(answer).with_context(|| format!("reading the answer to case {number}"))?;
        errors += usize::from(matches!(answer, Answer::Error(_)));
        differences.extend(difference(number, case, &answer));
    }
    let mut shown = String::new();
    for difference in differences.iter().take(SHOWN) {
        write!(shown, "\n{difference}")?;
    }
    let count = differences.len();
    ensure!(count == 0, "{count} of {} previews of values are not those of Flux:{shown}", cases.len());
    println!("ok: {} previews of values are those of Flux, {errors} of them errors", cases.len());
    Ok(())
}

fn difference(number: usize, case: &Case, theirs: &Answer) -> Option<String> {
    let ours = case.preview();
    let same = match (&ours, theirs) {
        (Ok(ours), Answer::Values(theirs)) => ours == theirs,
        (Err(_), Answer::Error(_)) => true,
        (Ok(_), Answer::Error(_)) | (Err(_), Answer::Values(_)) => false,
    };
    let ours = || ours.as_ref().map_or_else(|problem| format!("error: {problem}"), Value::to_string);
    let theirs = || match theirs {
        Answer::Values(values) => values.to_string(),
        Answer::Error(error) => format!("error: {error}"),
    };
    (!same).then(|| format!("case {number}: {case}\n  theirs: {}\n  ours:   {}", theirs(), ours()))
}
