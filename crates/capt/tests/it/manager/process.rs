//! A manager as a process, with all that it logs.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use capt_testkit::eventually;

/// What a value looks like in the form for programmers: nobody who reads a log should have to read that.
const FOR_PROGRAMMERS: [&str; 6] =
    ["Status {", "ErrorResponse {", "Some(", "ObjectMeta {", "ListMeta {", "ApiError"];

/// A manager that runs. Dropped, it is killed.
pub(super) struct Manager {
    process: Child,
    log: Arc<Mutex<Vec<String>>>,
    port: u16,
}

impl Manager {
    /// A manager that leaves Terraform to others and serves its probes.
    pub(super) fn start(kubeconfig: &Path, arguments: &[&str]) -> Self {
        Self::start_as(command(), kubeconfig, &[&["--engine", "crossplane"], arguments].concat())
    }

    /// A manager that runs Terraform itself, with this namespace as its own.
    pub(super) fn start_with_engine(kubeconfig: &Path, namespace: &str, arguments: &[&str]) -> Self {
        let mut command = command();
        command.env("POD_NAMESPACE", namespace);
        Self::start_as(command, kubeconfig, &[&["--engine", "process"], arguments].concat())
    }

    fn start_as(mut command: Command, kubeconfig: &Path, arguments: &[&str]) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        command.args(["--log-format", "json", "--log-level", "debug", "manager"]);
        command.arg("--diagnostics-address").arg(format!("127.0.0.1:{port}"));
        command.args(arguments).arg("--kubeconfig").arg(kubeconfig);
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let log = Arc::<Mutex<Vec<String>>>::default();
        let shared = Arc::clone(&log);
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                shared.lock().unwrap().push(line);
            }
        });
        Self { process, log, port }
    }

    pub(super) fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    /// Waits for a line with all of these in it.
    pub(super) async fn says(&self, texts: &[&str]) -> String {
        let what = format!("a line of the log with {texts:?}");
        let look = async || {
            let log = self.log();
            let found = log.iter().find(|line| texts.iter().all(|text| line.contains(text)));
            found.cloned().ok_or_else(|| log.join("\n"))
        };
        eventually(&what, look).await
    }

    /// What its readiness probe answers.
    pub(super) fn readiness(&self) -> String {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) else { return String::new() };
        let mut text = String::new();
        stream.write_all(b"GET /readyz HTTP/1.0\r\n\r\n").unwrap();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    /// No line of the log has a value in the form for programmers.
    pub(super) fn speaks_to_people(&self) {
        for line in self.log() {
            for form in FOR_PROGRAMMERS {
                assert!(!line.contains(form), "a line has `{form}` in it: {line}");
            }
        }
    }
}

/// A `capt` that takes nothing from the environment of the test.
fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_capt"));
    for variable in crate::VARIABLES {
        command.env_remove(variable);
    }
    command
}

impl Drop for Manager {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
