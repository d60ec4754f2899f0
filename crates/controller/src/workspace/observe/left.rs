//! Sees what is left of a Workspace whose apply lives on elsewhere or is gone.

use capt_api::Workspace;
use capt_api::names::annotation;
use capt_core::workspace::observed::{Observed, Remains, State};
use capt_core::workspace::standing::Freeze;
use capt_terraform::Left;
use kube::ResourceExt;

use super::{Seen, full, locate};
use crate::error::Error;
use crate::index::{Dependency, Name};
use crate::workspace::handover::Seat;
use crate::workspace::place::Place;
use crate::workspace::state;

/// It is to be removed, unless something of it is only here.
pub(super) async fn look_at_left(
    workspace: &Workspace,
    freeze: Freeze,
    seat: &Seat<'_>,
) -> Result<Seen, Error> {
    let place = place(workspace, seat);
    let remains = remains(workspace, &freeze, &place, seat).await?;
    let observed = Observed::LeftBehind { freeze, remains, now: seat.terraform.now() };
    seen(workspace, observed, place, seat).await
}

/// It is being deleted: what is kept of it has to be found.
pub(super) async fn look_at_abandoned(
    workspace: &Workspace,
    freeze: Freeze,
    seat: &Seat<'_>,
) -> Result<Seen, Error> {
    seen(workspace, Observed::Abandoned(freeze), place(workspace, seat), seat).await
}

fn place(workspace: &Workspace, seat: &Seat<'_>) -> Place {
    let Seat { source, terraform, .. } = seat;
    let place = Place::of(workspace, source.owner(), &terraform.options.home_namespace);
    let note = source.noted(annotation::STATE, workspace);
    locate(place, None, note.as_deref())
}

async fn seen(
    workspace: &Workspace,
    observed: Observed,
    place: Place,
    seat: &Seat<'_>,
) -> Result<Seen, Error> {
    let uid = workspace.uid().unwrap_or_default();
    let full = full(&workspace.name_any(), &uid, seat.context).await?;
    Ok(Seen { place: Some(place), full, ..Seen::bare(observed) })
}

/// A run that began in between was not seen by `clusterctl`, and its state is written where its apply was. Where another
/// Workspace has taken this one's place, the state is that one's.
async fn remains(
    workspace: &Workspace,
    freeze: &Freeze,
    place: &Place,
    seat: &Seat<'_>,
) -> Result<Remains, Error> {
    let Seat { notes, context, terraform, .. } = seat;
    match terraform.left(&workspace.uid().unwrap_or_default()).await {
        Left { unstored: true, .. } => return Ok(Remains::Unstored),
        Left { alive: true, .. } => return Ok(Remains::Process),
        Left { alive: false, unstored: false, unfinished: _ } => {}
    }
    match freeze {
        Freeze::ApplyMoved(_) => {}
        Freeze::ApplyPaused(_) | Freeze::ApplyGone(_) | Freeze::Superseded { .. } => {
            return Ok(Remains::Nothing);
        }
    }
    let (namespace, secret) = (&place.state.namespace, place.state_secret());
    notes.on(Dependency::Secret(Name::new(namespace, &secret)));
    Ok(match state::look(&context.client, place).await?.state {
        State::Present { empty: false } => Remains::State(format!("{namespace}/{secret}")),
        State::Present { empty: true } => Remains::EmptyState,
        State::Absent | State::Elsewhere | State::NotOurs { .. } => Remains::Nothing,
    })
}
