//! Flags of `capt approve`.

use std::time::Duration;

use clap::Args;

use super::TargetArguments;
use super::engine::time;

/// Approve what waits for approval: a plan, or a change of template or variables.
///
/// Shows what waits and asks. What is approved is exactly what was shown: if another plan has taken its place, nothing is
/// approved.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  capt approve workspace prod-vpc                     look, answer yes
  capt approve cluster prod --wait                    and wait until it is applied
  capt approve workspace prod-vpc --plan 3f1b0c2d9a7e without a question, if just this plan waits

Exit codes: 0 approved, or nothing waits; 1 not approved, or with --wait not applied; 2 bad usage."
)]
pub(crate) struct ApproveArguments {
    /// Approve this plan or change and no other: its hash or digest, or at least 12 digits of its beginning
    #[arg(long, value_name = "HASH", value_parser = hash)]
    pub(crate) plan: Option<String>,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Wait until it is applied
    #[arg(long)]
    pub(crate) wait: bool,
    /// How long to wait
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = time)]
    pub(crate) timeout: Duration,
    #[command(flatten)]
    pub(crate) target: TargetArguments,
}

fn hash(text: &str) -> Result<String, &'static str> {
    let digits = text.strip_prefix("sha256:").unwrap_or(text);
    let legal = digits.len() >= 12 && digits.chars().all(|digit| digit.is_ascii_hexdigit());
    if legal {
        Ok(text.to_owned())
    } else {
        Err("write at least 12 hexadecimal digits of the hash, as `capt plan` shows it")
    }
}
