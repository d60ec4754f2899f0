//! Names of what add-ons bring forth.

use capt_api::names::ADDON_FIELD_MANAGER;

use crate::digest::short_digest;

/// What the API server takes as a name.
const LONGEST_NAME: usize = 253;
/// What the API server takes as the value of a label.
const LONGEST_LABEL: usize = 63;
/// How many digits of a digest keep shortened names apart.
const DIGITS: usize = 10;

/// The binding of a stack and a cluster.
pub fn binding(stack: &str, cluster: &str) -> String {
    apart(stack, cluster)
}

/// The `ClusterResourceSet` that CAPT makes for an add-on.
pub fn resource_set(stack: &str, addon: &str) -> String {
    apart(stack, addon)
}

/// The value of a label that names a stack.
pub fn stack_label(stack: &str) -> String {
    if stack.len() <= LONGEST_LABEL { stack.to_owned() } else { shortened(stack, &[stack], LONGEST_LABEL) }
}

/// Names a stack and an add-on in the key of a label.
pub fn label_part(stack: &str, addon: &str) -> String {
    let joined = apart(stack, addon);
    if joined.len() <= LONGEST_LABEL { joined } else { shortened(&joined, &[stack, addon], LONGEST_LABEL) }
}

/// Whose an object in a workload cluster is.
pub fn claim(namespace: &str, cluster: &str, stack: &str, addon: &str) -> String {
    format!("{namespace}/{cluster}/{stack}/{addon}")
}

/// The field manager of what an add-on brings to a cluster: two that bring the same object get in each other's way and are told.
pub fn field_manager(claim: &str) -> String {
    format!("{ADDON_FIELD_MANAGER}-{}", short_digest([claim], 16))
}

/// The field manager of the gate labels of a stack: each stack owns its own.
pub fn gate_manager(stack: &str) -> String {
    format!("{ADDON_FIELD_MANAGER}-gates-{}", short_digest([stack], 16))
}

/// Two names joined by a dot. Where others could be joined to the same, or it gets too long, a digest keeps them apart.
fn apart(first: &str, last: &str) -> String {
    let joined = format!("{first}.{last}");
    if !last.contains('.') && joined.len() <= LONGEST_NAME {
        joined
    } else {
        shortened(&joined, &[first, last], LONGEST_NAME)
    }
}

fn shortened(text: &str, parts: &[&str], longest: usize) -> String {
    let mut end = text.len().min(longest - DIGITS - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let kept = text[..end].trim_end_matches(['-', '.']);
    format!("{kept}-{}", short_digest(parts.iter().copied(), DIGITS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_people_expect_where_that_is_unambiguous() {
        assert_eq!(binding("base", "prod-1"), "base.prod-1");
        assert_eq!(resource_set("base", "flux"), "base.flux");
    }

    /// Objects in clusters have them: under another name CAPT would not know its own any more.
    #[test]
    fn names_never_change() {
        let claim = claim("a", "demo", "base", "flux");
        assert_eq!(field_manager(&claim), format!("{ADDON_FIELD_MANAGER}-23ec527f5eda4961"));
        assert_eq!(gate_manager("base"), format!("{ADDON_FIELD_MANAGER}-gates-89cbbf08038cd916"));
        assert_eq!(binding("base", "a.b"), "base.a.b-472cef28aa");
        assert_eq!(stack_label(&"x".repeat(64)), format!("{}-4921f0ef26", "x".repeat(52)));
    }

    #[test]
    fn different_pairs_never_share_a_name() {
        assert_ne!(binding("a.b", "c"), binding("a", "b.c"));
        assert_ne!(binding("a", "b.c"), binding("a.b", "c"));
        assert_ne!(binding("a-b", "c"), binding("a", "b-c"));
    }

    #[test]
    fn long_names_stay_within_what_the_api_server_takes() {
        let long = "x".repeat(253);
        assert!(binding(&long, &long).len() <= 253);
        assert!(stack_label(&long).len() <= 63);
        assert!(field_manager(&claim(&long, &long, &long, &long)).len() <= 128);
        assert_ne!(stack_label(&long), stack_label(&format!("{}y", &long[1..])));
    }
}
