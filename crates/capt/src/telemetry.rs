//! Log lines, to standard error or to a file.

use std::fs::File;
use std::io::{self, Write, stderr};
use std::sync::{Mutex, OnceLock, PoisonError};

use anstream::{AutoStream, ColorChoice, StripStream};
use tracing_subscriber::EnvFilter;

use crate::cli::{LogArguments, LogFormat};
use crate::live;

/// The client logs every request that fails, also those that we wait for, and the runtime repeats in every line what
/// our own spans say. Whoever wants to hear them names them in the filter.
const QUIET: &str = "kube_client=off,kube_runtime=warn";

/// Where lines go once there is such a file.
static FILE: OnceLock<Mutex<StripStream<File>>> = OnceLock::new();

/// Logs from now on as the arguments say.
pub(crate) fn init(arguments: &LogArguments) {
    let filter = EnvFilter::new(format!("{QUIET},{}", arguments.log_level));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| Lines)
        // Telling standard error that it is gone would panic.
        .log_internal_errors(false);
    match arguments.log_format {
        LogFormat::Human => {
            let colours = AutoStream::choice(&stderr()) != ColorChoice::Never;
            builder.with_ansi(colours).with_target(false).init();
        }
        LogFormat::Json => builder.json().flatten_event(true).init(),
    }
}

/// Logs from now on to a file.
pub(crate) fn continue_in(file: File) {
    // It stays with the first file.
    let _ = FILE.set(Mutex::new(StripStream::new(file)));
}

/// Each write is a whole line.
struct Lines;

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match FILE.get() {
            Some(file) => file.lock().unwrap_or_else(PoisonError::into_inner).write(line),
            None => live::above(|| stderr().write(line)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
