use rstest::rstest;

use super::*;

/// A spec as the earlier implementation wrote it, and as it is read back: with the defaults of Crossplane's kind.
fn found() -> Value {
    json!({
        "deletionPolicy": "Delete",
        "managementPolicies": ["*"],
        "providerConfigRef": { "name": "default" },
        "forProvider": {
            "entrypoint": "",
            "enableTerraformCLILogging": false,
            "remotePullPolicy": "Always",
            "source": "Inline",
            "module": "variable \"region\" {}\nvariable \"name\" {}\n",
            "vars": [{ "key": "region", "value": "r" }, { "key": "name", "value": "demo" }],
            "varmap": { "subnets": ["a"], "note": "" },
            "varFiles": [{ "source": "SecretKey", "format": "HCL", "secretKeyRef": { "namespace": "n", "name": "s", "key": "k" } }],
            "env": [{ "name": "A", "value": "1" }, { "name": "B", "value": "2" }],
        },
        "writeConnectionSecretToRef": { "name": "demo-eks-connection", "namespace": "team-a" },
    })
}

/// The same, as template and variables give it.
fn rendered() -> Value {
    json!({
        "forProvider": {
            "source": "Inline",
            "inlineFormat": "HCL",
            "module": "variable \"region\" {}\nvariable \"name\" {}\n",
            "vars": [{ "key": "name", "value": "demo" }, { "key": "region", "value": "r" }],
            "varmap": { "note": "", "subnets": ["a"] },
            "varFiles": [{ "source": "SecretKey", "secretKeyRef": { "namespace": "n", "name": "s", "key": "k" } }],
            "env": [{ "name": "B", "value": "2" }, { "name": "A", "value": "1" }],
            "initArgs": [],
        },
        "writeConnectionSecretToRef": { "name": "demo-eks-connection", "namespace": "team-a" },
    })
}

fn changed(pointer: &str, value: Value) -> Value {
    let mut spec = rendered();
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    match spec.pointer_mut(parent).unwrap() {
        Value::Object(fields) if value.is_null() => drop(fields.remove(field)),
        Value::Object(fields) => drop(fields.insert(field.to_owned(), value)),
        Value::Array(items) => items[field.parse::<usize>().unwrap()] = value,
        other => panic!("{other} has no fields"),
    }
    spec
}

#[test]
fn defaults_order_and_what_is_empty_make_no_difference() {
    assert_eq!(differences(&found(), &rendered()), [""; 0]);
    assert_eq!(differences(&rendered(), &found()), [""; 0]);
}

#[rstest]
#[case::of_two_values_the_last_counts("/forProvider/vars", json!([{ "key": "region", "value": "old" }, { "key": "region", "value": "r" }, { "key": "name", "value": "demo" }]), &[])]
#[case::a_module("/forProvider/module", json!("variable \"region\" {}\nvariable \"nom\" {}\n"), &["forProvider.module (from line 2)"])]
#[case::a_longer_module("/forProvider/module", json!("variable \"region\" {}\nvariable \"name\" {}\nvariable \"more\" {}\n"), &["forProvider.module (from line 3)"])]
#[case::the_end_of_the_last_line("/forProvider/module", json!("variable \"region\" {}\nvariable \"name\" {}"), &["forProvider.module (from line 3)"])]
#[case::a_variable("/forProvider/vars/1", json!({ "key": "region", "value": "hunter2" }), &["forProvider.vars[region]"])]
#[case::an_empty_variable("/forProvider/vars/1", json!({ "key": "region", "value": "" }), &["forProvider.vars[region]"])]
#[case::another_variable("/forProvider/vars/1", json!({ "key": "zone", "value": "r" }), &["forProvider.vars[region]", "forProvider.vars[zone]"])]
#[case::no_variables("/forProvider/vars", Value::Null, &["forProvider.vars"])]
#[case::a_list("/forProvider/varmap/subnets", json!(["b"]), &["forProvider.varmap[subnets]"])]
#[case::an_empty_text_is_a_value("/forProvider/varmap/note", Value::Null, &["forProvider.varmap[note]"])]
#[case::a_file("/forProvider/varFiles/0/secretKeyRef/name", json!("t"), &["forProvider.varFiles"])]
#[case::its_language("/forProvider/varFiles/0/format", json!("JSON"), &["forProvider.varFiles"])]
#[case::an_environment_variable("/forProvider/env/0", json!({ "name": "B", "value": "3" }), &["forProvider.env[B]"])]
#[case::arguments("/forProvider/initArgs", json!(["-upgrade"]), &["forProvider.initArgs"])]
#[case::the_language("/forProvider/inlineFormat", json!("JSON"), &["forProvider.inlineFormat"])]
#[case::credentials("/providerConfigRef", json!({ "name": "aws" }), &["providerConfigRef"])]
#[case::what_becomes_of_it("/deletionPolicy", json!("Orphan"), &["deletionPolicy"])]
#[case::where_outputs_go("/writeConnectionSecretToRef/namespace", json!("default"), &["writeConnectionSecretToRef.namespace"])]
#[case::a_field_of_tomorrow("/forProvider/tomorrow", json!(1), &["forProvider.tomorrow"])]
fn what_terraform_would_notice_is_told_by_its_place(
    #[case] pointer: &str,
    #[case] value: Value,
    #[case] expected: &[&str],
) {
    let rendered = changed(pointer, value);
    let told = differences(&found(), &rendered);
    assert_eq!(told, expected);
    assert_eq!(differences(&rendered, &found()), told, "the same from the other side");
    assert!(!told.concat().contains("hunter2"));
}

#[test]
fn lists_that_cannot_be_read_are_compared_as_they_are() {
    let odd = changed("/forProvider/vars", json!(["odd"]));
    assert_eq!(differences(&odd, &odd), [""; 0]);
    assert_eq!(differences(&found(), &odd), ["forProvider.vars"]);
}
