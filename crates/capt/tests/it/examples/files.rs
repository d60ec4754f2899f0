//! The files of the examples: they pass `capt validate` as their own README says, and their modules are written as Terraform
//! formats them.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use capt_api::WorkspaceTemplate;
use capt_testkit::terraform;
use serde_json::Value;

use crate::capt;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The directories of the examples.
fn directories() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("examples")).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir()).collect()
}

fn name(directory: &Path) -> String {
    directory.file_name().unwrap().to_string_lossy().into_owned()
}

fn readme(directory: &Path) -> String {
    fs::read_to_string(directory.join("README.md")).unwrap_or_default()
}

/// What is validated, as the README of the example has it; the directory where it says nothing.
fn arguments(directory: &Path) -> Vec<String> {
    let readme = readme(directory);
    let command = readme.lines().find_map(|line| line.strip_prefix("capt validate "));
    let command = command.map_or_else(|| format!("-f examples/{}", name(directory)), ToOwned::to_owned);
    command.split_whitespace().map(ToOwned::to_owned).collect()
}

/// The inline modules of a directory, with the names of their templates.
fn modules(directory: &Path) -> Vec<(String, String)> {
    let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    let objects = files.flat_map(|path| {
        let text = fs::read_to_string(path).unwrap();
        serde_saphyr::from_multiple::<Value>(&text).unwrap()
    });
    let templates = objects.filter(|object| object["kind"] == "WorkspaceTemplate");
    let templates = templates.map(|object| serde_json::from_value::<WorkspaceTemplate>(object).unwrap());
    let module = |template: WorkspaceTemplate| {
        let text = template.spec.template.spec.pointer("/forProvider/module")?.as_str()?.to_owned();
        Some((template.metadata.name?, text))
    };
    templates.filter_map(module).collect()
}

#[test]
fn every_example_passes_as_its_readme_says() {
    let directories = directories();
    assert!(directories.len() >= 6, "{directories:?}");
    for directory in directories {
        let validate = ["validate", "--strict"];
        let output = capt().current_dir(root()).args(validate).args(arguments(&directory)).output().unwrap();

        let found = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{}: {found}", directory.display());
        assert!(found.starts_with("no problems in"), "{}: {found}", directory.display());
    }
}

#[test]
fn modules_of_examples_are_formatted_and_can_be_parsed() {
    let all: Vec<_> = directories().iter().flat_map(|directory| modules(directory)).collect();
    assert!(all.len() >= 7, "{all:?}");
    for (template, module) in all {
        let mut format = Command::new(terraform::binary());
        format.args(["fmt", "-check", "-diff", "-no-color", "-"]).env_remove("TF_CLI_CONFIG_FILE");
        format.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = format.spawn().unwrap();
        process.stdin.take().unwrap().write_all(module.as_bytes()).unwrap();
        let output = process.wait_with_output().unwrap();

        let [found, problems] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        assert!(output.status.success(), "{template}: {found}{problems}");
    }
}

#[test]
fn an_example_that_needs_aws_says_that_it_is_not_run() {
    for directory in directories() {
        let needs_aws = modules(&directory).iter().any(|(_, module)| module.contains("hashicorp/aws"));
        let says_so = readme(&directory).contains("CI does not run this against AWS");
        assert!(!needs_aws || says_so, "{}", directory.display());
    }
}
