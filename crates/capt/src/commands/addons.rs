//! `capt addons`: stacks that are ready to be applied.

mod destination;
mod source;
mod values;

use anyhow::Context;
use capt_core::ready_made::{Identity, Request, Stack, stack};
use serde_json::{Value, json};

use crate::cli::{AddonsArguments, AddonsCommand, InitArguments, Output};
use crate::printer::Printer;

pub(crate) fn run(arguments: &AddonsArguments, printer: Printer) -> anyhow::Result<()> {
    match &arguments.command {
        AddonsCommand::Init(arguments) => init(arguments, printer),
        AddonsCommand::Values(arguments) => values::run(arguments, printer),
    }
}

fn init(arguments: &InitArguments, printer: Printer) -> anyhow::Result<()> {
    let InitArguments { flux_manifests, karpenter_version, irsa: _, pod_identity, .. } = arguments;
    let text = source::read(flux_manifests, "`flux install --export`")?;
    let (key, value) = &arguments.cluster_selector;
    let request = Request {
        flux_manifests: &text,
        flux_version: arguments.flux_version,
        karpenter_version,
        identity: if *pod_identity { Identity::PodIdentity } else { Identity::Irsa },
        namespace: &arguments.namespace,
        selector: (key, value),
    };
    let stack = stack(&request)?;
    match &arguments.out {
        Some(path) => {
            for written in destination::write(path, &stack)? {
                printer.message(&format!("wrote {}", written.display()));
            }
        }
        None => print(&stack, printer)?,
    }
    for remark in &stack.remarks {
        if remark.warning {
            printer.warning(&remark.message);
        } else {
            printer.message(&remark.message);
        }
    }
    Ok(())
}

fn print(stack: &Stack, printer: Printer) -> anyhow::Result<()> {
    match printer.output() {
        Output::Human | Output::Yaml => printer.text(&stack.stream()),
        Output::Json => {
            let items: Vec<Value> =
                serde_saphyr::from_multiple(&stack.stream()).context("reading what was written")?;
            let list = json!({ "apiVersion": "v1", "kind": "List", "items": items });
            printer.text(&format!("{}\n", serde_json::to_string_pretty(&list)?))
        }
    }
}
