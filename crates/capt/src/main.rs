//! The capt binary: command line, printer, one file per verb.

mod archive;
mod cli;
mod commands;
mod connection;
mod directory;
mod engine;
mod exit;
mod home;
mod input;
mod live;
mod log_lines;
mod notifications;
mod overview;
mod printer;
mod program;
mod signals;
mod telemetry;
mod thread;

use std::process::ExitCode;

use clap::Parser;

use cli::Arguments;
use printer::Printer;

fn main() -> ExitCode {
    if let Some(code) = capt_local::supervisor::run_if_asked() {
        return code;
    }
    let arguments = Arguments::parse();
    let printer = Printer::new(arguments.output);
    telemetry::init(&arguments.log);
    match commands::run(arguments.command, printer) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read our output has seen enough.
        Err(error) if printer::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => exit::code(&error).unwrap_or_else(|| {
            printer.error(&error);
            ExitCode::FAILURE
        }),
    }
}
