//! `cargo xtask soak`: long random runs, reproducible by their seed.

mod engine;
mod home;
mod leadership;
mod management;
pub(crate) mod moves;
mod objects;

use std::path::PathBuf;

use anyhow::ensure;
use clap::{Args, Subcommand};

use crate::binary::Binary;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    subject: Subject,
}

#[derive(Debug, Subcommand)]
enum Subject {
    /// `capt up`, stopped and killed at random moments
    Home(HomeArguments),
    /// Applies of slow resources, interrupted at random moments
    Engine(EngineArguments),
    /// Two managers whose leader is frozen, or cut off from the API server, at random moments
    Leadership(LeadershipArguments),
    /// Clusters moved back and forth by the real clusterctl, with the manager at the source killed at random moments
    Move(MoveArguments),
}

#[derive(Debug, Args)]
struct EngineArguments {
    /// How often it is stopped and how often killed, or how often it dies with its directory kept and how often with it lost
    #[arg(long, default_value_t = 10)]
    rounds: u32,
    /// What is ended; all, one after the other, by default
    #[arg(long, visible_alias = "deaths", value_enum)]
    subject: Option<engine::Subject>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
struct LeadershipArguments {
    /// How often something is frozen, for 5 to 30 s
    #[arg(long, default_value_t = 20)]
    rounds: u32,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
struct MoveArguments {
    /// How often something is moved
    #[arg(long, default_value_t = 20)]
    rounds: u32,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
struct Common {
    /// What chooses the moments; a new one is chosen and printed by default
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    binary: Binary,
}

#[derive(Debug, Args)]
struct HomeArguments {
    /// How often it is stopped or killed
    #[arg(long, default_value_t = 10)]
    rounds: u32,
    #[command(flatten)]
    common: Common,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.subject {
        Subject::Home(HomeArguments { rounds, common }) => {
            let (capt, seed) = common.resolve()?;
            let summary = tokio::runtime::Runtime::new()?.block_on(home::soak(&capt, *rounds, seed))?;
            println!("{}", serde_json::to_string_pretty(&summary)?);
            ensure!(summary.is_clean(), "with seed {seed} something was lost or left behind");
        }
        Subject::Engine(EngineArguments { rounds, subject, common }) => {
            let (capt, seed) = common.resolve()?;
            let runtime = tokio::runtime::Runtime::new()?;
            let all = [engine::Subject::Manager, engine::Subject::Home, engine::Subject::Container];
            for subject in all.into_iter().filter(|one| subject.is_none_or(|wanted| wanted == *one)) {
                if subject == engine::Subject::Container {
                    for tool in engine::deaths::tools()? {
                        let summary = runtime.block_on(engine::deaths::soak(&capt, &tool, *rounds, seed))?;
                        println!("{}", serde_json::to_string_pretty(&summary)?);
                        ensure!(
                            summary.is_clean(),
                            "with seed {seed} something is stuck, or was made twice by a call that nobody named"
                        );
                    }
                    continue;
                }
                let summary = runtime.block_on(engine::soak(&capt, subject, *rounds, seed))?;
                println!("{}", serde_json::to_string_pretty(&summary)?);
                ensure!(
                    summary.is_clean(),
                    "with seed {seed} something is stuck, or state and reality do not agree"
                );
            }
        }
        Subject::Leadership(LeadershipArguments { rounds, common }) => {
            let (capt, seed) = common.resolve()?;
            let summary = tokio::runtime::Runtime::new()?.block_on(leadership::soak(&capt, *rounds, seed))?;
            println!("{}", serde_json::to_string_pretty(&summary)?);
            ensure!(summary.is_clean(), "with seed {seed} somebody acted who did not lead");
        }
        Subject::Move(MoveArguments { rounds, common }) => {
            let (capt, seed) = common.resolve()?;
            let summary = tokio::runtime::Runtime::new()?.block_on(moves::soak(&capt, *rounds, seed))?;
            println!("{}", serde_json::to_string_pretty(&summary)?);
            ensure!(summary.is_clean(), "with seed {seed} a move cost something");
        }
    }
    Ok(())
}

impl Common {
    /// The binary and the seed, which is printed.
    fn resolve(&self) -> anyhow::Result<(PathBuf, u64)> {
        let capt = self.binary.resolve()?;
        let seed = self.seed.unwrap_or_else(|| fastrand::u64(..));
        println!("seed {seed}");
        Ok((capt, seed))
    }
}
