//! The kinds that the cluster serves.

use capt_api::crd::{Foreign, foreign, own};
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
    Ok(Installed(outcomes))
}

impl Installed {
    pub(super) fn tell(&self, printer: Printer) {
        let installed = self.0.iter().filter(|(_, outcome)| *outcome == Outcome::Installed).count();
        printer.message(&format!("installed {installed} kinds"));
        for (name, outcome) in &self.0 {
            if let Outcome::LeftAlone(owner) = outcome {
                printer.warning(&format!("{name} was left as it is: {owner}"));
            }
        }
    }
}
