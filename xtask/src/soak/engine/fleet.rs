//! The Workspaces of the soak: what they should be, and what became of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use anyhow::Context;
use capt_api::names::FIELD_MANAGER;
use capt_api::{Workspace, WorkspaceTemplate, WorkspaceTemplateApply};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};

use tokio::time::sleep;

use super::reality::Reality;
use super::tainted::{resources, unpack};
use super::{PAUSE, SETTLED_WITHIN};

const MEMBERS: usize = 4;
const RESOURCES: usize = 5;
const TEMPLATE: &str = "soak";
/// Of so many changes one deletes and makes anew.
const DELETIONS: u8 = 6;
const USER: &str = "soak";

/// What was done to one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Changed,
    Deleted,
}

/// What the Workspaces should be.
pub(super) struct Fleet {
    module: String,
    /// The generation of each; `None` for one that is deleted.
    wanted: BTreeMap<String, Option<u32>>,
    generation: u32,
}

impl Fleet {
    /// Resources that are made one by one, slowly.
    pub(super) fn new(reality: &Reality) -> Self {
        let root = serde_json::to_string(&reality.root().to_string_lossy()).unwrap_or_default();
        Self::of(module(&root))
    }

    /// Workspaces of this module, which has the variables `generation` and `member`.
    pub(super) fn of(module: String) -> Self {
        let wanted = (0..MEMBERS).map(|number| (format!("member-{number}"), Some(0))).collect();
        Self { module, wanted, generation: 0 }
    }

    pub(super) fn workspaces(&self) -> Vec<String> {
        self.wanted.keys().cloned().collect()
    }

    /// Makes what is missing.
    pub(super) async fn create(&mut self, client: &Client) -> anyhow::Result<()> {
        let template = json!({
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplate",
            "metadata": { "name": TEMPLATE },
            "spec": { "template": { "spec": {
                "forProvider": { "source": "Inline", "module": self.module },
            } } },
        });
        let templates: Api<WorkspaceTemplate> = Api::default_namespaced(client.clone());
        templates.patch(TEMPLATE, &parameters(), &Patch::Apply(template)).await?;
        for (name, generation) in &mut self.wanted {
            let generation = *generation.get_or_insert(self.generation);
            await_absence_of_deleted(client, name).await?;
            put(client, name, generation).await?;
        }
        Ok(())
    }

    /// Changes one at random.
    pub(super) async fn change(
        &mut self,
        client: &Client,
        random: &mut fastrand::Rng,
    ) -> anyhow::Result<Change> {
        self.generation += 1;
        let names = self.workspaces();
        let name = &names[random.usize(..names.len())];
        let deleted = self.wanted[name].is_none();
        if deleted || random.u8(..DELETIONS) > 0 {
            let applies = applies(client);
            let found = applies.get_opt(&apply_name(name)).await?;
            if found.is_some_and(|found| found.metadata.deletion_timestamp.is_some()) {
                return Ok(Change::Deleted);
            }
            put(client, name, self.generation).await?;
            self.wanted.insert(name.clone(), Some(self.generation));
            return Ok(Change::Changed);
        }
        applies(client).delete(&apply_name(name), &DeleteParams::default()).await?;
        self.wanted.insert(name.clone(), None);
        Ok(Change::Deleted)
    }

    /// Those that are not as they should be.
    pub(super) async fn unsettled(&self, client: &Client) -> anyhow::Result<Vec<String>> {
        let workspaces: Api<Workspace> = Api::all(client.clone());
        let mut unsettled = Vec::new();
        for (name, generation) in &self.wanted {
            let Some(generation) = generation else { continue };
            let found = workspaces.get_opt(name).await?;
            let status = found.and_then(|found| found.status);
            let outputs = status.as_ref().and_then(|status| status.at_provider.as_ref());
            let told = outputs.and_then(|seen| seen.outputs.get("generation"));
            let conditions = status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default();
            let holds =
                |wanted: &str| conditions.iter().any(|entry| entry.type_ == wanted && entry.status == "True");
            if told != Some(&json!(generation.to_string())) || !holds("Ready") || !holds("Synced") {
                unsettled.push(format!("{name} is not at generation {generation}: {told:?} {conditions:?}"));
            }
        }
        Ok(unsettled)
    }

    /// `<number>/<id>` of every resource in the state of a Workspace.
    pub(super) async fn state_of(
        &self,
        client: &Client,
        workspace: &str,
    ) -> anyhow::Result<BTreeSet<String>> {
        let state = self.state(client, workspace).await?;
        Ok(resources(&state).into_iter().map(|(name, _)| name).collect())
    }

    /// The state of a Workspace.
    pub(super) async fn state(&self, client: &Client, workspace: &str) -> anyhow::Result<Value> {
        let secrets: Api<Secret> = Api::default_namespaced(client.clone());
        let name = format!("tfstate-{workspace}-capt");
        let secret = secrets.get(&name).await.with_context(|| format!("reading {name}"))?;
        unpack(&secret).context("the state cannot be read")
    }

