//! The flag that says who looks after Clusters.

use capt_controller::options::ClusterApiMode;
use clap::{Args, ValueEnum};

/// Who looks after Clusters.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Cluster API")]
pub(crate) struct ClusterApiArguments {
    /// Who looks after Clusters
    #[arg(id = "cluster-api", long, value_enum, default_value_t, value_name = "WHO")]
    choice: ClusterApiChoice,
}

impl ClusterApiArguments {
    /// The same for the manager.
    pub(crate) const fn mode(self) -> ClusterApiMode {
        match self.choice {
            ClusterApiChoice::Auto => ClusterApiMode::Auto,
            ClusterApiChoice::Embedded => ClusterApiMode::Embedded,
            ClusterApiChoice::External => ClusterApiMode::External,
        }
    }
}

/// Who looks after Clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ClusterApiChoice {
    /// CAPT, unless the Cluster kind belongs to somebody else
    #[default]
    Auto,
    /// CAPT, in any case
    Embedded,
    /// Cluster API itself
    External,
}
