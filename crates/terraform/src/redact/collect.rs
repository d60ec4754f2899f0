//! Finds the secret values in what a run is given.

use serde_json::Value;

use crate::run::{Backend, Run, Source};
use crate::source_address;

/// Words that are in every file and no secret.
const PLAIN: [&str; 6] = ["true", "false", "null", "none", "None", "default"];

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

/// The values in a file: leaves of JSON; otherwise quoted strings and what stands behind `=` and `:`.
///
/// A file with a syntax error is read in the same way, since it is then that its text is most likely to be printed.
fn from_file(content: &[u8], found: &mut Vec<Vec<u8>>) {
    found.push(content.to_vec());
    let Ok(text) = std::str::from_utf8(content) else { return };
    if let Ok(tree) = serde_json::from_str::<Value>(text) {
        leaves(&tree, found);
        return;
    }
    found.extend(quoted(text).map(|value| value.as_bytes().to_vec()));
    found.extend(heredocs(text).map(String::into_bytes));
    for line in text.lines() {
        let Some((key, value)) = line.split_once(['=', ':']) else { continue };
        let value = value.trim().trim_matches('"').trim();
        if key.trim_end().ends_with("server") {
            // Where a kubeconfig leads to is what a message about it has to say.
            continue;
        }
        let shortest = if tells_of_a_secret(key) { 4 } else { 16 };
        if value.len() >= shortest && !PLAIN.contains(&value) {
            found.push(value.as_bytes().to_vec());
        }
    }
}

fn leaves(tree: &Value, found: &mut Vec<Vec<u8>>) {
    match tree {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => found.push(number.to_string().into_bytes()),
        Value::String(text) if PLAIN.contains(&text.as_str()) => {}
        Value::String(text) => found.push(text.as_bytes().to_vec()),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| leaves(field, found)),
    }
}

/// What stands between quotation marks, line by line.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split('"').skip(1).step_by(2)).filter(|value| !PLAIN.contains(value))
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
    #[case::plain("a = <<EOT\n  one\n two\nEOT\nb = 1\n", "  one\n two\n")]
    #[case::indented("  a = <<-EOT\n    one\n      two\n    EOT\n", "one\n  two\n")]
    #[case::without_an_end("a = <<EOT\none\ntwo", "one\ntwo\n")]
    fn a_heredoc_is_found_as_terraform_takes_it(#[case] content: &str, #[case] expected: &str) {
        assert_eq!(heredocs(content).collect::<Vec<_>>(), [expected]);
    }
}
