//! Parts built with Go, from modules whose every dependency is pinned by checksum.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::Progress;
use crate::catalog::{GoBuild, Module, Part, module};
use crate::environment::Platform;

/// How long to wait before asking again, when the module proxy is busy.
const PAUSES: [Duration; 4] =
    [Duration::from_secs(2), Duration::from_secs(5), Duration::from_secs(15), Duration::from_secs(30)];
/// How many of the last lines of the compiler's messages are worth showing.
const LINES: usize = 8;
/// What a module proxy or the way to it says when another attempt may work.
const PASSING: [&str; 6] = [
    "too many requests",
    "429",
    "502 bad gateway",
    "503 service unavailable",
    "connection reset",
    "tls handshake timeout",
];

/// Why nothing was built.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GoError {
    #[error("module {0} is not carried in this binary")]
    NoModule(String),
    #[error("go is not installed (or not in PATH)")]
    NotInstalled,
    #[error("go cannot be run: {0}")]
    NotRunnable(io::Error),
    #[error("go {found} is installed, but {needed} or newer is needed (other toolchains are not fetched)")]
    TooOld { found: String, needed: String },
    #[error("writing the module")]
    Write(#[source] io::Error),
    #[error("go build failed:\n{0}")]
    Build(String),
}

/// Builds parts.
#[derive(Debug)]
pub(crate) struct Go {
    command: PathBuf,
    platform: Platform,
    pauses: Vec<Duration>,
}

impl Go {
    pub(crate) fn new(command: &Path, platform: &Platform) -> Self {
        Self { command: command.to_owned(), platform: platform.clone(), pauses: PAUSES.to_vec() }
    }

    /// Whether there is a Go that is new enough.
    pub(crate) fn can_build(&self, build: &GoBuild) -> bool {
        module(&build.module).is_some_and(|module| self.check_version(module).is_ok())
    }

    /// Builds the executable in `scratch` and answers with its path there.
    pub(crate) fn build(
        &self,
        part: &Part,
        build: &GoBuild,
        scratch: &TempDir,
        progress: &Progress,
    ) -> Result<PathBuf, GoError> {
        let module = module(&build.module).ok_or_else(|| GoError::NoModule(build.module.clone()))?;
        self.check_version(module)?;
        for (name, content) in module.files {
            fs::write(scratch.path().join(name), content).map_err(GoError::Write)?;
        }
        let title = format!("{} {}", part.name, part.version);
        let task = progress.task(&format!("building {title} with go (takes minutes the first time)"));
        let started = Instant::now();
        let output = scratch.path().join(&part.name);
        self.run(part, build, scratch, &output, progress)?;
        task.finish(&format!("built {title} in {} s", started.elapsed().as_secs()));
        Ok(output)
    }

    fn run(
        &self,
        part: &Part,
        build: &GoBuild,
        scratch: &TempDir,
        output: &Path,
        progress: &Progress,
    ) -> Result<(), GoError> {
        let mut pauses = self.pauses.iter();
        loop {
            let result = self
                .go(scratch.path())
                .args(["build", "-trimpath", "-buildvcs=false", "-ldflags"])
                .arg(build.ldflags.join(" ").replace("{version}", &part.version))
                .arg("-o")
                .arg(output)
                .arg(&build.package)
                .output()
                .map_err(GoError::NotRunnable)?;
            if result.status.success() {
                return Ok(());
            }
            let messages = String::from_utf8_lossy(&result.stderr);
            match pauses.next().filter(|_| is_passing(&messages)) {
                Some(pause) => {
                    progress
                        .say(&format!("the Go module proxy is busy; trying again in {} s", pause.as_secs()));
                    thread::sleep(*pause);
                }
                None => return Err(GoError::Build(last_lines(&messages))),
            }
        }
    }

