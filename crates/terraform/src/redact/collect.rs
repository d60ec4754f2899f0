//! Finds the secret values in what a run is given.

use serde_json::Value;

use crate::run::{Backend, Run, Source};
use crate::source_address;

/// Words that are in every file and no secret.
const PLAIN: [&str; 6] = ["true", "false", "null", "none", "None", "default"];

/// Fields that say who and where, and hold no credential in any file: `capt` in a kubeconfig is a name, not a secret. Written
/// without `-` and `_`, in lower case.
const DESCRIBING: [&str; 29] = [
    "accountid",
    "apiversion",
    "bucket",
    "cluster",
    "clustername",
    "context",
    "currentcontext",
    "endpoint",
    "environment",
    "host",
    "hostname",
    "kind",
    "location",
    "name",
    "namespace",
    "output",
    "port",
    "profile",
    "project",
    "projectid",
    "region",
    "rolearn",
    "server",
    "stage",
    "tlsservername",
    "type",
    "user",
    "version",
    "zone",
];

/// Every secret value of the run. Arguments are not looked at: which of them hold a secret is known to whoever gives them, and
/// said in `hidden`.
pub(super) fn secrets(run: &Run) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let files = run.files.iter().filter(|file| file.sensitive).map(|file| &file.content);
    let variables = run.variables.iter().filter(|file| file.sensitive).map(|file| &file.content);
    for content in files.chain(variables) {
        from_file(content.expose(), &mut found);
    }
    for variable in run.environment.iter().filter(|variable| variable.sensitive) {
        found.push(variable.value.expose().to_vec());
        from_file(variable.value.expose(), &mut found);
    }
    found.extend(run.hidden.iter().map(|hidden| hidden.value.expose().to_vec()));
    match &run.backend {
        Backend::Kubernetes { kubeconfig, namespace: _, suffix: _, declared: _ } => {
            from_file(kubeconfig.expose(), &mut found);
        }
        Backend::Declared { settings } => from_file(settings.expose(), &mut found),
        Backend::Local => {}
    }
    if let Source::Remote { address, pull: _ } = &run.source
        && let Ok(address) = std::str::from_utf8(address.expose())
        && let Some(login) = source_address::login(address)
    {
        found.push(login.password.as_bytes().to_vec());
    }
    found
}

/// The values in a file that may be credentials: leaves of JSON; otherwise quoted strings and what stands behind `=` and `:`.
///
/// A file with a syntax error is read in the same way, since it is then that its text is most likely to be printed.
fn from_file(content: &[u8], found: &mut Vec<Vec<u8>>) {
    found.push(content.to_vec());
    let Ok(text) = std::str::from_utf8(content) else { return };
    if let Ok(tree) = serde_json::from_str::<Value>(text) {
        leaves("", &tree, found);
        return;
    }
    found.extend(heredocs(text).map(String::into_bytes));
    for line in text.lines() {
        let entry =
            line.split_once(['=', ':']).map(|(key, value)| (key, value.trim().trim_matches('"').trim()));
        if entry.is_some_and(|(key, value)| describes(key, value)) {
            continue;
        }
        found.extend(quoted(line).map(|value| value.as_bytes().to_vec()));
        let Some((key, value)) = entry else { continue };
        let shortest = if tells_of_a_secret(key) { 4 } else { 16 };
        if value.len() >= shortest && !PLAIN.contains(&value) {
            found.push(value.as_bytes().to_vec());
        }
    }
}

fn leaves(key: &str, tree: &Value, found: &mut Vec<Vec<u8>>) {
    match tree {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) if describes(key, &number.to_string()) => {}
        Value::Number(number) => found.push(number.to_string().into_bytes()),
        Value::String(text) if PLAIN.contains(&text.as_str()) || describes(key, text) => {}
        Value::String(text) => found.push(text.as_bytes().to_vec()),
        Value::Array(items) => items.iter().for_each(|item| leaves(key, item, found)),
        Value::Object(fields) => fields.iter().for_each(|(key, field)| leaves(key, field, found)),
    }
}

/// Whether a field says who or where. What has a login in it, or more than one value, is no such thing whatever the field.
fn describes(key: &str, value: &str) -> bool {
    let key =
        key.trim().trim_start_matches("- ").trim().trim_matches('"').replace(['-', '_'], "").to_lowercase();
    let is_one = !value.contains(['"', '@', '{', '[', '\n']) && !value.contains(char::is_whitespace);
    is_one && DESCRIBING.contains(&key.as_str())
}

/// What stands between quotation marks in a line.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('"').skip(1).step_by(2).filter(|value| !PLAIN.contains(value))
}

