//! Plans that change the state and nothing outside of it: moves, imports, forgotten resources, outputs.

use capt_terraform::{Action, Plan};

use crate::bed::{Bed, Seen, inline};

const ONE: &str = r#"
resource "terraform_data" "a" { input = "x" }
output "id" { value = one(concat(terraform_data.a[*].id)) }
"#;

/// The module after somebody renamed the resource.
const RENAMED: &str = r#"
resource "terraform_data" "b" { input = "x" }
output "id" { value = terraform_data.b.id }
"#;

const MOVED: &str = "moved {\n  from = terraform_data.a\n  to   = terraform_data.b\n}\n";

async fn apply(bed: &Bed, module: &str) -> serde_json::Value {
    let applied = bed.make(&inline(module), &Seen::default()).await.unwrap();
    applied.outputs["id"].status_value().unwrap()
}

async fn plan(bed: &Bed, module: &str) -> Plan {
    bed.plan(&inline(module)).await.unwrap()
}

#[tokio::test]
async fn a_plan_that_only_moves_is_applied_and_the_resource_survives_the_end_of_the_moved_block() {
    let bed = Bed::new().await;
    let id = apply(&bed, ONE).await;

    let moves = plan(&bed, &format!("{RENAMED}{MOVED}")).await;
    assert!(!moves.is_empty(), "{moves}");
    assert!(moves.to_string().contains("move terraform_data.b (from terraform_data.a)"), "{moves}");
    bed.apply(&inline(&format!("{RENAMED}{MOVED}")), &moves, &Seen::default()).await.unwrap();

    assert!(plan(&bed, &format!("{RENAMED}{MOVED}")).await.is_empty());
    let without = plan(&bed, RENAMED).await;
    assert!(without.is_empty(), "{without}");
    let applied =
        bed.make(&inline(&format!("{RENAMED}output \"more\" {{ value = 1 }}")), &Seen::default()).await;
    assert_eq!(applied.unwrap().outputs["id"].status_value(), Some(id));
}

#[tokio::test]
async fn a_plan_that_moves_and_changes_tells_both() {
    let bed = Bed::new().await;
    apply(&bed, ONE).await;

    let both = plan(&bed, &format!("{}{MOVED}", RENAMED.replace("\"x\"", "\"y\""))).await;

    assert_eq!((both.count(Action::Update), both.count(Action::Move)), (1, 0));
    assert!(both.to_string().contains("update terraform_data.b (moved from terraform_data.a)"), "{both}");
}

#[tokio::test]
async fn a_plan_that_only_imports_is_applied() {
    let bed = Bed::new().await;
    let module = format!(
        "{ONE}resource \"terraform_data\" \"c\" {{}}\nimport {{\n  to = terraform_data.c\n  id = \"made-elsewhere\"\n}}\n"
    );
    apply(&bed, ONE).await;

    let imports = plan(&bed, &module).await;
    assert!(!imports.is_empty());
    assert!(imports.to_string().contains("import terraform_data.c (id made-elsewhere)"), "{imports}");
    bed.apply(&inline(&module), &imports, &Seen::default()).await.unwrap();

    assert!(plan(&bed, &module).await.is_empty());
}

#[tokio::test]
async fn a_plan_that_only_forgets_is_applied() {
    let bed = Bed::new().await;
    let module = "removed {\n  from = terraform_data.a\n  lifecycle { destroy = false }\n}\noutput \"id\" { value = 1 }";
    apply(&bed, &ONE.replace("one(concat(terraform_data.a[*].id))", "1")).await;

    let forgets = plan(&bed, module).await;
    assert!(!forgets.is_empty());
    assert!(
        forgets.to_string().starts_with("0 to add, 0 to change, 0 to replace, 0 to destroy, 1 to forget"),
        "{forgets}"
    );
    bed.apply(&inline(module), &forgets, &Seen::default()).await.unwrap();

    assert!(plan(&bed, module).await.is_empty());
}

#[tokio::test]
async fn outputs_that_differ_each_time_are_told_from_resources_that_change() {
    let bed = Bed::new().await;
    let module = format!("{ONE}output \"now\" {{ value = timestamp() }}");
    apply(&bed, &module).await;

    let volatile = plan(&bed, &module).await;
    let moved = plan(&bed, &format!("{RENAMED}{MOVED}output \"now\" {{ value = timestamp() }}")).await;

    assert!(!volatile.is_empty() && volatile.changes_outputs_alone(), "{volatile}");
    assert!(!moved.changes_outputs_alone(), "{moved}");
}
