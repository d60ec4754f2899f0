//! `capt state list`.

use std::fmt::Write as _;

use capt_controller::by_hand::{Snapshot, StateOf};
use capt_core::cause::sentence;
use capt_core::columns::aligned;
use capt_core::terraform_state::{Changed, Inspected, inspect};
use jiff::Timestamp;
use kube::Client;
use serde::Serialize;

use super::{missing, present};
use crate::cli::StateListArguments;
use crate::commands::target::{self, Subject};
use crate::printer::Printer;

/// The states of all Workspaces that were meant.
#[derive(Serialize)]
struct Listed {
    workspaces: Vec<Listing>,
}

/// The state of a Workspace and its copies.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listing {
    workspace: String,
    /// The Secret with the state, as `namespace/name`.
    secret: String,
    /// Why the state as it is now cannot be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<Version>,
    /// The newest first.
    snapshots: Vec<Version>,
}

/// A state at one time.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    serial: u64,
    lineage: String,
    /// When the copy was made; nothing for the state as it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    taken_at: Option<Timestamp>,
    /// How many resources are in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    resources: Option<usize>,
    /// What happened to the resources until the next copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Changed>,
    /// Why it cannot be told what is in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

pub(super) async fn run(arguments: StateListArguments, printer: Printer) -> anyhow::Result<()> {
    let (client, subjects) = target::find(arguments.target).await?;
    let mut workspaces = Vec::new();
    for subject in &subjects {
        workspaces.push(listing(&client, subject).await?);
    }
    let text: Vec<String> = workspaces.iter().map(Listing::sentences).collect();
    printer.value(&Listed { workspaces }, &text.join("\n\n"))
}

async fn listing(client: &Client, subject: &Subject) -> anyhow::Result<Listing> {
    let kept = subject.kept(client)?;
    let (current, problem) = match present(&kept).await {
        Ok(Some(content)) => match inspect(content.text()) {
            Ok(inspected) => (Some(inspected), None),
            Err(problem) => (None, Some(sentence(&problem))),
        },
        Ok(None) => (None, Some(missing(subject.workspace()?, &kept))),
        Err(error) => (None, Some(sentence(error.as_ref()))),
    };
    let snapshots = versions(&kept, current.as_ref()).await?;
    Ok(Listing {
        workspace: subject.name(),
        secret: kept.secret(),
        problem,
        current: current.map(|it| Version {
            serial: it.serial,
            taken_at: None,
            resources: Some(it.resources.len()),
            after: None,
            problem: None,
            lineage: it.lineage,
        }),
        snapshots,
    })
}

/// The copies, each compared with what came after it.
async fn versions(kept: &StateOf, current: Option<&Inspected>) -> anyhow::Result<Vec<Version>> {
    let mut versions = Vec::new();
    let mut later: Option<Inspected> = None;
    for snapshot in kept.snapshots().await? {
        let inspected = read(kept, &snapshot).await?;
        let Snapshot { serial, lineage, taken_at, .. } = snapshot;
        let next = later.as_ref().or(current).filter(|next| next.lineage == lineage);
        let after = match (&inspected, next) {
            (Ok(inspected), Some(next)) => Some(Changed::between(inspected, next)),
            _ => None,
        };
        let (resources, problem) = match &inspected {
            Ok(inspected) => (Some(inspected.resources.len()), None),
            Err(problem) => (None, Some(problem.clone())),
        };
        later = inspected.ok();
        versions.push(Version { serial, lineage, taken_at: Some(taken_at), resources, after, problem });
    }
    Ok(versions)
}

async fn read(kept: &StateOf, snapshot: &Snapshot) -> anyhow::Result<Result<Inspected, String>> {
    Ok(match kept.snapshot(snapshot).await? {
        Some(text) => inspect(text.expose()).map_err(|problem| sentence(&problem)),
        None => Err("the copy is not whole".to_owned()),
    })
}

impl Listing {
    fn sentences(&self) -> String {
        let Self { workspace, secret, problem, current, snapshots } = self;
        let lineage = current.as_ref().map(|current| format!(", lineage {}", current.lineage));
        let mut text =
            format!("Workspace `{workspace}`: state in Secret {secret}{}", lineage.unwrap_or_default());
        // Writing to a String cannot fail.
        if let Some(problem) = problem {
            let _ = write!(text, "\n  {problem}");
        }
        if current.is_none() && snapshots.is_empty() {
            let _ = write!(text, "\n  there are no copies");
            return text;
        }
        let header = ["SERIAL", "RESOURCES", "TAKEN", "WHAT CAME AFTER"].map(ToOwned::to_owned);
        let of = current.as_ref().map(|current| current.lineage.as_str());
        let rows = current.iter().chain(snapshots).map(|version| version.row(of));
        for line in aligned(&std::iter::once(header).chain(rows).collect::<Vec<_>>(), 2) {
            let _ = write!(text, "\n  {line}");
        }
        text
    }
}

impl Version {
    fn row(&self, lineage: Option<&str>) -> [String; 4] {
        let Self { serial, resources, taken_at, after, problem, .. } = self;
        let taken = taken_at.map_or("now".to_owned(), |at| format!("{at:.0}"));
        let resources = resources.map_or("?".to_owned(), |count| count.to_string());
        let note = match (problem, after) {
            (Some(problem), _) => problem.clone(),
            (None, Some(after)) => after.summary(),
            (None, None) if lineage.is_some_and(|lineage| lineage != self.lineage) => {
                format!("of another state, lineage {}", self.lineage)
            }
            (None, None) => String::new(),
        };
        [serial.to_string(), resources, taken, note]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(serial: u64, lineage: &str, taken: bool) -> Version {
        Version {
            serial,
            lineage: lineage.to_owned(),
            taken_at: taken.then(|| "2026-11-16T12:00:00.123Z".parse().unwrap()),
            resources: Some(12),
            after: None,
            problem: None,
        }
    }

    #[test]
    fn a_state_and_its_copies_are_a_table() {
        let after = Changed { added: vec!["a.b".to_owned()], ..Changed::default() };
        let listing = Listing {
            workspace: "prod-vpc".to_owned(),
            secret: "team-a/tfstate-prod-vpc-capt".to_owned(),
            problem: None,
            current: Some(version(9, "6f1c", false)),
            snapshots: vec![
                Version { after: Some(after), ..version(8, "6f1c", true) },
                Version {
                    problem: Some("the state is encrypted".to_owned()),
                    resources: None,
                    ..version(5, "6f1c", true)
                },
                version(4, "0000", true),
            ],
        };
        insta::assert_snapshot!(listing.sentences(), @r"
        Workspace `prod-vpc`: state in Secret team-a/tfstate-prod-vpc-capt, lineage 6f1c
          SERIAL  RESOURCES  TAKEN                 WHAT CAME AFTER
          9       12         now
          8       12         2026-11-16T12:00:00Z  1 added, 0 changed, 0 removed
          5       ?          2026-11-16T12:00:00Z  the state is encrypted
          4       12         2026-11-16T12:00:00Z  of another state, lineage 0000
        ");
    }
}
