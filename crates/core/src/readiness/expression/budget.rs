//! What an expression may cost.
//!
//! The interpreter has no limits of its own, and copies what loops go over. So whatever is copied, compared or joined is wrapped
//! into a call of a function that nobody can write, which takes the size of it from a budget and hands it on. Once the budget is
//! spent every further call fails, which ends all loops at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cel::common::ast::{CallExpr, Expr, LiteralValue};
use cel::common::types::{CelBytes, CelInt, CelList, CelMap, CelString, Kind};
use cel::common::value::{CowVal, Val};
use cel::{Context, ExecutionError, FunctionContext, IdedExpr, Value as CelValue};

use super::Problem;

/// Pays for a value. The name cannot be written in CEL.
const PAY: &str = "@pay";

/// Pays for a key or an index.
const INDEX: &str = "@index";

/// Enough to go over the largest object that an API server keeps, a few times; a fraction of a second's work.
const ENOUGH: usize = 400_000;

/// How many bytes of a text cost as much as a value.
const TEXT: usize = 32;

type Function = Box<
    dyn for<'context, 'call> Fn(
            &mut FunctionContext<'context, 'call>,
        ) -> Result<CowVal<'context, 'call>, ExecutionError>
        + Send
        + Sync,
>;

/// What is left to spend in one evaluation.
#[derive(Debug)]
pub(super) struct Budget(Arc<AtomicUsize>);

impl Default for Budget {
    fn default() -> Self {
        Self(Arc::new(AtomicUsize::new(ENOUGH)))
    }
}

impl Budget {
    /// Lets prepared expressions pay from this budget.
    pub(super) fn install(&self, context: &mut Context<'_, '_>) -> Result<(), Problem> {
        for (name, is_fit) in [(PAY, anything as fn(&dyn Val) -> bool), (INDEX, whole)] {
            let left = Arc::clone(&self.0);
            let function: Function = Box::new(move |call| {
                if !pay(&left, call) {
                    return Err(call.error("the budget is spent"));
                }
                let value = call.args.swap_remove(0);
                if is_fit(value.as_ref()) {
                    Ok(value)
                } else {
                    Err(ExecutionError::UnsupportedKeyType(CelValue::Null))
                }
            });
            context.add_function(name, function).map_err(|error| Problem::Mismatch(error.to_string()))?;
        }
        Ok(())
    }

    pub(super) fn is_spent(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

/// An expression that pays for its value before it is used, and `step` more for each thing in it.
pub(super) fn paid(of: IdedExpr, step: usize) -> IdedExpr {
    // These pay when they are made, or cost next to nothing.
    let is_paid = match &of.expr {
        Expr::Literal(_) | Expr::List(_) | Expr::Map(_) => true,
        Expr::Ident(name) => name.starts_with('@'),
        _ => false,
    };
    if is_paid && step == 0 { of } else { called(PAY, of, step) }
}

/// A key or an index that pays for itself. The interpreter makes a copy of a list to say that a number with a fraction is no
/// index of it, so that is refused before.
pub(super) fn index(of: IdedExpr) -> IdedExpr {
    match of.expr {
        Expr::Literal(LiteralValue::Int(_) | LiteralValue::String(_)) => of,
        _ => called(INDEX, of, 0),
    }
}

fn called(name: &str, of: IdedExpr, step: usize) -> IdedExpr {
    let step = i64::try_from(step).unwrap_or(i64::MAX);
    let step = IdedExpr { id: of.id, expr: Expr::Literal(LiteralValue::Int(CelInt::from(step))) };
    let call = CallExpr { func_name: name.to_owned(), target: None, args: vec![of, step] };
    IdedExpr { id: 0, expr: Expr::Call(call) }
}

fn anything(_: &dyn Val) -> bool {
    true
}

fn whole(value: &dyn Val) -> bool {
    value.get_type().kind() != Kind::Double
}

/// Pays for the first argument of a call; false if there is not enough left.
fn pay(left: &AtomicUsize, call: &FunctionContext<'_, '_>) -> bool {
    let had = left.load(Ordering::Relaxed);
    let price = match call.args.as_slice() {
        _ if had == 0 => 0,
        [value, step] => {
            let step = step.downcast_ref::<CelInt>().and_then(|step| usize::try_from(*step.inner()).ok());
            size(value.as_ref())
                .saturating_add(things(value.as_ref()).saturating_mul(step.unwrap_or_default()))
        }
        _ => usize::MAX,
    };
    let has = had.saturating_sub(price);
    left.store(has, Ordering::Relaxed);
    has > 0
}

/// How much it takes to copy a value.
fn size(value: &dyn Val) -> usize {
    if let Some(text) = value.downcast_ref::<CelString<'_>>() {
        1 + text.inner().len() / TEXT
    } else if let Some(list) = value.downcast_ref::<CelList<'_>>() {
        1 + list.inner().iter().map(|item| size(item.as_ref())).sum::<usize>()
    } else if let Some(map) = value.downcast_ref::<CelMap<'_>>() {
        1 + map.inner().iter().map(|(key, item)| size(key.inner()) + size(item.as_ref())).sum::<usize>()
    } else if let Some(bytes) = value.downcast_ref::<CelBytes<'_>>() {
        1 + bytes.inner().len() / TEXT
    } else {
        1
    }
}

/// How many steps a loop over a value has.
fn things(value: &dyn Val) -> usize {
    let list = value.downcast_ref::<CelList<'_>>().map(|list| list.inner().len());
    let map = || value.downcast_ref::<CelMap<'_>>().map(|map| map.inner().len());
    list.or_else(map).unwrap_or_default()
}
