//! `capt completion`: a script for each shell.

use std::io::Write as _;
use std::process::{Command, Stdio};

use rstest::rstest;

use crate::{capt, printed, told};

/// The verbs that the help shows.
fn visible_verbs() -> Vec<String> {
    let help = printed(capt().arg("--help"));
    let commands = help.split_once("Commands:\n").unwrap().1.split("\n\n").next().unwrap().to_owned();
    // What does not fit into a line goes on in the next, further in.
    let verbs = commands.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    verbs.filter(|verb| !verb.is_empty()).map(ToOwned::to_owned).collect()
}

#[rstest]
fn every_script_names_every_verb(#[values("bash", "zsh", "fish", "powershell", "elvish")] shell: &str) {
    let script = printed(capt().args(["completion", shell]));

    let verbs = visible_verbs();
    assert!(verbs.contains(&"describe".to_owned()) && verbs.contains(&"completion".to_owned()), "{verbs:?}");
    for verb in verbs {
        assert!(script.contains(&verb), "{shell}: {verb}");
    }
    let offered = ["capt__workload", "'workload", "\"workload\"", "cand workload"];
    assert!(
        !offered.iter().any(|form| script.contains(form)),
        "what is for modules is not offered to people"
    );
}

#[test]
fn bash_can_read_its_script() {
    if Command::new("bash").arg("--version").stdout(Stdio::null()).status().is_err() {
        return;
    }
    let script = printed(capt().args(["completion", "bash"]));
    let mut bash = Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn().unwrap();
    bash.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    assert!(bash.wait().unwrap().success());
}

#[test]
fn an_unknown_shell_is_told_with_those_that_are_known() {
    let told = told(capt().args(["completion", "tcsh"]), 2);
    assert!(told.contains("[possible values: bash, elvish, fish, powershell, zsh]"), "{told}");
}