    fn check_version(&self, module: &Module) -> Result<(), GoError> {
        let result = self.go(Path::new("/")).args(["env", "GOVERSION"]).output();
        let output = result.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => GoError::NotInstalled,
            _ => GoError::NotRunnable(error),
        })?;
        let text = String::from_utf8_lossy(&output.stdout);
        let found = text.trim().trim_start_matches("go");
        let needed = module.go_version().unwrap_or_default();
        if numbers(found) < numbers(needed) {
            return Err(GoError::TooOld { found: found.to_owned(), needed: needed.to_owned() });
        }
        Ok(())
    }

    /// A Go command that is not led astray by what the user has set for other work.
    fn go(&self, directory: &Path) -> Command {
        let mut command = Command::new(&self.command);
        command
            .current_dir(directory)
            .env("CGO_ENABLED", "0")
            .env("GOTOOLCHAIN", "local")
            .env("GOWORK", "off")
            // Set, not removed: what is not set here may be set in a file of the user's.
            .env("GOFLAGS", "-mod=readonly")
            .env("GOOS", &self.platform.system)
            .env("GOARCH", &self.platform.architecture);
        command
    }
}

fn numbers(version: &str) -> Vec<u32> {
    version
        .split('.')
        .map(|word| {
            let digits = word.find(|letter: char| !letter.is_ascii_digit()).map_or(word, |end| &word[..end]);
            digits.parse().unwrap_or_default()
        })
        .collect()
}

fn is_passing(messages: &str) -> bool {
    let messages = messages.to_lowercase();
    PASSING.iter().any(|sign| messages.contains(sign))
}

fn last_lines(messages: &str) -> String {
    let lines: Vec<&str> = messages.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::catalog::Catalog;

    #[rstest]
    #[case::same("1.24.0", "1.24.0", true)]
    #[case::newer("1.26.8", "1.24.0", true)]
    #[case::ten_is_more_than_nine("1.100", "1.24.0", true)]
    #[case::older("1.23.9", "1.24.0", false)]
    #[case::candidate("1.24rc1", "1.24.0", false)]
    #[case::unreadable("", "1.24.0", false)]
    fn versions_are_compared_by_number(#[case] found: &str, #[case] needed: &str, #[case] enough: bool) {
        assert_eq!(numbers(found) >= numbers(needed), enough);
    }

    /// A Go that fails with `message` until it has been asked `times` times.
    fn failing(directory: &TempDir, message: &str, times: usize) -> Go {
        let command = directory.path().join("go");
        let calls = directory.path().join("calls");
        let script = format!(
            "#!/bin/sh\n[ \"$1\" = env ] && echo go1.99 && exit\necho x >> {0}\n\
             [ $(wc -l < {0}) -gt {times} ] || {{ echo {message} >&2; exit 1; }}\n",
            calls.display()
        );
        // Written by another process: the children that other tests start hold copies of our open files for a moment.
        let write = "printf '%s' \"$1\" > \"$2\" && chmod 755 \"$2\"";
        Command::new("/bin/sh").args(["-c", write, "sh", &script]).arg(&command).status().unwrap();
        Go { pauses: vec![Duration::ZERO; 2], ..Go::new(&command, &Platform::current()) }
    }

    fn build(go: &Go) -> Result<PathBuf, GoError> {
        let catalog = Catalog::embedded().unwrap();
        let part = catalog.get("etcd").unwrap();
        let scratch = tempfile::tempdir().unwrap();
        go.build(part, part.go.as_ref().unwrap(), &scratch, &Progress::silent())
    }

    #[rstest]
    #[case::busy_for_a_while("'429 Too Many Requests'", 2, true)]
    #[case::busy_for_ever("'429 Too Many Requests'", 3, false)]
    #[case::broken("'syntax error'", 1, false)]
    fn only_a_busy_proxy_is_asked_again(#[case] message: &str, #[case] times: usize, #[case] works: bool) {
        let directory = tempfile::tempdir().unwrap();
        let go = failing(&directory, message, times);

        assert_eq!(build(&go).is_ok(), works);
    }

    #[test]
    fn the_end_of_what_go_said_is_in_the_error() {
        let messages: Vec<String> = (0..20).map(|number| format!("line {number}")).collect();

        let shown = last_lines(&messages.join("\n"));

        assert!(shown.starts_with("line 12\n") && shown.ends_with("line 19"), "{shown}");
    }
}
