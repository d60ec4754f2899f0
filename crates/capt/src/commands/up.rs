//! `capt up`: a management cluster on this machine.

use anyhow::Context;
use serde::Serialize;

use crate::cli::{Output, UpArguments};
use crate::home::{self, Home};
use crate::printer::Printer;
use crate::signals::Stop;

/// What a program needs to know of the cluster.
#[derive(Serialize)]
struct Cluster<'a> {
    server: &'a str,
    kubeconfig: String,
    directory: String,
}

pub(crate) async fn run(arguments: UpArguments, printer: Printer) -> anyhow::Result<()> {
    let stop = Stop::on_signals().context("listening for signals")?;
    home::run(&arguments.home, printer, &stop, async |home: Home<'_>| announce(home, printer)).await
}

fn announce(home: Home<'_>, printer: Printer) -> anyhow::Result<()> {
    let kubeconfig = home.kubeconfig.display().to_string();
    let cluster = Cluster {
        server: home.server,
        kubeconfig: kubeconfig.clone(),
        directory: home.directory.display().to_string(),
    };
    if printer.output() != Output::Human {
        return printer.value(&cluster, "");
    }
    printer.message("\nThe management cluster is ready. In another terminal:\n");
    printer.text(&format!("    export KUBECONFIG={}\n", quoted(&kubeconfig)))?;
    printer.message(&format!(
        "    kubectl apply -f examples/local\n    kubectl get capt\n\n\
         Ctrl-C stops it. Its data stays in {}.\n",
        cluster.directory
    ));
    Ok(())
}

/// The text as one word of a shell.
fn quoted(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+=:@%,".contains(letter);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_path_stays_one_word_of_a_shell() {
        assert_eq!(quoted("/home/me/.local/share/capt/kubeconfig"), "/home/me/.local/share/capt/kubeconfig");
        assert_eq!(quoted("/my files/it's"), r"'/my files/it'\''s'");
    }
}
