//! `capt addons values`: what charts would get.

use std::fmt::Write as _;

use anyhow::{Context, ensure};
use capt_core::validation::preview::{Preview, Target, previews, read_outputs};
use capt_core::validation::{File, Finding};

use super::source;
use crate::cli::{Output, ValuesArguments};
use crate::commands::validate::files::{self, Read};
use crate::printer::Printer;

pub(super) fn run(arguments: &ValuesArguments, printer: Printer) -> anyhow::Result<()> {
    let ValuesArguments { files, outputs, release, cluster } = arguments;
    let outputs = match outputs {
        Some(path) => {
            let text = source::read(path, "`terraform output -json`")?;
            Some(read_outputs(&text).with_context(|| format!("reading {}", path.display()))?)
        }
        None => None,
    };
    let read = files::read(files)?;
    let mut broken: Vec<Finding> = read.iter().filter_map(Read::problem).collect();
    let texts: Vec<File<'_>> = read.iter().filter_map(Read::as_file).collect();
    let found = previews(&texts, Target { name: cluster, outputs: outputs.as_ref() });
    let found = found.unwrap_or_else(|findings| {
        broken.extend(findings);
        Vec::new()
    });
    ensure!(broken.is_empty(), "{}", told(&broken));
    let shown = chosen(found, release.as_deref())?;
    match printer.output() {
        Output::Human => printer.text(&text(&shown)?)?,
        Output::Json | Output::Yaml => printer.value(&shown, "")?,
    }
    let without: Vec<&str> =
        shown.iter().filter(|one| one.problem.is_some()).map(|one| one.name.as_str()).collect();
    ensure!(without.is_empty(), "without values: HelmRelease {}", without.join(", "));
    Ok(())
}

fn told(findings: &[Finding]) -> String {
    let lines = findings.iter().map(|found| {
        format!("{}:{}:{}: {}", found.file, found.position.line, found.position.column, found.message)
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn chosen(found: Vec<Preview>, release: Option<&str>) -> anyhow::Result<Vec<Preview>> {
    ensure!(
        !found.is_empty(),
        "no AddonStack or ClusterResourceSet of these files brings a HelmRelease: name the files of both, with their ConfigMaps"
    );
    let Some(release) = release else { return Ok(found) };
    let names: Vec<String> = found.iter().map(|one| one.name.clone()).collect();
    let shown: Vec<_> = found.into_iter().filter(|one| one.name == release).collect();
    ensure!(
        !shown.is_empty(),
        "no HelmRelease `{release}` is brought by these files; there are: {}",
        names.join(", ")
    );
    Ok(shown)
}

/// One document for each release, with a heading.
fn text(shown: &[Preview]) -> anyhow::Result<String> {
    let mut text = String::new();
    for (index, Preview { namespace, name, by, values, problem }) in shown.iter().enumerate() {
        if index > 0 {
            text.push_str("---\n");
        }
        writeln!(text, "# HelmRelease {namespace}/{name}, brought by {by}")?;
        match (values, problem) {
            (Some(values), _) => text.push_str(&serde_saphyr::to_string(values)?),
            (None, problem) => writeln!(text, "# {}", problem.as_deref().unwrap_or("it has no values"))?,
        }
    }
    Ok(text)
}
