use std::fmt::Write;

use rstest::rstest;

use super::{Format, Invalid, Kind, Module, Output, Variable, read};

fn refused(text: &str, format: Format) -> Invalid {
    read(text, format).expect_err("text that is refused")
}

#[rstest]
#[case::missing_brace(
    "variable \"a\" {\n  type = string\n",
    "line 2, column 17: invalid block body; expected `}`"
)]
#[case::two_on_a_line("a = 1 b = 2\n", "line 1, column 7: expected newline or end of the text")]
#[case::single_quotes("\na = 'x'\n", "line 2, column 5: ")]
#[case::twice("a = 1\na = 2\n", "line 2, column 1: ")]
#[case::placeholder_left("a = ${NAME}\n", "line 1, column 5: ")]
#[case::unclosed_heredoc("a = <<EOT\nx\n", "line 2, column 1: expected heredoc end delimiter")]
#[case::unclosed_string(
    "a = 1\nb = \"x\nc = \"y\"\n",
    "line 2, column 7: a quoted string must end on its line"
)]
#[case::after_unicode("b = \"ü\" c\n", "line 1, column 9: ")]
fn broken_hcl_is_refused_with_its_place(#[case] text: &str, #[case] expected: &str) {
    let invalid = refused(text, Format::Hcl);
    assert!(invalid.to_string().starts_with(expected), "{invalid}");
    assert!(invalid.certain);
}

#[rstest]
#[case::missing_brace("{\"variable\":\n", "line 2, column 0: EOF while parsing a value")]
#[case::trailing_comma("{\n  \"a\": 1,\n}", "line 3, column 1: trailing comma")]
#[case::hcl("variable \"a\" {}", "line 1, column 1: expected value")]
fn broken_json_is_refused_with_its_place(#[case] text: &str, #[case] expected: &str) {
    let invalid = refused(text, Format::Json);
    assert_eq!(invalid.to_string(), expected);
    assert!(invalid.certain);
}

#[rstest]
#[case::brackets("a = ", "[", Format::Hcl)]
#[case::braces("a = ", "{a=", Format::Hcl)]
#[case::calls("a = ", "f(", Format::Hcl)]
#[case::blocks("", "a {\n", Format::Hcl)]
#[case::interpolations("a = \"", "${\"", Format::Hcl)]
#[case::directives("a = \"", "%{ if true }", Format::Hcl)]
#[case::negations("a = ", "!", Format::Hcl)]
#[case::signs("a = ", "- ", Format::Hcl)]
#[case::conditions("a = ", "b ? c : ", Format::Hcl)]
#[case::operators("a = 1", " + 1", Format::Hcl)]
#[case::json_lists("", "[", Format::Json)]
#[case::json_objects("", "{\"a\":", Format::Json)]
fn nesting_without_end_is_refused_and_not_blamed_on_the_module(
    #[case] start: &str,
    #[case] level: &str,
    #[case] format: Format,
) {
    let text = start.to_owned() + &level.repeat(100_000);
    assert!(!refused(&text, format).certain);
}

#[test]
fn the_depth_is_told_in_plain_words() {
    let invalid = refused(&format!("a = [\n{}", "[".repeat(99_999)), Format::Hcl);
    assert_eq!(
        invalid.to_string(),
        "line 2, column 99999: brackets are nested 100000 levels deep, and at most 256 can be read"
    );
}

#[rstest]
fn a_huge_module_is_refused_before_it_is_parsed(#[values(Format::Hcl, Format::Json)] format: Format) {
    let invalid = refused(&" ".repeat(5 * 1024 * 1024), format);
    assert!(invalid.message.contains("use `source: Remote`"), "{invalid}");
}

#[rstest]
fn messages_never_repeat_the_module(
    #[values(
        "a = \"hunter2",
        "a = hunter2 hunter2\n",
        "hunter2 = 'hunter2'\n",
        "a \"hunter2\" hunter2 =\n",
        "{\"hunter2\": hunter2}",
        "hunter2 { hunter2"
    )]
    text: &str,
    #[values(Format::Hcl, Format::Json)] format: Format,
) {
    let invalid = refused(text, format);
    assert!(!format!("{invalid} {invalid:?}").contains("hunter2"), "{invalid:?}");
}

