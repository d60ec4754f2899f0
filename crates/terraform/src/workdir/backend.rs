//! Tells Terraform where the state is.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::Workdir;
use crate::error::Error;
use crate::private;
use crate::run::{Backend, Run};

/// Override files win over what a module declares.
const OVERRIDE: &str = "zz_capt_backend_override.tf";

/// Writes what the backend needs beside the module.
pub(super) fn write(workdir: &Workdir, run: &Run) -> Result<(), Error> {
    let path = workdir.entrypoint(run).join(OVERRIDE);
    let put = |path: &Path, content: &[u8]| private::put(path, content).map_err(Error::file(path));
    match &run.backend {
        Backend::Kubernetes { namespace, suffix, kubeconfig } => {
            put(&workdir.kubeconfig(), kubeconfig.expose())?;
            let config = quoted(&workdir.kubeconfig().to_string_lossy());
            let (namespace, suffix) = (quoted(namespace), quoted(suffix));
            put(
                &path,
                block(
                    "kubernetes",
                    &[("secret_suffix", &suffix), ("namespace", &namespace), ("config_path", &config)],
                )
                .as_bytes(),
            )
        }
        Backend::Local => {
            let state = quoted(&workdir.state().join("terraform.tfstate").to_string_lossy());
            let others = quoted(&workdir.state().to_string_lossy());
            put(&path, block("local", &[("path", &state), ("workspace_dir", &others)]).as_bytes())
        }
        Backend::Declared { settings } => {
            private::remove(&path).map_err(Error::file(path))?;
            put(&workdir.backend_settings(), settings.expose())
        }
    }
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

/// Whether init found a backend. Without one the state would be a file beside the module.
pub(crate) fn declares_backend(workdir: &Workdir) -> bool {
    let settings = fs::read(workdir.data().join("terraform.tfstate")).ok();
    let parsed = settings.and_then(|content| serde_json::from_slice::<Value>(&content).ok());
    parsed.is_some_and(|it| it["backend"]["type"].as_str().is_some_and(|kind| !kind.is_empty()))
}
