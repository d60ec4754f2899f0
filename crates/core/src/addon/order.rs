//! The order in which the add-ons of a stack are brought.

use std::fmt;

use capt_api::addon_stack::Addon;

/// Add-ons that wait for each other in a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circle(pub Vec<String>);

impl fmt::Display for Circle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" → ");
        write!(
            formatter,
            "add-ons wait for each other in a circle ({names}): take one of these names out of dependsOn"
        )
    }
}

/// The add-ons, each after those it depends on, otherwise as they are written. A dependency that is not in the stack, which the
/// API server refuses, holds up nothing here.
pub fn order(addons: &[Addon]) -> Result<Vec<&Addon>, Circle> {
    let mut ordered: Vec<&Addon> = Vec::with_capacity(addons.len());
    let is_in = |list: &[&Addon], name: &str| list.iter().any(|addon| addon.name == name);
    while ordered.len() < addons.len() {
        let next = addons.iter().find(|addon| {
            let waits =
                |name: &&String| addons.iter().any(|other| other.name == **name) && !is_in(&ordered, name);
            !is_in(&ordered, &addon.name) && !addon.depends_on.iter().any(|name| waits(&name))
        });
        match next {
            Some(addon) => ordered.push(addon),
            None => return Err(circle(addons, &ordered)),
        }
    }
    Ok(ordered)
}

/// Follows what is waited for until an add-on comes up twice.
fn circle(addons: &[Addon], ordered: &[&Addon]) -> Circle {
    let is_left = |name: &str| !ordered.iter().any(|addon| addon.name == name);
    let mut path: Vec<String> = Vec::new();
    let mut next = addons.iter().find(|addon| is_left(&addon.name));
    while let Some(addon) = next {
        if let Some(first) = path.iter().position(|name| *name == addon.name) {
            path.drain(..first);
            path.push(addon.name.clone());
            return Circle(path);
        }
        path.push(addon.name.clone());
        let waited_for = addon
            .depends_on
            .iter()
            .find(|name| is_left(name) && addons.iter().any(|other| other.name == **name));
        next = waited_for.and_then(|name| addons.iter().find(|other| other.name == *name));
    }
    Circle(path)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    /// Add-ons as `name:needs,needs`.
    fn addons(text: &str) -> Vec<Addon> {
        let addon = |word: &str| {
            let (name, needs) = word.split_once(':').unwrap();
            let needs: Vec<_> = needs.split(',').filter(|need| !need.is_empty()).collect();
            serde_json::from_value(json!({ "name": name, "dependsOn": needs, "gateLabel": "x" })).unwrap()
        };
        text.split(' ').map(addon).collect()
    }

    #[rstest]
    #[case::as_written("a: b:", "a b")]
    #[case::those_it_depends_on_first("karpenter:flux flux:", "flux karpenter")]
    #[case::a_diamond("d:b,c b:a c:a a:", "a b c d")]
    #[case::a_stranger_holds_up_nothing("a:nobody", "a")]
    fn each_comes_after_those_it_depends_on(#[case] text: &str, #[case] expected: &str) {
        let addons = addons(text);
        let names: Vec<_> = order(&addons).unwrap().iter().map(|addon| addon.name.as_str()).collect();
        assert_eq!(names.join(" "), expected);
    }

    #[rstest]
    #[case::itself("a:a", "`a` → `a`")]
    #[case::two("a:b b:a", "`a` → `b` → `a`")]
    #[case::three_behind_a_fourth("x:a a:b b:c c:a", "(`a` → `b` → `c` → `a`)")]
    fn a_circle_is_named(#[case] text: &str, #[case] expected: &str) {
        let told = order(&addons(text)).unwrap_err().to_string();
        assert!(told.contains(expected), "{told}");
    }
}
