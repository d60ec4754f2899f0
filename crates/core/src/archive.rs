//! Backups: what is in one, how it is written, and what becomes of it when it is put back.
//!
//! ```text
//! objects ─ references ─▶ selection ─ archived ─▶ lines ──(encrypted)──▶ lines ─ Reading ─▶ judge ─▶ to_create ─▶ release
//! ```
//!
//! What can be derived again is not in a backup: Workspaces of applies, the Secrets that control planes hand out, bindings of
//! stacks, and every status. Nothing here talks to anybody.

mod document;
mod judge;
mod kind;
mod object;
mod owner;
mod reference;
mod selection;
#[cfg(test)]
mod tests;

pub use document::{
    Backup, End, FORMAT, FORMAT_VERSION, FilePart, Header, Item, LONGEST_LINE, LONGEST_PART, Line, Problem,
    Reading,
};
pub use judge::{Verdict, judge};
pub use kind::{Installed, KINDS, Kind, Treatment, kind_of};
pub use object::{Key, archived, is_restoring, release, to_create};
pub use owner::{Owner, owners, retied};
pub use reference::{Reference, references};
pub use selection::{Workspace, is_kept_secret, workspace};
