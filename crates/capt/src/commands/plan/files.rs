//! `capt plan -f`: what would become of Workspaces if manifests on disk were applied.

mod difference;
mod live;
mod manifests;
mod render;
mod sources;
mod takeover;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use capt_api::workspace_template_apply::UpdatePolicy;
use capt_api::{Workspace, WorkspaceTemplateApply};
use capt_core::cause::sentence;
use capt_core::forecast::{Forecast, Held, World, forecast, template_key};
use capt_core::standing::{Standing, cluster_name, standing};
use capt_core::tie::{self, ApplyKey, Belongs};
use futures::future::join_all;
use kube::{Client, ResourceExt};

use self::difference::{Change, Difference, Differences};
use self::manifests::Manifests;
use self::render::{Rendered, rendered, with_values_at};
use super::ask::{self, Content};
use crate::commands::target::Subject;
use crate::exit::ExitWith;
use crate::printer::Printer;

pub(in crate::commands) use takeover::{Takeover, takeover_of};

/// How manifests are looked at.
pub(super) struct Options {
    pub(super) detailed_exitcode: bool,
    /// Nobody is asked for a plan.
    pub(super) render_only: bool,
    pub(super) timeout: Duration,
}

/// What there is and what there would be.
pub(super) struct Looking<'a> {
    client: &'a Client,
    manifests: &'a Manifests,
    /// As it would be.
    world: &'a World,
    /// As they are.
    workspaces: &'a BTreeMap<String, Workspace>,
}

/// A Workspace that would change, and what would be in it.
struct Prospect {
    difference: Difference,
    /// What Terraform is asked about.
    candidate: Option<Rendered>,
}

pub(super) async fn run(
    files: &[PathBuf],
    client: &Client,
    namespace: &str,
    options: Options,
    printer: Printer,
) -> anyhow::Result<()> {
    let (before, workspaces) = live::read(client, namespace).await?;
    let mut world = before.clone();
    let manifests = manifests::read(files, namespace, &mut world)?;
    ensure!(!manifests.objects.is_empty(), "there are no manifests in what was read");
    let Forecast { applies, held } = forecast(&before, &mut world, &manifests.applies);
    let looking = Looking { client, manifests: &manifests, world: &world, workspaces: &workspaces };
    let (mut prospects, mut failures) = looking.prospects(&applies).await;
    if !options.render_only {
        failures.extend(looking.plan(&mut prospects, options.timeout, printer).await);
    }
    let skipped = manifests.skipped.iter().cloned().chain(looking.held(held)).collect();
    let workspaces = prospects.into_iter().map(|prospect| prospect.difference).collect();
    let differences = Differences { workspaces, skipped };
    printer.value(&differences, &differences.sentences())?;
    ensure!(failures.is_empty(), "{}", failures.join("; "));
    if differences.changes() && options.detailed_exitcode {
        return Err(ExitWith(super::CHANGES).into());
    }
    Ok(())
}

