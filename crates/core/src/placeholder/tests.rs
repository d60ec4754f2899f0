use std::collections::BTreeSet;

use rstest::rstest;
use serde_json::{Value, json};

use super::{Syntax, Values, placeholders, substitute, substitute_tree};

fn values(value: &str) -> Values {
    Values::from_iter([("NAME", value), ("OTHER", "never expanded again")])
}

fn hcl(text: &str, value: &str) -> String {
    substitute(text, Syntax::Hcl, &values(value)).result
}

fn json(text: &str, value: &str) -> String {
    substitute(text, Syntax::Json, &values(value)).result
}

#[rstest]
#[case::unterminated("${NAME")]
#[case::spaces("${ NAME }")]
#[case::strip_marker("${~NAME~}")]
#[case::default_value("${NAME:=x}")]
#[case::traversal("${var.NAME}")]
#[case::empty_name("${}")]
#[case::digit_first("${1NAME}")]
#[case::other_case("${name}")]
#[case::unicode_name("${NÄME}")]
#[case::unknown("${k}=${v}")]
#[case::no_dollar("{NAME}")]
#[case::no_brace("$NAME")]
#[case::directive("%{NAME}")]
#[case::escaped("$${NAME}")]
#[case::escaped_after_dollars("$$$${NAME}")]
#[case::escaped_three("$$${NAME}")]
#[case::escaped_directive("%%{NAME}")]
#[case::dollar_last("a$")]
fn what_is_no_placeholder_stays_byte_for_byte(
    #[case] text: &str,
    #[values(Syntax::Plain, Syntax::Hcl, Syntax::Json)] syntax: Syntax,
    #[values("", "a = \"", "[\"", "<<EOT\n", "# ", "/* ", "\"${")] before: &str,
) {
    let text = format!("{before}{text}");
    let substituted = substitute(&text, syntax, &values("value"));
    assert_eq!(substituted.result, text);
    assert_eq!(substituted.used, BTreeSet::new());
}

#[rstest]
#[case::alone("${NAME}", "a", "a")]
#[case::between("x-${NAME}-y", "a", "x-a-y")]
#[case::twice("${NAME}${NAME}", "a", "aa")]
#[case::unicode("ü${NAME}ü", "ö", "üöü")]
#[case::as_is("${NAME}", "\"\n\\${var.x}", "\"\n\\${var.x}")]
#[case::one_pass("${NAME}", "${OTHER}", "${OTHER}")]
#[case::after_another_dollar_sign("$ ${NAME}", "a", "$ a")]
#[case::nested("${A${NAME}}", "a", "${Aa}")]
fn plain_text_takes_values_as_they_are(#[case] text: &str, #[case] value: &str, #[case] expected: &str) {
    assert_eq!(substitute(text, Syntax::Plain, &values(value)).result, expected);
}

