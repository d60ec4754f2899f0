//! Runs OpenTofu or Terraform so that nothing is lost and nothing leaks.
//!
//! ```text
//! Run ──▶ Engine ──▶ init → plan → show │ apply exactly that plan → output ──▶ Outcome
//!                      │ stdin: a locked file; stdout, stderr: files
//!                      ▼
//!            a process group of its own, which outlives us and is found again
//! ```
//!
//! Invariants: one place starts processes and looks at how they ended; an apply is asked to stop, once, and never
//! killed; no value is on a command line; every text that leaves passes the redactor.

mod binary;
mod calls;
mod diagnostic;
mod engine;
mod environment;
mod error;
mod fingerprint;
mod imports;
mod instances;
mod keeper;
mod live;
pub mod machine;
mod output;
mod plan;
mod private;
mod process;
mod redact;
mod run;
pub mod scripted;
mod secret;
mod source_address;
mod state;
mod stream;
mod workdir;

pub use binary::{BinaryError, Tool, Version, find};
pub use calls::{BegunCall, Calls, FinishedCall};
pub use diagnostic::{Diagnostic, LockInfo, Severity};
pub use engine::{
    Answer, Applied, Beside, Engine, Event, Left, Observer, Outcome, Survived, Unfinished, Verb,
};
pub use error::{Error, Retry};
pub use fingerprint::fingerprint;
pub use imports::{FailedImport, Import, failed_imports, is_address, quoted};
pub use keeper::StateKeeper;
pub use live::LiveLog;
pub use output::{Output, Outputs};
pub use plan::{Action, AttributeChange, Change, OutputChange, Plan, PlanHash};
pub use process::{ProcessEngine, Settings};
pub use redact::{REDACTED, Redactor, carried};
pub use run::{
    Arguments, Backend, EarlierState, EnvironmentVariable, ExtraFile, Format, HiddenValue, Identity,
    InvalidRun, Limits, Locking, Operation, Place, PullPolicy, Run, Source, VariableFile,
};
pub use secret::{Secret, in_clear};
pub use source_address::without_login;
pub use state::StateVersion;
pub use stream::{Activity, Progress};
