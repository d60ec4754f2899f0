//! What expressions say of objects, and what is said of expressions.

mod hostile;
mod robust;

use rstest::rstest;
use serde_json::json;

use super::*;

fn evaluate(expression: &str, object: &Value) -> Result<bool, Problem> {
    Expression::parse(expression)?.evaluate(object)
}

fn karpenter() -> Value {
    json!({
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": {"name": "karpenter", "generation": 2, "labels": {"app.kubernetes.io/name": "karpenter"}},
        "spec": {"chart": "karpenter", "suspend": false, "nothing": null, "ratio": 0.5, "large": u64::MAX},
        "status": {
            "observedGeneration": 2,
            "replicas": 2,
            "empty": [],
            "conditions": [
                {"type": "Ready", "status": "True", "reason": "InstallSucceeded"},
                {"type": "Released", "status": "False"},
            ],
        },
    })
}

#[rstest]
#[case::number("self.status.replicas > 0")]
#[case::sum("self.status.replicas + 1 == 3 && self.status.replicas * 2 - 1 == 3")]
#[case::generation("self.status.observedGeneration == self.metadata.generation")]
#[case::condition("self.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')")]
#[case::all("self.status.conditions.all(c, c.status in ['True', 'False'])")]
#[case::one("self.status.conditions.exists_one(c, has(c.reason))")]
#[case::filter("self.status.conditions.filter(c, c.status == 'True').size() == 1")]
#[case::map("self.status.conditions.map(c, c.type) == ['Ready', 'Released']")]
#[case::map_with_a_filter("self.status.conditions.map(c, has(c.reason), c.type) == ['Ready']")]
#[case::loop_in_a_loop("self.status.conditions.all(a, self.status.conditions.exists(b, a.type == b.type))")]
#[case::index("self.status.conditions[0].reason.startsWith('Install')")]
#[case::label("self.metadata.labels['app.kubernetes.io/name'].endsWith('enter')")]
#[case::has("has(self.status.replicas) && !has(self.status.readyReplicas)")]
#[case::has_not_what_is_null("!has(self.spec.nothing)")]
#[case::key("'replicas' in self.status && !('readyReplicas' in self.status)")]
#[case::size("size(self.status.conditions) == 2 && self.kind.size() == 11")]
#[case::choice("self.spec.suspend ? false : self.spec.chart.contains('pent')")]
#[case::double("self.spec.ratio < 1 && self.spec.ratio == 0.5")]
#[case::large("self.spec.large > 9223372036854775807")]
#[case::conversion("int('2') == self.status.replicas && string(self.status.replicas) == '2'")]
#[case::type_of("type(self.status.replicas) == int && type(self.spec.chart) == string")]
#[case::literals("{'a': [1, 2.5, 'x', true, null]}.a[2] == r'x'")]
#[case::either_side_settles_it("true || self.status.missing == 1")]
#[case::variable_named_like_the_object("['x'].all(self, self == 'x')")]
#[case::comment("self.status.replicas == 2 // both")]
fn an_expression_is_true_of_an_object(#[case] expression: &str) {
    assert_eq!(evaluate(expression, &karpenter()), Ok(true));
}

#[rstest]
#[case::false_("self.status.replicas == 3")]
#[case::field("self.status.readyReplicas > 0")]
#[case::field_of_a_field("self.status.loadBalancer.ingress[0].hostname != ''")]
#[case::field_compared_with_a_field("self.spec.replicas == self.status.replicas")]
#[case::null("self.spec.nothing == 1")]
#[case::null_is_absent("self.spec.nothing == null")]
#[case::list("self.status.empty[0] == 1")]
#[case::list_from_behind("self.status.conditions[-1].type == 'Ready'")]
#[case::key("self.metadata.labels['x'] == 'y'")]
#[case::negated("!(self.status.readyReplicas > 0)")]
#[case::has_of_what_is_not_there("has(self.status.loadBalancer.ingress)")]
#[case::loop_over_it("self.status.nodes.all(n, n.ready)")]
#[case::in_a_loop("self.status.conditions.all(c, c.reason != '')")]
#[case::given_to_a_function("size(self.status.nodes) > 0")]
fn what_is_not_there_yet_makes_it_not_ready(#[case] expression: &str) {
    assert_eq!(evaluate(expression, &karpenter()), Ok(false));
}

#[rstest]
#[case::no_status(json!({"kind": "Widget"}))]
#[case::null_status(json!({"status": null}))]
#[case::empty_status(json!({"status": {}}))]
#[case::nothing(json!({}))]
fn an_object_without_a_status_is_not_ready(#[case] object: Value) {
    assert_eq!(evaluate("self.status.conditions.exists(c, c.type == 'Ready')", &object), Ok(false));
}

