use rstest::rstest;

use super::{all, edited, which};

fn release(inside: &str) -> String {
    format!("resource \"helm_release\" \"karpenter\" {{\n  chart = \"karpenter\"\n{inside}}}\n")
}

const NAME: &str = "output \"cluster_name\" {\n  value = module.eks.cluster_name\n}\n";

#[rstest]
#[case::a_block("  set {\n    name  = \"settings.clusterName\"\n    value = module.eks.cluster_name\n  }\n")]
#[case::an_older_chart(
    "  set {\n    name  = \"settings.aws.clusterName\"\n    value = module.eks.cluster_name\n  }\n"
)]
#[case::a_list("  set = [{ name = \"settings.clusterName\", value = module.eks.cluster_name }]\n")]
#[case::a_list_over_lines(
    "  set = [\n    {\n      name  = \"settings.clusterName\"\n      value = module.eks.cluster_name # of it\n    },\n  ]\n"
)]
#[case::a_dynamic_block(
    "  dynamic \"set\" {\n    for_each = {\n      \"settings.clusterName\" = module.eks.cluster_name\n    }\n    content {\n      name  = set.key\n      value = set.value\n    }\n  }\n"
)]
#[case::a_dynamic_block_over_a_list(
    "  dynamic \"set\" {\n    for_each = [{ name = \"settings.clusterName\", value = module.eks.cluster_name }]\n    content {\n      name  = set.value.name\n      value = set.value.value\n    }\n  }\n"
)]
#[case::encoded_values("  values = [yamlencode({ settings = { clusterName = module.eks.cluster_name } })]\n")]
#[case::encoded_as_json(
    "  values = [jsonencode({ \"settings\" : { \"clusterName\" : module.eks.cluster_name } })]\n"
)]
#[case::a_heredoc(
    "  values = [<<-EOT\n    settings:\n      clusterName: ${module.eks.cluster_name}\n  EOT\n  ]\n"
)]
#[case::quoted_in_a_heredoc(
    "  values = [\n    <<EOT\nsettings:\n  clusterName: \"${module.eks.cluster_name}\"\nEOT\n  ]\n"
)]
#[case::json_in_a_heredoc(
    "  values = [<<EOT\n{\n\t\"settings\": { \"clusterName\": \"${module.eks.cluster_name}\" }\n}\nEOT\n  ]\n"
)]
#[case::a_set_over_values(
    "  values = [yamlencode({ settings = { clusterName = \"old\" } })]\n  set {\n    name  = \"settings.clusterName\"\n    value = module.eks.cluster_name\n  }\n"
)]
fn an_output_has_the_expression_that_the_release_used(#[case] inside: &str) {
    let edit = edited(&release(inside), &all());
    assert_eq!(edit.added_outputs, ["cluster_name"]);
    assert_eq!(edit.appended, NAME);
}

#[rstest]
#[case::escaped("serviceAccount.annotations.eks\\\\.amazonaws\\\\.com/role-arn", "karpenter_iam_role_arn")]
#[case::the_queue("settings.interruptionQueue", "karpenter_queue_name")]
#[case::the_endpoint("settings.clusterEndpoint", "cluster_endpoint")]
fn each_value_has_its_output(#[case] path: &str, #[case] output: &str) {
    let inside = format!("  set {{\n    name  = \"{path}\"\n    value = var.x\n  }}\n");
    let edit = edited(&release(&inside), &all());
    assert_eq!(edit.added_outputs, [output]);
}

#[rstest]
#[case::a_text("\"prod\"", "\"prod\"")]
#[case::a_placeholder("\"${CLUSTER_NAME}\"", "\"${CLUSTER_NAME}\"")]
#[case::a_template("\"${var.env}-eks\"", "\"${var.env}-eks\"")]
#[case::over_lines(
    "join(\"-\", [\n      var.a,\n      \"b\"\n    ])",
    "(join(\"-\", [\n      var.a,\n      \"b\"\n    ])\n)"
)]
#[case::a_for("one([for each in var.names : each])", "one([for each in var.names : each])")]
fn any_expression_is_taken_as_it_is_written(#[case] value: &str, #[case] expected: &str) {
    let inside = format!("  set {{\n    name  = \"settings.clusterName\"\n    value = {value}\n  }}\n");
    let edit = edited(&release(&inside), &all());
    assert_eq!(edit.appended, format!("output \"cluster_name\" {{\n  value = {expected}\n}}\n"));
}

#[rstest]
#[case::a_part("x-${module.a.b}-\\\"y\\\"", "\"x-${module.a.b}-\\\"y\\\"\"")]
#[case::a_placeholder("${CLUSTER_NAME}", "\"${CLUSTER_NAME}\"")]
#[case::no_expression("prod", "\"prod\"")]
fn text_around_expressions_stays(#[case] text: &str, #[case] expected: &str) {
    let inside = format!("  values = [<<EOT\nsettings:\n  clusterName: \"{text}\"\nEOT\n  ]\n");
    let edit = edited(&release(&inside), &all());
    assert_eq!(edit.appended, format!("output \"cluster_name\" {{\n  value = {expected}\n}}\n"));
}

