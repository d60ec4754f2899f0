//! What CAPT needs to know of an inline Terraform module: its variables and its outputs.
//!
//! Text comes from people: it may be broken, huge or nested without end. Reading it ends in an answer all the same,
//! and what is said about it never repeats its content, which may be secret.

pub(crate) mod hcl;
mod json;
mod size;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

/// The syntax a module is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Terraform's own language.
    Hcl,
    /// Terraform's JSON syntax.
    Json,
}

/// The interface of a module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Module {
    /// The variables it declares, by name.
    pub variables: BTreeMap<String, Variable>,
    /// The outputs it declares, by name.
    pub outputs: BTreeMap<String, Output>,
}

/// A declared variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// Its declared type.
    pub kind: Kind,
    /// Whether it has no default.
    pub required: bool,
    /// Whether its value must not be shown.
    pub sensitive: bool,
}

/// The type of a variable, as far as it decides how a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `string`
    String,
    /// `number`
    Number,
    /// `bool`
    Bool,
    /// A list, map, set, object or tuple.
    Complex,
    /// `any`
    Any,
    /// No type is declared.
    Untyped,
}

impl Kind {
    /// The kind that a type written as a single word means.
    fn from_keyword(keyword: &str) -> Self {
        match keyword {
            "string" => Self::String,
            "number" => Self::Number,
            "bool" => Self::Bool,
            "any" => Self::Any,
            _ => Self::Complex,
        }
    }
}

/// A declared output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Output {
    /// Whether its value must not be shown.
    pub sensitive: bool,
}

/// Why a module cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct Invalid {
    /// The line, counted from 1.
    pub line: usize,
    /// The character in that line, counted from 1.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
    /// Whether Terraform would refuse the module too. Where not, only CAPT's reading of it has come to its limits.
    pub certain: bool,
}

impl Invalid {
    fn at(text: &str, offset: usize, message: String, certain: bool) -> Self {
        let before = &text[..offset];
        Self {
            line: before.matches('\n').count() + 1,
            column: before.chars().rev().take_while(|character| *character != '\n').count() + 1,
            message,
            certain,
        }
    }
}

/// Reads the interface of a module, in which all placeholders are replaced already.
pub fn read(text: &str, format: Format) -> Result<Module, Invalid> {
    size::check(text)?;
    // Terraform ignores a byte order mark, which some editors write.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match format {
        Format::Hcl => hcl::read(text),
        Format::Json => json::read(text),
    }
}
