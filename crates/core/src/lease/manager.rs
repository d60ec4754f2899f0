//! What a manager says of itself in its Lease, and whether two managers would get in each other's way.
//!
//! A Lease makes sure of one manager in a namespace. Managers of two namespaces have two Leases, so each looks at those of the
//! others before it acts.

use std::time::Duration;

use capt_api::names::annotation;
use k8s_openapi::api::coordination::v1::Lease;
use kube::ResourceExt as _;
use serde::{Deserialize, Serialize};

use super::{Holder, holder};

/// The longest text that is read.
const LONGEST: usize = 4096;

/// What a manager says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manager {
    /// Who it is, as in the Lease: what was written by somebody who had the Lease before says nothing of who has it now.
    pub identity: String,
    /// Which CAPT it is.
    pub version: String,
    /// What it looks at.
    #[serde(default)]
    pub scope: Scope,
}

/// What a manager looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Scope {
    /// The namespace; all of them if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The value of the label that its objects carry; whether they carry it or not if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch_filter: Option<String>,
}

/// Where a manager stands when it looks at the Leases of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It does not act yet, or acts without a Lease that others could see: it gives way to everybody.
    GivesWay,
    /// It acts and has a Lease: whoever looks at that gives way. Managers from before there was anything to look at do not.
    Acts,
}

impl Manager {
    /// What the holder of a Lease says of itself; nothing if it says nothing.
    pub fn of(lease: &Lease) -> Option<Self> {
        let text = lease.annotations().get(annotation::MANAGER).filter(|text| text.len() <= LONGEST)?;
        let said: Self = serde_json::from_str(text).ok()?;
        let holder = lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref());
        (holder == Some(&said.identity)).then_some(said)
    }
}

impl Scope {
    /// Whether there may be objects that both look at.
    pub fn overlaps(&self, other: &Self) -> bool {
        fn meet(one: Option<&str>, other: Option<&str>) -> bool {
            one.is_none() || other.is_none() || one == other
        }
        meet(self.namespace.as_deref(), other.namespace.as_deref())
            && meet(self.watch_filter.as_deref(), other.watch_filter.as_deref())
    }
}

/// For how long a Lease of another namespace stands in the way at most, if it is not renewed; nothing where it does not.
/// `unchanged_for` is how long it has been seen as it is.
pub fn is_rival(
    ours: &Scope,
    standing: Standing,
    lease: &Lease,
    unchanged_for: Duration,
) -> Option<Duration> {
    let held = match holder(lease.spec.as_ref()?, "", unchanged_for) {
        Holder::Other { free_in, .. } => free_in,
        Holder::Nobody | Holder::Us => return None,
    };
    let stands_in_the_way = match (Manager::of(lease), standing) {
        // It may look at anything.
        (None, _) => true,
        (Some(other), Standing::GivesWay) => ours.overlaps(&other.scope),
        (Some(_), Standing::Acts) => false,
    };
    stands_in_the_way.then_some(held)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::coordination::v1::LeaseSpec;
    use rstest::rstest;

    use super::*;

    fn scope(namespace: &str, filter: &str) -> Scope {
        let named = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Scope { namespace: named(namespace), watch_filter: named(filter) }
    }

    #[rstest]
    #[case::everything(scope("", ""), scope("", ""), true)]
    #[case::everything_and_a_namespace(scope("", ""), scope("a", ""), true)]
    #[case::one_namespace(scope("a", ""), scope("a", ""), true)]
    #[case::two_namespaces(scope("a", ""), scope("b", ""), false)]
    #[case::everything_and_a_filter(scope("", ""), scope("", "x"), true)]
    #[case::two_filters(scope("", "x"), scope("", "y"), false)]
    #[case::one_filter_in_two_namespaces(scope("a", "x"), scope("b", "x"), false)]
    fn managers_meet_where_both_look(#[case] one: Scope, #[case] other: Scope, #[case] expected: bool) {
        assert_eq!(one.overlaps(&other), expected);
        assert_eq!(other.overlaps(&one), expected);
    }

    fn lease(holder: &str, said: Option<&str>) -> Lease {
        let spec = LeaseSpec {
            holder_identity: Some(holder.to_owned()),
            lease_duration_seconds: Some(15),
            ..LeaseSpec::default()
        };
        let mut lease = Lease { spec: Some(spec), ..Lease::default() };
        if let Some(said) = said {
            lease.annotations_mut().insert(annotation::MANAGER.to_owned(), said.to_owned());
        }
        lease
    }

    fn said(identity: &str, scope: &Scope) -> String {
        let manager =
            Manager { identity: identity.to_owned(), version: "0.1.0".to_owned(), scope: scope.clone() };
        serde_json::to_string(&manager).unwrap()
    }

    const OF_B: &str = r#"{"identity":"b","version":"9.9.9","scope":{}}"#;
    const OF_B_ELSEWHERE: &str = r#"{"identity":"b","version":"9.9.9","scope":{"namespace":"else"}}"#;
    const OF_SOMEBODY_BEFORE: &str = r#"{"identity":"a","version":"9.9.9","scope":{"namespace":"else"}}"#;

    #[rstest]
    #[case::who_has_it(Some(OF_B), 0, Standing::GivesWay, true)]
    #[case::who_has_let_it_run_out(Some(OF_B), 15, Standing::GivesWay, false)]
    #[case::who_looks_elsewhere(Some(OF_B_ELSEWHERE), 0, Standing::GivesWay, false)]
    #[case::who_comes_later_gives_way(Some(OF_B), 0, Standing::Acts, false)]
    #[case::who_does_not_look(None, 0, Standing::Acts, true)]
    #[case::what_somebody_else_said_does_not_count(Some(OF_SOMEBODY_BEFORE), 0, Standing::GivesWay, true)]
    #[case::what_cannot_be_read_does_not_count(Some("{"), 0, Standing::GivesWay, true)]
    fn of_two_managers_one_gives_way(
        #[case] said: Option<&str>,
        #[case] unchanged_for: u64,
        #[case] standing: Standing,
        #[case] expected: bool,
    ) {
        let rival =
            is_rival(&scope("mine", ""), standing, &lease("b", said), Duration::from_secs(unchanged_for));
        assert_eq!(rival.is_some(), expected);
    }

    #[test]
    fn a_lease_that_was_let_go_is_nobodys() {
        let free = lease("", Some(&said("", &scope("", ""))));
        assert_eq!(is_rival(&scope("", ""), Standing::GivesWay, &free, Duration::ZERO), None);
    }

    #[test]
    fn what_a_manager_says_can_be_read_again() {
        let mine = scope("a", "x");
        assert_eq!(Manager::of(&lease("me", Some(&said("me", &mine)))).unwrap().scope, mine);
        assert_eq!(Manager::of(&lease("me", None)), None);
    }
}
