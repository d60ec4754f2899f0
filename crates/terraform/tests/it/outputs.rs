//! Outputs of every shape, through the real binary.

use serde_json::json;

use crate::bed::{Bed, Seen, inline};

#[tokio::test]
async fn outputs_of_every_shape_come_through_exactly() {
    let bed = Bed::new().await;
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    // More than a float holds, and exact in what Terraform counts with.
    let huge = format!("1{}", "0".repeat(400));
    let run = inline(&format!(
        r#"
output "large" {{ value = 123456789012345678901234567890 }}
output "beyond_float" {{ value = {huge} }}
output "negative" {{ value = -9223372036854775808 }}
output "fraction" {{ value = 0.1 }}
output "null" {{ value = null }}
output "null_inside" {{ value = {{ a = null, b = [null] }} }}
output "deep" {{ value = jsondecode("{deep}") }}
output "odd" {{ value = "a\u0001\u0007\tb\nc\\ÿ\U0001F600<>&" }}
output "binary" {{ value = base64encode("ÿ\u0001") }}
output "empty" {{ value = "" }}
output "digits" {{ value = "007" }}
resource "terraform_data" "huge" {{ input = {huge} }}
"#
    ));

    let plan = bed.plan(&run).await.unwrap();
    let outputs = bed.apply(&run, &plan, &Seen::default()).await.unwrap().outputs;

    let secret = |name: &str| String::from_utf8(outputs[name].secret_bytes().expose().to_vec()).unwrap();
    assert_eq!(secret("large"), "123456789012345678901234567890");
    assert_eq!(outputs["large"].status_value(), Some(json!("123456789012345678901234567890")));
    assert_eq!(secret("beyond_float"), huge);
    assert_eq!(outputs["beyond_float"].status_value(), Some(json!(huge)));
    assert_eq!(outputs["negative"].status_value(), Some(json!(i64::MIN)));
    assert_eq!(outputs["fraction"].status_value(), Some(json!(0.1)));
    assert!(!outputs.contains_key("null"));
    assert_eq!(outputs["null_inside"].status_value(), Some(json!({"a": null, "b": [null]})));
    assert_eq!(secret("deep"), deep);
    assert_eq!(outputs["deep"].status_value(), None);
    assert_eq!(secret("odd"), "a\u{1}\u{7}\tb\nc\\ÿ\u{1f600}<>&");
    assert_eq!(secret("binary"), "w78B");
    assert_eq!((secret("empty"), secret("digits")), (String::new(), "007".to_owned()));
    assert!(bed.plan(&run).await.unwrap().is_empty());
}
