//! What Crossplane's policies permit.

use capt_api::crossplane::{DeletionPolicy, ManagementAction, WorkspaceSpec};
use capt_api::names::Reason;

use crate::apply::Blocked;

/// What may be done with the infrastructure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "these are four independent permissions")]
pub struct Permissions {
    /// Anything at all; otherwise the Workspace is paused.
    pub any: bool,
    /// It may be made.
    pub create: bool,
    /// It may be changed.
    pub update: bool,
    /// It may be destroyed.
    pub delete: bool,
}

/// What a Workspace's management policies permit. Whatever is permitted beside looking needs looking.
pub fn permissions(spec: &WorkspaceSpec) -> Result<Permissions, Blocked> {
    use ManagementAction::{All, Create, Delete, Observe, Update};
    let actions = &spec.management_policies;
    let has = |action| actions.contains(&All) || actions.contains(&action);
    if !actions.is_empty() && !has(Observe) {
        return Err(Blocked::new(
            Reason::PolicyInvalid,
            "spec.managementPolicies permit actions without Observe: add Observe, or write [\"*\"]",
        ));
    }
    Ok(Permissions {
        any: !actions.is_empty(),
        create: has(Create),
        update: has(Update),
        delete: has(Delete),
    })
}

/// Whether the infrastructure is destroyed with its Workspace. Policies that cannot be combined destroy nothing.
pub fn destroys(spec: &WorkspaceSpec) -> bool {
    let permitted = permissions(spec).is_ok_and(|permissions| permissions.delete);
    match spec.deletion_policy {
        DeletionPolicy::Delete => permitted,
        DeletionPolicy::Orphan => false,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn spec(policy: &str, actions: &[&str]) -> WorkspaceSpec {
        serde_json::from_value(json!({
            "deletionPolicy": policy,
            "managementPolicies": actions,
            "forProvider": { "source": "Inline", "module": "locals {}" },
        }))
        .unwrap()
    }

    #[rstest]
    #[case::everything(&["*"], true, true, true)]
    #[case::only_looking(&["Observe"], false, false, false)]
    #[case::all_but_deleting(&["Observe", "Create", "Update", "LateInitialize"], true, true, false)]
    #[case::only_creating(&["Observe", "Create"], true, false, false)]
    fn policies_permit_what_they_name(
        #[case] actions: &[&str],
        #[case] create: bool,
        #[case] update: bool,
        #[case] delete: bool,
    ) {
        let expected = Permissions { any: true, create, update, delete };
        assert_eq!(permissions(&spec("Delete", actions)), Ok(expected));
    }

    #[test]
    fn no_policies_at_all_pause_the_workspace() {
        assert!(permissions(&spec("Delete", &[])).is_ok_and(|permissions| !permissions.any));
    }

    #[test]
    fn acting_without_looking_is_refused() {
        assert_eq!(permissions(&spec("Delete", &["Create"])).unwrap_err().reason, Reason::PolicyInvalid);
    }

    #[rstest]
    #[case::plainly("Delete", &["*"], true)]
    #[case::orphaned("Orphan", &["*"], false)]
    #[case::not_permitted("Delete", &["Observe", "Create"], false)]
    #[case::paused("Delete", &[], false)]
    fn the_infrastructure_goes_only_when_both_policies_say_so(
        #[case] policy: &str,
        #[case] actions: &[&str],
        #[case] expected: bool,
    ) {
        assert_eq!(destroys(&spec(policy, actions)), expected);
    }
}
