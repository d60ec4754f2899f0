//! Benchmarks: each prints one JSON value. Figures are ratios to what the same machine does at the same moment.

mod figures;
mod template;

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
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let report = match Arguments::parse().benchmark {
        Benchmark::Template(options) => template::measure(options).await?,
    };
    #[expect(clippy::print_stdout, reason = "the report is what the program is for")]
    {
        println!("{report:#}");
    }
    Ok(())
}
