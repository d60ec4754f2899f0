//! What holds for every text and every value.

mod evaluate;
mod generate;

use hcl_edit::{
    parser::parse_body,
    structure::{Body, Structure},
};
use proptest::prelude::*;
use serde_json::Value;

use super::{Syntax, Values, edits, substitute, substitute_tree};
use generate::{NAMES, module, text, tree, value};

fn known(values: &[String; 3]) -> Values {
    NAMES.into_iter().zip(values.iter().map(String::as_str)).collect()
}

/// The keys of a tree, the lengths of its lists and the types of its values.
fn shape(tree: &Value) -> Value {
    match tree {
        Value::Array(items) => items.iter().map(shape).collect(),
        Value::Object(fields) => fields.iter().map(|(key, field)| (key.clone(), shape(field))).collect(),
        Value::String(_) => "a string".into(),
        Value::Null | Value::Bool(_) | Value::Number(_) => tree.clone(),
    }
}

/// The blocks and attribute keys of a body.
fn outline(body: &Body) -> Vec<String> {
    body.iter()
        .flat_map(|structure| match structure {
            Structure::Attribute(attribute) => vec![attribute.key.to_string()],
            Structure::Block(block) => {
                let labels = block.labels.iter().map(|label| format!(" {}", label.as_str()));
                let start = block.ident.to_string() + &labels.collect::<String>();
                std::iter::once(start).chain(outline(&block.body)).chain(["end".to_owned()]).collect()
            }
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_value_changes_the_shape_of_a_tree(tree in tree(), values in [value(), value(), value()]) {
        let substituted = substitute_tree(&tree, &known(&values)).result;
        prop_assert_eq!(shape(&substituted), shape(&tree));
    }

    #[test]
    fn a_tree_without_known_names_stays_as_it_is(tree in tree(), value in value()) {
        let values = Values::from_iter([("UNKNOWN", value)]);
        prop_assert_eq!(substitute_tree(&tree, &values).result, tree);
    }

    #[test]
    fn a_text_without_known_names_stays_byte_for_byte(text in text(), value in value()) {
        let values = Values::from_iter([("UNKNOWN", value)]);
        for syntax in [Syntax::Plain, Syntax::Hcl, Syntax::Json] {
            prop_assert_eq!(&substitute(&text, syntax, &values).result, &text);
        }
    }

    #[test]
    fn in_any_text_only_placeholders_are_replaced(text in text(), values in [value(), value(), value()]) {
        let values = known(&values);
        for syntax in [Syntax::Plain, Syntax::Hcl, Syntax::Json] {
            let mut end = 0;
            for edit in edits(&text, syntax, &mut |name| values.get(name)) {
                prop_assert!(end <= edit.range.start);
                end = edit.range.end;
                // JSON may spell the same characters by escapes.
                let replaced = text[edit.range].replace("\\u0024", "$");
                prop_assert!(NAMES.iter().any(|name| replaced == format!("${{{name}}}")), "{}", replaced);
            }
            substitute(&text, syntax, &values);
        }
    }

    #[test]
    fn every_value_reads_back_from_json_as_it_was(value in value(), before in 0..3_usize) {
        let before = ["", "a ", "%"][before];
        let text = format!(r#"{{"a": ["{before}${{V0}}\n", ${{V0}}]}}"#);
        let values = Values::from_iter([("V0", value.as_str())]);
        let substituted: Value = serde_json::from_str(&substitute(&text, Syntax::Json, &values).result)?;
        let template = substituted["a"][0].as_str().expect("a string");
        prop_assert_eq!(evaluate::template(template), format!("{before}{value}\n"));
        let literal = serde_json::from_str(&value).ok().filter(|literal: &Value| !literal.is_string());
        prop_assert_eq!(evaluate::json(&substituted["a"][1]), literal.unwrap_or(Value::String(value)));
    }

    #[test]
    fn every_value_reads_back_from_hcl_as_it_was(items in module(), values in [value(), value(), value()]) {
        let text: String = items.iter().enumerate().map(|(index, item)| item.text(index)).collect();
        let harmless = substitute(&text, Syntax::Hcl, &Values::from_iter(NAMES.map(|name| (name, "v")))).result;
        let substituted = substitute(&text, Syntax::Hcl, &known(&values)).result;
        let body = parse_body(&substituted).map_err(|error| TestCaseError::fail(format!("{substituted}\n{error}")))?;
        let harmless = parse_body(&harmless).map_err(|error| TestCaseError::fail(format!("{harmless}\n{error}")))?;
        prop_assert_eq!(outline(&body), outline(&harmless), "{}", substituted);
        // The parser takes more than indentation away from some indented heredocs, so values are read without.
        let body = parse_body(&substituted.replace("<<-EOT\n", "<<EOT\n"))?;
        for (index, item) in items.iter().enumerate() {
            let attribute = body.get_blocks("b").find_map(|block| block.body.get_attribute(&format!("a{index}")));
            let read = attribute.map(|attribute| evaluate::expression(&attribute.value));
            prop_assert_eq!(read, item.expected(&values), "{}", substituted);
        }
    }
}
