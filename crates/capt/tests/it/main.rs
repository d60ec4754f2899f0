//! The binary as a user runs it.
#![expect(clippy::unwrap_used, reason = "a fixture that fails fails its test")]

mod addons_init;
mod addons_values;
mod approve;
mod archive;
mod compat;
mod completion;
mod crds;
mod deaths;
mod demo;
mod doctor;
mod engine;
mod examples;
mod leaks;
mod lifecycle;
mod log_words;
mod manager;
mod migrate;
mod overview;
mod pages;
mod reconcile;
mod runs;
mod skew;
mod state;
mod terminal;
mod up;
mod usage;
mod validate;
mod version;
mod workload;

use assert_cmd::Command;

/// What `capt` listens to.
const VARIABLES: [&str; 7] = [
    "CAPT_ADDON_WEBHOOK",
    "CAPT_BACKUP_PASSPHRASE",
    "CAPT_LOG",
    "KUBECONFIG",
    "KUBERNETES_SERVICE_HOST",
    "POD_NAMESPACE",
    "XDG_DATA_HOME",
];

/// A `capt` that takes nothing from the environment of the test.
fn capt() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_capt"));
    for variable in VARIABLES {
        command.env_remove(variable);
    }
    command
}

/// What a run that succeeded printed.
fn printed(command: &mut Command) -> String {
    let output = command.assert().success().get_output().stdout.clone();
    String::from_utf8(output).unwrap()
}

/// What a run that ended with this code told the user.
fn told(command: &mut Command, code: i32) -> String {
    let output = command.assert().code(code).get_output().clone();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "messages go to standard error");
    String::from_utf8(output.stderr).unwrap()
}
