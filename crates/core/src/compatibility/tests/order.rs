use rstest::rstest;

use super::*;

/// The steps, one a line, with what does not go together after each.
fn told(from: &str, to: &str) -> String {
    match upgrade_path(&versions(from), &versions(to)) {
        Ok(path) => {
            let line = |step: &Step| {
                let conflicts = step.conflicts.iter().map(|conflict| format!("\n  ! {conflict}"));
                let notes = step.notes.iter().map(|note| format!("\n  {note}"));
                step.to_string() + &conflicts.chain(notes).collect::<String>()
            };
            path.steps.iter().map(line).collect::<Vec<_>>().join("\n")
        }
        Err(problem) => problem.to_string(),
    }
}

#[rstest]
#[case::nothing_now("flux=2.8", "kubernetes=1.34", "it is not said which Kubernetes there is now")]
#[case::an_addon_from_nowhere("kubernetes=1.34", "flux=2.8", "it is not said which Flux there is now")]
#[case::helm("kubernetes=1.34,helm=3", "kubernetes=1.35", "Helm comes with Flux")]
#[case::a_kubernetes_of_the_future(
    "kubernetes=1.34",
    "kubernetes=1.4000000000",
    "Kubernetes 1.4000000000 is not in the table, which has 1.30 to 1.36"
)]
#[case::a_kubernetes_of_the_past("kubernetes=1.20", "kubernetes=1.34", "Kubernetes 1.20 is not in the table")]
#[case::a_flux_of_the_future(
    "kubernetes=1.34,flux=2.8",
    "flux=2.10",
    "Flux 2.10 is not in the table, which has 2.3 to 2.9"
)]
#[case::a_karpenter_of_the_past(
    "kubernetes=1.34,karpenter=0.37",
    "kubernetes=1.35",
    "Karpenter 0.37 is not in the table, which has 1.0 to 1.14"
)]
#[case::kubernetes_back("kubernetes=1.34", "kubernetes=1.33", "Kubernetes would go back from 1.34 to 1.33")]
#[case::flux_back("kubernetes=1.34,flux=2.8", "flux=2.7", "Flux would go back from 2.8 to 2.7")]
#[case::a_patch_back(
    "kubernetes=1.34,karpenter=1.14.1",
    "karpenter=1.14.0",
    "Karpenter would go back from 1.14.1 to 1.14.0"
)]
fn what_is_no_upgrade_is_told(#[case] from: &str, #[case] to: &str, #[case] expected: &str) {
    let told = told(from, to);

    assert!(told.starts_with(expected), "{told}");
}

