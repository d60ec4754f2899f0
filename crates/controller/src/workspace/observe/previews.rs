//! Whether somebody waits for a plan, and of what.

use capt_api::Workspace;
use capt_api::names::annotation;
use capt_core::apply::Blocked;
use capt_core::workspace::observed::Preview;
use kube::ResourceExt;

use super::resolve;
use crate::context::Context;
use crate::error::Error;
use crate::index::{Dependent, Notes};
use crate::workspace::inputs::Resolved;
use crate::workspace::place::Place;
use crate::workspace::record::Record;
use crate::workspace::{Terraform, candidate, preview};

/// What somebody waits for.
pub(super) struct Previewing {
    pub(super) wanted: Preview,
    /// The request that is not answered yet.
    pub(super) request: Option<String>,
    /// The other content that it is for, or why there is none.
    pub(super) candidate: Option<Result<Resolved, Blocked>>,
}

/// Looks who waits for a plan.
pub(super) async fn look(
    workspace: &Workspace,
    place: &Place,
    record: &Record,
    notes: &Notes<'_, Dependent>,
    context: &Context,
    terraform: &Terraform,
) -> Result<Previewing, Error> {
    let (wanted, request) = wanted_preview(workspace, place, context, terraform).await?;
    let candidate = match (wanted, &request) {
        (Preview::CandidateWanted, Some(request)) => {
            let asking = Asking { workspace, place, record, request };
            Some(other_content(asking, notes, context, terraform).await?)
        }
        (Preview::CandidateWanted, None) | (Preview::NotWanted | Preview::Wanted | Preview::Made, _) => None,
    };
    Ok(Previewing { wanted, request, candidate })
}

/// Whether somebody waits for a plan, and his request. What was answered is known to this process, or can be read where the
/// answer is.
async fn wanted_preview(
    workspace: &Workspace,
    place: &Place,
    context: &Context,
    terraform: &Terraform,
) -> Result<(Preview, Option<String>), Error> {
    let asked = workspace.annotations().get(annotation::PLAN_REQUESTED_AT).filter(|asked| !asked.is_empty());
    let Some(asked) = asked else { return Ok((Preview::NotWanted, None)) };
    let (runs, uid) = (&terraform.runs, &place.workspace_uid);
    if runs.answered(uid).as_ref() == Some(asked) {
        return Ok((Preview::NotWanted, None));
    }
    if runs.previewed(uid).is_some_and(|made| made.request == *asked) {
        return Ok((Preview::Made, Some(asked.clone())));
    }
    let answered = preview::look(&context.client, place).await?;
    if answered.is_some_and(|answer| answer.request == *asked) {
        runs.answer(uid, asked);
        return Ok((Preview::NotWanted, None));
    }
    let wanted =
        if candidate::is_asked(workspace, asked) { Preview::CandidateWanted } else { Preview::Wanted };
    Ok((wanted, Some(asked.clone())))
}

/// Who asks for a plan of other content.
struct Asking<'reconcile> {
    workspace: &'reconcile Workspace,
    place: &'reconcile Place,
    record: &'reconcile Record,
    request: &'reconcile str,
}

/// Other content that somebody wants to see planned, as it would go into Terraform. It has a working directory of its own, so
/// that the plan that waits there stays what it is, and finds the state where it is or not at all.
async fn other_content(
    asking: Asking<'_>,
    notes: &Notes<'_, Dependent>,
    context: &Context,
    terraform: &Terraform,
) -> Result<Result<Resolved, Blocked>, Error> {
    let Asking { workspace, place, record, request } = asking;
    let for_provider = match candidate::read(&context.client, place, workspace, request).await? {
        Ok(for_provider) => for_provider,
        Err(blocked) => return Ok(Err(blocked)),
    };
    let mut changed = workspace.clone();
    changed.spec.for_provider = for_provider;
    let (resolved, _) = resolve(&changed, place, record, notes, context, terraform).await?;
    Ok(resolved.and_then(|resolved| candidate::aside(resolved, place, &record.memory)))
}
