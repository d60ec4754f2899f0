//! `capt state`: the state of a Workspace and the copies of it.

mod list;
mod restore;
mod show;

use anyhow::bail;
use capt_api::Workspace;
use capt_controller::by_hand::{Content, Seen, Snapshot, StateOf};
use capt_terraform::Secret;

use crate::cli::{StateArguments, StateCommand};
use crate::printer::Printer;

pub(crate) async fn run(arguments: StateArguments, printer: Printer) -> anyhow::Result<()> {
    match arguments.command {
        StateCommand::List(arguments) => list::run(arguments, printer).await,
        StateCommand::Show(arguments) => show::run(arguments, printer).await,
        StateCommand::Restore(arguments) => restore::run(arguments, printer).await,
    }
}

/// The state as it is now; nothing where there is none in a Secret of CAPT's.
async fn present(kept: &StateOf) -> anyhow::Result<Option<Content>> {
    let secret = kept.secret();
    match kept.read().await? {
        Seen::Absent => Ok(None),
        Seen::Whole(content) => Ok(Some(content)),
        Seen::NotOurs { workspace } => {
            bail!("the state in Secret `{secret}` belongs to Workspace `{workspace}`")
        }
        Seen::InParts(parts) => bail!(
            "the state is spread over {parts} Secrets, `{secret}` and those that follow it, which cannot be read or written as one: use `terraform state` for it"
        ),
        Seen::Unreadable => bail!(
            "the state in Secret `{secret}` cannot be unpacked: to begin with one of its copies, keep this Secret elsewhere, delete it, and run `capt state restore`"
        ),
    }
}

/// Why there is no state in a Secret of CAPT's.
fn missing(workspace: &Workspace, kept: &StateOf) -> String {
    let engine = workspace.status.as_ref().and_then(|status| status.engine.as_ref());
    let state = engine.and_then(|engine| engine.state.as_ref());
    let elsewhere = state.filter(|state| state.backend != "kubernetes").map(|state| &state.backend);
    match elsewhere {
        Some(backend) => {
            format!("the state is not in a Secret, but where the backend \"{backend}\" keeps it")
        }
        None => format!("there is no state in Secret `{}`", kept.secret()),
    }
}

/// Whether the state is kept where CAPT does not look.
fn is_elsewhere(workspace: &Workspace) -> bool {
    let engine = workspace.status.as_ref().and_then(|status| status.engine.as_ref());
    engine.and_then(|engine| engine.state.as_ref()).is_some_and(|state| state.backend != "kubernetes")
}

/// The copy with this serial: of the state as it is now, else the newest.
async fn copy(kept: &StateOf, serial: u64, lineage: Option<&str>) -> anyhow::Result<(Snapshot, Secret)> {
    let mut found = kept.snapshots().await?;
    let serials: Vec<String> = found.iter().map(|snapshot| snapshot.serial.to_string()).collect();
    found.retain(|snapshot| snapshot.serial == serial);
    found.sort_by_key(|snapshot| Some(snapshot.lineage.as_str()) != lineage);
    if found.is_empty() && serials.is_empty() {
        bail!("there is no copy of the state in Secret `{}`: one is made before each apply", kept.secret());
    }
    if found.is_empty() {
        bail!(
            "there is no copy with the serial {serial} of the state in Secret `{}`: there are copies with {}",
            kept.secret(),
            serials.join(", ")
        );
    }
    let snapshot = found.remove(0);
    match kept.snapshot(&snapshot).await? {
        Some(text) => Ok((snapshot, text)),
        None => {
            bail!("the copy with the serial {serial} of the state in Secret `{}` is not whole", kept.secret())
        }
    }
}
