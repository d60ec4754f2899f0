//! The label on a Cluster that lets an add-on start.

use std::collections::BTreeMap;

use capt_api::addon_stack::Addon;

use super::names;
use super::route::Route;

/// Begins the keys of gate labels that nobody named.
const PREFIX: &str = "addons.capt.cluster.x-k8s.io";

/// The value of a gate label where none is written.
const ON: &str = "true";

/// A label that lets an add-on start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: String,
}

/// The gate label that an add-on names.
pub fn named(addon: &Addon) -> Option<Label> {
    let text = addon.gate_label.as_deref()?;
    let (key, value) = text.split_once('=').unwrap_or((text, ON));
    Some(Label { key: key.to_owned(), value: value.to_owned() })
}

/// The gate label of an add-on: a `ClusterResourceSet` of ours needs one, whether the add-on names it or not.
pub fn label(stack: &str, addon: &Addon, route: &Route) -> Option<Label> {
    match route {
        Route::Ours { .. } => named(addon).or_else(|| {
            let key = format!("{PREFIX}/{}", names::label_part(stack, &addon.name));
            Some(Label { key, value: ON.to_owned() })
        }),
        Route::Direct | Route::Theirs { .. } | Route::Nothing | Route::Missing { .. } => named(addon),
    }
}

/// What the gate of an add-on says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    /// There is none: the add-on starts when its turn comes.
    None,
    /// The label is not there yet.
    Closed,
    /// The label is there, put by us or by the user.
    Open,
    /// The user holds the add-on.
    Held {
        /// What to tell.
        message: String,
    },
}

/// What a gate label says, by the labels of the Cluster and whether we have opened the gate before.
pub fn gate(label: Option<&Label>, labels: &BTreeMap<String, String>, opened_before: bool) -> Gate {
    let Some(Label { key, value }) = label else { return Gate::None };
    match labels.get(key) {
        Some(found) if found == value => Gate::Open,
        Some(found) => Gate::Held {
            message: format!("label `{key}` of the Cluster is `{found}`: set it to `{value}` to go on"),
        },
        None if opened_before => Gate::Held {
            message: format!(
                "label `{key}` was taken off the Cluster; what was brought stays: set it to `{value}` to go on"
            ),
        },
        None => Gate::Closed,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn addon(gate_label: Option<&str>) -> Addon {
        serde_json::from_value(json!({ "name": "flux", "gateLabel": gate_label })).unwrap()
    }

    #[rstest]
    #[case::none(None, &[], false, "None")]
    #[case::not_there(Some("fluxcd.io/enabled"), &[], false, "Closed")]
    #[case::there(Some("fluxcd.io/enabled"), &[("fluxcd.io/enabled", "true")], false, "Open")]
    #[case::with_a_value(Some("tier=gold"), &[("tier", "gold")], true, "Open")]
    #[case::with_an_empty_value(Some("tier="), &[("tier", "")], false, "Open")]
    #[case::another_value(Some("fluxcd.io/enabled"), &[("fluxcd.io/enabled", "false")], false,
        "label `fluxcd.io/enabled` of the Cluster is `false`: set it to `true` to go on")]
    #[case::taken_off(Some("fluxcd.io/enabled"), &[], true,
        "label `fluxcd.io/enabled` was taken off the Cluster; what was brought stays: set it to `true` to go on")]
    fn the_label_says_whether_it_may_start(
        #[case] label: Option<&str>,
        #[case] labels: &[(&str, &str)],
        #[case] opened_before: bool,
        #[case] expected: &str,
    ) {
        let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let told = match gate(named(&addon(label)).as_ref(), &labels, opened_before) {
            Gate::Held { message } => message,
            gate => format!("{gate:?}"),
        };
        assert_eq!(told, expected);
    }

    #[test]
    fn a_set_of_ours_always_has_a_label_to_select() {
        let ours = Route::Ours { set: "base.flux".to_owned() };
        let told = label("base", &addon(None), &ours).map(|label| format!("{}={}", label.key, label.value));
        assert_eq!(told.as_deref(), Some("addons.capt.cluster.x-k8s.io/base.flux=true"));
        assert_eq!(label("base", &addon(Some("a=b")), &ours), named(&addon(Some("a=b"))));
        assert_eq!(label("base", &addon(None), &Route::Direct), None);
    }
}
