//! `capt crds`: the custom resource definitions, to be applied elsewhere.

use std::collections::BTreeSet;

use capt_api::crd::{Foreign, foreign, own};
use kube::ResourceExt;
use serde_json::json;

use crate::cli::{CrdsArguments, Included, Output};
use crate::printer::Printer;

pub(crate) fn run(arguments: &CrdsArguments, printer: Printer) -> anyhow::Result<()> {
    let included: BTreeSet<Included> = arguments.include.iter().copied().collect();
    let mut crds = own();
    crds.extend(included.into_iter().flat_map(|kinds| match kinds {
        Included::Terraform => foreign(Foreign::Terraform),
        Included::ClusterApi => foreign(Foreign::ClusterApi),
    }));
    crds.sort_by_key(ResourceExt::name_any);
    match printer.output() {
        Output::Json => {
            let list = json!({ "apiVersion": "v1", "kind": "List", "items": crds });
            printer.text(&format!("{}\n", serde_json::to_string_pretty(&list)?))
        }
        Output::Human | Output::Yaml => {
            let mut documents = String::new();
            for crd in &crds {
                documents += "---\n";
                documents += &serde_saphyr::to_string(crd)?;
            }
            printer.text(&documents)
        }
    }
}