    /// What a Workspace says; nothing where it is not there.
    pub(super) async fn workspace(&self, client: &Client, name: &str) -> anyhow::Result<Option<Workspace>> {
        Ok(Api::<Workspace>::all(client.clone()).get_opt(name).await?)
    }

    /// Locks that are still held.
    pub(super) async fn locks(&self, client: &Client) -> anyhow::Result<Vec<String>> {
        let leases: Api<Lease> = Api::default_namespaced(client.clone());
        let all = leases.list(&ListParams::default()).await?;
        let held = all
            .items
            .into_iter()
            .filter(|lease| lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_ref()).is_some());
        Ok(held.map(|lease| format!("{} is still held", lease.name_any())).collect())
    }

    async fn delete_all(&mut self, client: &Client) -> anyhow::Result<()> {
        for name in self.workspaces() {
            applies(client).delete(&apply_name(&name), &DeleteParams::default()).await?;
            self.wanted.insert(name, None);
        }
        Ok(())
    }

    /// Waits until all are as they should be; those that never are.
    pub(super) async fn settle(&self, client: &Client) -> anyhow::Result<Vec<String>> {
        let deadline = Instant::now() + SETTLED_WITHIN;
        loop {
            let unsettled = self.unsettled(client).await?;
            if unsettled.is_empty() || Instant::now() > deadline {
                return Ok(unsettled);
            }
            sleep(PAUSE).await;
        }
    }

    /// Deletes all and waits until they are gone; what never goes.
    pub(super) async fn take_down(&mut self, client: &Client) -> anyhow::Result<Vec<String>> {
        self.delete_all(client).await?;
        let deadline = Instant::now() + SETTLED_WITHIN;
        loop {
            let left = self.left(client).await?;
            if left.is_empty() || Instant::now() > deadline {
                return Ok(left.into_iter().map(|name| format!("{name} was never removed")).collect());
            }
            sleep(PAUSE).await;
        }
    }

    /// What is still there although all was deleted.
    async fn left(&self, client: &Client) -> anyhow::Result<Vec<String>> {
        let everything = ListParams::default();
        let applies = applies(client).list_metadata(&everything).await?;
        let workspaces = Api::<Workspace>::all(client.clone()).list_metadata(&everything).await?;
        let secrets = Api::<Secret>::default_namespaced(client.clone()).list_metadata(&everything).await?;
        let names = [
            applies.iter().map(|it| format!("WorkspaceTemplateApply {}", it.name_any())).collect::<Vec<_>>(),
            workspaces.iter().map(|it| format!("Workspace {}", it.name_any())).collect(),
            secrets.iter().map(|it| format!("Secret {}", it.name_any())).collect(),
        ];
        Ok(names.concat())
    }
}

fn parameters() -> PatchParams {
    debug_assert_ne!(USER, FIELD_MANAGER);
    PatchParams::apply(USER).force()
}

fn applies(client: &Client) -> Api<WorkspaceTemplateApply> {
    Api::default_namespaced(client.clone())
}

fn apply_name(workspace: &str) -> String {
    format!("{workspace}-apply")
}

async fn put(client: &Client, workspace: &str, generation: u32) -> anyhow::Result<()> {
    let name = apply_name(workspace);
    let apply = json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplateApply",
        "metadata": { "name": name },
        "spec": {
            "templateRef": { "name": TEMPLATE },
            "variables": { "generation": generation.to_string(), "member": workspace },
        },
    });
    applies(client).patch(&name, &parameters(), &Patch::Apply(apply)).await?;
    Ok(())
}

/// What is being deleted cannot be made before it is gone.
async fn await_absence_of_deleted(client: &Client, workspace: &str) -> anyhow::Result<()> {
    let deadline = Instant::now() + SETTLED_WITHIN;
    while let Some(found) = applies(client).get_opt(&apply_name(workspace)).await? {
        if found.metadata.deletion_timestamp.is_none() {
            break;
        }
        anyhow::ensure!(Instant::now() < deadline, "{workspace} is still being deleted: {:?}", found.status);
        sleep(PAUSE).await;
    }
    Ok(())
}

/// Slow resources that leave a file in the world as long as they exist. Some are replaced with every generation.
fn module(root: &str) -> String {
    format!(
        r#"
variable "generation" {{}}
variable "member" {{}}

resource "terraform_data" "slow" {{
  count            = {RESOURCES}
  input            = "${{{root}}}/${{var.member}}/${{count.index}}"
  triggers_replace = [count.index % 2 == 0 ? var.generation : "first"]

  provisioner "local-exec" {{
    command     = "mkdir -p \"$PLACE\" && touch \"$PLACE/$ID\" && sleep 0.$NUMBER"
    environment = {{ PLACE = self.input, ID = self.id, NUMBER = count.index }}
  }}

  provisioner "local-exec" {{
    when        = destroy
    command     = "sleep 0.1; rm \"$PLACE/$ID\""
    environment = {{ PLACE = self.input, ID = self.id }}
  }}
}}

output "generation" {{
  value = var.generation
}}
"#
    )
}
