//! `cargo xtask conformance`: CAPT beside the real CRDs of Crossplane's provider-terraform and of Cluster API, and beside
//! programs made of others' code.
//!
//! Two API servers, one with the real CRDs and one with ours, are asked the same; CAPT must do its work on the real ones
//! without touching them; what Cluster API wants of a provider holds with the real core and without it; the real core
//! brings add-ons in the order of an `AddonStack`; and it makes Clusters from the class of the examples. All of that with the
//! rights that the chart gives, which the real Helm installs. The real clusterctl installs CAPT, describes and upgrades it. The real
//! provider-terraform hands Workspaces over, and gets them back.

mod answer;
mod clusterctl;
mod contract;
mod crossplane;
mod difference;
mod eks_token;
mod go;
mod helm_values;
mod manager;
mod modules;
mod oracle;
mod packaging;
mod pages;
mod process;
mod server;
mod table;
mod tool;

use std::collections::BTreeMap;

use anyhow::{bail, ensure};
use capt_api::crd::{Foreign, foreign, own};
use capt_controller::install::{Kinds, Outcome, install};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use crate::binary::Binary;
pub(crate) use clusterctl::Clusterctl;
use clusterctl::Tools;
pub(crate) use contract::ClusterApi;
use modules::Pins;
use packaging::Helm;
use server::Server;
use table::Answer;
pub(crate) use table::objects_of;

/// What is compared.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Compare only this
    #[arg(long)]
    only: Option<Part>,
    #[command(flatten)]
    binary: Binary,
}

/// What can be looked at alone.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Part {
    /// Installing, describing and upgrading with the real clusterctl
    Clusterctl,
    /// Tokens for EKS, with those of the AWS SDK for Go
    EksToken,
    /// Values of `HelmReleases`, with those that Flux makes
    HelmValues,
    /// Charts, alerts and the dashboard, with Helm and Prometheus
    Charts,
    /// The contract of Cluster API, with its core
    Contract,
    /// Clusters that the real Cluster API makes from a class
    Topology,
    /// Workspaces between the real provider-terraform and CAPT
    Crossplane,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match arguments.only {
        Some(Part::EksToken) => return eks_token::agrees_with_the_sdk_for_go(),
        Some(Part::HelmValues) => return helm_values::agree_with_flux(),
        Some(Part::Charts) => {
            return packaging::holds(&arguments.binary.resolve()?, &Helm::obtain()?, &Pins::read()?);
        }
        Some(Part::Clusterctl) => return clusterctl(&tools(&Pins::read()?, &arguments.binary)?),
        Some(Part::Contract) => return contract(&ClusterApi::obtain(&Pins::read()?)?, &Helm::obtain()?),
        Some(Part::Topology) => return topology(&ClusterApi::obtain(&Pins::read()?)?, &Helm::obtain()?),
        Some(Part::Crossplane) => return crossplane::hands_over(&Pins::read()?, &arguments.binary),
        None => {}
    }
    eks_token::agrees_with_the_sdk_for_go()?;
    helm_values::agree_with_flux()?;
    let pins = Pins::read()?;
    let real = modules::crds(&pins)?;
    let tools = tools(&pins, &arguments.binary)?;
    let helm = Helm::obtain()?;
    packaging::holds(&tools.capt, &helm, &pins)?;
    tokio::runtime::Runtime::new()?.block_on(Box::pin(crds_agree(&real)))?;
    contract(&tools.cluster_api, &helm)?;
    topology(&tools.cluster_api, &helm)?;
    clusterctl(&tools)?;
    crossplane::hands_over(&pins, &arguments.binary)
}

fn tools(pins: &Pins, binary: &Binary) -> anyhow::Result<Tools> {
    let cluster_api = ClusterApi::obtain(pins)?;
    Ok(Tools { clusterctl: ClusterApi::clusterctl()?, cluster_api, capt: binary.resolve()? })
}

fn clusterctl(tools: &Tools) -> anyhow::Result<()> {
    tokio::runtime::Runtime::new()?.block_on(clusterctl::installs_capt(tools))
}

fn contract(cluster_api: &ClusterApi, helm: &Helm) -> anyhow::Result<()> {
    tokio::runtime::Runtime::new()?.block_on(Box::pin(contract::holds(cluster_api, helm)))
}

fn topology(cluster_api: &ClusterApi, helm: &Helm) -> anyhow::Result<()> {
    tokio::runtime::Runtime::new()?.block_on(contract::topology::holds(cluster_api, helm))
}

async fn crds_agree(real: &[CustomResourceDefinition]) -> anyhow::Result<()> {
    let (theirs, ours) = tokio::try_join!(with_real_crds(real), with_our_crds())?;
    let (their_answers, our_answers) =
        tokio::try_join!(table::ask(&theirs.client), table::ask(&ours.client))?;
    compare(&their_answers, &our_answers)?;
    leave_alone(&theirs).await?;
    manager::derives_the_examples(&theirs.client).await
}

async fn with_real_crds(real: &[CustomResourceDefinition]) -> anyhow::Result<Server> {
    let server = Server::start().await?;
    server.apply(real).await?;
    install(&server.client, Kinds::Own, &own()).await?;
    Ok(server)
}

async fn with_our_crds() -> anyhow::Result<Server> {
    let server = Server::start().await?;
    install(&server.client, Kinds::Own, &own()).await?;
    install(&server.client, Kinds::Foreign, &compatible()).await?;
    Ok(server)
}

fn compatible() -> Vec<CustomResourceDefinition> {
    [Foreign::Terraform, Foreign::ClusterApi].into_iter().flat_map(foreign).collect()
}

/// An install beside the real CRDs changes none of them.
async fn leave_alone(server: &Server) -> anyhow::Result<()> {
    let before = server.versions().await?;
    for (name, outcome) in install(&server.client, Kinds::Foreign, &compatible()).await? {
        ensure!(
            matches!(outcome, Outcome::LeftAlone(_)),
            "{name} is somebody else's, but was installed over"
        );
    }
    ensure!(before == server.versions().await?, "an install changed a CRD that is somebody else's");
    println!("ok: the real CRDs are left alone");
    Ok(())
}

fn compare(theirs: &BTreeMap<String, Answer>, ours: &BTreeMap<String, Answer>) -> anyhow::Result<()> {
    let mut problems = Vec::new();
    for (name, their_answer) in theirs {
        let Some(our_answer) = ours.get(name) else { bail!("{name} was not asked of our CRDs") };
        let found = table::problems(their_answer, our_answer);
        if found.is_empty() {
            println!("ok: {name}");
        }
        problems.extend(found.into_iter().map(|problem| format!("{name}: {problem}")));
    }
    ensure!(problems.is_empty(), "not compatible with the real CRDs:\n  {}", problems.join("\n  "));
    println!("{} objects get the same answers from the real CRDs and from ours", theirs.len());
    Ok(())
}