#[rstest]
#[case::an_instance("each.value", "is another for each instance of the release")]
#[case::a_number("\"eks-${count.index}\"", "is another for each instance of the release")]
#[case::another_release("helm_release.karpenter_crd.name", "refers to a release that may leave")]
fn what_means_nothing_outside_of_the_release_is_told(#[case] value: &str, #[case] why: &str) {
    let inside = format!("  set {{\n    name  = \"settings.clusterName\"\n    value = {value}\n  }}\n");
    let edit = edited(&release(&inside), &all());
    assert_eq!(edit.added_outputs, Vec::<String>::new());
    let told = format!("helm_release.karpenter: write output \"cluster_name\" by hand: its value {why}");
    assert!(edit.remarks.contains(&told), "{:?}", edit.remarks);
}

#[rstest]
#[case::a_file("  values = [file(\"x.yaml\")]\n", "an entry of `values` on line 3")]
#[case::a_directive(
    "  values = [<<EOT\n%{ if true }a: b%{ endif }\nEOT\n  ]\n",
    "an entry of `values` on line 3"
)]
#[case::broken_yaml("  values = [<<EOT\na: [\nEOT\n  ]\n", "an entry of `values` on line 3")]
#[case::a_bomb("  values = [<<EOT\na: &a [x]\nb: [*a, *a]\nEOT\n  ]\n", "an entry of `values` on line 3")]
#[case::no_list("  values = local.values\n", "`values` on line 3")]
#[case::a_computed_list("  set = [for k, v in var.x : { name = k, value = v }]\n", "`set` on line 3")]
#[case::a_computed_block(
    "  dynamic \"set\" {\n    for_each = var.x\n    content {\n      name  = set.key\n      value = set.value\n    }\n  }\n",
    "dynamic \"set\" on line 3"
)]
#[case::a_computed_name("  set {\n    name  = var.x\n    value = 1\n  }\n", "what is set on line")]
fn what_cannot_be_read_is_told(#[case] inside: &str, #[case] expected: &str) {
    let edit = edited(&release(inside), &all());
    let told = format!("helm_release.karpenter: {expected}");
    assert!(edit.remarks.iter().any(|remark| remark.starts_with(&told)), "{:?}", edit.remarks);
    assert_eq!(edit.appended, "");
}

#[rstest]
#[case::set_as_one("  set_sensitive {\n    name  = \"settings.clusterName\"\n    value = \"x\"\n  }\n")]
#[case::from_one("  set {\n    name  = \"settings.clusterName\"\n    value = var.hidden\n  }\n")]
fn what_is_secret_stays_so(#[case] inside: &str) {
    let text = format!("variable \"hidden\" {{\n  sensitive = true\n}}\n{}", release(inside));
    assert!(edited(&text, &all()).appended.contains("  sensitive = true\n"));
}

#[test]
fn an_output_that_is_there_stays_as_it_is() {
    let inside = "  set {\n    name  = \"settings.clusterName\"\n    value = var.x\n  }\n";
    let output = "output \"cluster_name\" {\n  value = \"other\"\n}\n";
    let edit = edited(&format!("{}{output}", release(inside)), &all());
    assert_eq!(edit.text, output);
}

#[rstest]
#[case::another_chart(
    "resource \"helm_release\" \"lb\" {\n  chart = \"aws-load-balancer-controller\"\n  set {\n    name  = \"clusterName\"\n    value = var.x\n  }\n}\n"
)]
#[case::only_its_definitions(
    "resource \"helm_release\" \"karpenter_crd\" {\n  chart = \"karpenter-crd\"\n}\n"
)]
fn other_charts_need_no_outputs_of_karpenter(#[case] text: &str) {
    let edit = edited(text, &all());
    assert_eq!((edit.text.as_str(), edit.remarks.len()), ("", 1));
    assert!(edit.remarks[0].ends_with("write its values into its HelmRelease by hand"), "{:?}", edit.remarks);
}

#[test]
fn outputs_follow_the_text_in_its_own_line_ends() {
    let inside = "  set {\r\n    name  = \"settings.clusterName\"\r\n    value = var.x\r\n  }\r\n";
    let text = format!("b {{}}\r\n{}c {{}}", release(inside).replace("\r\n", "\n").replace('\n', "\r\n"));
    let edit = edited(&text, &which(&["karpenter"]));
    assert_eq!(edit.text, "b {}\r\nc {}\r\n\r\noutput \"cluster_name\" {\r\n  value = var.x\r\n}\r\n");
}
