//! Log lines, to standard error or to a file.

mod fields;
mod json;

use std::fs::File;
use std::io::{self, Write, stderr};
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use anstream::{AutoStream, ColorChoice, StripStream};
use tracing_subscriber::EnvFilter;

use self::fields::{JsonFields, PlainFields};
use self::json::JsonLine;
use crate::cli::{LogArguments, LogFormat};
use crate::{live, log_lines};

/// The client logs every request that fails, also those that we wait for. The runtime repeats in every line what our own spans
/// say, and prints answers in the form for programmers, of which we tell ourselves. Whoever wants to hear them names them in
/// the filter.
const QUIET: &str = "kube_client=off,kube_runtime=error";

/// Where lines go once somebody has said so.
static LOG: OnceLock<Log> = OnceLock::new();

/// A file that is made for its first line: nothing is made before there is something to tell.
struct Log {
    path: PathBuf,
    file: OnceLock<Option<Mutex<StripStream<File>>>>,
}

impl Log {
    /// The file, or nothing where it cannot be written.
    fn file(&self) -> Option<&Mutex<StripStream<File>>> {
        let open = || log_lines::begin(&self.path).ok().map(StripStream::new).map(Mutex::new);
        self.file.get_or_init(open).as_ref()
    }
}

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
            builder.with_ansi(colours).with_target(false).fmt_fields(PlainFields).init();
        }
        LogFormat::Json => builder.with_ansi(false).fmt_fields(JsonFields).event_format(JsonLine).init(),
    }
}

/// Logs from now on to a file, whose directory is there before the first line.
pub(crate) fn continue_in(path: PathBuf) {
    // It stays with the first file.
    let _ = LOG.set(Log { path, file: OnceLock::new() });
}

/// Each write is a whole line.
struct Lines;

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match LOG.get().and_then(Log::file) {
            Some(file) => file.lock().unwrap_or_else(PoisonError::into_inner).write(line),
            None => live::above(|| stderr().write(line)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
