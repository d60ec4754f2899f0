//! `capt kubeconfig`: the way into a cluster.

mod ending;
mod file;
mod secret;

use anyhow::Context;
use capt_core::kubeconfig::{self, merge};
use jiff::Timestamp;
use secrecy::ExposeSecret as _;
use serde::Serialize;

use self::secret::Found;
use crate::cli::{KubeconfigArguments, Output};
use crate::connection;
use crate::printer::Printer;

pub(crate) async fn run(arguments: KubeconfigArguments, printer: Printer) -> anyhow::Result<()> {
    let connection = connection::find_for_person(&arguments.connection).await?;
    let namespace = connection::namespace(&connection.client, arguments.namespace.clone())?;
    let found = secret::read(&connection.client, &namespace, &arguments.name, arguments.user).await?;
    let read = kubeconfig::parse(found.content.expose_secret().as_bytes());
    let read =
        read.with_context(|| format!("the kubeconfig in Secret `{}` is not handed out", found.secret))?;
    if let Some(note) = ending::note(&read, &found, &arguments, Timestamp::now()) {
        printer.warning(&note);
    }
    if !arguments.merge {
        return print(&found, printer);
    }
    let origin = merge::Origin {
        management: connection.server.address.clone(),
        namespace,
        cluster: arguments.name.clone(),
    };
    let context = arguments.context_name.as_deref().unwrap_or(&arguments.name);
    let wish = merge::Wish {
        content: found.content.expose_secret().as_bytes(),
        context,
        origin: &origin,
        keep_context: arguments.keep_context,
    };
    let path = file::path(arguments.file.clone())?;
    let changed = file::change(&path, wish).await?;
    let merged = Merged { file: path.display().to_string(), context: context.to_owned(), changed };
    printer.value(&merged, &merged.sentence(arguments.keep_context))
}

/// What became of the file.
#[derive(Debug, Serialize)]
struct Merged {
    file: String,
    context: String,
    changed: bool,
}

impl Merged {
    fn sentence(&self, keep_context: bool) -> String {
        let Self { file, context, changed } = self;
        let done = if *changed { "is now in" } else { "was already in" };
        let then = if keep_context {
            format!("kubectl --context '{context}' get namespaces")
        } else {
            "it is the current context: kubectl get namespaces".to_owned()
        };
        format!("context `{context}` {done} {file}; {then}")
    }
}

fn print(found: &Found, printer: Printer) -> anyhow::Result<()> {
    match printer.output() {
        Output::Json => printer.value(&kubeconfig::data(found.content.expose_secret().as_bytes())?, ""),
        Output::Human | Output::Yaml => {
            let content = found.content.expose_secret();
            let end = if content.ends_with('\n') { "" } else { "\n" };
            printer.text(&format!("{content}{end}"))
        }
    }
}
