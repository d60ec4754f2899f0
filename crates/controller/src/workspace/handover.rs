//! Workspaces that pass from Crossplane to CAPT, or back.

use capt_api::names::annotation;
use capt_api::{ProviderConfig, Workspace};
use capt_core::apply::Blocked;
use capt_core::name::is_object_name;
use capt_core::workspace::backend::{StatePlace, backend};
use capt_core::workspace::handover::leaving::{self, Leaving};
use capt_core::workspace::handover::{self, Move, Serves, Turn};
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
use crate::freezing;
use crate::index::{Dependency, Dependent, Notes};

/// What decides whose turn it is, beside the Workspace.
pub(super) struct Seat<'reconcile> {
    pub(super) source: &'reconcile Source,
    /// Whether its apply was moved to another cluster.
    pub(super) moved: bool,
    pub(super) notes: &'reconcile Notes<'reconcile, Dependent>,
    pub(super) context: &'reconcile Context,
    pub(super) terraform: &'reconcile Terraform,
}

impl Seat<'_> {
    /// Whose turn it is with a Workspace.
    pub(super) async fn turn(&self, workspace: &Workspace) -> Result<Turn, Error> {
        let Some(serves) = self.terraform.serves() else { return Ok(Turn::Theirs) };
        if handover::is_asked(workspace) {
            // Crossplane says in the status that it has put it down, and a status brings up nobody by itself.
            self.notes.on(Dependency::Workspace(workspace.name_any()));
        }
        let turn = handover::turn(workspace, serves, false);
        if self.moved {
            return Ok(handover::after_move(workspace, turn));
        }
        // Only where Crossplane would begin with it: nothing else depends on where the state is.
        let begins = serves == Serves::Crossplane
            && turn == Turn::Theirs
            && !handover::is_paused_for_crossplane(&workspace.metadata);
        if begins && self.keeps(workspace).await? {
            return Ok(handover::turn(workspace, serves, true));
        }
        Ok(turn)
    }

    /// Whether Crossplane would make something a second time: CAPT keeps the state where it would not look for it, or is about to
    /// make what no state knows of yet.
    async fn keeps(&self, workspace: &Workspace) -> Result<bool, Error> {
        if self.terraform.runs.going(&workspace.uid().unwrap_or_default()).is_some() {
            return Ok(true);
        }
        let client = &self.context.client;
        let place = Place::of(workspace, self.source.owner(), &self.terraform.options.home_namespace);
        let Some(note) = self.source.noted(annotation::STATE, workspace) else {
            return Ok(self.terraform.records.load(client, &place).await?.memory.begun.is_some());
        };
        let name = &workspace.spec.provider_config_ref.name;
        if !is_object_name(name) {
            return Ok(true);
        }
        self.notes.on(Dependency::ProviderConfig(name.clone()));
        let configs: Api<ProviderConfig> = Api::all(client.clone());
        let doing = format!("reading ProviderConfig `{name}`");
        let config = configs.get_opt(name).await.map_err(Error::api(doing))?;
        let found = config.map(|config| backend(&config.spec, &workspace.spec.for_provider));
        Ok(leaving::keeps(Some(&note), &place.terraform_workspace, found.as_ref())
            || self.terraform.records.load(client, &place).await?.memory.begun.is_some())
    }
}

/// Notes on a Workspace how far it has passed, if it is still the version that was looked at. The watch brings it up again.
pub(super) async fn pass(passing: Move, workspace: &Workspace, client: &Client) -> Result<(), Error> {
    let name = workspace.name_any();
    let workspaces: Api<Workspace> = Api::all(client.clone());
    let doing = format!("noting on Workspace `{name}` who runs it");
    let asks = match passing {
        Move::Pause | Move::Freeze => true,
        Move::Take => false,
    };
    let mut version = workspace.resource_version();
    // Only one that is not paused yet: of another, Crossplane means this pause.
    let fresh = !handover::is_paused_for_crossplane(&workspace.metadata);
    if asks && fresh && handover::is_acknowledged(workspace) {
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
    let (uid, annotations) = (workspace.uid(), passing.annotations(&workspace.metadata));
    let written = match passing {
        Move::Pause | Move::Take => {
            let metadata = json!({ "uid": uid, "resourceVersion": version, "annotations": annotations });
            merge(&workspaces, &name, &json!({ "metadata": metadata }), &doing).await
        }
        // An apply that comes back takes away what this manager has written, and nothing else.
        Move::Freeze => freezing::write(&workspaces, &name, (uid, version), annotations, &doing).await,
    };
    Error::unless_gone(written)?;
    info!(workspace = name, step = ?passing, "noted who runs the Workspace");
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

/// What was seen of a Workspace that is to be handed back.
pub(super) struct Seen<'facts> {
    pub(super) place: &'facts Place,
    pub(super) record: &'facts Record,
    /// The state, where CAPT looks at it.
    pub(super) found: Option<&'facts state::Found>,
    /// The name of the `ProviderConfig`.
    pub(super) config: &'facts str,
    /// Where that says that states are kept.
    pub(super) keeping: Option<&'facts Keeping>,
    /// Where the state is noted to be.
    pub(super) note: Option<&'facts str>,
}

impl Seen<'_> {
    /// Whether Crossplane would find the state where it is.
    pub(super) fn check(&self) -> Result<(), Blocked> {
        let leaving = Leaving {
            note: self.note,
            terraform_workspace: &self.place.terraform_workspace,
            config: self.config,
            backend: self.keeping.map(Keeping::backend),
            elsewhere: self.record.memory.elsewhere.as_deref(),
            unnoted: self.unnoted(),
        };
        leaving.check().map(drop).map_err(|why| handover::refused(&why))
    }

    /// Where a state is that nobody has noted yet.
    fn unnoted(&self) -> Option<StatePlace> {
        match self.found.map(|found| &found.state) {
            None | Some(State::Absent | State::Present { empty: true } | State::Elsewhere) => None,
            Some(State::Present { empty: false } | State::NotOurs { .. }) => Some(self.place.state.clone()),
        }
    }
}
