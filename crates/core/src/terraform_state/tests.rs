use rstest::rstest;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use super::*;

fn state(resources: &Value) -> Vec<u8> {
    json!({
        "version": 4, "terraform_version": "1.11.4", "serial": 7, "lineage": "l",
        "outputs": {
            "endpoint": { "value": "https://example.org", "type": "string" },
            "login": { "value": "hunter2-out", "type": "string", "sensitive": true },
        },
        "resources": resources,
    })
    .to_string()
    .into_bytes()
}

fn resource(name: &str, attributes: &Value, sensitive: &Value) -> Value {
    json!({
        "mode": "managed", "type": "aws_db_instance", "name": name, "provider": "p",
        "instances": [{ "schema_version": 0, "attributes": attributes, "sensitive_attributes": sensitive }],
    })
}

fn one(attributes: &Value, sensitive: &Value) -> Inspected {
    inspect(&state(&json!([resource("main", attributes, sensitive)]))).unwrap()
}

#[rstest]
#[case::plain(json!({ "size": 3 }), json!([]), json!({ "size": 3 }))]
#[case::marked(json!({ "a": "hunter2" }), json!([[{ "type": "get_attr", "value": "a" }]]), json!({ "a": "(sensitive)" }))]
#[case::marked_deep_inside(
    json!({ "a": { "b": "hunter2" } }),
    json!([[{ "type": "get_attr", "value": "a" }, { "type": "index", "value": { "value": "b", "type": "string" } }]]),
    json!({ "a": "(sensitive)" })
)]
#[case::told_by_its_name(json!({ "master_password": "hunter2" }), json!([]), json!({ "master_password": "(sensitive)" }))]
#[case::told_by_a_name_inside(
    json!({ "login": [{ "user": "me", "api_token": "hunter2" }] }),
    json!([]),
    json!({ "login": [{ "user": "me", "api_token": "(sensitive)" }] })
)]
#[case::in_json_in_a_text(json!({ "settings": "{\"password\":\"hunter2\"}" }), json!([]), json!({ "settings": "(sensitive)" }))]
#[case::kept_with_its_type(
    json!({ "input": { "type": ["object", { "password": "string" }], "value": { "password": "hunter2", "kind": "string" } } }),
    json!([]),
    json!({ "input": { "password": "(sensitive)", "kind": "string" } })
)]
#[case::something_with_a_type(json!({ "record": { "type": "A", "value": "1.2.3.4", "ttl": 3 } }), json!([]), json!({ "record": { "type": "A", "value": "1.2.3.4", "ttl": 3 } }))]
#[case::a_name_of_a_secret(json!({ "secret_name": "login" }), json!([]), json!({ "secret_name": "login" }))]
#[case::a_switch(json!({ "manage_master_user_password": true }), json!([]), json!({ "manage_master_user_password": true }))]
#[case::nothing_there(json!({ "password": null, "token": "" }), json!([]), json!({ "password": null, "token": "" }))]
#[case::marks_that_nobody_understands(json!({ "a": "hunter2" }), json!("all"), json!({ "a": "(sensitive)" }))]
#[case::a_mark_without_a_name(json!({ "a": "hunter2" }), json!([[]]), json!({ "a": "(sensitive)" }))]
fn what_is_sensitive_is_not_shown(
    #[case] attributes: Value,
    #[case] sensitive: Value,
    #[case] expected: Value,
) {
    let inspected = one(&attributes, &sensitive);

    assert_eq!(json!(inspected.resources[0].attributes), expected);
    assert!(!format!("{inspected:?}").contains("hunter2"), "{inspected:?}");
}

#[test]
fn what_is_hidden_in_one_place_is_known_and_can_be_hidden_in_all() {
    let inspected = one(&json!({ "password": "hunter2", "note": "it is hunter2" }), &json!([]));
    let secrets: Vec<String> = inspected.secrets.iter().map(|it| it.expose_secret().to_owned()).collect();
    assert_eq!(secrets, ["hunter2", "hunter2-out"]);

    let inspected = inspected.redacted(|text| text.replace("hunter2", "…"));
    assert_eq!(inspected.resources[0].attributes["note"], "it is …");
    assert_eq!(
        json!(inspected.outputs),
        json!({ "endpoint": "https://example.org", "login": "(sensitive)" })
    );
}

#[test]
fn a_value_beyond_all_bounds_is_not_shown_and_spoils_nothing() {
    let deep = "[".repeat(300) + &"]".repeat(300);
    let text =
        String::from_utf8(state(&json!([resource("main", &json!({ "n": 0, "d": 0, "s": 1 }), &json!([]))])))
            .unwrap();
    let text = text.replace("\"n\":0", "\"n\":1e999").replace("\"d\":0", &format!("\"d\":{deep}"));

    let inspected = inspect(text.as_bytes()).unwrap();

    assert_eq!(inspected.resources[0].attributes["s"], 1);
    assert_eq!(inspected.resources[0].attributes["n"], HIDDEN);
}

#[rstest]
#[case::nothing(b"")]
#[case::no_json(b"{")]
#[case::no_text(b"\xff\xfe")]
#[case::no_state(b"[]")]
#[case::encrypted(
    br#"{"serial":3,"lineage":"l","meta":{},"encrypted_data":"YQ==","encryption_version":"v0"}"#
)]
#[case::of_an_old_version(br#"{"version":3,"serial":3,"lineage":"l","modules":[]}"#)]
#[case::instances_that_are_none(br#"{"version":4,"serial":3,"lineage":"l","resources":[{"mode":"managed","type":"a","name":"b","instances":[3]}]}"#)]
fn what_is_no_state_is_told(#[case] text: &[u8]) {
    assert!(inspect(text).is_err());
}

#[test]
fn what_became_of_a_state_is_told_by_addresses() {
    let at = |resources: &[(&str, &str)]| {
        let resources: Vec<Value> = resources
            .iter()
            .map(|(name, password)| resource(name, &json!({ "password": password }), &json!([])))
            .collect();
        inspect(&state(&json!(resources))).unwrap()
    };
    let before = at(&[("gone", "1"), ("same", "1"), ("other", "1")]);
    let after = at(&[("same", "1"), ("other", "2"), ("new", "1")]);

    let changed = Changed::between(&before, &after);

    assert_eq!(changed.added, ["aws_db_instance.new"]);
    assert_eq!(changed.changed, ["aws_db_instance.other"], "though only what is hidden differs");
    assert_eq!(changed.removed, ["aws_db_instance.gone"]);
    assert_eq!(changed.summary(), "1 added, 1 changed, 1 removed");
    assert_eq!(Changed::between(&before, &before).summary(), "no resource changed");
}

#[test]
fn a_state_with_another_serial_is_the_same_to_the_letter() {
    let text = "{ \"version\": 4,\n \"serial\" : 9 , \"lineage\":\"l\", \"resources\": [], \"x\": 1e999 }";

    let next = renumbered(text.as_bytes(), 10).unwrap();

    assert_eq!(String::from_utf8(next).unwrap(), text.replace("9 ,", "10 ,"));
    assert!(renumbered(b"{}", 1).is_err());
}