#[rstest]
#[case::plain("a", r#"x = "a-b""#)]
#[case::quote_and_backslash(r#"a"\"#, r#"x = "a\"\\-b""#)]
#[case::line_breaks("a\r\n\tb", r#"x = "a\r\n\tb-b""#)]
#[case::control("\0\u{7f}\u{85}", r#"x = "\u0000\u007f\u0085-b""#)]
#[case::interpolation("${var.x}", r#"x = "$${var.x}-b""#)]
#[case::directive("%{ if a }", r#"x = "%%{ if a }-b""#)]
#[case::escaped_interpolation("$${a}", r#"x = "$$${a}-b""#)]
#[case::other_name("${OTHER}", r#"x = "$${OTHER}-b""#)]
#[case::empty("", r#"x = "-b""#)]
#[case::number("5", r#"x = "5-b""#)]
#[case::dollar_last("a$", r#"x = "a$-b""#)]
fn a_value_stays_inside_its_quoted_string(#[case] value: &str, #[case] expected: &str) {
    assert_eq!(hcl(r#"x = "${NAME}-b""#, value), expected);
}

#[rstest]
#[case::dollar_before_brace(r#""${NAME}{a}""#, "$", r#""${"$"}{a}""#)]
#[case::percent_before_brace(r#""${NAME}{a}""#, "5%", r#""${"5%"}{a}""#)]
#[case::dollar_before_interpolation(r#""${NAME}${var.x}""#, "$", r#""${"$"}${var.x}""#)]
#[case::percent_before_directive(r#""${NAME}%{ if a }""#, "%", r#""${"%"}%{ if a }""#)]
#[case::brace_after_percent(r#""%${NAME}""#, "{x}", r#""%${"{x}"}""#)]
#[case::nothing_between_percent_and_brace(r#""%${NAME}{x}""#, "", r#""%${""}{x}""#)]
#[case::space_after_a_strip_marker(r#""${a ~}${NAME}""#, " b", r#""${a ~}${" b"}""#)]
#[case::space_before_a_strip_marker(r#""${NAME} ${~ a}""#, "b\n", r#""${"b\n"} ${~ a}""#)]
fn a_value_makes_no_marker_with_what_stands_next_to_it(
    #[case] text: &str,
    #[case] value: &str,
    #[case] expected: &str,
) {
    assert_eq!(hcl(text, value), expected);
}

#[rstest]
#[case::inner_string(r#""${upper("${NAME}")}""#, "a\"", r#""${upper("a\"")}""#)]
#[case::beside_interpolation(r#""${NAME}-${var.x}""#, "\"", r#""\"-${var.x}""#)]
#[case::after_braces(r#""${{a = {}}["${NAME}"]}${NAME}""#, "\"", r#""${{a = {}}["\""]}\"""#)]
#[case::expression_in_interpolation(r#""${upper(${NAME})}""#, "a", r#""${upper("a")}""#)]
#[case::directive(
    r#""%{ if "${NAME}" == "" }${NAME}%{ endif }""#,
    "\"",
    r#""%{ if "\"" == "" }\"%{ endif }""#
)]
#[case::comment_in_interpolation("\"${a # ${NAME} }\n}${NAME}\"", "\"\n", "\"${a # \"  }\n}\\\"\\n\"")]
#[case::quote_in_comment("/* \" */ a = ${NAME}", "x", "/* \" */ a = \"x\"")]
#[case::escaped_quote(r#""\"${NAME}\\" ${NAME}"#, "a b", r#""\"a b\\" "a b""#)]
#[case::escaped_marker(r#""$${"${NAME}"#, "a b", r#""$${""a b""#)]
#[case::heredoc_in_interpolation("\"${<<A\n\"${NAME}\nA\n}${NAME}\"", "\"", "\"${<<A\n\"\"\nA\n}\\\"\"")]
fn nesting_is_followed(#[case] text: &str, #[case] value: &str, #[case] expected: &str) {
    assert_eq!(hcl(text, value), expected);
}

#[rstest]
#[case::plain("a \"b\" \\n", "a \"b\" \\n")]
#[case::markers("${a} %{b}", "$${a} %%{b}")]
#[case::line_break("a\nb", r#"${"a\nb"}"#)]
#[case::carriage_return("a\rb", r#"${"a\rb"}"#)]
#[case::empty("", r#"${""}"#)]
#[case::marker("EOT", r#"${"EOT"}"#)]
#[case::beginning_of_marker("EO", r#"${"EO"}"#)]
#[case::more_than_marker("EOT x", r#"${"EOT x"}"#)]
#[case::marker_later("x EOT", "x EOT")]
#[case::indentation("  a", r#"${"  a"}"#)]
#[case::space_at_the_end("a ", r#"${"a "}"#)]
fn a_value_stays_on_its_line_of_a_heredoc(
    #[case] value: &str,
    #[case] expected: &str,
    #[values("<<EOT", "<<-EOT")] start: &str,
    #[values("\n", "\r\n")] line_break: &str,
) {
    let text = |inside: &str| {
        ["a = ", start, line_break, "  ", inside, line_break, "  EOT", line_break, "b = \"${NAME}\""].concat()
    };
    let outside = format!("b = \"{}\"", super::escape::quoted_text(value));
    let expected = text(expected).replace("b = \"${NAME}\"", &outside);
    assert_eq!(hcl(&text("${NAME}"), value), expected);
}

