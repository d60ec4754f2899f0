//! Benchmarks: each prints one JSON value. Figures are ratios to what the same machine does at the same moment.

mod addons;
mod capt;
mod clusters;
mod diagnostics;
mod engine;
mod figures;
mod progress;
mod template;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "capt-bench", about = "Benchmarks that print JSON", arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(Subcommand)]
enum Benchmark {
    /// How soon a changed template reaches its Workspace, among many that are settled
    Template(template::Options),
    /// What clusters cost: in requests, until their kubeconfigs follow, and many at once
    Clusters(clusters::Options),
    /// What the Terraform engine costs: over the bare command line, while nothing changes, and in memory
    Engine(engine::Options),
    /// What add-ons cost: in time, requests and memory, over many clusters, and while nothing changes
    Addons(addons::Options),
}

fn main() -> ExitCode {
    // The control plane is supervised by this program itself.
    if let Some(code) = capt_local::supervisor::run_if_asked() {
        return code;
    }
    let arguments = Arguments::parse();
    match tokio::runtime::Runtime::new()
        .map_err(anyhow::Error::from)
        .and_then(|runtime| runtime.block_on(run(arguments)))
    {
        Ok(report) => {
            #[expect(clippy::print_stdout, reason = "the report is what the program is for")]
            {
                println!("{report:#}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "nobody else tells")]
            {
                eprintln!("error: {error:#}");
            }
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> anyhow::Result<serde_json::Value> {
    match arguments.benchmark {
        Benchmark::Template(options) => template::measure(options).await,
        Benchmark::Clusters(options) => Box::pin(clusters::measure(options)).await,
        Benchmark::Engine(options) => engine::measure(options).await,
        Benchmark::Addons(options) => Box::pin(addons::measure(options)).await,
    }
}
