//! One use of a template.

use capt_api::names::{annotation, condition};
use capt_api::workspace_template_apply::UpdatePolicy;
use capt_api::{Cluster, Workspace, WorkspaceTemplateApply};
use capt_controller::by_hand::{Seen, StateOf};
use capt_core::cause::sentence;
use capt_core::migration::state::{Inventory, inventory};
use capt_core::standing;
use capt_core::tie::ApplyKey;
use capt_core::workspace::handover::handover;
use kube::{Client, ResourceExt};

use crate::commands::migrate::{Request, mark::Mark};
use crate::commands::target::{cluster_of, workspace_of};

/// A use of the template.
pub(in crate::commands::migrate) struct Subject {
    pub(in crate::commands::migrate) key: ApplyKey,
    pub(in crate::commands::migrate) apply: WorkspaceTemplateApply,
    pub(in crate::commands::migrate) workspace: Option<Workspace>,
    pub(in crate::commands::migrate) cluster: Option<Cluster>,
    pub(in crate::commands::migrate) mark: Option<Mark>,
    /// The Secret with the state, if there is one.
    pub(in crate::commands::migrate) secret: Option<String>,
    /// What is in the state.
    pub(in crate::commands::migrate) inventory: Inventory,
    pub(in crate::commands::migrate) standing: Standing,
    /// What is in the way.
    pub(in crate::commands::migrate) obstacles: Vec<String>,
}

/// Whether a use of the template has to be looked after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands::migrate) enum Standing {
    /// It has.
    Present,
    /// It is being deleted, with all that it installed.
    Leaving,
}

impl Subject {
    pub(super) async fn of(
        client: &Client,
        apply: WorkspaceTemplateApply,
        request: &Request,
    ) -> anyhow::Result<Self> {
        let key = ApplyKey::of(&apply);
        let workspace = workspace_of(client, &apply).await?;
        let cluster = cluster_of(client, &apply).await?;
        let is_leaving = apply.metadata.deletion_timestamp.is_some()
            || workspace.as_ref().is_some_and(|workspace| workspace.metadata.deletion_timestamp.is_some());
        let mark = Mark::of(&apply);
        let mut subject = Self {
            standing: if is_leaving { Standing::Leaving } else { Standing::Present },
            mark: None,
            secret: None,
            inventory: Inventory::default(),
            obstacles: Vec::new(),
            key,
            apply,
            workspace,
            cluster,
        };
        match mark {
            Ok(mark) => subject.mark = mark,
            Err(_) => subject.obstacle(&format!(
                "its annotation {} cannot be read: if nothing was begun on it, remove the annotation",
                annotation::MIGRATION
            )),
        }
        if subject.standing == Standing::Present {
            subject.look(client, request).await?;
        }
        Ok(subject)
    }

    fn obstacle(&mut self, what: &str) {
        self.obstacles.push(format!("WorkspaceTemplateApply `{}`: {what}", self.key));
    }

    async fn look(&mut self, client: &Client, request: &Request) -> anyhow::Result<()> {
        if self.apply.annotations().contains_key(annotation::MANAGED_BY) {
            self.obstacle("somebody else looks after it, as its annotation cluster.x-k8s.io/managed-by says");
        }
        if self.apply.spec.update_policy == UpdatePolicy::Pinned {
            self.obstacle(
                "spec.updatePolicy is Pinned, so that what leaves the template stays in its Workspace: set it to Automatic or Approve",
            );
        }
        let Some(workspace) = self.workspace.clone() else { return Ok(()) };
        if handover(&workspace.metadata).is_some() {
            self.obstacle(
                "its Workspace is Crossplane's and run by CAPT, and its pause keeps Crossplane away: run this before it is taken over, or after it is handed back (`capt migrate to-crossplane`)",
            );
        }
        let state = StateOf::new(client, &workspace, &self.apply);
        self.secret = Some(state.secret());
        let secret = state.secret();
        match state.read().await? {
            Seen::Absent => {
                self.secret = None;
                if let Some(where_else) = elsewhere(&self.apply, &workspace) {
                    self.obstacle(&where_else);
                }
            }
            Seen::NotOurs { workspace } => {
                self.obstacle(&format!("the state in Secret `{secret}` belongs to Workspace `{workspace}`"));
            }
            Seen::InParts(parts) => self.obstacle(&format!(
                "its state is spread over {parts} Secrets, which cannot be written as one: pause it, take the releases out with `terraform state rm`, and run this again"
            )),
            Seen::Unreadable => {
                self.obstacle(&format!("the state in Secret `{secret}` cannot be unpacked"));
            }
            Seen::Whole(content) => match inventory(content.text(), &request.which.releases) {
                Ok(inventory) => self.inventory = inventory,
                Err(problem) => {
                    self.obstacle(&format!("the state in Secret `{secret}`: {}", sentence(&problem)));
                }
            },
        }
        Ok(())
    }
}

/// Why there is no state in a Secret of CAPT's; nothing where there never was one.
fn elsewhere(apply: &WorkspaceTemplateApply, workspace: &Workspace) -> Option<String> {
    let status = workspace.status.as_ref();
    let state = status.and_then(|status| status.engine.as_ref()?.state.as_ref());
    let by_hand = "pause it, take the releases out with `terraform state rm` there, and change the template by hand as --dry-run shows it";
    let is_ready = status.is_some_and(|status| {
        let ready = status.conditions.iter().find(|entry| entry.type_ == condition::READY);
        ready.is_some_and(|ready| ready.status == "True")
    });
    match (apply.annotations().get(annotation::STATE), state) {
        (_, Some(state)) if state.backend != "kubernetes" => Some(format!(
            "its state is not in a Secret, but where the backend \"{}\" keeps it: {by_hand}",
            state.backend
        )),
        (Some(noted), _) => Some(format!("its state, which was in Secret `{noted}`, is missing")),
        (None, _) if is_ready => Some(format!("its state is not in a Secret of CAPT's: {by_hand}")),
        (None, _) => None,
    }
}

/// Whether an apply is paused by somebody: by its annotation, or by its Cluster.
pub(in crate::commands::migrate) fn is_held(
    apply: &WorkspaceTemplateApply,
    cluster: Option<&Cluster>,
) -> bool {
    matches!(standing::standing(&apply.metadata, cluster), standing::Standing::Paused(_))
}
