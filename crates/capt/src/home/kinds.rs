//! The kinds that the cluster serves.

use anyhow::bail;
use capt_api::crd::{Foreign, foreign, own};
use capt_api::names::group;
use capt_controller::install::{Kinds, Outcome, install};
use kube::Client;

use crate::printer::Printer;

/// What became of each kind.
pub(super) struct Installed(Vec<(String, Outcome)>);

/// Installs CAPT's kinds, and compatible ones of others as far as the others are not there.
pub(super) async fn install_all(client: &Client) -> anyhow::Result<Installed> {
    let others: Vec<_> = [Foreign::Terraform, Foreign::ClusterApi].into_iter().flat_map(foreign).collect();
    let mut outcomes = install(client, Kinds::Own, &own()).await?;
    outcomes.extend(install(client, Kinds::Foreign, &others).await?);
    for (name, outcome) in &outcomes {
        refuse_if_too_new(name, outcome)?;
    }
    Ok(Installed(outcomes))
}

/// The manager would wait for ever: nobody else upgrades the kinds of a home.
fn refuse_if_too_new(name: &str, outcome: &Outcome) -> anyhow::Result<()> {
    let Outcome::Newer(skew) = outcome else { return Ok(()) };
    let told = skew.sentence(name).zip(skew.fix(None, None)).filter(|_| skew.holds_up(None));
    match told {
        Some((sentence, fix)) => bail!("{sentence}: {fix}"),
        None => Ok(()),
    }
}

impl Installed {
    /// Whether Clusters are of CAPT's own kind, so that it looks after them itself.
    pub(super) fn serves_clusters(&self) -> bool {
        let clusters = format!("clusters.{}", group::CLUSTER);
        self.0.iter().any(|(name, outcome)| *name == clusters && *outcome == Outcome::Installed)
    }

    pub(super) fn tell(&self, printer: Printer) {
        let installed = self.0.iter().filter(|(_, outcome)| *outcome == Outcome::Installed).count();
        printer.message(&format!("installed {installed} kinds"));
        for (name, outcome) in &self.0 {
            match outcome {
                Outcome::Installed => {}
                Outcome::LeftAlone(owner) => {
                    printer.warning(&format!("{name} was left as it is: {owner}"));
                }
                Outcome::Newer(skew) => {
                    let sentence = skew.sentence(name).unwrap_or_default();
                    printer.warning(&format!("{sentence}; it was left as it is"));
                }
            }
        }
    }
}
