//! Supervises processes for tests, whose executables have a `main` that is not ours.
//!
//! `hold DIRECTORY` starts a control plane there, prints a pid for each process, and holds it until it is killed.
//! `lock FILE` signs a file with its pid and keeps it locked until it is killed.

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::process::ExitCode;

use capt_local::{ControlPlane, ControlPlaneOptions, Helper, Parts, Progress};

fn main() -> ExitCode {
    if let Some(code) = capt_local::supervisor::run_if_asked() {
        return code;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["hold", directory] => hold(directory),
        ["lock", file] => lock(file),
        _ => return ExitCode::from(2),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn hold(directory: &str) -> Result<(), Box<dyn Error>> {
    let progress = Progress::stderr();
    let parts = Parts::find(&progress)?;
    let options =
        ControlPlaneOptions { durable: false, ..ControlPlaneOptions::new(directory, Helper::current_exe()?) };
    let control_plane = ControlPlane::start(&parts, &options, &progress)?;
    let mut output = std::io::stdout();
    for (_, pid) in control_plane.processes() {
        writeln!(output, "{pid}")?;
    }
    writeln!(output, "ready")?;
    control_plane.exit_watcher().wait();
    Ok(())
}

fn lock(path: &str) -> Result<(), Box<dyn Error>> {
    let mut file = File::create(path)?;
    file.lock()?;
    writeln!(file, "{}", std::process::id())?;
    loop {
        std::thread::park();
    }
}