#[rstest]
#[case::duplicate_key("a = { b = 1, b = 2 }\n", Format::Hcl)]
#[case::out_of_range("{\"a\": 1e999}", Format::Json)]
#[case::lone_surrogate("{\"a\": \"\\ud800\"}", Format::Json)]
fn what_terraform_would_take_is_not_called_wrong(#[case] text: &str, #[case] format: Format) {
    assert!(!refused(text, format).certain);
}

#[rstest]
#[case::string("type = string", Kind::String)]
#[case::quoted("type = \"string\"", Kind::String)]
#[case::number("type = number", Kind::Number)]
#[case::boolean("type = bool", Kind::Bool)]
#[case::any("type = any", Kind::Any)]
#[case::list("type = list(string)", Kind::Complex)]
#[case::list_of_any("type = list(any)", Kind::Complex)]
#[case::old_list("type = \"list\"", Kind::Complex)]
#[case::object("type = object({ a = optional(string, \"b\") })", Kind::Complex)]
#[case::none("description = \"type = string\"", Kind::Untyped)]
fn the_type_of_a_variable_is_read(#[case] attribute: &str, #[case] kind: Kind) {
    let module = read(&format!("variable \"a\" {{\n  {attribute}\n}}\n"), Format::Hcl).expect("a module");
    assert_eq!(module.variables["a"], Variable { kind, required: true, sensitive: false });
}

#[rstest]
#[case::default("default = 1", false, false)]
#[case::null_default("default = null", false, false)]
#[case::sensitive("sensitive = true", true, true)]
#[case::not_sensitive("sensitive = false", true, false)]
#[case::quoted("sensitive = \"true\"", true, true)]
#[case::unclear("sensitive = var.b", true, true)]
fn what_a_variable_demands_is_read(#[case] attribute: &str, #[case] required: bool, #[case] sensitive: bool) {
    let module = read(&format!("variable a {{ {attribute} }}\n"), Format::Hcl).expect("a module");
    assert_eq!(module.variables["a"], Variable { kind: Kind::Untyped, required, sensitive });
}

fn both_kinds() -> Module {
    let variable = |kind, required, sensitive| Variable { kind, required, sensitive };
    Module {
        variables: [
            ("region".to_owned(), variable(Kind::String, true, false)),
            ("password".to_owned(), variable(Kind::Untyped, false, true)),
            ("tags".to_owned(), variable(Kind::Complex, false, false)),
        ]
        .into(),
        outputs: [
            ("endpoint".to_owned(), Output { sensitive: false }),
            ("kubeconfig".to_owned(), Output { sensitive: true }),
        ]
        .into(),
    }
}

#[test]
fn hcl_tells_variables_and_outputs() {
    let text = r#"
        variable "region" { type = string }
        variable "password" {
          default   = ""
          sensitive = true
        }
        variable "tags" {
          type    = map(string)
          default = {}
        }
        locals { variable = "x" }
        resource "output" "none" {}
        output "endpoint" { value = "variable \"y\" {}" }
        output "kubeconfig" {
          value     = <<-EOT
            variable "z" {}
          EOT
          sensitive = true
        }
        # variable "commented" {}
    "#;
    assert_eq!(read(text, Format::Hcl), Ok(both_kinds()));
}

#[rstest]
#[case::objects(
    r#"{"variable": {"//": "a comment", "region": {"type": "string"}, "password": {"default": "", "sensitive": true},
        "tags": {"type": "map(string)", "default": {}}},
        "output": {"endpoint": {"value": "${a}"}, "kubeconfig": {"value": 1, "sensitive": true}}}"#
)]
#[case::lists(
    r#"[{"variable": [{"region": [{"type": "string"}]}, {"password": {"default": "", "sensitive": "true"}}]},
        {"variable": {"tags": {"type": "map(string)", "default": null}}, "locals": 1.5},
        {"output": [{"endpoint": {"sensitive": false}, "kubeconfig": {"sensitive": true}}]}]"#
)]
#[case::repeated_keys(
    r#"{"variable": {"region": {"type": "string"}}, "output": {"endpoint": {}},
        "variable": {"password": {"default": "", "sensitive": true}, "tags": {"type": "list(any)", "default": []}},
        "output": {"kubeconfig": {"sensitive": true}}}"#
)]
fn json_tells_variables_and_outputs(#[case] text: &str) {
    assert_eq!(read(text, Format::Json), Ok(both_kinds()));
}

