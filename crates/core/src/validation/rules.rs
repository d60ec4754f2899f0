//! The rules in CEL that schemas have beside their structure.
//!
//! A rule about a change, one that uses what is not known here, and one that cannot be worked out are passed over: nothing is
//! guessed. Rules are worked out only where the rest of the schema, with its limits, is kept. Beside CAPT's own there are those of
//! classes, which anybody may have written: what is long or goes through lists in lists is passed over, too.

mod functions;
mod value;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use cel::common::types::CelBool;
use cel::parser::PrattParser;
use cel::{Context, Env, IdedExpr, Value as CelValue};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{JSONSchemaProps, ValidationRule};
use regex_lite::Regex;

use super::node::Node;

/// The object before a change.
const BEFORE: &str = "oldSelf";

/// The longest rule that is worked out.
const LONGEST: usize = 512;

/// What goes through a list or mapping, and how often a rule may do that.
const WALKS: [&str; 5] = [".all(", ".exists(", ".exists_one(", ".map(", ".filter("];
const MOST_WALKS: usize = 3;

static STANDARD: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::default().with_stdlib()));

/// The rules that were met, each parsed once.
#[derive(Default)]
pub(super) struct Rules {
    parsed: HashMap<String, Option<IdedExpr>>,
}

impl Rules {
    /// What the rules that a value breaks have to say.
    pub(super) fn broken(&mut self, node: &Node, schema: &JSONSchemaProps) -> Vec<String> {
        let rules = schema.x_kubernetes_validations.as_deref().unwrap_or_default();
        if rules.is_empty() {
            return Vec::new();
        }
        let own = value::of(&value::completed(node, schema));
        rules.iter().filter(|rule| self.is_kept(rule, &own) == Some(false)).map(told).collect()
    }

    fn is_kept(&mut self, rule: &ValidationRule, own: &CelValue) -> Option<bool> {
        let tree = self.parsed.entry(rule.rule.clone()).or_insert_with(|| parse(&rule.rule)).as_ref()?;
        let mut context = Context::with_env(Arc::clone(&STANDARD));
        functions::add(&mut context).ok()?;
        context.add_variable_from_value("self", own.clone());
        let result = CelValue::resolve_val(tree, &context).ok()?;
        result.downcast_ref::<CelBool>().map(|kept| *kept.inner())
    }
}

fn told(rule: &ValidationRule) -> String {
    rule.message.clone().unwrap_or_else(|| format!("this does not keep the rule `{}`", rule.rule))
}

/// A rule about a value; `None` where it is about a change, or takes too much.
fn parse(rule: &str) -> Option<IdedExpr> {
    let walks: usize = WALKS.iter().map(|walk| rule.matches(walk).count()).sum();
    if rule.contains(BEFORE) || rule.len() > LONGEST || walks > MOST_WALKS {
        return None;
    }
    PrattParser::new().parse(rule).ok()
}

/// A pattern as schemas have them; `None` where it is none that can be used.
pub(super) fn pattern(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

#[cfg(test)]
mod tests;
