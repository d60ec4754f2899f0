//! Chores of the repository.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "chores talk to whoever runs them")]

mod binary;
mod check;
mod conformance;
mod dist;
mod docs;
mod expressions;
mod fixture;
mod generate;
mod image;
mod repository;
mod soak;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use binary::Binary;

/// Chores of the repository.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Write everything under config/, and what is generated of the charts and the book, from the code
    Generate(Binary),
    /// Fail when one of these files is not what `generate` writes
    Check(Binary),
    /// Follow every link of the documentation, and build the book into target/book
    Docs,
    /// Write what a release has for clusterctl: components, templates, classes, checksums
    Dist(dist::Arguments),
    /// Build the image of the manager with mmdebstrap and buildah
    Image(image::Arguments),
    /// Compare with the real CRDs of Crossplane and Cluster API, the AWS SDK for Go, Flux and the real Cluster API core, and
    /// prove the packages with the real Helm, Prometheus and clusterctl
    Conformance(conformance::Arguments),
    /// Write what this version leaves for the tests of later ones
    Fixture(fixture::Arguments),
    /// Kill and restart for a while, and see whether anything is lost or left behind
    Soak(soak::Arguments),
}

fn main() -> ExitCode {
    if let Some(code) = capt_local::supervisor::run_if_asked() {
        return code;
    }
    let result = match Arguments::parse().chore {
        Chore::Generate(binary) => generate::run(&binary),
        Chore::Check(binary) => check::run(&binary),
        Chore::Docs => docs::run(),
        Chore::Dist(arguments) => dist::run(&arguments),
        Chore::Image(arguments) => image::run(&arguments),
        Chore::Conformance(arguments) => conformance::run(&arguments),
        Chore::Fixture(arguments) => fixture::run(&arguments),
        Chore::Soak(arguments) => soak::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
