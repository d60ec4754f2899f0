//! Workspaces handed over between the real provider-terraform of Crossplane and CAPT, both running.
//!
//! Each side runs Terraform through a script that notes when a command begins and ends, so that it shows who acts, and that
//! never both do.

mod diary;
mod provider;
mod site;

use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::clusterctl::eyes::{SOON, is_true, until};
use super::modules::Pins;
use super::pages;
use crate::binary::Binary;
use diary::{CAPT, CROSSPLANE};
use site::{Made, Site};

/// So many looks of Crossplane at a Workspace that was handed back prove that it changes nothing.
const LOOKS: usize = 2;
const PASSED_WITHIN: &str = "--timeout=60s";

/// What each Workspace makes.
const MODULE: &str = r#"
variable "greeting" { type = string }
resource "terraform_data" "first" { input = var.greeting }
resource "terraform_data" "second" { input = terraform_data.first.id }
resource "terraform_data" "third" { triggers_replace = ["fixed"] }
output "greeting" { value = terraform_data.first.output }
output "ids" { value = [terraform_data.first.id, terraform_data.second.id, terraform_data.third.id] }
output "count" { value = 3 }
output "password" {
  value     = "open-${terraform_data.third.id}"
  sensitive = true
}
"#;

/// A Workspace goes from the real Crossplane to CAPT and back, and nothing is made, changed or lost on the way.
pub(super) fn hands_over(pins: &Pins, binary: &Binary) -> anyhow::Result<()> {
    let provider = provider::obtain()?;
    let capt = binary.resolve()?;
    let run = async {
        let site = Site::set(pins, &provider, &capt).await?;
        let result = goes_there_and_back(&site).await;
        result.with_context(|| site.last_words())
    };
    tokio::runtime::Runtime::new()?.block_on(run).context("a Workspace between Crossplane and CAPT")
}

async fn goes_there_and_back(site: &Site) -> anyhow::Result<()> {
    let reader = site.reader()?;
    let name = "network";
    site.put_workspace(name, MODULE, "hello").await?;
    site.put_workspace("other", MODULE, "hello").await?;
    let made = site.settled(name).await?;
    site.settled("other").await?;
    let (shared, other) = (site.uid(name).await?, site.uid("other").await?);
    println!("ok: Crossplane has made two Workspaces");

    // Taken over: nothing is written but what says so.
    let planned = site.capt(&["migrate", "from-crossplane", "--all", "--dry-run"])?;
    ensure!(planned["workspaces"][0]["outcome"] == "Planned", "a dry run says {planned}");
    reader.run(pages::FROM_CROSSPLANE, &[]).await?;
    same(&made, &site.made(name).await?, "taking over")?;
    let diary = site.diary.take()?;
    ensure!(
        diary.count(CAPT, "plan") > 0 && diary.count(CAPT, "apply") == 0,
        "taking over is a plan: {diary:?}"
    );
    println!("ok: CAPT has taken over what Crossplane made, without a change");

    // A change is CAPT's alone, while Crossplane goes on with the other one.
    site.change(
        name,
        json!({ "spec": { "forProvider": { "vars": [{ "key": "greeting", "value": "bye" }] } } }),
    )
    .await?;
    let changed = site.greets(name, "bye").await?;
    ensure!(changed.outputs["ids"] == made.outputs["ids"], "a change has made something anew");
    ensure!(changed.lineage == made.lineage, "a change has begun another state");
    site.looked_at(&other, LOOKS).await?;
    let diary = site.diary.take()?;
    ensure!(diary.count(CAPT, "apply") == 1, "CAPT has applied once: {diary:?}");
    ensure!(diary.of(&shared, CROSSPLANE) == 0, "Crossplane has run what is CAPT's: {diary:?}");
    println!("ok: CAPT alone changes it, while Crossplane runs another");

    // Handed back: Crossplane looks at it again and finds nothing to do.
    let given = site.capt(&["migrate", "to-crossplane", name, "--yes", PASSED_WITHIN])?;
    ensure!(given["workspaces"][0]["outcome"] == "Done", "handing back says {given}");
    site.looked_at(&shared, LOOKS).await?;
    let back = site.settled(name).await?;
    same(&changed, &back, "handing back")?;
    let diary = site.diary.take()?;
    ensure!(diary.of(&shared, CROSSPLANE) > 0, "Crossplane does not run it again: {diary:?}");
    ensure!(
        diary.count(CROSSPLANE, "apply") + diary.count(CAPT, "apply") == 0,
        "somebody has changed it: {diary:?}"
    );
    println!("ok: Crossplane has it back, and has nothing to change");

    reader.run(pages::THERE_AND_BACK, &[]).await?;
    site.looked_at(&shared, LOOKS).await?;
    same(&back, &site.settled(name).await?, "going there and back")?;
    let diary = site.diary.take()?;
    ensure!(
        diary.count(CROSSPLANE, "apply") + diary.count(CAPT, "apply") == 0,
        "going there and back has changed it: {diary:?}"
    );

    // Each takes down what it runs.
    site.delete(name).await?;
    site.gone(name).await?;
    let diary = site.diary.take()?;
    ensure!(diary.of(&shared, CAPT) == 0, "CAPT has run what is Crossplane's: {diary:?}");
    reader.run(pages::ALL_FROM_CROSSPLANE, &[]).await?;
    site.diary.take()?;
    site.delete("other").await?;
    site.gone("other").await?;
    let diary = site.diary.take()?;
    ensure!(diary.of(&other, CROSSPLANE) == 0, "Crossplane has run what is CAPT's: {diary:?}");
    println!("ok: each takes down what it runs, and nothing is left");
    Ok(())
}

/// Nothing of what was made differs, not even how often its state was written.
fn same(before: &Made, after: &Made, doing: &str) -> anyhow::Result<()> {
    ensure!(before == after, "{doing} has changed something:\n{before:#?}\n{after:#?}");
    Ok(())
}

/// Whether a Workspace is as it should be, by Crossplane's conditions.
fn is_settled(workspace: &Value) -> Result<(), String> {
    is_true(workspace, "Ready").and_then(|()| is_true(workspace, "Synced"))
}

/// Looks until there is what is wanted.
async fn soon<T>(look: impl AsyncFnMut() -> anyhow::Result<Result<T, String>>) -> anyhow::Result<T> {
    until(SOON, look).await
}

/// How often Crossplane looks.
const POLL: Duration = Duration::from_secs(2);
