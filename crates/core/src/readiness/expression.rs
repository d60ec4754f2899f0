//! Expressions in CEL, as the API server has them in its schemas, that say when an object is ready.
//!
//! The object is `self`. What it does not have (yet), `null` included, makes an expression that reads it not true yet; ask with
//! `has(self.status)` where that is not meant. There are the operators, `has`, `all`, `exists`, `exists_one`, `map`, `filter` and
//! the functions that [`Problem::UnknownFunction`] lists; there is no `matches`, there are no times and no optional values.
//!
//! An expression is other people's code, so each step of it is paid for from a budget: a bad one is an error and not a hang.
//! No message tells anything of the object, which may hold secrets.

mod budget;
mod tree;
mod value;

#[cfg(test)]
mod tests;

use std::sync::{Arc, LazyLock};

use cel::common::types::CelBool;
use cel::{Context, Env, ExecutionError, IdedExpr, Value as CelValue};
use serde_json::Value;
use thiserror::Error;

use self::budget::Budget;

/// The longest expression, as in the schema.
const LONGEST: usize = 2048;

/// The name of the object.
const SELF: &str = "self";

/// How much of the parser's words is told.
const LONGEST_DETAIL: usize = 160;

static STANDARD: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::default().with_stdlib()));

/// Why an expression is of no use.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// It is longer than the schema allows.
    #[error("the expression has {0} bytes: write at most {LONGEST}")]
    TooLong(usize),
    /// It is not CEL.
    #[error(
        "the expression cannot be understood at line {line}, column {column}: {detail}; write it in CEL, for example self.status.replicas > 0"
    )]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What the parser says.
        detail: String,
    },
    /// It is nested so deeply that evaluating it could use up the stack.
    #[error("the expression is nested too deeply: write fewer brackets, or fewer operators in a row")]
    TooDeep,
    /// It names something that does not exist.
    #[error(
        "the expression names `{0}`, which does not exist: the object is called self, for example self.status.replicas > 0"
    )]
    UnknownName(String),
    /// It calls a function that does not exist, or one with other arguments.
    #[error("the expression calls `{0}` in a way that does not exist: there are {known}", known = tree::known_functions())]
    UnknownFunction(String),
    /// It makes a message of a type.
    #[error("the expression makes a `{0}`: only numbers, texts, lists and maps can be made")]
    UnknownType(String),
    /// It gives something other than true or false.
    #[error(
        "the expression gives a value of the type {0} and not true or false: compare it with something, for example self.status.replicas > 0"
    )]
    NotBoolean(String),
    /// An operator or a function cannot be applied to what the object has.
    #[error("the expression cannot be worked out: {0}")]
    Mismatch(String),
    /// It would take too long.
    #[error("the expression takes too many steps for this object: write fewer or smaller loops in loops")]
    TooMuchWork,
    /// The object is nested more deeply than the API server allows.
    #[error("the object is nested too deeply to be looked at")]
    DeepObject,
}

/// A parsed expression.
#[derive(Clone, Debug)]
pub struct Expression {
    tree: IdedExpr,
}

impl Expression {
    /// Parses an expression, and checks what can be checked without an object.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        if text.len() > LONGEST {
            return Err(Problem::TooLong(text.len()));
        }
        let tree = tree::parse(text)?;
        Ok(Self { tree: tree::prepare(tree)? })
    }

    /// Whether it is true of an object. What the object does not have makes it false.
    pub fn evaluate(&self, object: &Value) -> Result<bool, Problem> {
        let budget = Budget::default();
        let mut context = Context::with_env(Arc::clone(&STANDARD));
        context.add_variable_as_val(SELF, value::of(object)?);
        budget.install(&mut context)?;
        let result = CelValue::resolve_val(&self.tree, &context);
        if budget.is_spent() {
            return Err(Problem::TooMuchWork);
        }
        match result {
            Ok(value) => match value.downcast_ref::<CelBool>() {
                Some(boolean) => Ok(*boolean.inner()),
                None => Err(Problem::NotBoolean(value.get_type().name().to_owned())),
            },
            Err(ExecutionError::NoSuchKey(_) | ExecutionError::IndexOutOfBounds(_)) => Ok(false),
            Err(error) => Err(mismatch(&error)),
        }
    }
}

/// Tells what went wrong by types and names alone: the values in an error are the object's.
fn mismatch(error: &ExecutionError) -> Problem {
    Problem::Mismatch(match error {
        ExecutionError::UndeclaredReference(name) => return Problem::UnknownName(name.to_string()),
        ExecutionError::NoSuchOverload(overload) => match (overload.function(), overload.argument_types()) {
            ("_._", [of, ..]) => format!("a {of} has no fields"),
            (function, types) => not_for(function, types),
        },
        ExecutionError::UnsupportedBinaryOperator(function, left, right) => {
            not_for(function, &[left.type_of().to_string(), right.type_of().to_string()])
        }
        ExecutionError::UnexpectedType { want, .. } => {
            format!("something that is not a {want} is used as one")
        }
        ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) => {
            "it divides by zero".to_owned()
        }
        ExecutionError::Overflow(..) => "a number gets too large".to_owned(),
        ExecutionError::FunctionError { function, .. } => {
            format!("`{function}` cannot read what it is given")
        }
        ExecutionError::DuplicateKey(_) => "a map has the same key twice".to_owned(),
        ExecutionError::UnsupportedKeyType(_) | ExecutionError::UnsupportedIndex(..) => {
            "what stands in brackets can be no key or index".to_owned()
        }
        _ => "it does not fit what the object has".to_owned(),
    })
}

fn not_for(function: &str, types: &[String]) -> String {
    let function = function.replace(['_', '@'], "");
    format!("`{function}` cannot be applied to {}", types.join(" and "))
}