#[rstest]
fn a_module_of_another_shape_declares_nothing(
    #[values("1", "[]", "{}", "null", "{\"variable\": [1, \"a\"]}")] text: &str,
) {
    assert_eq!(read(text, Format::Json), Ok(Module::default()));
}

#[rstest]
#[case::byte_order_mark("\u{feff}a = 1\n")]
#[case::line_ends("a \"b\" {\r\n  c = [\r\n    1,\r\n  ]\r\n  d = {\r\n    e = 1\r\n  }\r\n}\r\n\r\n# f\r\n")]
#[case::line_end_after_for("a = [\r\n  for\r\n  b in var.c :\r\n  b\r\n]\r\n")]
#[case::heredoc("a = <<EOT\n\\d \"q\" ${var.b}\n%{ for c in var.d ~}\n${c}\n%{ endfor ~}\nEOT\n")]
#[case::indented_heredoc("a {\n  b = <<-EOT\n    c\n      d\n    EOT\n}\n")]
#[case::heredoc_with_line_ends("a = <<EOT\r\nb\r\nEOT\r\nc = 1\r\n")]
#[case::heredoc_with_its_marker_in_it("a = <<EOT\nEOT.b\n EOT # c\nEOTd\nEOT\ne = 1\n")]
#[case::heredoc_in_a_call("a = f(<<EOT\nb\nEOT\n, [<<-C\n  d\n  C\n])\n")]
#[case::heredoc_in_a_heredoc("a = <<A\n${join(\",\", [for b in var.c : <<B\n${b}\nB\n])}\nA\n")]
#[case::for_expressions("a = {for b, c in var.d : b => c... if c != null}\ne = [for f in var.g:f]\n")]
#[case::for_over_lines("a = {\n  for b, c in var.d :\n  b => {\n    e = c\n  }\n  if c != null\n}\n")]
#[case::names_like_for("a = [format(\"b\"), fortune]\nc = { for_each = 1 }\n")]
#[case::dynamic(
    "a \"b\" \"c\" {\n  dynamic \"d\" {\n    for_each = var.e\n    content {\n      f = d.value\n    }\n  }\n}\n"
)]
#[case::comments(
    "# a\n// b\n/* c\n */\nd { # e\n  f /* g */ = /* h */ [ # i\n    1, # j\n    2 /* k */\n    # l\n  ]\n  m = { # n\n    o = 1 # p\n    # q\n    r = 2, // s\n  } /* t */\n} # u"
)]
#[case::carriage_return_in_a_comment("# a\rb\nc = 1\n")]
#[case::trailing_commas("a = [1, 2,]\nb = f(1, 2,)\nc = { d = 1, }\n")]
#[case::provider_functions("a = provider::b::c(1)\nd = core::max(1, 2)\n")]
#[case::splats("a = b.c[*].d\ne = b.c.*.d\nf = b[*]\ng = b.0.c\n")]
#[case::unicode("größe = \"😀\"\n変数 { é-1 = 2 }\n")]
#[case::conditions("a = (\n  var.b\n  ? 1\n  : 2\n)\nc = d == 1 ? \"e\" : d == 2 ? { f = 1 } : null\n")]
#[case::object_keys("a = {\n  (var.b) = 1\n  \"${var.c}-d\" = 2\n  \"e\": 3, 1 = 5\n  if = 6\n}\n")]
#[case::templates("a = \"${var.b[\"c\"]}${d(\"${var.e}\")}%{ if f }g%{ else }h%{ endif }$${i} $ % %%{\"\n")]
#[case::interpolation_over_lines("a = \"${\n  var.b # }\n}\"\n")]
#[case::expansion("a = merge(\n  [for b in var.c : b]...\n)\n")]
#[case::numbers("a = 1.5e-10\nb = 007\nc = 123456789012345678901234567890\nd = - 1 - -1\n")]
#[case::unquoted_labels("a b c {\n}\n")]
#[case::empty("")]
#[case::blank("\n  \n\t")]
fn the_usual_styles_are_read(#[case] text: &str) {
    let mut text = text.to_owned();
    write!(text, "\nvariable \"last\" {{}}\n").expect("writing to a string");
    let module = read(&text, Format::Hcl).unwrap_or_else(|invalid| panic!("{invalid}\n{text}"));
    assert_eq!(module.variables.keys().collect::<Vec<_>>(), ["last"]);
}
