//! What Terraform makes in this soak: files in one directory, by the identifiers of the resources. Resources are made in sequence
//! and in parallel; some are replaced or deleted with a new generation.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, bail};
use serde_json::Value;

const SEQUENCE: usize = 3;
const PARALLEL: usize = 3;

/// A Workspace and the address of a resource in it.
pub(super) type Key = (String, String);

/// An object that is there.
pub(super) struct Object {
    pub(super) key: Key,
    pub(super) id: String,
    pub(super) made_at: SystemTime,
}

/// A call that a Workspace named.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Named {
    pub(super) key: Key,
    pub(super) at: String,
}

pub(super) struct Objects {
    directory: PathBuf,
}

impl Objects {
    pub(super) fn new(directory: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
        Ok(Self { directory: directory.to_owned() })
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Everything that was made and not destroyed.
    pub(super) fn all(&self) -> anyhow::Result<Vec<Object>> {
        let entries = fs::read_dir(&self.directory).context("reading what is there")?;
        entries
            .map(|entry| {
                let entry = entry?;
                let text = fs::read_to_string(entry.path())?;
                let (member, address) = text.trim().split_once(' ').context("half an object")?;
                let key = (member.to_owned(), address.to_owned());
                let id = entry.file_name().to_string_lossy().into_owned();
                Ok(Object { key, id, made_at: entry.metadata()?.modified()? })
            })
            .collect()
    }

    /// What a state knows and what is not there, unless its call was named: the provisioner of a call in flight
    /// may never have run.
    pub(super) fn missing(
        &self,
        known: &BTreeSet<String>,
        named: &BTreeSet<Named>,
    ) -> anyhow::Result<Vec<String>> {
        let there: BTreeSet<String> = self.all()?.into_iter().map(|object| object.id).collect();
        let missing: Vec<&String> = known.iter().filter(|id| !there.contains(*id)).collect();
        if missing.len() <= named.len() {
            return Ok(Vec::new());
        }
        Ok(vec![format!("in the state and not there: {missing:?}")])
    }
}

/// The identifiers of those resources of a state that are objects here.
pub(super) fn known(state: &Value) -> Vec<String> {
    let all = state["resources"].as_array().into_iter().flatten();
    let objects = all.filter(|resource| resource["name"] != "version");
    let instances = objects.flat_map(|resource| resource["instances"].as_array().into_iter().flatten());
    instances.filter_map(|instance| Some(instance["attributes"]["id"].as_str()?.to_owned())).collect()
}

/// The calls that a message names as those of a Workspace.
pub(super) fn named(workspace: &str, message: &str) -> anyhow::Result<Vec<Named>> {
    if message.contains(" more. ") {
        bail!("not every call is named");
    }
    let mut found = Vec::new();
    for (mark, before) in [(" (since ", ' '), (" (at ", ' ')] {
        for (index, _) in message.match_indices(mark) {
            let address = message[..index].rsplit(before).next().context("no address")?;
            let rest = &message[index + mark.len()..];
            // An Event holds no more than the beginning of a long message.
            let Some(end) = rest.find([',', ')', ' ']) else { continue };
            let at = rest[..end].trim_end_matches(':').to_owned();
            found.push(Named { key: (workspace.to_owned(), address.to_owned()), at });
        }
    }
    Ok(found)
}

/// Each object has a file that says whose it is.
pub(super) fn module(directory: &Path) -> String {
    let directory = directory.display();
    let provisioners = |address: &str, seconds: &str| {
        format!(
            r#"
  provisioner "local-exec" {{
    command     = "echo \"$WHOSE\" > '{directory}/'\"$ID\" && sleep {seconds}"
    environment = {{ WHOSE = "${{var.member}} {address}", ID = self.id }}
  }}
  provisioner "local-exec" {{
    when        = destroy
    command     = "sleep 0.1; rm -f '{directory}/'\"$ID\""
    environment = {{ ID = self.id }}
  }}"#
        )
    };
    let mut text = String::from(
        r#"variable "generation" {}
variable "member" {}
resource "terraform_data" "version" { input = var.generation }
"#,
    );
    // Writing to a String cannot fail.
    for number in 0..SEQUENCE {
        let name = format!("sequence-{number}");
        let after = number.checked_sub(1).map_or_else(
            || "terraform_data.version".to_owned(),
            |before| format!("terraform_data.sequence-{before}"),
        );
        // The one in the middle is replaced with every generation.
        let lifecycle =
            if number == 1 { "lifecycle { replace_triggered_by = [terraform_data.version] }" } else { "" };
        let _ = writeln!(
            text,
            "resource \"terraform_data\" \"{name}\" {{\n  input = var.generation\n  depends_on = [{after}]\n  {lifecycle}{}\n}}",
            provisioners(&format!("terraform_data.{name}"), "0.6")
        );
    }
    // Every second generation has one more.
    let _ = writeln!(
        text,
        "resource \"terraform_data\" \"parallel\" {{\n  count = {PARALLEL} + var.generation % 2\n  input = var.generation{}\n}}",
        provisioners("terraform_data.parallel[${count.index}]", "0.${3 + count.index}")
    );
    text += "output \"generation\" { value = var.generation }\n";
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_calls_are_read_from_the_message() {
        let message = "a run died while these calls were in flight, and nobody knows whether they made something: create a.b (since 2026-01-01T00:00:00.5Z), update a.c[0] (since 2026-01-01T00:00:01Z). a run that died made these objects, and they are not imported: a.d (at 2026-01-01T00:00:02Z, id x: no importer). Look";
        let found = named("demo", message).unwrap();
        let told: Vec<(&str, &str)> = found.iter().map(|it| (it.key.1.as_str(), it.at.as_str())).collect();
        assert_eq!(
            told,
            [
                ("a.b", "2026-01-01T00:00:00.5Z"),
                ("a.c[0]", "2026-01-01T00:00:01Z"),
                ("a.d", "2026-01-01T00:00:02Z")
            ]
        );
        assert!(named("demo", "create a.b (since x) and 3 more. Look").is_err());
    }
}
