//! Tells Terraform where the state is.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{STATE_FILE, Workdir, declared};
use crate::binary::Tool;
use crate::error::Error;
use crate::fingerprint::digest;
use crate::private;
use crate::run::{Backend, Run};

/// Override files win over what a module declares.
const OVERRIDE: &str = "zz_capt_backend_override.tf";

const KUBERNETES: &str = "kubernetes";
const LOCAL: &str = "local";

/// What a backend is called that somebody declares beside the module.
const DECLARED: &str = "declared";
/// So much of a digest tells two places apart.
const DIGITS: usize = 16;

/// Writes what the backend needs beside the module, which is complete otherwise. The answer is the kind of backend that
/// the module declares itself and keeps: a state that is there already must not be passed over.
/// `kept` says that a keeper stores the state: then the tool works on a file.
pub(super) fn write(workdir: &Workdir, run: &Run, tool: Tool, kept: bool) -> Result<Option<String>, Error> {
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
        Backend::Kubernetes { .. } if kept => put(&path, local(&workdir.kept()).as_bytes())?,
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
        Backend::Local => put(&path, local(&workdir.state()).as_bytes())?,
        Backend::Declared { settings } => {
            private::remove(&path).map_err(Error::file(path))?;
            put(&workdir.backend_settings(), settings.expose())?;
        }
    }
    Ok(declared)
}

/// The `local` backend with all its files in a directory.
fn local(directory: &Path) -> String {
    let state = quoted(&directory.join(STATE_FILE).to_string_lossy());
    let others = quoted(&directory.to_string_lossy());
    block(LOCAL, &[("path", &state), ("workspace_dir", &others)])
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
    initialised(workdir).map(|(kind, _)| kind)
}

/// Where the `local` backend that init found keeps the states of workspaces.
pub(crate) fn initialised_path(workdir: &Workdir) -> Option<String> {
    let (kind, settings) = initialised(workdir)?;
    let path = settings["workspace_dir"].as_str().filter(|_| kind == LOCAL)?;
    Some(path.to_owned())
}

/// The kind of backend that init found, and its settings.
fn initialised(workdir: &Workdir) -> Option<(String, Value)> {
    let settings = fs::read(workdir.data().join("terraform.tfstate")).ok()?;
    let mut parsed: Value = serde_json::from_slice(&settings).ok()?;
    let kind = parsed["backend"]["type"].as_str().filter(|kind| !kind.is_empty())?.to_owned();
    Some((kind, parsed["backend"]["config"].take()))
}

/// Names the backend that init found and where it keeps the state, as `declared:<digest>`; nothing where that is not known.
///
/// Credentials are not in it: they change, and the state stays where it is.
pub(crate) fn declared_name(workdir: &Workdir) -> Option<String> {
    let (kind, settings) = initialised(workdir)?;
    let place: BTreeMap<&String, Value> = settings
        .as_object()?
        .iter()
        .filter(|(name, value)| !is_unset(value) && !is_credential(name))
        .map(|(name, value)| (name, without_password(value)))
        .collect();
    let digest: String = digest(&json!([kind, place])).chars().take(DIGITS).collect();
    Some(format!("{DECLARED}:{digest}"))
}

/// A newer version of the tool knows more settings; those that nobody gives say nothing.
fn is_unset(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Object(fields) => fields.values().all(is_unset),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn is_credential(name: &str) -> bool {
    const PARTS: [&str; 12] = [
        "access_key",
        "account_key",
        "assume_role",
        "cert",
        "client_id",
        "credential",
        "encryption_key",
        "password",
        "private_key",
        "secret_key",
        "token",
        "username",
    ];
    const NAMES: [&str; 6] =
        ["client_secret", "config_path", "http_auth", "profile", "shared_config_files", "sse_customer_key"];
    PARTS.iter().any(|part| name.contains(part)) || NAMES.contains(&name)
}

/// An address without the login in it.
fn without_password(value: &Value) -> Value {
    match value.as_str().and_then(|text| text.split_once("://")) {
        Some((scheme, rest)) => {
            let (login, place) = rest.split_once('@').unwrap_or(("", rest));
            let is_login = !login.contains('/');
            Value::from(format!("{scheme}://{}", if is_login { place } else { rest }))
        }
        None => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Identity;
    use rstest::rstest;

    fn name(kind: &str, config: &Value) -> Option<String> {
        let root = tempfile::tempdir().unwrap();
        let workdir = Workdir::new(root.path(), &Identity::try_from("uid".to_owned()).unwrap());
        fs::create_dir_all(workdir.data()).unwrap();
        let found = json!({ "version": 3, "backend": { "type": kind, "config": config, "hash": 7 } });
        fs::write(workdir.data().join("terraform.tfstate"), found.to_string()).unwrap();
        declared_name(&workdir)
    }

    #[rstest]
    #[case::another_bucket("s3", json!({ "bucket": "b", "key": "k" }))]
    #[case::another_key("s3", json!({ "bucket": "a", "key": "l" }))]
    #[case::another_kind("gcs", json!({ "bucket": "a", "key": "k" }))]
    #[case::one_setting_more("s3", json!({ "bucket": "a", "key": "k", "workspace_key_prefix": "p" }))]
    fn a_backend_in_another_place_has_another_name(#[case] kind: &str, #[case] config: Value) {
        let before = name("s3", &json!({ "bucket": "a", "key": "k" })).unwrap();
        assert!(before.starts_with("declared:"), "{before}");
        assert_ne!(name(kind, &config), Some(before));
    }

    #[rstest]
    #[case::in_another_order(json!({ "key": "k", "bucket": "a" }))]
    #[case::with_settings_of_a_newer_version(json!({ "bucket": "a", "key": "k", "new": null, "list": [], "fields": { "x": null } }))]
    #[case::with_other_credentials(json!({ "bucket": "a", "key": "k", "access_key": "1", "secret_key": "2", "token": "3" }))]
    fn a_backend_in_the_same_place_has_the_same_name(#[case] config: Value) {
        assert_eq!(name("s3", &config), name("s3", &json!({ "bucket": "a", "key": "k" })));
    }

    #[test]
    fn a_login_in_an_address_does_not_count_but_the_rest_does() {
        let of = |address: &str| name("pg", &json!({ "conn_str": address }));
        assert_eq!(of("postgres://one:secret@db/a"), of("postgres://two:other@db/a"));
        assert_ne!(of("postgres://one:secret@db/a"), of("postgres://one:secret@db/b"));
        assert_ne!(of("https://db/a@1"), of("https://db/b@1"));
    }
}
