//! What is said of a management cluster that is ready.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cli::Output;
use crate::home::{self, Home};
use crate::printer::Printer;
use crate::program::quoted;

/// What a program needs to know of the cluster.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Announcement {
    server: String,
    kubeconfig: PathBuf,
    directory: PathBuf,
}

/// How the cluster is stopped.
pub(super) enum End<'a> {
    CtrlC,
    /// It runs in the background, and logs to this file.
    Down(&'a Path),
}

impl Announcement {
    pub(super) fn new(server: String, directory: PathBuf) -> Self {
        Self { server, kubeconfig: directory.join("kubeconfig"), directory }
    }

    pub(super) fn of(home: Home<'_>) -> Self {
        Self {
            server: home.server.to_owned(),
            kubeconfig: home.kubeconfig.to_owned(),
            directory: home.directory.to_owned(),
        }
    }

    /// For the process that waits for it.
    pub(super) fn line(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }

    pub(super) fn print(&self, end: &End<'_>, printer: Printer) -> anyhow::Result<()> {
        if printer.output() != Output::Human {
            return printer.value(self, "");
        }
        let place = match end {
            End::CtrlC => "The management cluster is ready. In another terminal:",
            End::Down(_) => "The management cluster is ready:",
        };
        printer.message(&format!("\n{place}\n"));
        let kubeconfig = quoted(&self.kubeconfig.display().to_string());
        printer.text(&format!("    export KUBECONFIG={kubeconfig}\n"))?;
        let end = match end {
            End::CtrlC => "Ctrl-C stops it.".to_owned(),
            End::Down(log) => format!(
                "`{}` stops it. It logs to {}.",
                home::command("down", &self.directory),
                log.display()
            ),
        };
        printer.message(&format!(
            "    kubectl apply -f examples/local\n    kubectl get capt\n\n\
             {end} Its data stays in {}.\n",
            self.directory.display()
        ));
        Ok(())
    }
}
