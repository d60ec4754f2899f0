//! Plans that change the state and nothing outside of it.

use capt_terraform::Operation;
use serde_json::json;

use super::stage::{EngineStage, output};

const BEFORE: &str = r#"
resource "terraform_data" "a" { input = "x" }
output "id" { value = terraform_data.a.id }
"#;

const AFTER: &str = r#"
resource "terraform_data" "b" { input = "x" }
output "id" { value = terraform_data.b.id }
output "edits" { value = 2 }
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_resource_that_was_renamed_with_a_moved_block_survives_the_next_edit() {
    let stage = EngineStage::set().await;
    let name = stage.put("moved", BEFORE, json!({})).await;
    let id = output(&stage.ready(&name).await, "id").unwrap().clone();

    let renamed = AFTER.replace("output \"edits\" { value = 2 }", "");
    let moved = "moved {\n  from = terraform_data.a\n  to   = terraform_data.b\n}\n";
    stage.stage.put_template("moved", &format!("{renamed}{moved}")).await;
    let content = capt_testkit::eventually("the state to hold the new address", async || {
        let secret = stage.state(&name).await?;
        let packed = secret.data.unwrap_or_default().remove("tfstate")?;
        let mut text = String::new();
        std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&packed.0[..]), &mut text).ok()?;
        text.contains("\"name\": \"b\"").then_some(text)
    });
    content.await;

    stage.stage.put_template("moved", AFTER).await;
    let workspace = stage.output(&name, "edits", json!(2)).await;
    assert_eq!(output(&workspace, "id"), Some(&id), "it was made anew");
}

#[tokio::test(flavor = "multi_thread")]
async fn outputs_that_differ_at_every_look_are_applied_with_an_edit_and_never_for_a_check() {
    let mut stage = EngineStage::without_manager().await;
    let engine = stage.start_recorded().await;
    let module = "output \"now\" { value = timestamp() }\n";
    let name = stage.put("clock", module, json!({})).await;
    stage.ready(&name).await;
    engine.take();

    stage.check(&name, "1").await;
    assert_eq!(engine.take(), [Operation::Plan]);

    stage.stage.put_template("clock", &format!("{module}output \"more\" {{ value = 1 }}\n")).await;
    stage.output(&name, "more", json!(1)).await;
    assert!(matches!(engine.take()[..], [Operation::Plan, Operation::Apply { .. }]));
}
