//! Workspaces that pass from Crossplane to CAPT, or back.

use capt_api::names::{Reason, STATE_SUFFIX, annotation};
use capt_api::{ProviderConfig, Workspace};
use capt_core::apply::Blocked;
use capt_core::name::is_object_name;
use capt_core::workspace::backend::{Backend, StatePlace, backend};
use capt_core::workspace::handover::{self, Handover, Move, Serves, Turn};
use capt_core::workspace::observed::State;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client, ResourceExt};
use serde_json::json;
use tracing::info;

use super::observe::Source;
use super::place::Place;
use super::place::kept::merge;
use super::provider_config::Keeping;
use super::record::Record;
use super::{Terraform, state};
use crate::context::Context;
use crate::error::Error;
use crate::index::{Dependency, Dependent, Notes};

/// Whose turn it is with a Workspace.
pub(super) async fn turn(
    workspace: &Workspace,
    source: &Source,
    notes: &Notes<'_, Dependent>,
    context: &Context,
    terraform: &Terraform,
) -> Result<Turn, Error> {
    let Some(serves) = terraform.serving.borrow().serves() else { return Ok(Turn::Theirs) };
    if handover::handover(&workspace.metadata) == Some(Handover::Pausing) {
        // Crossplane says in the status that it has put it down, and a status brings up nobody by itself.
        notes.on(Dependency::Workspace(workspace.name_any()));
    }
    let turn = handover::turn(workspace, serves, false);
    // Only where Crossplane would begin with it: nothing else depends on where the state is.
    let begins = serves == Serves::Crossplane
        && turn == Turn::Theirs
        && !handover::is_paused_for_crossplane(&workspace.metadata);
    if begins && keeps(workspace, source, notes, context, terraform).await? {
        return Ok(handover::turn(workspace, serves, true));
    }
    Ok(turn)
}

/// Whether CAPT keeps the state of a Workspace where Crossplane would not look for it.
async fn keeps(
    workspace: &Workspace,
    source: &Source,
    notes: &Notes<'_, Dependent>,
    context: &Context,
    terraform: &Terraform,
) -> Result<bool, Error> {
    let Some(note) = source.noted(annotation::STATE, workspace) else { return Ok(false) };
    let place = Place::of(workspace, source.owner(), &terraform.options.home_namespace);
    let state = StatePlace::noted(&note, &place.terraform_workspace);
    let Some(state) = state.filter(|state| state.suffix == STATE_SUFFIX) else { return Ok(false) };
    let name = &workspace.spec.provider_config_ref.name;
    if !is_object_name(name) {
        return Ok(true);
    }
    notes.on(Dependency::ProviderConfig(name.clone()));
    let configs: Api<ProviderConfig> = Api::all(context.client.clone());
    let config =
        configs.get_opt(name).await.map_err(Error::api(format!("reading ProviderConfig `{name}`")))?;
    let found = config.map(|config| backend(&config.spec, &workspace.spec.for_provider));
    Ok(found != Some(Backend::Here(state)))
}

/// Notes on a Workspace how far it has passed, if it is still the version that was looked at. The watch brings it up again.
pub(super) async fn pass(passing: Move, workspace: &Workspace, client: &Client) -> Result<(), Error> {
    let name = workspace.name_any();
    let workspaces: Api<Workspace> = Api::all(client.clone());
    let doing = format!("noting on Workspace `{name}` who runs it");
    let mut version = workspace.resource_version();
    if passing == Move::Pause && handover::is_acknowledged(workspace) {
        // What Crossplane said of an earlier pause says nothing about this one.
        let told = workspace.status.iter().flat_map(|status| &status.conditions);
        let rest: Vec<_> = told.filter(|told| !handover::is_acknowledgement(told)).collect();
        let patch = json!({ "metadata": { "resourceVersion": version }, "status": { "conditions": rest } });
        let written = workspaces.patch_status(&name, &PatchParams::default(), &Patch::Merge(patch)).await;
        match Error::unless_gone(written.map_err(Error::api(&doing)))? {
            Some(written) => version = written.resource_version(),
            None => return Ok(()),
        }
    }
    let patch = json!({ "metadata": {
        "uid": workspace.uid(),
        "resourceVersion": version,
        "annotations": passing.annotations(&workspace.metadata),
    } });
    Error::unless_gone(merge(&workspaces, &name, &patch, &doing).await)?;
    info!(workspace = name, step = ?passing, "a Workspace passes from Crossplane to CAPT");
    Ok(())
}

/// Takes away what Crossplane writes whenever it has looked at a Workspace, so that one which is there later was written since.
pub(super) async fn forget_crossplane(client: &Client, workspace: &Workspace) -> Result<(), Error> {
    let seen = workspace.status.as_ref().and_then(|status| status.at_provider.as_ref());
    if seen.and_then(|seen| seen.checksum.as_ref()).is_none() {
        return Ok(());
    }
    let name = workspace.name_any();
    let workspaces: Api<Workspace> = Api::all(client.clone());
    let patch = json!({
        "metadata": { "uid": workspace.uid() },
        "status": { "atProvider": { "checksum": null } },
    });
    let written = workspaces.patch_status(&name, &PatchParams::default(), &Patch::Merge(patch)).await;
    let doing = format!("taking over the status of Workspace `{name}`");
    Error::unless_gone(written.map_err(Error::api(doing))).map(drop)
}

/// What decides whether Crossplane would find a state.
pub(super) struct Leaving<'facts> {
    pub(super) place: &'facts Place,
    pub(super) record: &'facts Record,
    /// The state, where CAPT looks at it.
    pub(super) found: Option<&'facts state::Found>,
    /// The name of the `ProviderConfig`.
    pub(super) config: &'facts str,
}

impl Leaving<'_> {
    /// Whether Crossplane would find the state where it is: otherwise it would make everything a second time.
    pub(super) fn check(&self, keeping: Option<&Keeping>, note: Option<&str>) -> Result<(), Blocked> {
        let noted = note.and_then(|note| StatePlace::noted(note, &self.place.terraform_workspace));
        let is_elsewhere = self.record.memory.elsewhere.is_some();
        match keeping {
            None => Err(refused(&format!("ProviderConfig `{}` does not exist: create it", self.config))),
            // The module says it to whoever runs it.
            Some(Keeping::Ours) if is_elsewhere => Ok(()),
            Some(Keeping::Ours) if !self.is_there() => Ok(()),
            Some(Keeping::Ours) => Err(self.not_found(&self.place.state)),
            Some(Keeping::Here(state)) => match noted {
                Some(noted) if noted != *state => Err(self.not_found(&noted)),
                _ => Ok(()),
            },
            Some(Keeping::Declared(_)) => match noted {
                Some(noted) if !is_elsewhere => Err(self.not_found(&noted)),
                _ => Ok(()),
            },
        }
    }

    fn is_there(&self) -> bool {
        match self.found.map(|found| &found.state) {
            None | Some(State::Absent | State::Present { empty: true } | State::Elsewhere) => false,
            Some(State::Present { empty: false } | State::NotOurs { .. }) => true,
        }
    }

    fn not_found(&self, state: &StatePlace) -> Blocked {
        let secret = state.secret(&self.place.terraform_workspace);
        refused(&format!(
            "its state is in Secret `{}/{secret}`, where ProviderConfig `{}` does not lead, so Crossplane would make everything a second time: let spec.configuration of its ProviderConfig say\n{}",
            state.namespace,
            self.config,
            state.configuration()
        ))
    }
}

fn refused(why: &str) -> Blocked {
    Blocked::new(Reason::HandBackRefused, format!("the Workspace is not handed back to Crossplane: {why}"))
}
