//! What is brought once more.

use capt_api::addon_stack::AddonStackBindingSpec;
use capt_api::names::label;
use capt_core::addon::names::stack_label;

use crate::cli::{ReconcileTarget, RequestArguments};

/// What is brought once more.
#[derive(Debug)]
pub(super) enum Target {
    /// Every stack of a cluster.
    Cluster(String),
    /// A stack, in one cluster or in all of them.
    Stack { name: String, cluster: Option<String> },
}

impl Target {
    pub(super) fn of(typed: ReconcileTarget) -> (Self, RequestArguments) {
        match typed {
            ReconcileTarget::Cluster { name, request } => (Self::Cluster(name), request),
            ReconcileTarget::AddonStack { name, cluster, request } => {
                (Self::Stack { name, cluster }, request)
            }
        }
    }

    /// What the API server is asked for. It may be more than is meant: long names are shortened in labels.
    pub(super) fn labels(&self) -> String {
        match self {
            Self::Cluster(name) | Self::Stack { cluster: Some(name), .. } => {
                format!("{}={name}", label::CLUSTER_NAME)
            }
            Self::Stack { name, cluster: None } => format!("{}={}", label::STACK, stack_label(name)),
        }
    }

    /// Whether it is what is meant.
    pub(super) fn means(&self, binding: &AddonStackBindingSpec) -> bool {
        match self {
            Self::Cluster(name) => binding.cluster_name == *name,
            Self::Stack { name, cluster } => {
                binding.stack_name == *name
                    && cluster.as_ref().is_none_or(|cluster| binding.cluster_name == *cluster)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn stack(cluster: Option<&str>) -> Target {
        Target::Stack { name: "base".to_owned(), cluster: cluster.map(ToOwned::to_owned) }
    }

    #[rstest]
    #[case::the_cluster(Target::Cluster("prod".to_owned()), true)]
    #[case::another_cluster(Target::Cluster("base".to_owned()), false)]
    #[case::the_stack(stack(None), true)]
    #[case::the_stack_there(stack(Some("prod")), true)]
    #[case::the_stack_elsewhere(stack(Some("test")), false)]
    fn a_binding_is_meant_by_its_stack_or_its_cluster(#[case] target: Target, #[case] expected: bool) {
        let binding =
            AddonStackBindingSpec { cluster_name: "prod".to_owned(), stack_name: "base".to_owned() };
        assert_eq!(target.means(&binding), expected);
    }

    #[test]
    fn names_that_are_too_long_for_a_label_can_be_asked_for() {
        let target = Target::Stack { name: "x".repeat(200), cluster: None };
        let labels = target.labels();
        let (_, value) = labels.split_once('=').unwrap();
        assert!(value.len() <= 63, "{labels}");
    }
}
