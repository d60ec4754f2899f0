//! `capt completion`: scripts for shells.

use clap::{Command, CommandFactory as _};
use clap_complete::generate;

use crate::cli::{Arguments, CompletionArguments};
use crate::printer::Printer;

pub(crate) fn run(arguments: &CompletionArguments, printer: Printer) -> anyhow::Result<()> {
    let mut script = Vec::new();
    generate(arguments.shell, &mut for_people(), "capt", &mut script);
    printer.text(&String::from_utf8(script)?)
}

/// The command line without the verbs that only programs use: scripts would offer them like any other.
fn for_people() -> Command {
    let whole = Arguments::command();
    let verbs: Vec<_> = whole.get_subcommands().filter(|verb| !verb.is_hide_set()).cloned().collect();
    let flags: Vec<_> = whole.get_arguments().cloned().collect();
    Command::new("capt").version(env!("CARGO_PKG_VERSION")).args(flags).subcommands(verbs)
}
