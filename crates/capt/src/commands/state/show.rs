//! `capt state show`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context as _, bail};
use capt_controller::by_hand::StateOf;
use capt_core::near::nearest;
use capt_core::terraform_state::{Inspected, ResourceView, inspect};
use secrecy::ExposeSecret as _;
use serde::Serialize;
use serde_json::Value;

use super::{copy, missing, present};
use crate::cli::StateShowArguments;
use crate::commands::target;
use crate::printer::Printer;

/// A state without what is sensitive.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StateView {
    workspace: String,
    serial: u64,
    lineage: String,
    terraform_version: String,
    resources: Vec<ResourceView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outputs: Option<BTreeMap<String, Value>>,
}

pub(super) async fn run(arguments: StateShowArguments, printer: Printer) -> anyhow::Result<()> {
    let StateShowArguments { target, snapshot, addresses } = arguments;
    let (client, subject) = target::find_one(target).await?;
    let (workspace, kept) = (subject.workspace()?, subject.kept(&client)?);
    let inspected = match snapshot {
        Some(serial) => {
            let current = present(&kept).await.ok().flatten();
            let current = current.and_then(|content| inspect(content.text()).ok());
            let lineage = current.as_ref().map(|current| current.lineage.as_str());
            let (_, text) = copy(&kept, serial, lineage).await?;
            inspect(text.expose()).with_context(|| format!("reading the copy with the serial {serial}"))?
        }
        None => match present(&kept).await? {
            Some(content) => inspect(content.text())
                .with_context(|| format!("reading the state in Secret `{}`", kept.secret()))?,
            None => bail!(missing(workspace, &kept)),
        },
    };
    let inspected = redacted(inspected, &kept).await?;
    let resources = chosen(inspected.resources, &addresses)?;
    let view = StateView {
        workspace: subject.name(),
        serial: inspected.serial,
        lineage: inspected.lineage,
        terraform_version: inspected.terraform_version,
        resources,
        outputs: addresses.is_empty().then_some(inspected.outputs),
    };
    printer.value(&view, &view.sentences())
}

/// Hides what is hidden in one place in all others, and every value that reached the module from a Secret.
async fn redacted(inspected: Inspected, kept: &StateOf) -> anyhow::Result<Inspected> {
    let hidden: Vec<Vec<u8>> =
        inspected.secrets.iter().map(|secret| secret.expose_secret().as_bytes().to_vec()).collect();
    let redactor = kept.redactor().await?.and(hidden);
    Ok(inspected.redacted(|text| redactor.redact(text)))
}

/// The resources that were asked for: by their address, or by that of all their instances.
fn chosen(resources: Vec<ResourceView>, addresses: &[String]) -> anyhow::Result<Vec<ResourceView>> {
    if addresses.is_empty() {
        return Ok(resources);
    }
    let is_meant = |address: &str, meant: &str| {
        address == meant || address.strip_prefix(meant).is_some_and(|rest| rest.starts_with('['))
    };
    for meant in addresses {
        let known = resources.iter().map(|resource| resource.address.as_str());
        if !known.clone().any(|address| is_meant(address, meant)) {
            let near = nearest(meant, known).map(|near| format!(": did you mean {near}?"));
            bail!("there is no {meant} in the state{}", near.unwrap_or_default());
        }
    }
    let is_chosen =
        |resource: &ResourceView| addresses.iter().any(|meant| is_meant(&resource.address, meant));
    Ok(resources.into_iter().filter(is_chosen).collect())
}

impl StateView {
    fn sentences(&self) -> String {
        let Self { workspace, serial, lineage, terraform_version, resources, outputs } = self;
        let mut text = format!(
            "Workspace `{workspace}`: serial {serial}, lineage {lineage}, written by version {terraform_version}"
        );
        for ResourceView { address, deposed, tainted, attributes, .. } in resources {
            let note = match (deposed, tainted) {
                (true, _) => " (replaced, to be destroyed)",
                (false, true) => " (tainted: the next apply replaces it)",
                (false, false) => "",
            };
            // Writing to a String cannot fail.
            let _ = write!(text, "\n\n{address}{note}");
            lines(&mut text, attributes);
        }
        if resources.is_empty() {
            text.push_str("\n\nthere is no resource in it");
        }
        if let Some(outputs) = outputs.as_ref().filter(|outputs| !outputs.is_empty()) {
            text.push_str("\n\noutputs");
            lines(&mut text, outputs);
        }
        text
    }
}

/// Values in lines, without those that are not set.
fn lines(text: &mut String, values: &BTreeMap<String, Value>) {
    let set = values.iter().filter(|(_, value)| !value.is_null());
    let width = set.clone().map(|(name, _)| name.len()).max().unwrap_or_default();
    for (name, value) in set {
        let value = if value == capt_core::terraform_state::HIDDEN {
            capt_core::terraform_state::HIDDEN.to_owned()
        } else {
            value.to_string()
        };
        // Writing to a String cannot fail.
        let _ = write!(text, "\n  {name:width$} = {value}");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn inspected() -> Inspected {
        let instance = |index: u64, size: u64| {
            json!({
                "index_key": index, "schema_version": 0,
                "attributes": { "id": format!("i-{index}"), "size": size, "password": "hunter2", "note": null },
            })
        };
        let state = json!({
            "version": 4, "terraform_version": "1.11.4", "serial": 7, "lineage": "6f1c",
            "outputs": { "size": { "value": 3 } },
            "resources": [{
                "mode": "managed", "type": "aws_db_instance", "name": "main", "provider": "p",
                "instances": [instance(0, 3), instance(1, 4)],
            }],
        });
        inspect(state.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_state_is_shown_by_addresses() {
        let inspected = inspected();
        let view = StateView {
            workspace: "prod".to_owned(),
            serial: inspected.serial,
            lineage: inspected.lineage,
            terraform_version: inspected.terraform_version,
            resources: inspected.resources,
            outputs: Some(inspected.outputs),
        };
        insta::assert_snapshot!(view.sentences(), @r#"
        Workspace `prod`: serial 7, lineage 6f1c, written by version 1.11.4

        aws_db_instance.main[0]
          id       = "i-0"
          password = (sensitive)
          size     = 3

        aws_db_instance.main[1]
          id       = "i-1"
          password = (sensitive)
          size     = 4

        outputs
          size = 3
        "#);
    }

    #[test]
    fn one_resource_or_all_its_instances_can_be_asked_for() {
        let addresses = |meant: &[&str]| {
            let meant: Vec<String> = meant.iter().map(|address| (*address).to_owned()).collect();
            let chosen = chosen(inspected().resources, &meant);
            chosen.map(|found| found.into_iter().map(|resource| resource.address).collect::<Vec<_>>())
        };
        assert_eq!(addresses(&["aws_db_instance.main"]).unwrap().len(), 2);
        assert_eq!(addresses(&["aws_db_instance.main[1]"]).unwrap(), ["aws_db_instance.main[1]"]);
        let error = addresses(&["aws_db_instance.mian[1]"]).unwrap_err().to_string();
        assert_eq!(
            error,
            "there is no aws_db_instance.mian[1] in the state: did you mean aws_db_instance.main[1]?"
        );
        assert!(addresses(&["aws_db_instance.mai"]).is_err(), "no part of a name");
    }
}
