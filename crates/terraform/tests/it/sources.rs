//! Modules from everywhere, and what is refused.

use std::fs;
use std::path::Path;

use capt_terraform::{
    Engine, Error, Event, ExtraFile, Format, InvalidRun, Place, PullPolicy, Secret, Settings, Source, Verb,
};
use rstest::rstest;

use capt_testkit::terraform::binary;

use crate::bed::{Bed, Seen, archive, git, inline};

const MODULE: &str =
    "module \"shared\" { source = \"../shared\" }\noutput \"x\" { value = module.shared.x }\n";

fn write_module(root: &Path) {
    for (directory, content) in [("network", MODULE), ("shared", "output \"x\" { value = \"shared\" }\n")] {
        fs::create_dir_all(root.join(directory)).unwrap();
        fs::write(root.join(directory).join("main.tf"), content).unwrap();
    }
}

#[tokio::test]
async fn a_module_comes_from_git_and_is_fetched_again_as_the_policy_says() {
    let bed = Bed::new().await;
    let repository = tempfile::tempdir().unwrap();
    write_module(repository.path());
    let address = crate::bed::repository(repository.path());
    let mut run = inline("");
    run.source = Source::Remote { address: Secret::from(address.as_str()), pull: PullPolicy::IfNotPresent };
    run.entrypoint = "network".to_owned();
    assert_eq!(bed.plan(&run).await.unwrap().outputs.len(), 1);
    fs::write(repository.path().join("network/more.tf"), "output \"y\" { value = 1 }\n").unwrap();
    git(repository.path(), &["add", "."]);
    git(repository.path(), &["commit", "-qm", "two"]);
    assert_eq!(bed.plan(&run).await.unwrap().outputs.len(), 1);

    run.source = Source::Remote { address: Secret::from(address), pull: PullPolicy::Always };
    assert_eq!(bed.plan(&run).await.unwrap().outputs.len(), 2);
    let seen = Seen::default();
    bed.engine.run(&run, &seen).await.unwrap();
    assert!(seen.any(|event| *event == Event::Started(Verb::Fetch)));
    assert!(!seen.any(|event| *event == Event::Started(Verb::Init)), "nothing about it changed");
}

#[tokio::test]
async fn a_module_comes_from_a_directory_or_an_archive() {
    let bed = Bed::new().await;
    let unpacked = tempfile::tempdir().unwrap();
    write_module(unpacked.path());
    let mut run = inline("");
    run.entrypoint = "network".to_owned();
    run.source = Source::Directory { path: unpacked.path().to_owned() };
    assert_eq!(bed.plan(&run).await.unwrap().outputs.len(), 1);

    run.source = Source::Archive { path: archive(unpacked.path(), bed.root.path()) };
    assert_eq!(bed.plan(&run).await.unwrap().outputs.len(), 1);

    run.entrypoint = "nowhere".to_owned();
    let error = bed.plan(&run).await.unwrap_err();
    assert_eq!(error.to_string(), "the entrypoint `nowhere` is not a directory of the module");
}

#[tokio::test]
async fn files_beside_the_module_are_there_for_the_run_and_gone_after_it() {
    let bed = Bed::new().await;
    let mut run = inline("output \"x\" { value = file(\"${path.module}/credentials.ini\") }\n");
    let file = |name: &str, content: &str| ExtraFile {
        name: name.to_owned(),
        place: Place::Module,
        sensitive: false,
        content: Secret::from(content),
    };
    run.files = vec![file("credentials.ini", "key"), file("extra.tf", "output \"y\" { value = 1 }\n")];

    assert_eq!(bed.plan(&run).await.unwrap().outputs.len(), 2);
    assert!(!bed.workdir().join("module/credentials.ini").exists());
    run.files.pop();
    assert_eq!(bed.plan(&run).await.unwrap().outputs.len(), 1);
}

#[tokio::test]
async fn a_module_may_be_json_and_use_a_plugin_cache() {
    let root = tempfile::tempdir().unwrap();
    let mut settings = Settings::new(root.path().join("runs"), binary());
    settings.plugin_cache = Some(root.path().join("cache"));
    let engine = capt_terraform::ProcessEngine::start(settings).await.unwrap();
    let bed = Bed { root, engine };
    let mut run = inline("");
    let content = Secret::from(r#"{"output":{"x":{"value":1}}}"#);
    run.source = Source::Inline { format: Format::Json, content };

    assert_eq!(bed.plan(&run).await.unwrap().outputs.len(), 1);
}

#[rstest]
#[case::entrypoint(|run: &mut capt_terraform::Run| run.entrypoint = "../other".to_owned(), "the entrypoint `../other` leaves the module")]
#[case::absolute(|run: &mut capt_terraform::Run| run.entrypoint = "/etc".to_owned(), "the entrypoint `/etc` leaves the module")]
#[case::workspace(|run: &mut capt_terraform::Run| run.workspace = "a/b".to_owned(), "the Terraform workspace name `a/b` is not allowed")]
#[case::argument(|run: &mut capt_terraform::Run| run.arguments.plan = vec!["-out=/tmp/x".to_owned()], "the argument `-out` cannot be given")]
#[case::long_argument(|run: &mut capt_terraform::Run| run.arguments.init = vec!["--chdir=/".to_owned()], "the argument `-chdir` cannot be given")]
#[case::file(|run: &mut capt_terraform::Run| run.files = vec![file("../x")], "the file name `../x` is not allowed")]
#[case::own_file(|run: &mut capt_terraform::Run| run.files = vec![file("zz_capt_backend_override.tf")], "the file name `zz_capt_backend_override.tf` is not allowed")]
#[case::environment(|run: &mut capt_terraform::Run| run.environment = vec![variable("TF_CLI_ARGS_plan")], "the environment variable `TF_CLI_ARGS_plan` cannot be set")]
#[case::home(|run: &mut capt_terraform::Run| run.environment = vec![variable("HOME")], "the environment variable `HOME` cannot be set")]
#[case::key(|run: &mut capt_terraform::Run| run.source = remote("git::ssh://a/b?sshkey=abc"), "the module's address holds a key")]
fn a_run_that_reaches_out_of_its_directory_is_refused(
    #[case] change: fn(&mut capt_terraform::Run),
    #[case] message: &str,
) {
    let mut run = inline("");
    change(&mut run);

    let refused: InvalidRun = run.validate().unwrap_err();

    assert!(refused.to_string().starts_with(message), "{refused}");
    assert_eq!(Error::from(refused).retry(), capt_terraform::Retry::OnChange);
}

fn file(name: &str) -> ExtraFile {
    ExtraFile { name: name.to_owned(), place: Place::Module, sensitive: true, content: Secret::default() }
}

fn variable(name: &str) -> capt_terraform::EnvironmentVariable {
    capt_terraform::EnvironmentVariable { name: name.to_owned(), sensitive: true, value: Secret::default() }
}

fn remote(address: &str) -> Source {
    Source::Remote { address: Secret::from(address), pull: PullPolicy::Always }
}
