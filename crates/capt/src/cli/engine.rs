//! Flags of the Terraform engine.
#![expect(clippy::doc_markdown, reason = "the docs are help texts, which show backticks as they are")]

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use jiff::SignedDuration;

/// A shorter interval would plan all the time.
const SHORTEST_INTERVAL: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);

/// How Workspaces are run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Terraform")]
pub(crate) struct EngineArguments {
    /// Who runs Terraform for Workspaces
    #[arg(long = "engine", value_enum, default_value_t, value_name = "WHO")]
    pub(crate) choice: EngineChoice,
    /// OpenTofu or Terraform [default: `tofu`, else `terraform`, of CAPT_ASSETS or PATH, else OpenTofu as CAPT gets it]
    #[arg(long, value_name = "PATH")]
    pub(crate) terraform_binary: Option<PathBuf>,
    /// How many runs that change nothing go on at the same time
    #[arg(long, value_name = "NUMBER", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) max_plans: u16,
    /// How many runs that change something go on at the same time
    #[arg(long, value_name = "NUMBER", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) max_applies: u16,
    /// How often a Workspace that says nothing itself is compared with reality
    #[arg(long, value_name = "TIME", default_value = "6h", value_parser = interval)]
    pub(crate) drift_interval: Duration,
    /// How long running applies may take to end when we are told to stop
    #[arg(long, value_name = "TIME", default_value = "15m", value_parser = time)]
    pub(crate) shutdown_grace: Duration,
}

/// Where Terraform works.
#[derive(Debug, Args)]
#[command(next_help_heading = "Terraform")]
pub(crate) struct Place {
    /// Where working directories are kept, from one start to the next [default: /var/lib/capt in a pod that may write there, else a
    /// directory for each cluster in $XDG_STATE_HOME/capt, which is ~/.local/state/capt]
    #[arg(long, value_name = "DIR")]
    pub(crate) terraform_directory: Option<PathBuf>,
    /// Where providers are kept for all Workspaces [default: `plugins` in the directory of --terraform-directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) plugin_cache: Option<PathBuf>,
}

/// Who runs Terraform.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineChoice {
    /// CAPT, unless the Workspace kind belongs to somebody else
    #[default]
    Auto,
    /// CAPT, in any case
    Process,
    /// Crossplane's provider-terraform
    Crossplane,
}

pub(super) fn time(text: &str) -> Result<Duration, &'static str> {
    let length: SignedDuration =
        text.parse().map_err(|_| "write a number with a unit, for example 30s, 10m or 6h")?;
    let length = Duration::try_from(length).map_err(|_| "a time cannot be negative")?;
    if length > LONGEST { Err("a year at most, which is 8784h") } else { Ok(length) }
}

fn interval(text: &str) -> Result<Duration, &'static str> {
    let length = time(text)?;
    if length < SHORTEST_INTERVAL {
        Err("10s at least, or all would be planned all the time")
    } else {
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::seconds("30s", 30)]
    #[case::hours("6h", 6 * 3600)]
    #[case::composed("1h30m", 5400)]
    #[case::nothing("0s", 0)]
    fn times_have_a_number_and_a_unit(#[case] text: &str, #[case] seconds: u64) {
        assert_eq!(time(text), Ok(Duration::from_secs(seconds)));
    }

    #[rstest]
    #[case::no_unit("10")]
    #[case::no_number("h")]
    #[case::empty("")]
    #[case::text("soon")]
    #[case::backwards("-5m")]
    #[case::absurd("99999999999999999999h")]
    #[case::more_than_a_year("9000h")]
    fn what_is_no_time_is_refused(#[case] text: &str) {
        assert!(time(text).is_err());
    }
}
