//! Sensitive values of every kind go in; none of them comes out.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capt_terraform::{
    Engine, EnvironmentVariable, ExtraFile, Format, HiddenValue, Operation, Outcome, Place, Run, Secret,
    Source, VariableFile, Verb,
};

use crate::bed::{Bed, Seen, archive, identity, inline, until};

const MARKS: [&str; 6] = [
    "var-json-hunter22",
    "var-hcl-hunter22",
    "env-hunter22",
    "file-hunter22",
    "argument-hunter22",
    "output-hunter22",
];

/// Prints all its secrets, slowly, where a provisioner and an error can show them.
const MODULE: &str = r#"
variable "json" { type = string }
variable "hcl" { type = string }
variable "argument" { type = string }
resource "terraform_data" "one" {
  input = var.json
  provisioner "local-exec" {
    command = "echo \"$A $B $C $SECRET $(cat credentials)\"; echo $A | base64; touch \"$MARK\"; while [ ! -e \"$MARK.go\" ]; do sleep 0.05; done; exit 1"
    environment = {
      A = var.json
      B = var.hcl
      C = var.argument
    }
  }
}
output "password" {
  value     = "output-hunter22"
  sensitive = true
}
"#;

fn run(mark: &Path) -> Run {
    let mut run = inline(MODULE);
    let file =
        |format, content: &str| VariableFile { format, sensitive: true, content: Secret::from(content) };
    run.variables = vec![
        file(Format::Json, r#"{"json":"var-json-hunter22"}"#),
        file(Format::Hcl, "hcl = \"var-hcl-hunter22\"\n"),
    ];
    run.arguments.plan = vec!["-var=argument=argument-hunter22".to_owned()];
    run.hidden = vec![HiddenValue { value: Secret::from("argument-hunter22") }];
    let variable = |name: &str, value: &str, sensitive| EnvironmentVariable {
        name: name.to_owned(),
        sensitive,
        value: Secret::from(value),
    };
    run.environment =
        vec![variable("SECRET", "env-hunter22", true), variable("MARK", &mark.to_string_lossy(), false)];
    run.files = vec![ExtraFile {
        name: "credentials".to_owned(),
        place: Place::Module,
        sensitive: true,
        content: Secret::from("token = file-hunter22\n"),
    }];
    run
}

fn assert_clean(what: &str, text: &str) {
    for mark in MARKS {
        assert!(!text.contains(mark), "{what} shows {mark}: {text}");
        assert!(
            !text.contains(STANDARD.encode(mark).trim_end_matches('=')),
            "{what} shows {mark} in base64: {text}"
        );
    }
}

#[tokio::test]
async fn no_secret_comes_out_anywhere() {
    let bed = Arc::new(Bed::new().await);
    let mark = bed.root.path().join("mark");
    let run = run(&mark);
    let command_lines = Arc::new(Mutex::new(String::new()));

    let plan = bed.plan(&run).await.unwrap();
    assert_clean("the plan", &format!("{plan:?}{plan}{}", serde_json::to_string(&plan).unwrap()));
    let seen = Arc::new(Seen::default());
    let applying = tokio::spawn({
        let (bed, run, seen) = (Arc::clone(&bed), run.clone(), Arc::clone(&seen));
        async move { bed.apply(&run, &plan, &seen).await }
    });
    until("the provisioner runs", || {
        command_lines.lock().unwrap().push_str(&terraform_command_lines(&bed.workdir()));
        mark.exists()
    })
    .await;
    assert_private(&bed.root.path().join("runs"));
    fs::write(mark.with_extension("go"), "").unwrap();
    let error = applying.await.unwrap().unwrap_err();

    let command_lines = command_lines.lock().unwrap();
    assert!(command_lines.contains("plan.bin"), "no command line was seen");
    assert_clean("a command line", &command_lines);
    assert_clean("the error", &format!("{error}{error:?}"));
    assert_clean("the events", &format!("{:?}", seen.events()));
    assert_clean("the run itself", &format!("{run:?}"));
    let log = bed.engine.log(&identity(), Verb::Apply).unwrap().unwrap();
    assert!(log.contains("(sensitive value)"), "{log}");
    assert_clean("the log", &log);
    assert_private(&bed.root.path().join("runs"));
    for gone in
        ["variables/000.tfvars.json", "home/.netrc", "module/credentials", "logs/apply.out", "plan.bin"]
    {
        assert!(!bed.workdir().join(gone).exists(), "{gone} is still there");
    }
}

#[tokio::test]
async fn a_sensitive_output_reaches_its_reader_and_nobody_else() {
    let bed = Bed::new().await;
    let module = tempfile::tempdir().unwrap();
    let text = "resource \"terraform_data\" \"a\" {}\noutput \"password\" {\n  value     = \"output-hunter22\"\n  sensitive = true\n}\n";
    fs::write(module.path().join("main.tf"), text).unwrap();
    let mut run = inline("");
    run.source = Source::Archive { path: archive(module.path(), bed.root.path()) };
    let seen = Seen::default();

    let applied = bed.make(&run, &seen).await.unwrap();
    let Outcome::Outputs(read) = bed.engine.run(&run.with(Operation::Outputs), &seen).await.unwrap() else {
        panic!()
    };

    assert_eq!(applied.outputs, read);
    assert_eq!(read["password"].secret_bytes().expose(), b"output-hunter22");
    assert_eq!(read["password"].status_value(), None);
    assert_clean("what was applied", &format!("{applied:?}{read:?}"));
    assert_clean("the events", &format!("{:?}", seen.events()));
    for verb in [Verb::Init, Verb::Plan, Verb::Show, Verb::Apply, Verb::Output] {
        assert_clean("a log", &bed.engine.log(&identity(), verb).unwrap().unwrap_or_default());
    }
    assert_private(&bed.root.path().join("runs"));
    run.source = Source::Directory { path: module.path().to_owned() };
    bed.plan(&run).await.unwrap();
    assert_private(&bed.root.path().join("runs"));
}

#[tokio::test]
async fn a_broken_file_of_variables_is_told_without_its_content() {
    let bed = Bed::new().await;
    let mut run = inline("variable \"hcl\" { type = string }\n");
    let content = Secret::from("hcl = \"var-hcl-hunter22\n");
    run.variables = vec![VariableFile { format: Format::Hcl, sensitive: true, content }];

    let error = bed.plan_as(&run, Operation::Plan).await.unwrap_err();

    assert!(error.diagnostics().iter().any(|told| told.line == Some(1)), "{error:?}");
    assert_clean("the error", &format!("{error}{error:?}"));
    assert_clean("the log", &bed.engine.log(&identity(), Verb::Plan).unwrap().unwrap());
}

/// The command lines of all processes that work in a directory.
fn terraform_command_lines(workdir: &Path) -> String {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let ours = processes
        .filter(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(workdir)));
    ours.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .collect()
}

/// Nobody else can read anything, nor get in.
fn assert_private(root: &Path) {
    let metadata = fs::symlink_metadata(root).unwrap();
    let mode = metadata.permissions().mode() & 0o777;
    if metadata.is_dir() {
        assert_eq!(mode, 0o700, "{}", root.display());
        fs::read_dir(root).unwrap().flatten().for_each(|entry| assert_private(&entry.path()));
    } else if metadata.is_file() {
        assert_eq!(mode & 0o077, 0, "{}", root.display());
    }
}