#[rstest]
#[case::completed("E${NAME}", "OT", r#"E${"OT"}"#)]
#[case::begun("${NAME}OT", "E", r#"${"E"}OT"#)]
#[case::by_two("${NAME}${NAME}", "OT", r#"OT${"OT"}"#)]
#[case::later_on_the_line("x ${NAME}", "EOT", "x EOT")]
#[case::not_the_marker("xE${NAME}", "OT", "xEOT")]
#[case::dollar_before_brace("${NAME}{a}", "$", r#"${"$"}{a}"#)]
fn a_value_never_ends_a_heredoc(#[case] line: &str, #[case] value: &str, #[case] expected: &str) {
    assert_eq!(hcl(&format!("a = <<EOT\n{line}\nEOT\n"), value), format!("a = <<EOT\n{expected}\nEOT\n"));
}

#[rstest]
#[case::number("3", "3")]
#[case::digits_stay("-1.50e+3", "-1.50e+3")]
#[case::big_number("123456789012345678901234567890", "123456789012345678901234567890")]
#[case::boolean("true", "true")]
#[case::null("null", "null")]
#[case::array("[1, \"a\",\n null]", "[1,\"a\",null]")]
#[case::object("{\"a b\": {\"c\":\n[]}}", "{\"a b\":{\"c\":[]}}")]
#[case::strings_in_it(r#"["${var.x}", "\u0041\n\""]"#, r#"["$${var.x}","A\n\""]"#)]
#[case::text("a", r#""a""#)]
#[case::empty("", r#""""#)]
#[case::json_string(r#""a""#, r#""\"a\"""#)]
#[case::expression("var.x + 1", r#""var.x + 1""#)]
#[case::not_quite_json("[1, 2", r#""[1, 2""#)]
#[case::octal("0755", r#""0755""#)]
#[case::two_values("1\nb = 2", r#""1\nb = 2""#)]
fn a_value_outside_of_strings_is_one_expression(#[case] value: &str, #[case] expected: &str) {
    assert_eq!(hcl("count = ${NAME}\n", value), format!("count = {expected}\n"));
}

#[rstest]
#[case::heredoc("a = <<${NAME}\nx", "a = <<\"null\"\nx")]
#[case::indented_heredoc("a = <<-${NAME}\nx", "a = <<-\"null\"\nx")]
#[case::name("a = b_${NAME}", "a = b_\"null\"")]
#[case::minus("a = ${NAME}-1", "a = \"null\"-1")]
fn a_word_never_joins_what_stands_next_to_it(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(hcl(text, "null"), expected);
}

#[rstest]
#[case::line("# ${NAME}\na = 1", "x\nb = 2\r\u{85}", "# x b = 2  \na = 1")]
#[case::slashes("// ${NAME}\n", "x*/", "// x* /\n")]
#[case::block("/* ${NAME} */", "x*/ b = 2\n/*", "/* x* / b = 2 /* */")]
#[case::star_before("/* *${NAME} */", "/", "/* * / */")]
#[case::slash_after("/* ${NAME}/ */", "*", "/* * / */")]
#[case::nothing_between("/* *${NAME}/ */", "", "/* * / */")]
#[case::two_values("/* ${NAME}${NAME} */", "/*", "/* /* /* */")]
#[case::unterminated("/*/ ${NAME}", "a", "/*/ a")]
fn a_value_never_leaves_its_comment(#[case] text: &str, #[case] value: &str, #[case] expected: &str) {
    assert_eq!(hcl(text, value), expected);
}

#[rstest]
#[case::text(r#"{"a": "x ${NAME}"}"#, "\"\n\\", r#"{"a": "x \"\n\\"}"#)]
#[case::markers(r#"{"a": "${NAME}"}"#, "${a}%{b}", r#"{"a": "$${a}%%{b}"}"#)]
#[case::carriage_return(r#"{"a": "${NAME}${b}"}"#, "\r", r#"{"a": "${\"\\r\"}${b}"}"#)]
#[case::byte_order_mark(r#"{"a": "${NAME}"}"#, "\u{feff}b", "{\"a\": \"${\\\"\u{feff}b\\\"}\"}")]
#[case::carriage_return_outside("[${NAME}]", "[\"\\r\"]", r#"[["${\"\\r\"}"]]"#)]
#[case::glued(r#"{"a": "${NAME}{"}"#, "$", r#"{"a": "${\"$\"}{"}"#)]
#[case::nested(r#"["${upper(\"${NAME}\")}"]"#, "\"\n", r#"["${upper(\"\\\"\\n\")}"]"#)]
#[case::bytes_around_stay(
    "[ \"\\u00e4\\/${NAME}\\ud83d\\ude00\" ,1.0 ]",
    "a",
    "[ \"\\u00e4\\/a\\ud83d\\ude00\" ,1.0 ]"
)]
#[case::written_as_escape(r#"["\u0024{NAME}"]"#, "a", r#"["a"]"#)]
#[case::escaped(r#"["$${NAME}"]"#, "a", r#"["$${NAME}"]"#)]
#[case::broken_escapes(r#"["\x\ud800\u12${NAME}"#, "a", r#"["\x\ud800\u12a"#)]
#[case::number(r#"{"a": ${NAME}}"#, "1.50", r#"{"a": 1.50}"#)]
#[case::array("[${NAME}]", "[ \"${a}\", 1 ]", "[[\"$${a}\",1]]")]
#[case::word("[${NAME}]", "a${b}", "[\"a$${b}\"]")]
#[case::json_string("[${NAME}]", "\"a\"", r#"["\"a\""]"#)]
fn a_value_stays_inside_its_place_in_json(#[case] text: &str, #[case] value: &str, #[case] expected: &str) {
    assert_eq!(json(text, value), expected);
}

