//! The passphrase of a backup: from a file, from a variable, or from the person at the terminal.

use std::env;
use std::fs::File;
use std::io::{self, IsTerminal as _, Read as _};
use std::path::Path;

use age::secrecy::{ExposeSecret as _, SecretString};
use anyhow::{Context as _, bail, ensure};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

use crate::printer::Printer;

/// The variable that may hold it.
const VARIABLE: &str = "CAPT_BACKUP_PASSPHRASE";
/// What is longer is no passphrase but the wrong file.
const LONGEST: u64 = 4096;
/// What is shorter is guessed.
const SHORTEST: usize = 8;
/// Ctrl-C, as a terminal has it.
const INTERRUPT: u8 = 3;

/// What it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A new backup.
    Seal,
    /// One that is there.
    Open,
}

/// Reads the passphrase. To be called where blocking holds up nobody.
pub(crate) fn read(file: Option<&Path>, purpose: Purpose, printer: Printer) -> anyhow::Result<SecretString> {
    let passphrase = match (file, env::var_os(VARIABLE)) {
        (Some(file), _) => from_file(file)?,
        (None, Some(value)) => {
            let Ok(text) = value.into_string() else { bail!("the variable {VARIABLE} is not UTF-8") };
            SecretString::from(text)
        }
        (None, None) => from_terminal(purpose, printer)?,
    };
    let length = passphrase.expose_secret().chars().count();
    ensure!(length > 0, "the passphrase is empty");
    ensure!(
        purpose == Purpose::Open || length >= SHORTEST,
        "the passphrase is too short: write at least {SHORTEST} characters, better a sentence"
    );
    Ok(passphrase)
}

fn from_file(path: &Path) -> anyhow::Result<SecretString> {
    let shown = path.display();
    let file = File::open(path).with_context(|| format!("opening the passphrase file {shown}"))?;
    let mut text = String::new();
    let read = file.take(LONGEST + 1).read_to_string(&mut text);
    let length = read.with_context(|| format!("reading the passphrase file {shown}"))?;
    ensure!(length as u64 <= LONGEST, "the passphrase file {shown} holds more than {LONGEST} bytes");
    text.truncate(text.trim_end_matches(['\r', '\n']).len());
    Ok(text.into())
}

fn from_terminal(purpose: Purpose, printer: Printer) -> anyhow::Result<SecretString> {
    ensure!(
        io::stdin().is_terminal(),
        "there is nobody to ask for the passphrase: give it with --passphrase-file FILE or in the variable {VARIABLE}"
    );
    let first = ask("Passphrase: ", printer)?;
    if purpose == Purpose::Seal {
        let second = ask("The same once more: ", printer)?;
        ensure!(
            first.expose_secret() == second.expose_secret(),
            "the two passphrases differ: nothing was written"
        );
    }
    Ok(first)
}

fn ask(prompt: &str, printer: Printer) -> anyhow::Result<SecretString> {
    // Whoever sees the prompt may type at once: by then nothing is shown, and nothing typed is thrown away.
    let quiet = Quiet::begin().context("asking for the passphrase")?;
    printer.prompt(prompt);
    let line = typed(io::stdin().lock());
    drop(quiet);
    printer.message("");
    let line = line.context("reading the passphrase")?;
    ensure!(!line.is_empty() && !line.contains(&INTERRUPT), "no passphrase was given: nothing was done");
    let Ok(mut text) = String::from_utf8(line) else { bail!("the passphrase is not UTF-8") };
    text.truncate(text.trim_end_matches(['\r', '\n']).len());
    Ok(text.into())
}

/// What is typed until the end of the line, or until Ctrl-C.
fn typed(input: impl io::BufRead) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    for byte in input.take(LONGEST).bytes() {
        match byte? {
            b'\n' => break,
            byte => line.push(byte),
        }
        if line.last() == Some(&INTERRUPT) {
            break;
        }
    }
    Ok(line)
}

/// A terminal that does not show what is typed, until this is dropped. Ctrl-C ends the line instead of the program, which would
/// leave the terminal as it is.
struct Quiet(Termios);

impl Quiet {
    fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ISIG);
        quiet.special_codes[SpecialCodeIndex::VEOL] = INTERRUPT;
        tcsetattr(io::stdin(), OptionalActions::Flush, &quiet)?;
        Ok(Self(before))
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &self.0);
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::typed;

    #[rstest]
    #[case::a_line(b"secret\nmore", b"secret")]
    #[case::the_end(b"secret", b"secret")]
    #[case::given_up(b"sec\x03", b"sec\x03")]
    #[case::nothing(b"", b"")]
    fn a_line_ends_where_the_person_ends_it(#[case] input: &[u8], #[case] expected: &[u8]) {
        assert_eq!(typed(input).unwrap(), expected);
    }
}
