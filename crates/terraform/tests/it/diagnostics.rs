//! Failures, as Terraform itself tells them.

use capt_terraform::{Arguments, Error, PullPolicy, Secret, Source, Verb};

use crate::bed::{Bed, Seen, inline, variables};

#[tokio::test]
async fn a_syntax_error_names_its_file_and_line() {
    let bed = Bed::new().await;

    let error = bed.plan(&inline("resource \"terraform_data\" \"a\" {\n  input =\n}\n")).await.unwrap_err();

    let told = error.diagnostics().iter().find(|told| told.file.is_some()).unwrap();
    assert_eq!((told.file.as_deref(), told.line), (Some("main.tf"), Some(2)));
    assert_eq!(error.reason(), "InitFailed");
}

#[tokio::test]
async fn a_missing_variable_is_named() {
    let bed = Bed::new().await;

    let error = bed.plan(&inline("variable \"region\" {}\n")).await.unwrap_err();

    assert_eq!(error.reason(), "PlanFailed");
    assert!(
        error
            .to_string()
            .starts_with("plan failed (exit status: 1): No value for required variable (main.tf line 1)"),
        "{error}"
    );
    assert!(error.to_string().contains("\"region\""), "{error}");
}

#[tokio::test]
async fn an_unknown_provider_is_named() {
    let bed = Bed::new().await;

    let error = bed.plan(&inline("resource \"nonexistent_thing\" \"a\" {}\n")).await.unwrap_err();

    assert_eq!(error.reason(), "InitFailed");
    assert!(error.to_string().contains("nonexistent"), "{error}");
}

#[tokio::test]
async fn an_unreachable_module_is_told_without_its_password() {
    let bed = Bed::new().await;
    let mut run = inline("");
    let address = "git::https://me:hunter22@127.0.0.1:1/network.git?ref=v1";
    run.source = Source::Remote { address: Secret::from(address), pull: PullPolicy::Always };

    let error = bed.plan(&run).await.unwrap_err();

    assert_eq!(error.reason(), "ModuleUnavailable");
    assert!(error.to_string().contains("127.0.0.1:1/network.git"), "{error}");
    assert!(!format!("{error:?}{run:?}").contains("hunter22"), "{error:?}");
}

#[tokio::test]
async fn a_provisioner_that_fails_leaves_the_rest_in_the_state() {
    let bed = Bed::new().await;
    let run = inline(
        r#"
resource "terraform_data" "good" {}
resource "terraform_data" "bad" {
  depends_on = [terraform_data.good]
  provisioner "local-exec" { command = "exit 3" }
}
"#,
    );

    let error = bed.make(&run, &Seen::default()).await.unwrap_err();

    assert!(matches!(error, Error::Failed { verb: Verb::Apply, .. }), "{error:?}");
    assert!(error.to_string().contains("local-exec provisioner error"), "{error}");
    let plan = bed.plan(&run).await.unwrap();
    assert_eq!(plan.changes.len(), 1, "{plan}");
    assert_eq!(plan.changes[0].address, "terraform_data.bad");
}

#[tokio::test]
async fn arguments_reach_the_command_they_are_for() {
    let bed = Bed::new().await;
    let mut run = inline(
        "variable \"a\" {}\nresource \"terraform_data\" \"x\" { input = var.a }\nresource \"terraform_data\" \"y\" {}\n",
    );
    run.variables = vec![variables("{}")];
    run.arguments = Arguments {
        plan: vec!["-var=a=it's $HOME".to_owned()],
        apply: vec!["-parallelism=1".to_owned(), "-target=terraform_data.x".to_owned()],
        ..Arguments::default()
    };

    let plan = bed.plan(&run).await.unwrap();

    assert_eq!(plan.changes.len(), 1, "{plan}");
    assert_eq!(
        plan.changes[0].attributes.iter().find(|it| it.name == "input").unwrap().after,
        "\"it's $HOME\""
    );
    bed.apply(&run, &plan, &Seen::default()).await.unwrap();
}
