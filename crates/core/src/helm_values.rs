//! What Flux makes of the values of a `HelmRelease`.
//!
//! `spec.valuesFrom` is read in its order: a reference without a target path is a whole file of values, one with a
//! target path is an argument of `helm --set`. Then `spec.values` is laid over it. Flux shares parts of `spec.values`
//! with the result while it does so, so that what is set last is not always what wins; `preview` does the same.
//!
//! Values may be secret: no message and no debug output has any of them, only paths and names.

pub mod check;
mod effect;
mod file;
mod merge;
mod path;
mod preview;
mod printable;
mod problem;
mod reference;
mod set;
#[cfg(test)]
mod tests;
mod tree;

pub use effect::{Effect, effect};
pub use file::FileFlaw;
pub use path::{PathProblem, Segment, TargetPath};
pub use preview::preview;
pub use printable::{Unprintable, unprintable};
pub use problem::Problem;
pub use reference::{GROUP, KIND, Reference};
pub use set::Flaw;
pub use tree::Limit;
