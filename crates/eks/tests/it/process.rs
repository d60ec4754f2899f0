//! A process with an environment of its own, for the identity is of the process.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use tempfile::TempDir;

/// Answers questions by the identity that its environment gives it.
pub(crate) struct Process {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// Removed with the process.
    _home: TempDir,
}

impl Process {
    /// Nothing is in its environment but this, its files are in an empty directory, and there is no instance around it.
    pub(crate) fn start(environment: &[(&str, &str)]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), environment)
    }

    /// The same with files: `home` is the user's directory.
    pub(crate) fn start_in(home: TempDir, environment: &[(&str, &str)]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_capt-eks-token"))
            .env_clear()
            .env("HOME", home.path())
            .env("PATH", "/usr/bin:/bin")
            // Port 1 refuses; a test that has an instance says where it is.
            .env("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1")
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let questions = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, questions, answers, _home: home }
    }

    /// The answer to one question. The test waits for it, and the stand-in for AWS runs on another thread.
    pub(crate) fn ask(&mut self, question: &str) -> String {
        writeln!(self.questions, "{question}").unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        answer.trim_end().to_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
