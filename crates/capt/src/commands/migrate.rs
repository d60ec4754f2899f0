//! `capt migrate`: what runs goes on running in other hands. What Terraform installed goes on without Terraform; what the earlier
//! Go implementation made goes on with CAPT (`from_go`); Workspaces pass from Crossplane to CAPT and back (`crossplane`).

mod crossplane;
mod from_go;
mod mark;
mod plan;
mod steps;
mod survey;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use capt_core::migration::{Releases, Which};
use capt_core::name::is_namespace_name;
use serde::Serialize;

use self::plan::{Outcome, Plan};
use self::survey::Survey;
use crate::cli::{HelmReleaseArguments, MigrateArguments, MigrateCommand};
use crate::commands::confirm;
use crate::commands::write::Writer;
use crate::connection;
use crate::printer::Printer;

/// Whoever looks at the managers of a field sees where it comes from.
const FIELD_MANAGER: &str = "capt-migrate";
const WRITER: Writer = Writer(FIELD_MANAGER);

/// What the user asks for.
struct Request {
    which: Which,
    template: Option<String>,
    applies: Vec<String>,
    namespace: String,
    labels: BTreeMap<String, String>,
    timeout: Duration,
}

pub(crate) async fn run(arguments: MigrateArguments, printer: Printer) -> anyhow::Result<()> {
    match arguments.command {
        MigrateCommand::HelmRelease(arguments) => helm_release(arguments, printer).await,
        MigrateCommand::FromCrossplane(arguments) => crossplane::take(arguments, printer).await,
        MigrateCommand::ToCrossplane(arguments) => crossplane::give(arguments, printer).await,
        MigrateCommand::FromGo(arguments) => from_go::run(arguments, printer).await,
    }
}

async fn helm_release(arguments: HelmReleaseArguments, printer: Printer) -> anyhow::Result<()> {
    let (dry_run, yes) = (arguments.dry_run, arguments.yes);
    confirm::may_ask(dry_run || yes, "look with --dry-run at what would be done, and do it with --yes")?;
    let client = connection::find_for_person(&arguments.connection).await?.client;
    let request = Request::of(arguments, client.default_namespace())?;
    let Some(survey) = Survey::take(&client, &request).await? else {
        let plan = Plan::nothing(&request);
        return printer.value(&plan, &plan.sentences());
    };
    let mut plan = Plan::of(&survey, &request);
    if plan.outcome == Outcome::NothingToDo {
        return printer.value(&plan, &plan.sentences());
    }
    if dry_run {
        return show(&plan, &plan.sentences(), &plan.in_the_way, printer);
    }
    may_be_done(&plan.sentences(), &plan.in_the_way, yes, printer).await?;
    plan.left = steps::carry_out(&client, &request, &survey, printer)
        .await
        .context("this is not finished; what was paused stays paused, nothing is uninstalled, and running this again goes on")?;
    plan.outcome = Outcome::Done;
    printer.value(&plan, &plan.sentences())
}

/// Shows what would be done. Whatever is in the way makes it fail, so that a script notices.
fn show(
    plan: &impl Serialize,
    sentences: &str,
    in_the_way: &[String],
    printer: Printer,
) -> anyhow::Result<()> {
    printer.value(plan, sentences)?;
    ensure!(in_the_way.is_empty(), "this cannot be done yet: see what is in the way");
    Ok(())
}

/// Makes sure that nothing is in the way, and that it is meant.
async fn may_be_done(
    sentences: &str,
    in_the_way: &[String],
    yes: bool,
    printer: Printer,
) -> anyhow::Result<()> {
    ensure!(in_the_way.is_empty(), "nothing was changed: {}", in_the_way.join("; "));
    ensure!(yes || confirm::ask(sentences, "Do this?", printer).await?, "nothing was changed");
    Ok(())
}

impl Request {
    fn of(arguments: HelmReleaseArguments, default_namespace: &str) -> anyhow::Result<Self> {
        let HelmReleaseArguments { names, all, template, applies, labels, timeout, .. } = arguments;
        let namespace = arguments.namespace.unwrap_or_else(|| default_namespace.to_owned());
        ensure!(
            is_namespace_name(&namespace),
            "`{namespace}` is no name of a namespace: write one with --namespace"
        );
        let releases = if all { Releases::All } else { Releases::Named(names.into_iter().collect()) };
        Ok(Self {
            which: Which { releases, drop_provider: arguments.drop_provider },
            template,
            applies,
            namespace,
            labels: labels.into_iter().collect(),
            timeout,
        })
    }
}

/// Releases in words.
fn named(releases: &Releases) -> String {
    match releases {
        Releases::All => "helm_release".to_owned(),
        Releases::Named(names) => {
            names.iter().map(|name| format!("helm_release.{name}")).collect::<Vec<_>>().join(", ")
        }
    }
}