impl Looking<'_> {
    /// What would become of each Workspace; and what could not be told, and why.
    async fn prospects(&self, applies: &[ApplyKey]) -> (Vec<Prospect>, Vec<String>) {
        let (mut prospects, mut failures, mut changing) = (Vec::new(), Vec::new(), BTreeSet::new());
        for key in applies {
            match self.of_apply(key, &changing).await {
                Ok(mut prospect) => {
                    let difference = &mut prospect.difference;
                    if difference.change != Change::None {
                        changing.insert(difference.workspace.clone());
                        let takers = self.takers(&difference.workspace, applies);
                        if !takers.is_empty() {
                            difference.remarks.push(format!(
                                "Workspaces that take outputs of it may change after it: {}",
                                takers.join(", ")
                            ));
                        }
                    }
                    prospects.push(prospect);
                }
                Err(error) => {
                    failures.push(format!("WorkspaceTemplateApply `{key}`: {}", sentence(error.as_ref())));
                }
            }
        }
        prospects
            .extend(self.manifests.workspaces.iter().map(|(name, wanted)| self.of_workspace(name, wanted)));
        (prospects, failures)
    }

    /// What CAPT would write for an apply, beside what is there.
    async fn of_apply(&self, key: &ApplyKey, changing: &BTreeSet<String>) -> anyhow::Result<Prospect> {
        let apply = self.world.applies.get(key).context("it is gone")?;
        let name = tie::workspace_name(apply);
        let live = self.workspaces.get(&name);
        if let Some(Belongs::ToApply(other)) = live.map(|live| tie::belongs(&live.metadata, key)) {
            anyhow::bail!(
                "Workspace `{name}` belongs to WorkspaceTemplateApply `{other}`; what this one makes gets another name"
            );
        }
        let mut made = rendered(self, apply, &name, live, changing).await?;
        let before = live.map(|live| &live.spec);
        let mut difference = Difference::between(&name, Some(key.to_string()), before, &made.spec);
        difference.remarks.append(&mut made.remarks);
        let held = self.held_back(apply, difference.change);
        let is_carried = held.is_none();
        difference.remarks.extend(held);
        if difference.change == Change::Update
            && apply.spec.update_policy == UpdatePolicy::Approve
            && is_carried
        {
            difference.remarks.push(format!("this waits for `capt approve apply {}`", key.name));
        }
        let unknown = &made.unknown;
        if difference.change == Change::Update && !unknown.is_empty() {
            difference.remarks.push(format!(
                "what Terraform would do is not known before these variables are: {}",
                unknown.join(", ")
            ));
        }
        let asks = difference.change == Change::Update && is_carried && unknown.is_empty();
        Ok(Prospect { difference, candidate: asks.then_some(made) })
    }

    /// Why nothing of a change reaches the Workspace for now.
    fn held_back(&self, apply: &WorkspaceTemplateApply, change: Change) -> Option<String> {
        let namespace = apply.namespace().unwrap_or_default();
        let cluster = cluster_name(&apply.metadata)
            .and_then(|cluster| self.world.clusters.get(&(namespace, cluster.to_owned())));
        match standing(&apply.metadata, cluster) {
            _ if change == Change::None => None,
            Standing::Active
                if change == Change::Update && apply.spec.update_policy == UpdatePolicy::Pinned =>
            {
                Some("spec.updatePolicy is Pinned: this is not carried over".to_owned())
            }
            Standing::Active => None,
            Standing::Paused(_) => Some("it is paused: this is not carried over until that ends".to_owned()),
            Standing::ExternallyManaged => Some("somebody else looks after it".to_owned()),
            Standing::Moved | Standing::Deleting => Some("its apply is being deleted".to_owned()),
        }
    }

    /// A Workspace that is written down itself.
    fn of_workspace(&self, name: &str, wanted: &Workspace) -> Prospect {
        let live = self.workspaces.get(name);
        let mut difference = Difference::between(name, None, live.map(|live| &live.spec), &wanted.spec);
        let apply = live.and_then(|live| tie::apply_of(&live.metadata));
        if let (Some(apply), true) = (&apply, difference.change != Change::None) {
            let remark =
                format!("WorkspaceTemplateApply `{apply}` makes it again as it was: change that one instead");
            difference.remarks.push(remark);
        }
        let asks = difference.change == Change::Update && apply.is_none();
        let made = || Rendered {
            spec: wanted.spec.clone(),
            whole: serde_json::json!(wanted.spec),
            values: None,
            unknown: Vec::new(),
            remarks: Vec::new(),
        };
        Prospect { difference, candidate: asks.then(made) }
    }

    /// Of what leads nowhere, that which somebody has written down.
    fn held(&self, held: Vec<Held>) -> impl Iterator<Item = String> {
        let unused = self.world.new_templates.iter().filter(|key| {
            !self
                .world
                .applies
                .values()
                .any(|apply| template_key(&apply.spec.template_ref, &apply.metadata) == **key)
        });
        let unused = unused
            .map(|(namespace, name)| format!("WorkspaceTemplate `{namespace}/{name}`: nothing uses it"));
        let written = |held: &Held| self.manifests.objects.contains(&(held.kind.clone(), held.key.clone()));
        unused.chain(held.into_iter().filter(move |held| written(held)).map(|held| held.to_string()))
    }

    /// Asks for the plans of all Workspaces that change, at the same time. What could not be planned is answered.
    async fn plan(&self, prospects: &mut [Prospect], timeout: Duration, printer: Printer) -> Vec<String> {
        let asking = prospects.iter_mut().map(async |prospect| {
            let Prospect { difference, candidate } = prospect;
            match (difference.change, candidate.take()) {
                (Change::Update, Some(made)) => self.ask(difference, made, timeout, printer).await,
                (Change::Create, _) => {
                    difference.remarks.push(
                        "everything in it is made; what exactly, Terraform can tell once the Workspace is there"
                            .to_owned(),
                    );
                    Ok(())
                }
                (Change::Update | Change::None, _) => Ok(()),
            }
        });
        let answers = join_all(asking).await;
        answers.into_iter().filter_map(Result::err).map(|error| sentence(error.as_ref())).collect()
    }

    async fn ask(
        &self,
        difference: &mut Difference,
        made: Rendered,
        timeout: Duration,
        printer: Printer,
    ) -> anyhow::Result<()> {
        let Some(live) = self.workspaces.get(&difference.workspace) else { return Ok(()) };
        let subject = Subject::of_workspace(self.client, live.clone()).await?;
        let moves = made.spec.provider_config_ref != live.spec.provider_config_ref;
        let why = match ask::why_not(self.client, &subject).await? {
            None if moves => {
                Some("spec.providerConfigRef changes, and credentials and state with it".to_owned())
            }
            why => why,
        };
        if let Some(why) = why {
            difference.remarks.push(format!("what Terraform would do is not known: {why}"));
            return Ok(());
        }
        let place = subject.kept(self.client)?.candidate_values();
        let Rendered { spec, values, .. } = made;
        let content = Content { for_provider: with_values_at(spec, &place).for_provider, values };
        let plan = ask::of_content(self.client, &subject, &content, timeout, printer).await?;
        difference.plan = Some(plan);
        Ok(())
    }
}
