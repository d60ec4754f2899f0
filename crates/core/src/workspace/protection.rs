//! What is not destroyed or replaced without approval.

use super::observed::{Planned, PlannedAction};

/// Control planes and networks: whoever replaces one loses a cluster.
const DEFAULT: &[&str] = &[
    "aws_eks_cluster",
    "aws_vpc",
    "azurerm_kubernetes_cluster",
    "azurerm_virtual_network",
    "digitalocean_kubernetes_cluster",
    "digitalocean_vpc",
    "google_compute_network",
    "google_container_cluster",
    "kind_cluster",
    "linode_lke_cluster",
    "oci_containerengine_cluster",
    "oci_core_vcn",
    "scaleway_k8s_cluster",
];

const EVERYTHING: &str = "*";
const NOTHING: &str = "none";

/// The shortest beginning of a plan's hash that still names it.
const SHORTEST_HASH: usize = 12;

/// What is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protection {
    everything: bool,
    defaults: bool,
    named: Vec<String>,
}

impl Protection {
    /// What is protected beside the defaults, by type or address; `*` is everything, `none` takes the defaults away.
    pub fn new<'name>(named: impl IntoIterator<Item = &'name str>) -> Self {
        let named: Vec<String> =
            named.into_iter().map(str::trim).filter(|name| !name.is_empty()).map(ToOwned::to_owned).collect();
        let is = |word: &str| named.iter().any(|name| name == word);
        Self { everything: is(EVERYTHING), defaults: !is(NOTHING), named }
    }

    /// The addresses of protected resources that a plan destroys or replaces.
    pub fn hurt_by<'plan>(&self, plan: &'plan Planned) -> Vec<&'plan str> {
        let hurts = |action| match action {
            // What CAPT does not know may destroy.
            PlannedAction::Replace | PlannedAction::Delete | PlannedAction::Unknown => true,
            PlannedAction::Create
            | PlannedAction::Update
            | PlannedAction::Read
            | PlannedAction::Forget
            | PlannedAction::Import
            | PlannedAction::Move => false,
        };
        plan.changes
            .iter()
            .filter(|change| hurts(change.action) && self.covers(&change.address))
            .map(|change| change.address.as_str())
            .collect()
    }

    fn covers(&self, address: &str) -> bool {
        let plain = without_index(address);
        let type_ = resource_type(&plain);
        self.everything
            || (self.defaults && DEFAULT.contains(&type_))
            || self.named.iter().any(|name| name == type_ || name == address || *name == plain)
    }
}

/// Whether one of the approvals names this plan: by its whole hash, or by a beginning that is long enough.
pub fn approves(approvals: &[String], hash: &str) -> bool {
    approvals.iter().map(|text| text.trim()).any(|text| text.len() >= SHORTEST_HASH && hash.starts_with(text))
}

/// `module.a["x"].aws_vpc.this[0]` without what is in brackets. A key may hold any text, brackets and dots among it.
fn without_index(address: &str) -> String {
    let mut plain = String::with_capacity(address.len());
    let (mut depth, mut quoted, mut escaped) = (0_u32, false, false);
    for letter in address.chars() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' if depth > 0 => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(letter),
            _ => {}
        }
    }
    plain
}

/// The type is the last word but one: `module.network.aws_vpc.this`.
fn resource_type(address: &str) -> &str {
    address.rsplit('.').nth(1).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::observed::{Effect, PlannedChange};
    use super::*;

    fn plan(address: &str, action: PlannedAction) -> Planned {
        Planned {
            hash: "h".to_owned(),
            destroy: false,
            summary: String::new(),
            changes: vec![PlannedChange { address: address.to_owned(), action }],
            effect: Effect::Resources,
            elsewhere: None,
            not_imported: Vec::new(),
        }
    }

    #[rstest]
    #[case::a_network("aws_vpc.this", &[], true)]
    #[case::deep_in_a_module(r#"module.vpc["a.b[\"]"].aws_vpc.this[0]"#, &[], true)]
    #[case::something_else("aws_subnet.a", &[], false)]
    #[case::a_named_type("aws_db_instance.main", &["aws_db_instance"], true)]
    #[case::a_named_address("module.a.terraform_data.x", &["module.a.terraform_data.x"], true)]
    #[case::a_named_address_with_any_index("terraform_data.x[3]", &["terraform_data.x"], true)]
    #[case::everything("terraform_data.x", &["*"], true)]
    #[case::nothing("aws_vpc.this", &["none"], false)]
    #[case::only_what_is_named("aws_vpc.this", &["none", "aws_vpc"], true)]
    #[case::a_type_in_a_name("terraform_data.aws_vpc", &[], false)]
    #[case::garbled("aws_vpc", &[], false)]
    fn a_resource_is_protected_by_type_or_address(
        #[case] address: &str,
        #[case] named: &[&str],
        #[case] expected: bool,
    ) {
        let protection = Protection::new(named.iter().copied());
        assert_eq!(!protection.hurt_by(&plan(address, PlannedAction::Replace)).is_empty(), expected);
        assert_eq!(!protection.hurt_by(&plan(address, PlannedAction::Delete)).is_empty(), expected);
        assert_eq!(!protection.hurt_by(&plan(address, PlannedAction::Unknown)).is_empty(), expected);
        assert!(protection.hurt_by(&plan(address, PlannedAction::Update)).is_empty());
    }

    #[rstest]
    #[case::whole("0123456789abcdef", true)]
    #[case::long_enough(" 0123456789ab ", true)]
    #[case::too_short("0123456789a", false)]
    #[case::empty("", false)]
    #[case::another("0123456789ac", false)]
    fn an_approval_names_one_plan(#[case] approval: &str, #[case] expected: bool) {
        assert_eq!(approves(&[approval.to_owned()], "0123456789abcdef"), expected);
    }
}
