//! Objects as CEL sees them.

use std::collections::HashMap;

use cel::common::types::{
    CelBool, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelString, CelUInt,
};
use cel::common::value::Val;
use serde_json::{Number, Value};

use super::Problem;

/// How deeply an API server lets objects be nested.
const DEEPEST: usize = 128;

/// An object for CEL. A field that is `null` is absent, as it is to the API server.
pub(super) fn of(value: &Value) -> Result<Box<dyn Val + '_>, Problem> {
    nested(value, 0)
}

fn nested(value: &Value, depth: usize) -> Result<Box<dyn Val + '_>, Problem> {
    if depth > DEEPEST {
        return Err(Problem::DeepObject);
    }
    Ok(match value {
        Value::Null => Box::new(CelNull),
        Value::Bool(boolean) => Box::new(CelBool::from(*boolean)),
        Value::Number(number) => number_of(number),
        Value::String(text) => Box::new(CelString::from(text.as_str())),
        Value::Array(items) => {
            let items = items.iter().map(|item| nested(item, depth + 1));
            Box::new(CelList::from(items.collect::<Result<Vec<_>, _>>()?))
        }
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(_, field)| !field.is_null());
            let fields =
                fields.map(|(key, field)| Ok((CelMapKey::from(key.as_str()), nested(field, depth + 1)?)));
            Box::new(CelMap::from(fields.collect::<Result<HashMap<_, _>, _>>()?))
        }
    })
}

fn number_of(number: &Number) -> Box<dyn Val> {
    match (number.as_i64(), number.as_u64()) {
        (Some(integer), _) => Box::new(CelInt::from(integer)),
        (None, Some(integer)) => Box::new(CelUInt::from(integer)),
        (None, None) => Box::new(CelDouble::from(number.as_f64().unwrap_or(f64::NAN))),
    }
}
