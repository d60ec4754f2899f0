//! Functions that rules use beside those of CEL itself, as the API server has them.
#![expect(clippy::needless_pass_by_value, reason = "arguments come to functions of CEL by value")]

use std::net::IpAddr;
use std::sync::Arc;

use cel::extractors::This;
use cel::{Context, DeclarationError, ExecutionError};

use super::pattern;
use crate::duration;

/// Every function that rules can use beside those of CEL itself.
#[cfg(test)]
pub(super) const ALL: [&str; 4] = ["matches", "trim", "duration", "isCIDR"];

/// Makes them known.
pub(super) fn add(context: &mut Context<'_, '_>) -> Result<(), DeclarationError> {
    context.add_function("matches", matches)?;
    context.add_function("trim", trim)?;
    context.add_function("duration", nanoseconds)?;
    context.add_function("isCIDR", is_cidr)
}

fn matches(This(text): This<Arc<String>>, wanted: Arc<String>) -> Result<bool, ExecutionError> {
    let wanted = pattern(&wanted).ok_or_else(|| ExecutionError::function_error("matches", "no pattern"))?;
    Ok(wanted.is_match(&text))
}

fn trim(This(text): This<Arc<String>>) -> String {
    text.trim().to_owned()
}

/// Times are only compared with each other, for which a number does.
fn nanoseconds(text: Arc<String>) -> Result<i64, ExecutionError> {
    if text.chars().all(|character| !matches!(character, '1'..='9')) {
        return Ok(0);
    }
    let length = duration::parse(&text).and_then(|length| i64::try_from(length.as_nanos()).ok());
    length.ok_or_else(|| ExecutionError::function_error("duration", "no time"))
}

fn is_cidr(text: Arc<String>) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let most = match address.parse() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    let is_plain = length == "0" || !length.starts_with(['0', '+']);
    is_plain && length.parse::<u8>().is_ok_and(|length| length <= most)
}