#[test]
fn what_must_move_before_kubernetes_comes_first_and_what_needs_it_comes_after() {
    insta::assert_snapshot!(told("kubernetes=1.33,flux=2.7,karpenter=1.6", "kubernetes=1.36,flux=2.9,karpenter=1.14.1"), @"
    Karpenter from 1.6 to 1.14.1
    Kubernetes from 1.33 to 1.34
    Flux from 2.7 to 2.9
      Flux 2.9 serves no HelmRelease v2beta2 any more: write v2 before
      Flux 2.9 serves no OCIRepository v1beta2 any more: write v1 before
      charts are installed by Helm 4 from then on, and no longer by Helm 3
    Kubernetes from 1.34 to 1.35
    Kubernetes from 1.35 to 1.36
    ");
}

#[test]
fn addons_that_nobody_asks_for_move_only_where_they_must() {
    insta::assert_snapshot!(told("kubernetes=1.33,flux=2.7.5,karpenter=1.6.2", "kubernetes=1.34"), @"Kubernetes from 1.33 to 1.34");
    insta::assert_snapshot!(told("kubernetes=1.34,flux=2.7.5,karpenter=1.6.2", "kubernetes=1.35"), @"
    Flux from 2.7.5 to 2.9
      Flux 2.9 serves no HelmRelease v2beta2 any more: write v2 before
      Flux 2.9 serves no OCIRepository v1beta2 any more: write v1 before
      charts are installed by Helm 4 from then on, and no longer by Helm 3
    Karpenter from 1.6.2 to 1.14
    Kubernetes from 1.34 to 1.35
    ");
}

#[test]
fn the_whole_way_from_the_oldest_to_the_newest() {
    insta::assert_snapshot!(told("kubernetes=1.30,flux=2.3,karpenter=1.0", "kubernetes=1.36,flux=2.9,karpenter=1.14"), @"
    Flux from 2.3 to 2.5
    Karpenter from 1.0 to 1.14
    Kubernetes from 1.30 to 1.31
    Kubernetes from 1.31 to 1.32
    Flux from 2.5 to 2.7
      Flux 2.7 serves no HelmRelease v2beta1 any more: write v2 before
    Kubernetes from 1.32 to 1.33
    Kubernetes from 1.33 to 1.34
    Flux from 2.7 to 2.9
      Flux 2.9 serves no HelmRelease v2beta2 any more: write v2 before
      Flux 2.9 serves no OCIRepository v1beta2 any more: write v1 before
      charts are installed by Helm 4 from then on, and no longer by Helm 3
    Kubernetes from 1.34 to 1.35
    Kubernetes from 1.35 to 1.36
    ");
}

#[test]
fn where_no_way_is_supported_it_is_told_where_it_is_not() {
    insta::assert_snapshot!(told("kubernetes=1.33,flux=2.8", "kubernetes=1.33,flux=2.9"), @"
    Flux from 2.8 to 2.9
      ! Flux 2.9 supports Kubernetes 1.34 to 1.36 and not 1.33
    ");
    insta::assert_snapshot!(told("kubernetes=1.34,karpenter=1.8.3", "karpenter=1.8.4"), @"
    Karpenter from 1.8.3 to 1.8.4
      ! Karpenter 1.8.4 is not to be used: it has a regression in scheduling
    ");
}

#[test]
fn whoever_is_there_already_has_nothing_to_do() {
    assert_eq!(told("kubernetes=1.34.2,flux=2.9.5", "kubernetes=1.34,flux=2.9"), "");
    assert_eq!(told("kubernetes=1.34", ""), "");
}

#[test]
fn a_patch_is_a_step() {
    assert_eq!(
        told("kubernetes=1.34,karpenter=1.14.0", "karpenter=1.14.1"),
        "Karpenter from 1.14.0 to 1.14.1"
    );
    assert_eq!(told("kubernetes=1.34.1", "kubernetes=1.34.3"), "Kubernetes from 1.34.1 to 1.34.3");
}

/// From supported states to others with newer versions: a part of the pairs, since there are tens of thousands.
#[test]
fn every_step_of_every_path_is_supported_or_told_as_not() {
    let table = Table::embedded();
    let states: Vec<Versions> = every_state().filter(|state| is_supported(table, state)).collect();
    assert!(states.len() > 100, "{}", states.len());
    let mut unsupported = 0;
    for from in states.iter().step_by(3) {
        for to in states.iter().step_by(5).filter(|to| is_newer(from, to)) {
            let path = upgrade_path(from, to).unwrap();
            assert_path(table, from, Some(to), &path);
            unsupported += usize::from(!path.is_supported());
        }
    }
    assert_eq!(unsupported, 0, "between supported states there is a supported way");
}

#[test]
fn from_every_supported_state_there_is_a_way_to_every_newer_kubernetes() {
    let table = Table::embedded();
    for from in every_state().filter(|state| is_supported(table, state)) {
        for kubernetes in
            table.versions(Product::Kubernetes).into_iter().filter(|to| Some(*to) >= from.kubernetes)
        {
            let to = Versions::default().with(Product::Kubernetes, kubernetes);
            let path = upgrade_path(&from, &to).unwrap();
            assert!(path.is_supported(), "{from} to {to}");
            assert_path(table, &from, None, &path);
            assert_eq!(
                path.steps.last().map_or(from.kubernetes, |step| step.state.kubernetes),
                Some(kubernetes)
            );
        }
    }
}

fn every_state() -> impl Iterator<Item = Versions> {
    let table = Table::embedded();
    let [kubernetes, flux, karpenter] =
        [Product::Kubernetes, Product::Flux, Product::Karpenter].map(|product| table.versions(product));
    kubernetes.into_iter().flat_map(move |kubernetes| {
        let karpenter = karpenter.clone();
        flux.clone().into_iter().flat_map(move |flux| {
            karpenter.clone().into_iter().map(move |karpenter| Versions {
                kubernetes: Some(kubernetes),
                flux: Some(flux),
                karpenter: Some(karpenter),
                helm: None,
            })
        })
    })
}

/// By the rows alone, without the code that finds paths.
fn is_supported(table: &Table, state: &Versions) -> bool {
    let minor = state.kubernetes.unwrap().minor();
    let flux = table.flux(state.flux.unwrap()).unwrap().kubernetes;
    let karpenter = table.karpenter(state.karpenter.unwrap()).unwrap().kubernetes;
    [flux, karpenter].iter().all(|range| range.first <= minor && minor <= range.last)
}

fn is_newer(from: &Versions, to: &Versions) -> bool {
    Product::ALL.into_iter().all(|product| from.get(product) <= to.get(product))
}

/// Each step changes one thing to something newer, Kubernetes by one minor; what is not supported is told; the end is reached.
fn assert_path(table: &Table, from: &Versions, to: Option<&Versions>, path: &UpgradePath) {
    let mut state = *from;
    for step in &path.steps {
        assert_eq!(state.get(step.product), Some(step.from));
        assert!(step.from < step.to, "{step}");
        if step.product == Product::Kubernetes {
            assert_eq!(step.from.minor().next(), step.to.minor(), "{step}");
        }
        state = state.with(step.product, step.to);
        assert_eq!(state, step.state);
        assert_eq!(is_supported(table, &state), step.conflicts.is_empty(), "{step}");
    }
    assert!(to.is_none_or(|to| *to == state), "{from} led to {state}");
}
