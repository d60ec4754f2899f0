//! Everything that can be found wrong in files before any of it reaches a cluster.
//!
//! All problems are found in one go, each with its place and with what to write instead. Nothing is guessed: what cannot be
//! known from the files alone is at most a warning. Of the content of Secrets only places are told.

mod apply;
mod bundle;
mod catalog;
mod class;
mod content;
mod definition;
mod elsewhere;
mod finding;
mod near;
mod node;
mod object;
mod other_tools;
mod plain;
mod position;
pub mod preview;
mod read;
mod reference;
mod report;
mod rules;
mod schema;
mod stack;
mod template;
#[cfg(test)]
mod tests;

pub use elsewhere::{Elsewhere, NotAnObject};
pub use finding::{Finding, Severity};
pub use other_tools::{OtherTool, other_tools};
pub use position::Position;

use self::catalog::Catalog;
use self::report::Report;

/// A file to look at.
#[derive(Clone, Copy, Debug)]
pub struct File<'text> {
    /// Its name, for people.
    pub name: &'text str,
    /// What is in it: YAML or JSON, any number of documents.
    pub text: &'text str,
}

/// Everything that is found in files which belong together, in their order. Of those that other tools read only what is no
/// YAML is told.
pub fn validate(files: &[File<'_>], elsewhere: &[Elsewhere]) -> Vec<Finding> {
    let mut report = Report::new(files);
    let catalog = Catalog::read(files, elsewhere, &mut report);
    let mut rules = rules::Rules::default();
    for object in catalog.objects() {
        object::check(object, &mut rules, &mut report);
    }
    catalog::duplicates(&catalog, &mut report);
    reference::check(&catalog, &mut report);
    class::check(&catalog, &mut rules, &mut report);
    template::check(&catalog, &mut report);
    apply::check(&catalog, &mut report);
    stack::check(&catalog, &mut report);
    plain::check(&catalog, &mut report);
    report.finish()
}
