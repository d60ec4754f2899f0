//! Broken releases, and the whole of what is said of each.

use rstest::rstest;

use super::*;

#[rstest]
#[case::inline_values_that_are_a_list(
    json!({ "values": ["a"] }),
    &["error: spec.values is not a mapping, so that Flux passes over all of it; write the chart's values there, \
      each by its key"]
)]
#[case::references_that_are_a_mapping(
    json!({ "valuesFrom": { "kind": "Secret", "name": "demo" } }),
    &["error: spec.valuesFrom is not a list; write one item for each reference, with its kind and name"]
)]
#[case::a_reference_that_is_a_text(
    json!({ "valuesFrom": ["demo"] }),
    &["error: spec.valuesFrom[0] is not a mapping; write kind, name and valuesKey there"]
)]
#[case::another_kind(
    json!({ "valuesFrom": [{ "kind": "secret", "name": "demo", "valuesKey": "cluster_name", "targetPath": "a" }] }),
    &["error: spec.valuesFrom[0].kind is neither `Secret` nor `ConfigMap`; write one of them"]
)]
#[case::no_name(
    json!({ "valuesFrom": [{ "kind": "Secret", "valuesKey": "cluster_name", "targetPath": "a" }] }),
    &["error: spec.valuesFrom[0].name is no name of an object; write that of a Secret or ConfigMap in namespace \
      `kube-system`"]
)]
#[case::literal_as_a_text(
    json!({ "valuesFrom": [{ "kind": "Secret", "name": "demo", "valuesKey": "cluster_name", "targetPath": "a", "literal": "true" }] }),
    &["error: spec.valuesFrom[0].literal is neither true nor false; write `true` without quotes, or leave it \
      out"]
)]
#[case::a_key_that_is_a_path(
    json!({ "valuesFrom": [{ "kind": "Secret", "name": "demo", "valuesKey": "settings/cluster name", "targetPath": "a" }] }),
    &["error: spec.valuesFrom[0].valuesKey cannot be a key: those have letters, digits, `-`, `_` and `.`; write \
      the key of the Secret or ConfigMap, and where the value goes as targetPath"]
)]
#[case::literal_without_a_path(
    json!({ "valuesFrom": [{ "kind": "ConfigMap", "name": "other", "optional": true, "literal": true }] }),
    &["warning: spec.valuesFrom[0].literal means nothing without targetPath, since the value is read as a file \
      of values; write a targetPath, or leave literal out"]
)]
#[case::a_path_that_is_a_number(
    json!({ "valuesFrom": [{ "kind": "Secret", "name": "demo", "valuesKey": "cluster_name", "targetPath": 1 }] }),
    &["error: spec.valuesFrom[0].targetPath is not a text; write the path in quotes"]
)]
#[case::an_empty_path(
    json!({ "valuesFrom": [at("")] }),
    &["error: spec.valuesFrom[0].targetPath is empty, which the API server refuses; leave it out if the value \
      is a file of values, or write where the value goes, for example `settings.clusterName`"]
)]
#[case::a_path_that_is_too_long(
    json!({ "valuesFrom": [at(&"a".repeat(251))] }),
    &["error: spec.valuesFrom[0].targetPath has 251 characters, and Flux takes 250; put the value into a file \
      of values, which is a reference without targetPath"]
)]
#[case::a_character_that_no_path_has(
    json!({ "valuesFrom": [at("settings.cluster:name")] }),
    &["error: spec.valuesFrom[0].targetPath has ':', which Flux does not take in a path; put the value into a \
      file of values, which is a reference without targetPath"]
)]
#[case::a_key_in_quotes(
    json!({ "valuesFrom": [at(r#"serviceAccount.annotations."eks.amazonaws.com/role-arn""#)] }),
    &["error: spec.valuesFrom[0].targetPath has '\"', which Flux does not take in a path; write \
      `serviceAccount.annotations.eks\\.amazonaws\\.com/role-arn`"]
)]
#[case::a_key_in_brackets(
    json!({ "valuesFrom": [at("serviceAccount.annotations['eks.amazonaws.com/role-arn']")] }),
    &["error: spec.valuesFrom[0].targetPath has brackets around something else than a number of at most five \
      digits, which Flux does not take in a path; write \
      `serviceAccount.annotations.eks\\.amazonaws\\.com/role-arn`"]
)]
#[case::a_name_in_brackets(
    json!({ "valuesFrom": [at("settings[clusterName]")] }),
    &["error: spec.valuesFrom[0].targetPath has brackets around something else than a number of at most five \
      digits, which Flux does not take in a path; write `settings.clusterName`"]
)]
#[case::a_blank_at_the_end(
    json!({ "valuesFrom": [at("settings.clusterName ")] }),
    &["error: spec.valuesFrom[0].targetPath has ' ', which Flux does not take in a path; write \
      `settings.clusterName`"]
)]
#[case::a_path_of_a_template(
    json!({ "valuesFrom": [at("{{ .Values.settings.clusterName }}")] }),
    &["error: spec.valuesFrom[0].targetPath has '{', which Flux does not take in a path; put the value into a \
      file of values, which is a reference without targetPath"]
)]
#[case::an_assignment(
    json!({ "valuesFrom": [at("settings.clusterName=demo")] }),
    &["error: spec.valuesFrom[0].targetPath has '=', which Flux does not take in a path; put the value into a \
      file of values, which is a reference without targetPath"]
)]
#[case::a_dot_first(
    json!({ "valuesFrom": [at(".settings.clusterName")] }),
    &["error: spec.valuesFrom[0].targetPath has nothing before or after one of its dots or brackets, so that \
      there is no key to set; write `settings.clusterName`"]
)]
#[case::a_path_from_the_values_on(
    json!({ "valuesFrom": [at(".Values.settings.clusterName")] }),
    &["error: spec.valuesFrom[0].targetPath has nothing before or after one of its dots or brackets, so that \
      there is no key to set; write `settings.clusterName`"]
)]
#[case::values_first(
    json!({ "valuesFrom": [at("Values.settings.clusterName")] }),
    &["warning: spec.valuesFrom[0].targetPath begins with `Values`, which templates write before a path and \
      which no chart has as a key; write `settings.clusterName`"]
)]
#[case::a_dot_last(
    json!({ "valuesFrom": [at("settings.")] }),
    &["error: spec.valuesFrom[0].targetPath has nothing before or after one of its dots or brackets, so that \
      there is no key to set; write `settings`"]
)]
#[case::two_dots(
    json!({ "valuesFrom": [at("settings..clusterName")] }),
    &["error: spec.valuesFrom[0].targetPath has nothing before or after one of its dots or brackets, so that \
      there is no key to set; write `settings.clusterName`"]
)]
#[case::an_index_first(
    json!({ "valuesFrom": [at("[0].name")] }),
    &["error: spec.valuesFrom[0].targetPath has nothing before or after one of its dots or brackets, so that \
      there is no key to set; write keys with dots between them, and indexes in brackets, for example \
      `a.b[0].c`"]
)]
#[case::nothing_after_an_index_but_a_name(
    json!({ "valuesFrom": [at("containers[0]name")] }),
    &["error: spec.valuesFrom[0].targetPath goes on after an index without a dot; write `containers[0].name`"]
)]
#[case::an_index_that_is_too_large(
    json!({ "valuesFrom": [at("containers[65537].name")] }),
    &["error: spec.valuesFrom[0].targetPath has an index above 65536; put the value into a file of values, \
      which is a reference without targetPath"]
)]
#[case::too_many_names(
    json!({ "valuesFrom": [at(&["a"; 32].join("."))] }),
    &["error: spec.valuesFrom[0].targetPath has more than 31 names; put the value into a file of values, which \
      is a reference without targetPath"]
)]
#[case::a_backslash_at_the_end(
    json!({ "valuesFrom": [at(r"settings.clusterName\")] }),
    &["error: spec.valuesFrom[0].targetPath ends in a backslash, which escapes what follows the path; write \
      `settings.clusterName`"]
)]
#[case::unescaped_dots_of_an_annotation(
    json!({ "valuesFrom": [at("serviceAccount.annotations.eks.amazonaws.com/role-arn")] }),
    &["error: spec.valuesFrom[0].targetPath takes `eks.amazonaws.com/role-arn` apart at its dots; write \
      `serviceAccount.annotations.eks\\.amazonaws\\.com/role-arn`"]
)]
#[case::dots_of_an_annotation_that_are_escaped_in_part(
    json!({ "valuesFrom": [at(r"serviceAccount.annotations.eks\.amazonaws.com/role-arn")] }),
    &["error: spec.valuesFrom[0].targetPath takes `eks.amazonaws.com/role-arn` apart at its dots; write \
      `serviceAccount.annotations.eks\\.amazonaws\\.com/role-arn`"]
)]
#[case::unescaped_dots_of_a_label(
    json!({ "valuesFrom": [at("podLabels.app.kubernetes.io/name")] }),
    &["error: spec.valuesFrom[0].targetPath takes `app.kubernetes.io/name` apart at its dots; write \
      `podLabels.app\\.kubernetes\\.io/name`"]
)]
#[case::unescaped_dots_of_a_node_selector(
    json!({ "valuesFrom": [at("nodeSelector.karpenter.sh/nodepool")] }),
    &["error: spec.valuesFrom[0].targetPath takes `karpenter.sh/nodepool` apart at its dots; write \
      `nodeSelector.karpenter\\.sh/nodepool`"]
)]
#[case::unescaped_dots_without_a_slash(
    json!({ "valuesFrom": [at("service.annotations.internal.example")] }),
    &["warning: spec.valuesFrom[0].targetPath takes `internal.example` apart at its dots; if it is one key, \
      write `service.annotations.internal\\.example`"]
)]
#[case::unescaped_dots_of_a_domain(
    json!({ "valuesFrom": [at("serviceAccount.eks.amazonaws.com/role-arn")] }),
    &["error: spec.valuesFrom[0].targetPath takes `eks.amazonaws.com/role-arn` apart at its dots; write \
      `serviceAccount.eks\\.amazonaws\\.com/role-arn`"]
)]
#[case::two_backslashes(
    json!({ "valuesFrom": [at(r"serviceAccount.annotations.eks\\.amazonaws\\.com/role-arn")] }),
    &["error: spec.valuesFrom[0].targetPath has two backslashes before a dot, which are a backslash in the key \
      and leave the dot unescaped; write `serviceAccount.annotations.eks\\.amazonaws\\.com/role-arn`"]
)]
#[case::slashes_for_dots(
    json!({ "valuesFrom": [at("settings/clusterName")] }),
    &["warning: spec.valuesFrom[0].targetPath has slashes and no dot, so that all of it is one key; write \
      `settings.clusterName`"]
)]
#[case::also_inline_at_the_top(
    json!({ "values": { "clusterName": "MARKER" }, "valuesFrom": [at("clusterName")] }),
    &["error: spec.valuesFrom[0].targetPath is also set in spec.values, which wins, so that this value is lost; \
      remove `clusterName` from spec.values"]
)]
#[case::also_inline_below(
    json!({ "values": { "settings": { "clusterName": "MARKER" } }, "valuesFrom": [at("settings.clusterName")] }),
    &["warning: spec.valuesFrom[0].targetPath is also set in spec.values, where it is never used, since this \
      one wins; remove `settings.clusterName` from spec.values"]
)]
#[case::also_inline_and_not_the_first(
    json!({ "values": { "settings": { "a": "MARKER", "b": "MARKER" } }, "valuesFrom": [at("settings.a"), at("settings.b")] }),
    &["warning: spec.valuesFrom[0].targetPath is also set in spec.values, where it is never used, since this \
      one wins; remove `settings.a` from spec.values",
      "error: spec.valuesFrom[1].targetPath is also set in spec.values, which wins, so that this value is lost; \
      remove `settings.b` from spec.values"]
)]
#[case::also_inline_after_a_file(
    json!({ "values": { "settings": { "a": "MARKER" } }, "valuesFrom": [{ "kind": "ConfigMap", "name": "other", "optional": true }, at("settings.a")] }),
    &["warning: spec.valuesFrom[1].targetPath is also set in spec.values, and which of the two wins depends on \
      what the files of values before it hold; remove `settings.a` from spec.values"]
)]
#[case::a_mapping_inline_at_the_path(
    json!({ "values": { "settings": { "a": "MARKER" } }, "valuesFrom": [at("settings")] }),
    &["error: spec.valuesFrom[0].targetPath is also set in spec.values, which wins, so that this value is lost; \
      remove `settings` from spec.values"]
)]
#[case::through_a_text_inline(
    json!({ "values": { "settings": "MARKER" }, "valuesFrom": [at("settings.clusterName")] }),
    &["error: spec.valuesFrom[0].targetPath leads through `settings`, which spec.values sets to something that \
      is not a mapping, and Flux fails; remove `settings` from spec.values, or make it a mapping"]
)]
#[case::through_null_inline(
    json!({ "values": { "settings": null }, "valuesFrom": [at("settings.clusterName")] }),
    &["error: spec.valuesFrom[0].targetPath leads through `settings`, which spec.values sets to something that \
      is not a mapping, and Flux fails; remove `settings` from spec.values, or make it a mapping"]
)]
#[case::an_index_of_a_mapping_inline(
    json!({ "values": { "env": { "name": "MARKER" } }, "valuesFrom": [at("env[0].value")] }),
    &["error: spec.valuesFrom[0].targetPath leads through `env`, which spec.values sets to something that is \
      not a list, and Flux fails; remove `env` from spec.values, or make it a list"]
)]
#[case::a_list_inline_that_would_grow(
    json!({ "values": { "env": ["MARKER"] }, "valuesFrom": [at("env[1]")] }),
    &["error: spec.valuesFrom[0].targetPath loses its value, because Flux puts the list `env` back as it was \
      without it; write the whole list in one file of values"]
)]
#[case::a_list_that_is_put_back(
    json!({ "values": { "controller": { "a": 1 } }, "valuesFrom": [at("controller.env[0]"), at("controller.env[1]")] }),
    &["error: spec.valuesFrom[1].targetPath loses its value, because Flux puts the list `controller.env` back \
      as it was without it; write the whole list in one file of values"]
)]
#[case::one_path_twice(
    json!({ "valuesFrom": [at("a.b"), at("a.b")] }),
    &["warning: spec.valuesFrom[1].targetPath is also that of spec.valuesFrom[0], which this one replaces; \
      remove one of the two"]
)]
#[case::through_the_value_of_another(
    json!({ "valuesFrom": [at("a"), at("a.b")] }),
    &["error: spec.valuesFrom[1].targetPath leads through `a`, to which spec.valuesFrom[0] gives a value, and \
      Flux fails; give one of the two another path"]
)]
#[case::over_the_value_of_another(
    json!({ "valuesFrom": [at("a.b"), at("a")] }),
    &["warning: spec.valuesFrom[1].targetPath replaces all that is there, and with it `a.b` of \
      spec.valuesFrom[0]; remove one of the two, or put this one first if its value is a mapping"]
)]
#[case::a_list_and_a_mapping(
    json!({ "valuesFrom": [at("a[0]"), at("a.b")] }),
    &["error: spec.valuesFrom[1].targetPath has an index where `a[0]` of spec.valuesFrom[0] has a key, or a key \
      where that has an index, and Flux fails; correct one of the two"]
)]
#[case::a_key_that_no_output_feeds(
    json!({ "valuesFrom": [entry("clusterName", "a")] }),
    &["error: spec.valuesFrom[0].valuesKey is `clusterName`, which no output feeds: Secret `demo` gets \
      `cluster_name`, `queue_name`, `role_arn`, `account`, `words`, `line`, `flag`; write `cluster_name`"]
)]
#[case::a_key_that_is_like_no_other(
    json!({ "valuesFrom": [entry("region", "a")] }),
    &["error: spec.valuesFrom[0].valuesKey is `region`, which no output feeds: Secret `demo` gets \
      `cluster_name`, `queue_name`, `role_arn`, `account`, `words`, `line`, `flag`; write one of them, or add \
      an output with `key: region` to the stack's values"]
)]
#[case::a_key_that_no_output_feeds_but_may_be_missing(
    json!({ "valuesFrom": [{ "kind": "Secret", "name": "demo", "valuesKey": "region", "targetPath": "a", "optional": true }] }),
    &["warning: spec.valuesFrom[0].valuesKey is `region`, which no output feeds: Secret `demo` gets \
      `cluster_name`, `queue_name`, `role_arn`, `account`, `words`, `line`, `flag`; write one of them, or add \
      an output with `key: region` to the stack's values"]
)]
#[case::no_key(
    json!({ "valuesFrom": [{ "kind": "Secret", "name": "demo", "targetPath": "a" }] }),
    &["error: spec.valuesFrom[0].valuesKey is `values.yaml`, which no output feeds: Secret `demo` gets \
      `cluster_name`, `queue_name`, `role_arn`, `account`, `words`, `line`, `flag`; write one of them, or add \
      an output with `key: values.yaml` to the stack's values"]
)]
#[case::an_output_that_the_module_does_not_give(
    json!({ "valuesFrom": [entry("role_arn", "a")] }),
    &["error: spec.valuesFrom[0].valuesKey is fed by the output `karpenter_iam_role_arn`, which the module does \
      not give; add it to the module, or give it a default in the stack's values"]
)]
#[case::an_output_that_is_left_out(
    json!({ "valuesFrom": [entry("queue_name", "a")] }),
    &["error: spec.valuesFrom[0].valuesKey is fed by the output `karpenter_queue_name`, which the module does \
      not give; add it to the module, or give it a default in the stack's values, or write `optional: true` \
      beside this reference too"]
)]
#[case::a_secret_in_another_namespace(
    json!({ "valuesFrom": [{ "kind": "Secret", "name": "elsewhere", "valuesKey": "cluster_name", "targetPath": "a", "literal": true }] }),
    &["error: spec.valuesFrom[0].name names Secret `elsewhere`, which the stack brings to namespace \
      `karpenter`, and Flux reads it from `kube-system`; write `namespace: kube-system` in the stack's values"]
)]
#[case::a_secret_of_nobody(
    json!({ "valuesFrom": [{ "kind": "Secret", "name": "other", "valuesKey": "cluster_name", "targetPath": "a", "literal": true }] }),
    &["hint: spec.valuesFrom[0].name names Secret `other`, which neither the stack's values nor its manifests \
      bring; make sure that something else makes it in namespace `kube-system`, or correct the name"]
)]
#[case::a_key_that_the_manifests_do_not_have(
    json!({ "valuesFrom": [{ "kind": "ConfigMap", "name": "settings", "valuesKey": "region", "targetPath": "a" }] }),
    &["error: spec.valuesFrom[0].valuesKey is `region`, which ConfigMap `settings` of the manifests does not \
      have; add the key there, or correct it here"]
)]
#[case::a_number_of_a_manifest(
    json!({ "valuesFrom": [{ "kind": "ConfigMap", "name": "settings", "valuesKey": "replicas", "targetPath": "a" }] }),
    &["hint: spec.valuesFrom[0].literal is not true, and the value of `replicas` becomes a number; write \
      `literal: true` if it is meant as a text"]
)]
#[case::a_value_of_a_manifest_that_sets_another(
    json!({ "valuesFrom": [{ "kind": "ConfigMap", "name": "settings", "valuesKey": "words", "targetPath": "a" }] }),
    &["warning: spec.valuesFrom[0].literal is not true, and the value of `words` sets other values too, because \
      of a comma in it; write `literal: true` if it is meant as a text"]
)]
#[case::a_list_of_a_manifest_without_end(
    json!({ "valuesFrom": [{ "kind": "ConfigMap", "name": "settings", "valuesKey": "list", "targetPath": "a" }] }),
    &["error: spec.valuesFrom[0].literal is not true, and the value of `list` is refused: as an argument of \
      `helm --set` it begins a list with `{` and does not end it with `}`; write `literal: true` if it is \
      meant as a text"]
)]
#[case::nothing_of_a_manifest(
    json!({ "valuesFrom": [{ "kind": "ConfigMap", "name": "settings", "valuesKey": "nothing", "targetPath": "a" }] }),
    &["warning: spec.valuesFrom[0].literal is not true, and the value of `nothing` becomes null; write \
      `literal: true` if it is meant as a text"]
)]
#[case::backslashes_of_a_manifest(
    json!({ "valuesFrom": [{ "kind": "ConfigMap", "name": "settings", "valuesKey": "path", "targetPath": "a" }] }),
    &["warning: spec.valuesFrom[0].literal is not true, and the value of `path` loses its quotes, backslashes \
      or commas; write `literal: true` if it is meant as a text"]
)]
#[case::a_file_of_a_manifest_that_is_a_list(
    json!({ "valuesFrom": [{ "kind": "ConfigMap", "name": "settings" }] }),
    &["error: spec.valuesFrom[0].valuesKey is `values.yaml`, which is read as a file of values without a \
      targetPath, and is not a mapping, as a file of values must be; write a targetPath, or a mapping as the \
      value"]
)]
#[case::a_number_as_an_output(
    json!({ "valuesFrom": [{ "kind": "Secret", "name": "demo", "valuesKey": "account", "targetPath": "a" }] }),
    &["hint: spec.valuesFrom[0].literal is not true, so that CAPT writes the value of `account` in quotes, \
      without which it becomes a number; write `literal: true` where Flux is 2.9 or later"]
)]
#[case::an_output_that_would_set_another(
    json!({ "valuesFrom": [{ "kind": "Secret", "name": "demo", "valuesKey": "words", "targetPath": "a" }] }),
    &["hint: spec.valuesFrom[0].literal is not true, so that CAPT writes the value of `words` in quotes, \
      without which it sets other values too, because of a comma in it; write `literal: true` where Flux is \
      2.9 or later"]
)]
#[case::a_default_that_is_a_truth_value(
    json!({ "valuesFrom": [{ "kind": "Secret", "name": "demo", "valuesKey": "flag", "targetPath": "a" }] }),
    &["hint: spec.valuesFrom[0].literal is not true, so that CAPT writes the value of `flag` in quotes, without \
      which it becomes true or false; write `literal: true` where Flux is 2.9 or later"]
)]
#[case::a_number_that_is_read_in_two_ways(
    json!({ "valuesFrom": [{ "kind": "Secret", "name": "demo", "valuesKey": "account", "targetPath": "a" }, entry("account", "b")] }),
    &["error: spec.valuesFrom[0].literal is not true, but spec.valuesFrom[1] reads `account` as it is, and one \
      of the two would get quotes with it; write `literal: true` here too"]
)]
#[case::an_output_with_a_line_break(
    json!({ "valuesFrom": [entry("line", "a")] }),
    &["error: spec.valuesFrom[0].valuesKey is `line`, whose value ends in a line break or holds a control \
      character; remove it in the module, for example with trimspace()"]
)]
#[case::an_output_that_is_no_file(
    json!({ "valuesFrom": [{ "kind": "Secret", "name": "demo", "valuesKey": "cluster_name" }] }),
    &["error: spec.valuesFrom[0].valuesKey is `cluster_name`, which is read as a file of values without a \
      targetPath, and is not a mapping, as a file of values must be; write a targetPath, or a mapping as the \
      value"]
)]
fn what_is_wrong_is_told_with_what_to_write(#[case] spec: Value, #[case] expected: &[&str]) {
    let told = found(&spec, Outputs::Values(&outputs()));
    assert_eq!(told, expected);
    assert!(!told.concat().contains("MARKER"), "a value is told");
}

