//! Documents that are not kubeconfigs, and entries that lead nowhere.

use rstest::rstest;

use super::*;

#[rstest]
#[case::empty("", "the kubeconfig is empty; the Terraform output has to hold a kubeconfig")]
#[case::blanks(" \n\t\n", "the kubeconfig is empty; the Terraform output has to hold a kubeconfig")]
#[case::null("null", "the kubeconfig is empty; the Terraform output has to hold a kubeconfig")]
#[case::only_comments("# soon\n", "the kubeconfig is empty; the Terraform output has to hold a kubeconfig")]
#[case::plain_text(
    "(known after apply)",
    "the kubeconfig is plain text without any field; the Terraform output has to hold a whole kubeconfig"
)]
#[case::number(
    "42",
    "the kubeconfig is plain text without any field; the Terraform output has to hold a whole kubeconfig"
)]
#[case::list(
    "- a\n- b\n",
    "the kubeconfig is a list; give one mapping with `clusters`, `contexts` and `users`"
)]
#[case::another_kind(
    "apiVersion: v1\nkind: Secret\ndata: {}",
    "the kubeconfig is of kind `Secret` and not `Config`; give the kubeconfig itself"
)]
#[case::another_version(
    "apiVersion: v2\nkind: Config",
    "`apiVersion` is not `v1`, the only version of kubeconfigs; correct it"
)]
#[case::another_mapping(
    "host: https://api.example.com\ntoken: hunter2",
    "the kubeconfig has neither `clusters` nor `contexts` nor `users`; the Terraform output has to hold a whole kubeconfig"
)]
#[case::not_yaml(
    "apiVersion: v1\nkind: [",
    "the kubeconfig is not YAML: line 2 cannot be read; correct it there"
)]
#[case::tab("clusters:\n\t- name: x", "the kubeconfig is not YAML: line 2 cannot be read; correct it there")]
#[case::half_json(
    "{\"apiVersion\": \"v1\"",
    "the kubeconfig is not YAML: line 1 cannot be read; correct it there"
)]
#[case::key_twice(
    "clusters: []\nusers: []\nusers: []",
    "the kubeconfig has the same key twice in one mapping, in line 3; remove one of them"
)]
#[case::two_documents("users: []\n---\nusers: []", "the kubeconfig holds several YAML documents; give one")]
#[case::alias(
    "users: &a []\nclusters: *a",
    "the kubeconfig has YAML aliases (`*name`); write the values out"
)]
fn what_is_no_kubeconfig_is_told_as_such(#[case] content: &str, #[case] expected: &str) {
    assert_eq!(sentence(content), expected);
}

#[test]
fn bytes_that_are_no_text_are_told_as_such() {
    assert_eq!(sentence([0xff, 0xfe, 0x00]), "the kubeconfig is not UTF-8 text; give it as YAML or JSON");
}

#[rstest]
#[case::in_one_line(base64(&kubeconfig(&good_cluster(), "token: t")))]
#[case::in_lines(base64(&kubeconfig(&good_cluster(), "token: t")).replace('a', "a\n"))]
#[case::packed("H4sIAAAAAAAAA0ssAABDvrfoAgAAAA==".to_owned())]
fn base64_is_told_from_text(#[case] content: String) {
    let expected = "the kubeconfig is base64-encoded; remove base64encode() from the output";
    assert_eq!(sentence(content), expected);
}

#[test]
fn a_text_in_quotes_is_told_from_text() {
    let quoted = serde_json::Value::from(kubeconfig(&good_cluster(), "token: t")).to_string();
    assert_eq!(sentence(quoted), "the kubeconfig is a text in quotes; remove jsonencode() from the output");
}

#[rstest]
#[case::too_large("#".repeat(1_048_577), Problem::TooLarge)]
#[case::deep_lists("[".repeat(40) + &"]".repeat(40), Problem::TooComplex)]
#[case::very_deep_lists("[".repeat(100_000), Problem::NotYaml { line: 1 })]
#[case::very_deep_mappings("{a: ".repeat(100_000), Problem::NotYaml { line: 1 })]
#[case::deep_entries((0..500).map(|depth| " ".repeat(depth) + "a:\n").collect(), Problem::TooComplex)]
#[case::many_values(format!("[{}]", "1,".repeat(200_000)), Problem::TooComplex)]
#[case::aliases_of_aliases(
    "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b]".to_owned(),
    Problem::Alias
)]
fn hostile_documents_are_cut_short(#[case] content: String, #[case] expected: Problem) {
    assert_eq!(parse(content.as_bytes()).unwrap_err().reason, expected);
}

#[rstest]
#[case::no_current_context(
    "current-context: admin@demo",
    "",
    "`current-context` is missing; name the context to use"
)]
#[case::empty_current_context(
    "current-context: admin@demo",
    "current-context: ''",
    "`current-context` is missing; name the context to use"
)]
#[case::unknown_context(
    "current-context: admin@demo",
    "current-context: other",
    "`current-context` names `other`, which is not among `contexts`; correct one of them"
)]
#[case::context_that_is_a_number(
    "current-context: admin@demo",
    "current-context: 7",
    "`current-context` is not a text; put it in quotes"
)]
#[case::no_cluster(
    "      cluster: demo\n",
    "",
    "`contexts[admin@demo].context.cluster` is missing; name an entry of `clusters`"
)]
#[case::unknown_cluster(
    "      cluster: demo\n",
    "      cluster: other\n",
    "`contexts[admin@demo].context.cluster` names `other`, which is not among `clusters`; correct one of them"
)]
#[case::no_user(
    "      user: admin\n",
    "",
    "`contexts[admin@demo].context.user` is missing; name an entry of `users`"
)]
#[case::unknown_user(
    "      user: admin\n",
    "      user: other\n",
    "`contexts[admin@demo].context.user` names `other`, which is not among `users`; correct one of them"
)]
#[case::user_twice(
    "users:\n",
    "users:\n  - name: admin\n",
    "`users[admin]` is there twice; remove one of them or give it another name"
)]
#[case::context_twice(
    "contexts:\n",
    "contexts:\n  - name: admin@demo\n",
    "`contexts[admin@demo]` is there twice; remove one of them or give it another name"
)]
#[case::entry_that_is_a_text(
    "users:\n",
    "users:\n  - admin\n",
    "`users[0]` is not a mapping; write it as fields with values"
)]
#[case::mapping_for_a_list(
    "contexts:\n",
    "contexts: {}\nother:\n",
    "`contexts` is not a list; write it as one, each entry with a dash"
)]
fn entries_that_lead_nowhere_are_named(#[case] old: &str, #[case] new: &str, #[case] expected: &str) {
    let good = kubeconfig(&good_cluster(), "token: t");
    assert!(good.contains(old));
    assert_eq!(sentence(good.replacen(old, new, 1)), expected);
}

#[test]
fn long_and_odd_names_do_not_spoil_the_sentence() {
    let name = format!("\"`\\n{}\"", "x".repeat(100));
    let good = kubeconfig(&good_cluster(), "token: t");
    let told = sentence(good.replacen("current-context: admin@demo", &format!("current-context: {name}"), 1));
    let shown = format!("??{}…", "x".repeat(59));
    assert_eq!(
        told,
        format!("`current-context` names `{shown}`, which is not among `contexts`; correct one of them")
    );
}
