//! Log lines, to standard error.

use std::io::stderr;

use anstream::{AutoStream, ColorChoice};
use tracing_subscriber::EnvFilter;

use crate::cli::{LogArguments, LogFormat};

/// The client logs every request that fails, also those that we wait for, and the runtime repeats in every line what
/// our own spans say. Whoever wants to hear them names them in the filter.
const QUIET: &str = "kube_client=off,kube_runtime=warn";

/// Logs from now on as the arguments say.
pub(crate) fn init(arguments: &LogArguments) {
    let filter = EnvFilter::new(format!("{QUIET},{}", arguments.log_level));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(stderr)
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
