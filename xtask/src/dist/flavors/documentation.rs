//! What a template says at its top: every variable that it has.

use std::fmt::Write as _;

use anyhow::Context;

use super::super::variables::names;

const VARIABLES: [(&str, &str); 8] = [
    ("AWS_REGION", "the region of AWS, for example eu-central-1"),
    ("AWS_VPC_ID", "the VPC, for example vpc-0123456789abcdef0"),
    ("CAPT_BINARY", "where `capt` is on that machine, if not in PATH"),
    ("CAPT_HOME", "the data directory of `capt up` on that machine"),
    (
        "CAPT_PUBLIC_CIDRS",
        "from where the API server can be reached, separated by commas: your networks, and that of CAPT",
    ),
    ("CLUSTER_NAME", "the name of the Cluster: the first argument of `clusterctl generate cluster`"),
    ("KUBERNETES_VERSION", "the version of Kubernetes, for example v1.34.0: --kubernetes-version"),
    ("NAMESPACE", "the namespace of all of it: --target-namespace"),
];

/// The text with a heading that tells of its variables; one that nothing is known of is an error.
pub(super) fn documented(title: &str, text: &str) -> anyhow::Result<String> {
    let names = names(text);
    let width = names.iter().map(|name| name.len()).max().unwrap_or_default();
    let mut heading = format!("# {title}\n#\n# Variables:\n");
    for name in names {
        let known = VARIABLES.iter().find(|(known, _)| *known == name);
        let (_, meaning) = known.with_context(|| format!("nothing is written about the variable {name}"))?;
        // Writing to a String does not fail.
        let _ = writeln!(heading, "#   {name:width$}  {meaning}");
    }
    Ok(heading + text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_is_told() {
        let text = documented("A cluster.", "---\na: ${NAMESPACE}\nb: ${AWS_REGION}\n").unwrap();

        assert_eq!(
            text,
            "# A cluster.\n#\n# Variables:\n#   AWS_REGION  the region of AWS, for example eu-central-1\n\
             #   NAMESPACE   the namespace of all of it: --target-namespace\n\
             ---\na: ${NAMESPACE}\nb: ${AWS_REGION}\n"
        );
    }

    #[test]
    fn a_variable_that_nothing_is_known_of_is_refused() {
        assert!(documented("A cluster.", "a: ${SURPRISE}").is_err());
    }
}
