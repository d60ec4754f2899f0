//! Which backend a module declares by itself.
//!
//! Files are read as Terraform reads them, but no further than this question needs: only a lexer for HCL and only raw
//! values for JSON, so that a file which a stricter or smaller parser would refuse still counts. What is broken beyond
//! that declares nothing; Terraform itself will say what is wrong.

mod hcl;
mod json;

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use crate::binary::Tool;

/// Nobody writes more into one file.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The kind of backend that the configuration in a directory keeps its state in, `cloud` included; files of these names
/// do not count.
///
/// `local` is none: its file would be lost with the working directory.
pub(super) fn elsewhere(directory: &Path, tool: Tool, except: &str) -> io::Result<Option<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        names.extend(entry?.file_name().into_string().ok().filter(|name| name != except));
    }
    names.sort();
    let mut found = None;
    for overrides in [false, true] {
        for name in names.iter().filter(|name| is_read(name, &names, tool) && is_override(name) == overrides)
        {
            let path = directory.join(name);
            // Nothing that could keep us waiting, such as a pipe.
            if fs::metadata(&path).is_ok_and(|metadata| metadata.is_file()) {
                found = kind(name, &text(&path)?).or(found);
            }
        }
    }
    Ok(found.filter(|kind| kind != "local"))
}

fn text(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    File::open(path)?.take(LARGEST).read_to_end(&mut content)?;
    Ok(content)
}

fn kind(name: &str, content: &[u8]) -> Option<String> {
    // Some editors write a byte order mark.
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    if is_json(name) { json::backend(content) } else { hcl::backend(content) }
}

fn is_json(name: &str) -> bool {
    name.strip_suffix(".json").is_some()
}

/// The name without what makes it configuration, and whether only OpenTofu reads it.
fn stem(name: &str) -> Option<(&str, bool)> {
    let name = name.strip_suffix(".json").unwrap_or(name);
    name.strip_suffix(".tf")
        .map(|stem| (stem, false))
        .or_else(|| name.strip_suffix(".tofu").map(|stem| (stem, true)))
}

/// Whether the tool reads the file. OpenTofu takes `a.tofu` in place of `a.tf`.
fn is_read(name: &str, all: &[String], tool: Tool) -> bool {
    let Some((stem, only_tofu)) = stem(name) else { return false };
    if name.starts_with('.') || name.ends_with('~') || (name.starts_with('#') && name.ends_with('#')) {
        return false;
    }
    match tool {
        Tool::Terraform => !only_tofu,
        Tool::OpenTofu => {
            let end = if is_json(name) { ".tofu.json" } else { ".tofu" };
            only_tofu || !all.contains(&format!("{stem}{end}"))
        }
    }
}

/// Whether the file changes what the others say.
fn is_override(name: &str) -> bool {
    stem(name).is_some_and(|(stem, _)| stem == "override" || stem.ends_with("_override"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const S3: &str = "terraform {\n  backend \"s3\" {}\n}\n";
    const GCS: &str = "terraform {\n  backend \"gcs\" {}\n}\n";
    const LOCAL: &str = "terraform {\n  backend \"local\" {}\n}\n";

    #[rstest]
    #[case::nothing(&[("main.tf", "output \"x\" { value = 1 }")], None)]
    #[case::declared(&[("a.tf", ""), ("main.tf", S3)], Some("s3"))]
    #[case::json(&[("main.tf.json", r#"{"terraform":{"backend":{"s3":{}}}}"#)], Some("s3"))]
    #[case::local(&[("main.tf", LOCAL)], None)]
    #[case::an_override_wins(&[("a_override.tf", GCS), ("main.tf", S3)], Some("gcs"))]
    #[case::an_override_to_local(&[("main.tf", S3), ("override.tf", LOCAL)], None)]
    #[case::our_own(&[("zz_own_override.tf", S3)], None)]
    #[case::no_configuration(&[("main.tf.txt", S3), (".hidden.tf", S3), ("main.tf~", S3)], None)]
    #[case::broken_beside_it(&[("a.tf", "resource \"x {"), ("b.tf.json", "{"), ("c.tf", S3)], Some("s3"))]
    fn the_backend_of_a_directory_is_found(
        #[case] files: &[(&str, &str)],
        #[case] expected: Option<&str>,
        #[values(Tool::Terraform, Tool::OpenTofu)] tool: Tool,
    ) {
        let directory = tempfile::tempdir().unwrap();
        for (name, content) in files {
            fs::write(directory.path().join(name), content).unwrap();
        }
        fs::create_dir(directory.path().join("directory.tf")).unwrap();

        assert_eq!(elsewhere(directory.path(), tool, "zz_own_override.tf").unwrap().as_deref(), expected);
    }

    #[rstest]
    #[case(Tool::Terraform, Some("s3"))]
    #[case(Tool::OpenTofu, Some("gcs"))]
    fn a_file_for_opentofu_stands_in_for_the_other_there_and_only_there(
        #[case] tool: Tool,
        #[case] expected: Option<&str>,
    ) {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("main.tf"), S3).unwrap();
        fs::write(directory.path().join("main.tofu"), GCS).unwrap();

        assert_eq!(elsewhere(directory.path(), tool, "").unwrap().as_deref(), expected);
    }

    #[test]
    fn a_byte_order_mark_does_not_hide_a_declaration() {
        assert_eq!(kind("main.tf", format!("\u{feff}{S3}").as_bytes()).as_deref(), Some("s3"));
    }
}
