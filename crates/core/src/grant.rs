//! References that lead into another namespace, and who has granted them.

use std::collections::BTreeMap;
use std::fmt;

use capt_api::flux::SourceKind;
use capt_api::names::annotation;

/// A kind that references may lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TargetKind {
    /// A Secret.
    Secret,
    /// A `ConfigMap`.
    ConfigMap,
    /// A Workspace, in the namespace of the apply that makes it.
    Workspace,
    /// A source of Flux.
    FluxSource(SourceKind),
}

impl fmt::Display for TargetKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Secret => "Secret",
            Self::ConfigMap => "ConfigMap",
            Self::Workspace => "Workspace",
            Self::FluxSource(kind) => kind.as_str(),
        })
    }
}

/// Where a reference leads to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The kind.
    pub kind: TargetKind,
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl Target {
    /// Puts the three together.
    pub fn new(kind: TargetKind, namespace: &str, name: &str) -> Self {
        Self { kind, namespace: namespace.to_owned(), name: name.to_owned() }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, namespace, name } = self;
        write!(formatter, "{kind} `{namespace}/{name}`")
    }
}

/// A reference: the field that holds it, and where it leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The field, for messages.
    pub field: String,
    /// Where it leads to.
    pub target: Target,
}

/// Whether annotations of the target, or of its namespace, grant a reference to objects of `namespace`.
pub fn grants(annotations: Option<&BTreeMap<String, String>>, namespace: &str) -> bool {
    annotations.and_then(|annotations| annotations.get(annotation::GRANTED_TO)).is_some_and(|granted| {
        granted.split(',').map(str::trim).any(|entry| entry == "*" || entry == namespace)
    })
}

/// What to tell the user about a reference that nobody has granted.
pub fn refusal(reference: &Reference, namespace: &str) -> String {
    let Reference { field, target } = reference;
    format!(
        "{field} refers to {target} of another namespace: annotate it, or Namespace `{}`, with {}={namespace}, or use an object of namespace `{namespace}`",
        target.namespace,
        annotation::GRANTED_TO,
    )
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::named("team-a", true)]
    #[case::among_others("team-b, team-a ,team-c", true)]
    #[case::everybody("*", true)]
    #[case::others_only("team-b", false)]
    #[case::part_of_a_name("team-ab", false)]
    #[case::empty("", false)]
    fn a_grant_names_the_namespace(#[case] granted: &str, #[case] expected: bool) {
        let annotations = [(annotation::GRANTED_TO.to_owned(), granted.to_owned())].into();
        assert_eq!(grants(Some(&annotations), "team-a"), expected);
    }

    #[test]
    fn nothing_is_granted_without_an_annotation() {
        assert!(!grants(None, "team-a"));
        assert!(!grants(Some(&BTreeMap::new()), "team-a"));
    }
}
