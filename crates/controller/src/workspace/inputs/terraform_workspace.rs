//! The name of the Terraform workspace.

use capt_api::names::{Reason, annotation};
use capt_core::apply::Blocked;
use capt_core::name::is_object_name;
use capt_terraform::Backend;

/// The longest value of a label, which the name becomes.
const LONGEST: usize = 63;

/// Refuses a name under which no state could be kept. Only the annotation can bring one.
pub(super) fn check(name: &str, backend: &Backend) -> Result<(), Blocked> {
    let (legal, rule) = match backend {
        // Part of the name of a Secret, and a label of it.
        Backend::Kubernetes { .. } => (
            name.len() <= LONGEST && is_object_name(name),
            "at most 63 lower case letters, digits, hyphens and dots, with a letter or digit at each end",
        ),
        Backend::Local | Backend::Declared { .. } => (
            (1..=253).contains(&name.len())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)),
            "at most 253 letters, digits, hyphens, underscores and dots",
        ),
    };
    if legal {
        return Ok(());
    }
    let message = format!(
        "annotation {}: `{}` cannot be the name of a Terraform workspace: use {rule}",
        annotation::EXTERNAL_NAME,
        capt_core::condition::cut(name, 300),
    );
    Err(Blocked::new(Reason::InvalidRun, message))
}

#[cfg(test)]
mod tests {
    use capt_terraform::Secret;
    use rstest::rstest;

    use super::*;

    fn kubernetes() -> Backend {
        Backend::Kubernetes {
            namespace: "a".to_owned(),
            suffix: "capt".to_owned(),
            kubeconfig: Secret::default(),
            declared: false,
        }
    }

    fn declared() -> Backend {
        Backend::Declared { settings: Secret::default() }
    }

    #[rstest]
    #[case::plain("demo-1.eu", true, true)]
    #[case::longest(&"a".repeat(63), true, true)]
    #[case::too_long_for_a_label(&"a".repeat(64), false, true)]
    #[case::too_long(&"a".repeat(254), false, false)]
    #[case::upper_case("Prod", false, true)]
    #[case::underscore("prod_eu", false, true)]
    #[case::a_path("../other", false, false)]
    #[case::a_space("a b", false, false)]
    #[case::empty("", false, false)]
    fn a_name_must_fit_where_the_state_is_kept(
        #[case] name: &str,
        #[case] in_secrets: bool,
        #[case] elsewhere: bool,
    ) {
        assert_eq!(check(name, &kubernetes()).is_ok(), in_secrets);
        assert_eq!(check(name, &declared()).is_ok(), elsewhere);
    }

    #[test]
    fn a_refusal_names_the_annotation() {
        let blocked = check("Prod", &kubernetes()).unwrap_err();
        assert_eq!(blocked.reason, Reason::InvalidRun);
        assert!(blocked.message.contains("crossplane.io/external-name: `Prod`"), "{}", blocked.message);
    }
}
