//! Publishes what an apply gave, and puts on record that it was applied.

use std::collections::BTreeMap;

use capt_api::crossplane::{ModuleSource, WorkspaceSpec};
use capt_api::names::{Reason, annotation};
use capt_core::apply::Blocked;
use capt_core::workspace::observed::{Ending, Memory};
use capt_core::workspace::policy;
use capt_core::workspace::status::Effect;
use capt_terraform::without_login;
use kube::ResourceExt;
use serde_json::{Value, json};
use tracing::warn;

use super::{Acting, Done};
use crate::error::Error;
use crate::workspace::keeper::SecretKeeper;
use crate::workspace::record::Saving;
use crate::workspace::{connection_secret, handover, state};

/// What a Workspace may have besides its metadata and conditions; the API server's store takes 1.5 MiB.
const LARGEST: usize = 1_400_000;

impl Acting<'_> {
    /// First the connection Secret, then the record, then (by the caller) the status: whoever sees Ready finds everything there.
    pub(super) async fn publish(&self) -> Result<Done, Error> {
        let Some(over) = &self.seen.over else { return Ok(Done::Told(Effect::Nothing)) };
        let Some(outputs) = &over.outputs else { return Ok(Done::Told(Effect::Nothing)) };
        let client = &self.context.client;
        let mut published = None;
        if let Some(target) = &self.workspace.spec.write_connection_secret_to_ref {
            match connection_secret::write(client, self.place, target, outputs).await? {
                Ok(written) => {
                    if !written.skipped.is_empty() {
                        warn!(outputs = ?written.skipped, "outputs whose names cannot be keys of a Secret were left out");
                    }
                    published = Some(written.digest);
                }
                Err(blocked) => return Ok(self.refused(blocked)),
            }
        }
        let told: BTreeMap<String, Value> = outputs
            .iter()
            .filter_map(|(name, output)| Some((name.clone(), output.status_value()?)))
            .collect();
        if let Some(blocked) = too_large(&self.workspace.spec, &told) {
            return Ok(self.refused(blocked));
        }
        let applied = matches!(over.ended.result, Ending::Applied { .. });
        let before = &self.seen.record.memory;
        if self.seen.found.is_some() {
            // Terraform may have written further parts of the state, or the first one.
            let found = state::look(client, self.place).await?;
            state::hold(client, self.place, &found).await?;
            state::note(client, self.place, self.seen.state_note.as_deref(), true).await?;
            if applied && found.restored == over.restored {
                // What was applied is what somebody approved after the earlier state was put back.
                state::settle_restored(client, self.place, &found).await?;
            }
        }
        if before.begun.is_some() && !applied && self.seen.found.is_some() {
            // The apply died when all was done; no other one follows that takes over its lock.
            SecretKeeper::new(client, self.place, self.terraform).release_left_lock().await?;
        }
        self.note_name(over.elsewhere.as_deref().or(before.elsewhere.as_deref())).await?;
        let may_change =
            policy::permissions(&self.workspace.spec).is_ok_and(|permissions| permissions.update);
        let uid = &self.place.workspace_uid;
        let memory = before.clone().published_by(&over.ended, over.digest.clone(), may_change, uid);
        let memory = Memory {
            published,
            elsewhere: over.elsewhere.clone().or(memory.elsewhere.clone()),
            interrupted: self.interrupted(),
            ..memory
        };
        let lock = self.provider_lock();
        let inputs = self.seen.resolved.as_ref().filter(|it| it.fingerprint == over.ended.fingerprint);
        let inputs = inputs
            .filter(|it| self.seen.record.kept.as_ref() != Some(&it.fingerprint))
            .map(|it| (&it.run, it.fingerprint.as_str()));
        let saving = Saving { inputs, provider_lock: lock.as_deref(), ..super::saving(&memory, false) };
        self.save(saving).await?;
        handover::forget_crossplane(client, self.workspace).await?;
        if self.workspace.annotations().contains_key(annotation::ACCEPT_MISSING_STATE) {
            // It was meant for the state that is there again.
            let patch = json!({ "metadata": { "annotations": { annotation::ACCEPT_MISSING_STATE: null } } });
            self.patch(&patch, "settling").await?;
        }
        self.tidy_plan_text().await?;
        self.drop_unused_state(memory.elsewhere.as_deref()).await?;
        self.terraform.runs.settle(&self.place.workspace_uid);
        let for_provider = &self.workspace.spec.for_provider;
        // An address may hold a password; the spec shows it, but nothing else has to.
        let remote_source =
            (for_provider.source == ModuleSource::Remote).then(|| without_login(&for_provider.module));
        Ok(Done::Told(Effect::Published { outputs: told, applied, remote_source }))
    }

    /// Nobody takes these outputs. If what goes in has changed since, the next apply may give others.
    fn refused(&self, blocked: Blocked) -> Done {
        let ended = self.seen.over.as_ref().map(|over| &over.ended.fingerprint);
        if self.seen.resolved.as_ref().is_some_and(|it| Some(&it.fingerprint) != ended) {
            self.terraform.runs.settle(&self.place.workspace_uid);
            return Done::Again;
        }
        Done::Blocked(blocked)
    }

    pub(super) fn has_shown_plan(&self) -> bool {
        let engine = self.workspace.status.as_ref().and_then(|status| status.engine.as_ref());
        engine.is_some_and(|engine| engine.plan.is_some())
    }
}

/// The API server would refuse the whole status, and the outputs with it.
fn too_large(spec: &WorkspaceSpec, told: &BTreeMap<String, Value>) -> Option<Blocked> {
    let bytes = json!([spec, told]).to_string().len();
    let message = format!(
        "the spec and those outputs that are not sensitive have {bytes} bytes together, but a Workspace holds {LARGEST} at most: take large outputs out of the module"
    );
    (bytes > LARGEST).then(|| Blocked::new(Reason::OutputsRefused, message))
}