/// What stands between `<<MARK` and `MARK`, as Terraform takes it.
fn heredocs(text: &str) -> impl Iterator<Item = String> {
    let lines: Vec<&str> = text.lines().collect();
    let opened = |line: &str| {
        let (_, mark) = line.rsplit_once("<<")?;
        let (indented, mark) = mark.strip_prefix('-').map_or((false, mark), |mark| (true, mark));
        let is_mark = mark.starts_with(char::is_alphabetic) && !mark.contains(char::is_whitespace);
        is_mark.then(|| (indented, mark.to_owned()))
    };
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some((indented, mark)) = opened(line.trim_end()) else { continue };
        let body: Vec<&str> =
            lines[index + 1..].iter().take_while(|line| line.trim() != mark).copied().collect();
        let indent = |line: &&str| line.len() - line.trim_start().len();
        let least = if indented { body.iter().map(indent).min().unwrap_or_default() } else { 0 };
        found.push(body.iter().map(|line| line.get(least..).unwrap_or_default().to_owned() + "\n").collect());
    }
    found.into_iter()
}

fn tells_of_a_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    ["key", "secret", "token", "pass", "data", "credential", "auth"].iter().any(|word| key.contains(word))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::json(r#"{"a":{"b":["hunter22"]}}"#)]
    #[case::hcl("a = { b = [\"hunter22\"] }")]
    #[case::broken_hcl("a = { b = [\"hunter22\"")]
    #[case::ini("[default]\naws_secret_access_key = hunter22\n")]
    #[case::heredoc("a = <<EOT\nhunter22\nEOT\n")]
    #[case::yaml("users:\n- user:\n    token: hunter22\n")]
    fn a_value_is_found_whatever_the_file(#[case] content: &str) {
        let mut found = Vec::new();
        from_file(content.as_bytes(), &mut found);

        let found: Vec<_> = found.iter().map(|value| value.trim_ascii()).collect();
        assert!(found.contains(&b"hunter22".as_slice()), "{found:?}");
    }

    #[rstest]
    #[case::a_kubeconfig(
        r#"{"kind":"Config","current-context":"capt","users":[{"name":"capt","user":{"token":"hunter22"}}],"contexts":[{"name":"capt","context":{"cluster":"capt","user":"capt","namespace":"capt-system"}}],"clusters":[{"name":"capt","cluster":{"server":"https://capt:6443"}}]}"#
    )]
    #[case::yaml(
        "kind: Config\ncurrent-context: capt\ncontexts:\n- name: capt\n  context:\n    cluster: capt\n    namespace: capt-system\nusers:\n- name: capt\n  user:\n    token: hunter22\nclusters:\n- cluster:\n    server: https://capt:6443\n"
    )]
    #[case::hcl("region = \"capt-region-1\"\nbucket=\"capt-system\"\nsecret_key = \"hunter22\"\n")]
    #[case::ini("[default]\nregion = capt-region-number-1\naws_secret_access_key = hunter22\n")]
    fn names_beside_a_credential_are_not_hidden(#[case] content: &str) {
        let mut found = Vec::new();
        from_file(content.as_bytes(), &mut found);
        let redactor = crate::redact::Redactor::new(found);

        let told = "locked by root@capt-manager-1 of capt-system at https://capt:6443 in capt-region-1 and capt-region-number-1";
        assert_eq!(redactor.redact(told), told);
        assert!(!redactor.redact("it is hunter22").contains("hunter22"));
    }

    #[rstest]
    #[case::a_login_in_an_address(r#"{"server":"https://me:hunter22@example.org"}"#, "hunter22")]
    #[case::many_values(r#"name = ["a", "hunter22"]"#, "hunter22")]
    #[case::words(r#"{"user":"so hunter22"}"#, "so hunter22")]
    fn what_may_be_a_credential_is_hidden_whatever_its_field_is_called(
        #[case] content: &str,
        #[case] secret: &str,
    ) {
        let mut found = Vec::new();
        from_file(content.as_bytes(), &mut found);

        let found: Vec<_> = found.iter().map(|value| String::from_utf8_lossy(value)).collect();
        assert!(found.iter().skip(1).any(|value| value.contains(secret)), "{found:?}");
    }

    #[rstest]
    #[case::plain("a = <<EOT\n  one\n two\nEOT\nb = 1\n", "  one\n two\n")]
    #[case::indented("  a = <<-EOT\n    one\n      two\n    EOT\n", "one\n  two\n")]
    #[case::without_an_end("a = <<EOT\none\ntwo", "one\ntwo\n")]
    fn a_heredoc_is_found_as_terraform_takes_it(#[case] content: &str, #[case] expected: &str) {
        assert_eq!(heredocs(content).collect::<Vec<_>>(), [expected]);
    }
}
