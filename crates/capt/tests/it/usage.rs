use rstest::rstest;

use crate::{capt, printed, told};

#[rstest]
#[case::an_unknown_verb(&["upp"], "similar subcommand exists: 'up'")]
#[case::an_unknown_flag(&["crds", "--includes", "terraform"], "similar argument exists: '--include'")]
#[case::an_unknown_kind(&["crds", "--include", "terrafrom"], "similar value exists: 'terraform'")]
#[case::an_unknown_output(&["version", "--output", "xml"], "[possible values: human, json, yaml]")]
#[case::a_broken_filter(&["version", "--log-level", "capt=loud"], "invalid value 'capt=loud' for '--log-level <FILTER>'")]
#[case::no_workers(&["manager", "--concurrency", "0"], "0 is not in 1..=65535")]
#[case::an_address_without_port(&["manager", "--diagnostics-address", "localhost"], "for example 127.0.0.1:9440, or none")]
#[case::neither_true_nor_false(&["manager", "--leader-elect=maybe"], "[possible values: true, false]")]
#[case::an_unknown_engine(&["manager", "--engine", "jobs"], "[possible values: auto, process, crossplane]")]
#[case::a_misspelt_engine(&["up", "--engine", "crosplane"], "similar value exists: 'crossplane'")]
#[case::no_plans(&["manager", "--max-plans", "0"], "0 is not in 1..=65535")]
#[case::no_applies(&["up", "--max-applies", "0"], "0 is not in 1..=65535")]
#[case::a_time_without_a_unit(&["manager", "--drift-interval", "10"], "write a number with a unit, for example 30s, 10m or 6h")]
#[case::no_time_at_all(&["up", "--drift-interval", "often"], "write a number with a unit, for example 30s, 10m or 6h")]
#[case::planning_all_the_time(&["manager", "--drift-interval", "1s"], "10s at least")]
#[case::a_time_before_now(&["manager", "--shutdown-grace=-5m"], "a time cannot be negative")]
#[case::a_time_without_end(&["manager", "--shutdown-grace", "100000h"], "a year at most")]
#[case::a_webhook_that_is_no_address(&["manager", "--addon-webhook", "example.org"], "'--addon-webhook <URL>': it is not an address of http or https")]
#[case::a_key_for_nobody(&["up", "--addon-webhook-key-file", "x"], "--addon-webhook <URL>")]
#[case::nothing_to_reconcile(&["reconcile", "workspace", "x"], "unrecognized subcommand 'workspace'")]
#[case::a_cluster_that_leads_elsewhere(&["reconcile", "cluster", "../x"], "write a name in lower case letters")]
#[case::a_stack_with_a_query(&["reconcile", "addonstack", "x?y"], "write a name in lower case letters")]
#[case::a_namespace_that_leads_elsewhere(&["reconcile", "cluster", "x", "-n", "a/b"], "as names of namespaces are")]
#[case::an_unending_wait(&["reconcile", "cluster", "x", "--wait", "--timeout", "long"], "write a number with a unit")]
#[case::nothing_to_describe(&["describe", "node", "x"], "unrecognized subcommand 'node'")]
#[case::a_cluster_to_describe_that_leads_elsewhere(&["describe", "cluster", "../x"], "write a name in lower case letters")]
#[case::one_cluster_of_every_namespace(&["get", "clusters", "x", "-A"], "cannot be used with")]
#[case::a_context_without_a_file(&["kubeconfig", "x", "--context-name", "y"], "--merge")]
#[case::a_context_without_a_name(&["kubeconfig", "x", "--merge", "--context-name", " "], "write a name of at most 253 letters")]
#[case::a_name_that_leads_elsewhere(&["workload", "start", "--home", "x", "--name", "../pki"], "is no name of a workload")]
#[case::a_name_that_is_a_command(&["workload", "stop", "--home=x", "--name=a';b"], "is no name of a workload")]
#[case::an_answer_without_a_question(&["down", "--yes"], "--purge")]
#[case::force_for_nothing(&["down", "--force"], "--purge")]
#[case::an_unending_stop(&["down", "--timeout", "long"], "write a number with a unit")]
#[case::made_and_deleted_at_once(&["demo", "--exit", "--delete"], "cannot be used with")]
#[case::a_workload_of_nobody(&["workload", "stop", "--name", "demo"], "--home <DIR>")]
#[case::a_directory_of_its_own_below_another(&["up", "--terraform-directory", "x"], "unexpected argument '--terraform-directory'")]
fn bad_usage_is_told_and_ends_with_2(#[case] arguments: &[&str], #[case] message: &str) {
    let told = told(capt().args(arguments), 2);

    assert!(told.contains(message), "{told}");
}

#[rstest]
#[case::by_flag(&["--addon-webhook", "ftp://me:hunter2@example.org/"], "")]
#[case::by_variable(&[], "ftp://me:hunter2@example.org/")]
fn a_webhook_that_cannot_be_used_is_not_repeated(#[case] arguments: &[&str], #[case] variable: &str) {
    let mut command = capt();
    if !variable.is_empty() {
        command.env("CAPT_ADDON_WEBHOOK", variable);
    }

    let told = told(command.arg("manager").args(arguments), 2);

    assert!(told.contains("--addon-webhook") && !told.contains("hunter2"), "{told}");
}

#[test]
fn no_verb_at_all_shows_the_verbs() {
    let told = told(&mut capt(), 2);

    for verb in ["up", "manager", "reconcile", "crds", "version"] {
        assert!(told.contains(&format!("\n  {verb} ")), "{told}");
    }
    assert!(!told.contains("\n  workload "), "it is for modules: {told}");
}

#[rstest]
#[case(&["--help"])]
#[case(&["up", "--help"])]
#[case(&["manager", "--help"])]
#[case(&["reconcile", "--help"])]
#[case(&["describe", "--help"])]
#[case(&["get", "--help"])]
#[case(&["kubeconfig", "--help"])]
#[case(&["completion", "--help"])]
#[case(&["crds", "--help"])]
#[case(&["workload", "--help"])]
fn every_help_has_examples(#[case] arguments: &[&str]) {
    let help = printed(capt().args(arguments));

    assert!(help.contains("Examples:\n  capt "), "{help}");
}

#[rstest]
#[case(&["up", "--help"], &["--engine", "--terraform-binary", "--max-plans", "--max-applies", "--drift-interval", "--shutdown-grace"])]
#[case(&["manager", "--help"], &["--engine", "--terraform-binary", "--terraform-directory", "--plugin-cache", "--shutdown-grace"])]
fn what_is_about_terraform_stands_together(#[case] arguments: &[&str], #[case] flags: &[&str]) {
    let help = printed(capt().args(arguments));

    let section = help.split_once("\nTerraform:\n").unwrap().1.split("\n\n\n").next().unwrap();
    let section = section.split_once("\nLogging:\n").map_or(section, |(section, _)| section);
    for flag in flags {
        assert!(section.contains(&format!("{flag} <")), "{flag} is not in:\n{section}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_capt"))
        .arg("crds")
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());

    let output = child.wait_with_output().unwrap();

    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
