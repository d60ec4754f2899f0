//! No source prints an error in a form that is not for people: the client's own words hold whole answers of API servers.

use std::fs;
use std::path::{Path, PathBuf};

use regex_lite::Regex;

/// What names an error in our code.
const ERRORS: &str = "(error|err|source|cause|failure|problem|refused)";

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" && name != "bin" {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

/// Lines of a file that print an error by its own words, or by its form for programmers.
fn offences(text: &str) -> Vec<String> {
    // As a field of a log line, and in any text.
    let field = Regex::new(&format!(r"(^|[\s(,=])[?%]{ERRORS}\s*(,|\))")).unwrap();
    let form = Regex::new(&format!(r"\{{{ERRORS}:#?\??\}}")).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap_or_default().lines();
    let code = code.filter(|line| !line.trim_start().starts_with("//"));
    code.filter(|line| field.is_match(line) || form.is_match(line)).map(str::to_owned).collect()
}

#[test]
fn the_check_knows_what_it_looks_for() {
    for line in [
        "warn!(?error, \"x\")",
        "warn!(%kind, error = %error, \"x\")",
        "debug!(?source, \"x\")",
        "format!(\"it failed: {error:?}\")",
        "format!(\"it failed: {error:#}\")",
        "    %failure,",
    ] {
        assert_eq!(offences(line).len(), 1, "{line}");
    }
    for line in ["warn!(error = &error as &dyn std::error::Error)", "call()?, error)", "assert!({error})"] {
        assert_eq!(offences(line), Vec::<String>::new());
    }
}

#[test]
fn no_source_prints_an_error_but_as_a_sentence() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for name in ["capt", "controller", "core", "eks", "local", "terraform"] {
        sources(&crates.join(name).join("src"), &mut files);
    }
    assert!(files.len() > 100, "{}", files.len());
    let offences: Vec<String> = files
        .iter()
        .flat_map(|path| {
            let found = offences(&fs::read_to_string(path).unwrap());
            found.into_iter().map(move |line| format!("{}: {}", path.display(), line.trim()))
        })
        .collect();
    assert!(
        offences.is_empty(),
        "write `error = &error as &dyn Error` in log lines and `sentence(&error)` in texts:\n{}",
        offences.join("\n")
    );
}
