//! Names of workloads, which become names of directories.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

const LONGEST: usize = 63;

/// Text that is no name of a workload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no name of a workload: use at most {LONGEST} lower case letters, digits and hyphens, with no hyphen at \
     either end"
)]
pub struct NameError(String);

/// The name of a workload. It cannot lead out of the directory that it is put in.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkloadName(String);

impl WorkloadName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for WorkloadName {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        let edge = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
        let legal = text.len() <= LONGEST
            && text.starts_with(edge)
            && text.ends_with(edge)
            && text.chars().all(|letter| edge(letter) || letter == '-');
        if legal { Ok(Self(text)) } else { Err(NameError(text)) }
    }
}

impl FromStr for WorkloadName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        text.to_owned().try_into()
    }
}

impl From<WorkloadName> for String {
    fn from(name: WorkloadName) -> Self {
        name.0
    }
}

impl fmt::Display for WorkloadName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::empty("")]
    #[case::a_way_up("..")]
    #[case::a_path("a/b")]
    #[case::an_absolute_path("/etc")]
    #[case::hidden(".deleting-a")]
    #[case::upper_case("Demo")]
    #[case::a_quote("a'b")]
    #[case::a_command("a;b")]
    #[case::a_line("a\nb")]
    #[case::nothing_at_all("a\0b")]
    #[case::a_flag("-a")]
    #[case::hyphen_at_the_end("a-")]
    #[case::other_letters("ä")]
    #[case::too_long("a123456789b123456789c123456789d123456789e123456789f123456789g123")]
    fn what_could_lead_elsewhere_is_no_name(#[case] text: &str) {
        let error = text.parse::<WorkloadName>().unwrap_err().to_string();

        assert!(error.contains("lower case letters, digits and hyphens"), "{error}");
        assert!(serde_json::from_value::<WorkloadName>(text.into()).is_err());
    }

    #[rstest]
    #[case("demo")]
    #[case("0")]
    #[case("a-1")]
    #[case("a123456789b123456789c123456789d123456789e123456789f123456789g12")]
    fn names_of_clusters_are_names(#[case] text: &str) {
        assert_eq!(text.parse::<WorkloadName>().unwrap().as_str(), text);
    }
}