#[rstest]
#[case(Syntax::Plain, "${A} $${B} ${ C } ${D-1} ${var.e} ${F", &["A", "D-1"])]
#[case(Syntax::Hcl, "a = \"${A} $${B} ${[for k in var.l : \"${k}\"]}\" # ${C}", &["A", "C", "k"])]
#[case(Syntax::Json, r#"{"a": "${A} $${B} ${f(\"${k}\")}", "b": ${C}}"#, &["A", "C", "k"])]
fn placeholders_are_found_unless_escaped(#[case] syntax: Syntax, #[case] text: &str, #[case] names: &[&str]) {
    assert_eq!(placeholders(text, syntax), names.iter().map(|name| (*name).to_owned()).collect());
}

#[test]
fn only_names_that_were_replaced_count_as_used() {
    let substituted = substitute("${NAME} $${OTHER}", Syntax::Plain, &values("a"));
    assert_eq!(substituted.used, BTreeSet::from(["NAME".to_owned()]));
}

#[test]
fn values_show_in_no_debug_output() {
    assert_eq!(format!("{:?}", values("secret")), r#"{"NAME", "OTHER"}"#);
}

fn spec(source: &str, format: &Value, module: &str) -> Value {
    json!({
        "forProvider": {
            "source": source,
            "inlineFormat": format,
            "module": module,
            "vars": [{ "key": "${NAME}", "${NAME}": 5, "value": "x ${NAME}" }],
        },
        "writeConnectionSecretToRef": { "name": "${NAME}-connection", "namespace": null },
    })
}

#[rstest]
#[case::hcl("Inline", json!("HCL"), r#"a = "${NAME}""#, r#"a = "\"""#)]
#[case::hcl_by_default("Inline", Value::Null, r#"a = "${NAME}""#, r#"a = "\"""#)]
#[case::json("Inline", json!("JSON"), r#"{"a": "${NAME}"}"#, r#"{"a": "\""}"#)]
#[case::remote("Remote", Value::Null, "git::https://example.com/${NAME}", "git::https://example.com/\"")]
fn only_an_inline_module_is_read_as_a_module(
    #[case] source: &str,
    #[case] format: Value,
    #[case] module: &str,
    #[case] expected: &str,
) {
    let substituted = substitute_tree(&spec(source, &format, module), &values("\""));
    let mut wanted = spec(source, &format, expected);
    wanted["forProvider"]["vars"][0]["key"] = json!("\"");
    wanted["forProvider"]["vars"][0]["value"] = json!("x \"");
    wanted["writeConnectionSecretToRef"]["name"] = json!("\"-connection");
    assert_eq!(substituted.result, wanted);
    assert_eq!(substituted.used, BTreeSet::from(["NAME".to_owned()]));
}

#[test]
fn a_source_given_by_a_value_decides_how_the_module_is_read() {
    let spec = json!({ "forProvider": { "source": "${NAME}", "module": "a = \"${OTHER}\"" } });
    let values = Values::from_iter([("NAME", "Inline"), ("OTHER", "\"")]);
    let substituted = substitute_tree(&spec, &values);
    assert_eq!(substituted.result["forProvider"]["module"], r#"a = "\"""#);
}