/// What depends on how much is known of the module.
#[rstest]
#[case::an_output_that_may_be_left_out(
    Outputs::Unknown,
    entry("queue_name", "a"),
    &["warning: spec.valuesFrom[0].optional is not true, but the stack leaves the key out where the module does \
      not give `karpenter_queue_name`, and Flux would fail; write `optional: true` here too, or give the \
      output a default"]
)]
#[case::an_output_that_the_module_does_not_have(
    Outputs::Names(&BTreeSet::from(["cluster_name".to_owned()])),
    entry("role_arn", "a"),
    &["error: spec.valuesFrom[0].valuesKey is fed by the output `karpenter_iam_role_arn`, which the module does \
      not give; add it to the module, or give it a default in the stack's values"]
)]
#[case::an_output_that_the_module_has(
    Outputs::Names(&BTreeSet::from(["karpenter_iam_role_arn".to_owned()])),
    entry("role_arn", "a"),
    &[]
)]
#[case::nothing_known(Outputs::Unknown, entry("role_arn", "a"), &[])]
fn what_is_told_of_outputs_depends_on_what_is_known(
    #[case] outputs: Outputs<'_>,
    #[case] entry: Value,
    #[case] expected: &[&str],
) {
    assert_eq!(found(&json!({ "valuesFrom": [entry] }), outputs), expected);
}
