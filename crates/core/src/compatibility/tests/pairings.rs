//! Every pairing of the table, against a second reading of its rows.
//!
//! The second reading knows nothing of rows, ranges and searches in them: it writes out, for each version, every version of
//! Kubernetes that it supports.

use std::collections::BTreeMap;

use serde_json::Value;

use super::*;

/// The minor versions of Kubernetes that are asked for: those of the table, and some before and after.
const KUBERNETES: std::ops::RangeInclusive<u32> = 24..=38;

/// What each version supports, as numbers after `1.`, read from the text of the table.
fn written_out(section: &str, name: &str) -> BTreeMap<String, Vec<u32>> {
    let table: Value = serde_saphyr::from_str(include_str!("../table.yaml")).unwrap();
    let rows = table[section].as_array().unwrap();
    let number =
        |value: &Value| -> u32 { value.as_str().unwrap().split('.').nth(1).unwrap().parse().unwrap() };
    let all = rows.iter().map(|row| {
        let [first, last] = ["first", "last"].map(|end| number(&row["kubernetes"][end]));
        (row[name].as_str().unwrap().to_owned(), (first..=last).collect())
    });
    all.collect()
}

/// Whether a pairing is judged so, and in words that help.
fn assert_judged(addon: Product, version: &str, kubernetes: u32, supported: &[u32]) {
    let product = addon.as_str().to_lowercase();
    let told = judge(&versions(&format!("kubernetes=1.{kubernetes},{product}={version}")), None);
    let about = format!("{addon} {version} and Kubernetes 1.{kubernetes}");
    let pair = told.iter().find(|judgement| judgement.about == about).unwrap();
    let newest = 36;
    let expected = if supported.contains(&kubernetes) {
        Verdict::Supported
    } else if kubernetes > newest && supported.contains(&newest) {
        Verdict::Unknown(Beyond::Newer)
    } else {
        Verdict::Outside
    };
    assert_eq!(pair.verdict, expected, "{about}");
    if expected == Verdict::Outside {
        let [first, last] = [supported[0], supported[supported.len() - 1]];
        for part in [
            format!("{addon} {version} supports Kubernetes 1.{first} to 1.{last} and not 1.{kubernetes}"),
            format!("Kubernetes 1.{kubernetes}"),
            " goes before ".to_owned(),
        ] {
            assert!(pair.message.contains(&part), "{part} is not in: {}", pair.message);
        }
    }
}

#[test]
fn every_pairing_is_judged_as_the_rows_say() {
    let flux = written_out("flux", "minor");
    let karpenter = written_out("karpenter", "from");
    assert_eq!((flux.len(), karpenter.len()), (7, 16));
    for kubernetes in KUBERNETES {
        for (version, supported) in &flux {
            assert_judged(Product::Flux, version, kubernetes, supported);
        }
        for (version, supported) in &karpenter {
            assert_judged(Product::Karpenter, version, kubernetes, supported);
        }
    }
}

#[test]
fn three_together_are_judged_as_two_and_two() {
    let [flux, karpenter] = [written_out("flux", "minor"), written_out("karpenter", "from")];
    for kubernetes in 30..=36 {
        for ((flux, of_flux), (karpenter, of_karpenter)) in
            flux.iter().flat_map(|one| karpenter.iter().map(move |other| (one, other)))
        {
            let text = format!("kubernetes=1.{kubernetes},flux={flux},karpenter={karpenter}");
            let told = judge(&versions(&text), None);
            let outside = told.iter().filter(|judgement| judgement.verdict == Verdict::Outside).count();
            let expected =
                [of_flux, of_karpenter].into_iter().filter(|all| !all.contains(&kubernetes)).count();
            assert_eq!(outside, expected, "{text}");
        }
    }
}

#[test]
fn what_is_recommended_would_do() {
    let karpenter = written_out("karpenter", "from");
    for kubernetes in 30..=36_u32 {
        let minor = version(&format!("1.{kubernetes}")).minor();
        let words = karpenter_for(Table::embedded(), minor).unwrap();
        let first = words.split(' ').next().unwrap();
        let supports = |text: &str| karpenter.get(text).is_some_and(|all| all.contains(&kubernetes));
        let named = if first.matches('.').count() == 1 { format!("{first}.0") } else { first.to_owned() };
        assert!(supports(&named), "Kubernetes 1.{kubernetes}: {words}");
    }
}
