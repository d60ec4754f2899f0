//! Does one run that it reads from its standard input, in the directory and with the binary that its arguments name.
//!
//! The whole of what a run needs is in that one value. Tests kill this process to see what becomes of the run.

use std::env;
use std::io;
use std::process::ExitCode;

use capt_terraform::{Engine, Error, Event, ProcessEngine, Run, Settings};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    let [root, binary] = arguments.as_slice() else { return ExitCode::from(64) };
    let Ok(run) = serde_json::from_reader::<_, Run>(io::stdin()) else { return ExitCode::from(65) };
    match work(Settings::new(root, binary), &run).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

async fn work(settings: Settings, run: &Run) -> Result<(), Error> {
    ProcessEngine::start(settings).await?.run(run, &|_: Event| ()).await.map(drop)
}
