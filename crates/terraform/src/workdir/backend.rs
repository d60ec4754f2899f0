//! Tells Terraform where the state is.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{Workdir, declared};
use crate::binary::Tool;
use crate::error::Error;
use crate::private;
use crate::run::{Backend, Run};

/// Override files win over what a module declares.
const OVERRIDE: &str = "zz_capt_backend_override.tf";

const KUBERNETES: &str = "kubernetes";

/// Writes what the backend needs beside the module, which is complete otherwise. The answer is the kind of backend that
/// the module declares itself and keeps: a state that is there already must not be passed over.
pub(super) fn write(workdir: &Workdir, run: &Run, tool: Tool) -> Result<Option<String>, Error> {
    let entrypoint = workdir.entrypoint(run);
    let path = entrypoint.join(OVERRIDE);
    let declared = match &run.backend {
        Backend::Kubernetes { declared, .. } => {
            let found = declared::elsewhere(&entrypoint, tool, OVERRIDE).map_err(Error::file(entrypoint))?;
            found.filter(|kind| !(*declared && kind == KUBERNETES))
        }
        Backend::Local | Backend::Declared { .. } => None,
    };
    let put = |path: &Path, content: &[u8]| {
        let same = fs::read(path).is_ok_and(|written| written == content);
        if same { Ok(()) } else { private::put(path, content).map_err(Error::file(path)) }
    };
    match &run.backend {
        Backend::Kubernetes { .. } if declared.is_some() => {
            private::remove(&path).map_err(Error::file(path))?;
        }
        Backend::Kubernetes { namespace, suffix, kubeconfig, declared: _ } => {
            put(&workdir.kubeconfig(), kubeconfig.expose())?;
            let config = quoted(&workdir.kubeconfig().to_string_lossy());
            let (namespace, suffix) = (quoted(namespace), quoted(suffix));
            put(
                &path,
                block(
                    KUBERNETES,
                    &[("secret_suffix", &suffix), ("namespace", &namespace), ("config_path", &config)],
                )
                .as_bytes(),
            )?;
        }
        Backend::Local => {
            let state = quoted(&workdir.state().join("terraform.tfstate").to_string_lossy());
            let others = quoted(&workdir.state().to_string_lossy());
            put(&path, block("local", &[("path", &state), ("workspace_dir", &others)]).as_bytes())?;
        }
        Backend::Declared { settings } => {
            private::remove(&path).map_err(Error::file(path))?;
            put(&workdir.backend_settings(), settings.expose())?;
        }
    }
    Ok(declared)
}

fn block(kind: &str, settings: &[(&str, &String)]) -> String {
    let lines: Vec<String> = settings.iter().map(|(name, value)| format!("    {name} = {value}")).collect();
    format!("terraform {{\n  backend \"{kind}\" {{\n{}\n  }}\n}}\n", lines.join("\n"))
}

/// A string of HCL that means exactly the text.
fn quoted(text: &str) -> String {
    // JSON's escapes are HCL's too; only templates have to be written differently.
    Value::from(text).to_string().replace("${", "$${").replace("%{", "%%{")
}

/// The kind of backend that init found; none where the state would be a file beside the module.
pub(crate) fn initialised_kind(workdir: &Workdir) -> Option<String> {
    let settings = fs::read(workdir.data().join("terraform.tfstate")).ok()?;
    let parsed: Value = serde_json::from_slice(&settings).ok()?;
    parsed["backend"]["type"].as_str().filter(|kind| !kind.is_empty()).map(str::to_owned)
}
