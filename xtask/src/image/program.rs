//! Programs of the machine that build the image.

use std::io;
use std::process::{Command, Stdio};

use anyhow::{anyhow, ensure};

const ADVICE: &str =
    "on Debian and Ubuntu: apt-get install buildah mmdebstrap debian-archive-keyring musl-tools";

/// Runs it to its end; what it says is for whoever waits.
pub(super) fn run(command: &mut Command) -> anyhow::Result<()> {
    answer(command).map(|_| ())
}

/// What it prints.
pub(super) fn answer(command: &mut Command) -> anyhow::Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => anyhow!("{name} is not installed; {ADVICE}"),
        _ => anyhow!(error).context(format!("running {name}")),
    })?;
    ensure!(output.status.success(), "{name} ended with {}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_missing_is_named_with_what_brings_it() {
        let error = run(&mut Command::new("no-such-program")).unwrap_err().to_string();

        assert!(error.starts_with("no-such-program is not installed; on Debian"), "{error}");
    }

    #[test]
    fn a_program_that_fails_is_named() {
        let error = run(&mut Command::new("false")).unwrap_err().to_string();

        assert_eq!(error, "false ended with exit status: 1");
    }
}