#[rstest]
#[case::empty("", "cannot be understood at line 1, column 1: mismatched input the end")]
#[case::spaces("  ", "cannot be understood at line 1")]
#[case::half("self.status.replicas >", "cannot be understood at line 1")]
#[case::bracket("(1 == 1", "line 1, column 8: expected ')'")]
#[case::second_line("self.a == 1\n  && ]", "cannot be understood at line 2, column 6")]
#[case::two("self.a self.b", "line 1, column 8: mismatched input 'self' expecting the end")]
#[case::assignment("self.a = 1", "cannot be understood at line 1, column 8")]
#[case::quote("self.a == 'x", "unterminated string literal")]
#[case::not_ascii("self.größe > 1", "cannot be understood at line 1")]
#[case::optional("self.?status.replicas > 0", "unsupported syntax")]
#[case::has_of_no_field("has(self)", "cannot be understood")]
#[case::unknown_name(
    "object.status.replicas > 0",
    "names `object`, which does not exist: the object is called self"
)]
#[case::variable_after_its_loop("self.l.all(c, c) && c", "names `c`, which does not exist")]
#[case::unknown_function("now() > 1", "calls `now` in a way that does not exist: there are all, bool,")]
#[case::unknown_method("self.kind.matches('a')", "calls `matches` in a way that does not exist")]
#[case::wrong_number_of_arguments("self.l.all(true)", "calls `all` in a way that does not exist")]
#[case::message("Widget{a: 1} == 1", "makes a `Widget`")]
#[case::long(&format!("self.a == '{}'", "x".repeat(2048)), "write at most 2048")]
fn what_is_no_expression_is_refused_with_a_sentence(#[case] expression: &str, #[case] expected: &str) {
    let problem = Expression::parse(expression).unwrap_err().to_string();
    assert!(problem.contains(expected), "{problem}");
}

#[rstest]
#[case::number("self.status.replicas", "gives a value of the type int and not true or false")]
#[case::text("self.kind + 'x'", "of the type string")]
#[case::object("self", "of the type map")]
#[case::null("null", "of the type null_type")]
#[case::text_and_number("self.kind > 1", "`>` cannot be applied to string and int")]
#[case::sum("self.kind + 1 == 'a'", "`add` cannot be applied to string and int")]
#[case::no_truth_values("self.kind && true", "`&&` cannot be applied to string and bool")]
#[case::field_of_a_text("self.kind.name == 'a'", "a string has no fields")]
#[case::list_read_by_name("self.status.conditions.type == 'Ready'", "a list has no fields")]
#[case::loop_over_a_number("self.status.replicas.all(x, true)", "not a iterable is used as one")]
#[case::method_of_another_type(
    "self.status.replicas.startsWith('a')",
    "`startsWith` cannot be applied to int"
)]
#[case::zero("1 / (self.status.replicas - 2) == 1", "divides by zero")]
#[case::zero_left("1 % (self.status.replicas - 2) == 1", "divides by zero")]
#[case::overflow("9223372036854775807 + self.status.replicas == 1", "too large")]
#[case::no_number("int(self.kind) == 1", "`int` cannot read what it is given")]
#[case::same_key("{'a': 1, 'a': 2}.a == 1", "same key twice")]
#[case::odd_key("{null: 1} == {}", "no key or index")]
#[case::index_with_a_fraction("self.status.conditions[0.5].type == 'Ready'", "no key or index")]
#[case::no_index("self.status.conditions[[]].type == 'Ready'", "`[]` cannot be applied to list and list")]
#[case::smallest_number_divided("(-9223372036854775807 - 1) / -1 == 0", "too large")]
#[case::rest_of_the_smallest_number("(-9223372036854775807 - 1) % -1 == 0", "too large")]
#[case::smallest_number_negated("-(-9223372036854775807 - 1) == 0", "too large")]
#[case::double_too_large_for_an_integer("int(1e300) == 0", "`int` cannot read what it is given")]
#[case::negative_for_what_is_not("uint(-1) == 0u", "`uint` cannot read what it is given")]
fn what_cannot_be_worked_out_is_an_error(#[case] expression: &str, #[case] expected: &str) {
    let problem = evaluate(expression, &karpenter()).unwrap_err().to_string();
    assert!(problem.contains(expected), "{problem}");
}

#[rstest]
fn no_message_tells_what_the_object_holds(
    #[values(
        "int(self.data.password) == 1",
        "self.data.password + 1 == 2",
        "self.data.password > 1",
        "self.data.password",
        "self.data.password ? true : false",
        "self.data.password && true",
        "-self.data.password == 1",
        "self.data.password.all(x, true)",
        "self.data.password[0] == 'h'",
        "self[self.data.password].a == 1",
        "[1][self.data.password] == 1",
        "{self.data.password: 1, 'hunter2': 2}.a == 1",
        "self.data.password in self.data.password",
        "size(1, self.data.password) == 1",
        "self.data.password.startsWith(1)",
        "bool(self.data.password)",
        "double(self.data.password) > 1.0",
        "self.data.password.name == 1"
    )]
    expression: &str,
) {
    let told = format!("{:?}", evaluate(expression, &json!({"data": {"password": "hunter2"}})));
    assert!(!told.contains("hunter2"), "{told}");
}
