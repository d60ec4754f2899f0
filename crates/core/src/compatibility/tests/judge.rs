use k8s_openapi::jiff::civil::Date;
use rstest::rstest;

use super::*;

fn told(text: &str, today: Option<&str>) -> String {
    let today: Option<Date> = today.map(|today| today.parse().unwrap());
    let line = |judgement: Judgement| {
        let Judgement { about, verdict, message } = judgement;
        format!("{about}\n  {}: {message}", verdict.as_str())
    };
    judge(&versions(text), today).into_iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn nothing_is_said_of_nothing() {
    assert_eq!(told("", Some("2026-11-15")), "");
}

#[test]
fn what_goes_together_is_told_with_its_ranges() {
    insta::assert_snapshot!(told("kubernetes=1.34.2,flux=2.9.5,karpenter=1.14.1,helm=4", Some("2026-11-15")), @"
    Kubernetes 1.34.2
      Supported: EKS supports Kubernetes 1.34 until 2026-12-02, and with extended support until 2027-12-02
    Flux 2.9.5 and Kubernetes 1.34.2
      Supported: Flux 2.9.5 supports Kubernetes 1.34 to 1.36
    Karpenter 1.14.1 and Kubernetes 1.34.2
      Supported: Karpenter 1.14.1 supports Kubernetes 1.26 to 1.36
    Helm 4.0 and Flux 2.9.5
      Supported: Flux 2.9 has Helm 4.2.4 in it
    ");
}

#[test]
fn one_alone_is_told_what_it_goes_with() {
    insta::assert_snapshot!(told("flux=2.9,karpenter=1.0.5", None), @"
    Flux 2.9
      Supported: Flux 2.9 supports Kubernetes 1.34 to 1.36
    Karpenter 1.0.5
      Supported: Karpenter 1.0.5 supports Kubernetes 1.25 to 1.31
    ");
    insta::assert_snapshot!(told("helm=3.22.0", None), @"
    Helm 3.22.0
      Supported: Helm 3 is in Flux 2.3 to 2.7
    ");
}

#[test]
fn an_addon_that_is_too_old_goes_before_kubernetes() {
    insta::assert_snapshot!(told("kubernetes=1.36,flux=2.7,karpenter=1.6", None), @"
    Kubernetes 1.36
      Supported: Kubernetes 1.36 is in the table; until when EKS supports it is not known
    Flux 2.7 and Kubernetes 1.36
      Outside: Flux 2.7 supports Kubernetes 1.32 to 1.34 and not 1.36: with Kubernetes 1.36 take Flux 2.9; with Flux 2.7 take Kubernetes 1.32 to 1.34; Flux goes before Kubernetes: Flux from 2.7 to 2.9, then Kubernetes from 1.34 to 1.35, then Kubernetes from 1.35 to 1.36
    Karpenter 1.6 and Kubernetes 1.36
      Outside: Karpenter 1.6 supports Kubernetes 1.26 to 1.34 and not 1.36: with Kubernetes 1.36 take Karpenter 1.13 or 1.14; with Karpenter 1.6 take Kubernetes 1.26 to 1.34; Karpenter goes before Kubernetes: Karpenter from 1.6 to 1.14, then Kubernetes from 1.34 to 1.35, then Kubernetes from 1.35 to 1.36
    ");
}

#[test]
fn an_addon_that_is_too_new_goes_after_kubernetes() {
    insta::assert_snapshot!(told("kubernetes=1.33,flux=2.9", None), @"
    Kubernetes 1.33
      Supported: EKS supports Kubernetes 1.33 until 2026-07-29, and with extended support until 2027-07-29
    Flux 2.9 and Kubernetes 1.33
      Outside: Flux 2.9 supports Kubernetes 1.34 to 1.36 and not 1.33 (though `flux check` lets it pass): with Kubernetes 1.33 take Flux 2.6 to 2.8; with Flux 2.9 take Kubernetes 1.34 to 1.36; Kubernetes goes before Flux, one minor version at a time: Kubernetes from 1.33 to 1.34, then Flux from 2.8 to 2.9
    ");
}

#[test]
fn patches_make_a_difference() {
    insta::assert_snapshot!(told("kubernetes=1.31,karpenter=1.0.4", None), @"
    Kubernetes 1.31
      Supported: EKS supports Kubernetes 1.31 until 2025-11-26, and with extended support until 2026-11-26
    Karpenter 1.0.4 and Kubernetes 1.31
      Outside: Karpenter 1.0.4 supports Kubernetes 1.25 to 1.30 and not 1.31: with Kubernetes 1.31 take Karpenter 1.0.5 to 1.14, but not 1.8.4; with Karpenter 1.0.4 take Kubernetes 1.25 to 1.30; Karpenter goes before Kubernetes: Karpenter from 1.0.4 to 1.14, then Kubernetes from 1.30 to 1.31
    ");
    insta::assert_snapshot!(told("kubernetes=1.31,karpenter=1.0.5", None), @"
    Kubernetes 1.31
      Supported: EKS supports Kubernetes 1.31 until 2025-11-26, and with extended support until 2026-11-26
    Karpenter 1.0.5 and Kubernetes 1.31
      Supported: Karpenter 1.0.5 supports Kubernetes 1.25 to 1.31
    ");
    insta::assert_snapshot!(told("kubernetes=1.34,karpenter=1.8.4", None), @"
    Kubernetes 1.34
      Supported: EKS supports Kubernetes 1.34 until 2026-12-02, and with extended support until 2027-12-02
    Karpenter 1.8.4
      Avoid: Karpenter 1.8.4 is not to be used: it has a regression in scheduling; take another version of 1.8, or a newer one
    Karpenter 1.8.4 and Kubernetes 1.34
      Supported: Karpenter 1.8.4 supports Kubernetes 1.26 to 1.34
    ");
}

#[test]
fn what_the_table_does_not_know_is_neither_good_nor_bad() {
    insta::assert_snapshot!(told("kubernetes=1.37,flux=2.9,karpenter=1.12", None), @"
    Kubernetes 1.37
      Unknown: Kubernetes 1.37 is newer than what the table of 2026-11-15 knows, which ends with 1.36: look at the documentation of Kubernetes
    Flux 2.9 and Kubernetes 1.37
      Unknown: Flux 2.9 supports Kubernetes 1.34 to 1.36; whether it supports 1.37, the table of 2026-11-15 does not tell: look at the documentation of Flux
    Karpenter 1.12 and Kubernetes 1.37
      Outside: Karpenter 1.12 supports Kubernetes 1.26 to 1.35 and not 1.37: no Karpenter of the table supports Kubernetes 1.37; with Karpenter 1.12 take Kubernetes 1.26 to 1.35; Karpenter goes before Kubernetes
    ");
    insta::assert_snapshot!(told("kubernetes=1.34,flux=2.10.0,karpenter=0.37.5,helm=5", None), @"
    Kubernetes 1.34
      Supported: EKS supports Kubernetes 1.34 until 2026-12-02, and with extended support until 2027-12-02
    Flux 2.10.0
      Unknown: Flux 2.10.0 is newer than what the table of 2026-11-15 knows, which ends with 2.9: look at the documentation of Flux
    Karpenter 0.37.5
      Unknown: Karpenter 0.37.5 is older than what the table of 2026-11-15 knows, which begins with 1.0: look at the documentation of Karpenter
    Helm 5.0
      Unknown: Helm 5.0 is newer than what the table of 2026-11-15 knows, which ends with 4.2.4: look at the documentation of Helm
    ");
    insta::assert_snapshot!(told("kubernetes=1.24,flux=2.2.3,helm=2", None), @"
    Kubernetes 1.24
      Unknown: Kubernetes 1.24 is older than what the table of 2026-11-15 knows, which begins with 1.30: look at the documentation of Kubernetes
    Flux 2.2.3
      Unknown: Flux 2.2.3 is older than what the table of 2026-11-15 knows, which begins with 2.3: look at the documentation of Flux
    Helm 2.0
      Unknown: Helm 2.0 is older than what the table of 2026-11-15 knows, which begins with 3.14.4: look at the documentation of Helm
    ");
}

#[test]
fn helm_goes_with_flux() {
    insta::assert_snapshot!(told("flux=2.8,helm=3.19", None), @"
    Flux 2.8
      Supported: Flux 2.8 supports Kubernetes 1.33 to 1.35
    Helm 3.19 and Flux 2.8
      Outside: Flux 2.8 has Helm 4.2.0 in it and not Helm 3: for Helm 3 take Flux 2.3 to 2.7, or with Flux 2.8 use Helm 4; Helm goes from one to the other together with Flux
    ");
}

#[rstest]
#[case::not_told(None, Verdict::Supported, "until 2026-12-02, and with extended support until 2027-12-02")]
#[case::in_standard_support(
    Some("2026-11-15"),
    Verdict::Supported,
    "until 2026-12-02, and with extended support until 2027-12-02"
)]
#[case::on_the_last_day(
    Some("2026-12-02"),
    Verdict::Supported,
    "EKS supports Kubernetes 1.34 until 2026-12-02"
)]
#[case::in_extended_support(
    Some("2026-12-03"),
    Verdict::Supported,
    "ended standard support of Kubernetes 1.34 on 2026-12-02"
)]
#[case::after_it(
    Some("2027-12-03"),
    Verdict::EndOfSupport,
    "ended all support of Kubernetes 1.34 on 2027-12-02: upgrade to 1.35"
)]
fn eks_ends_its_support_on_a_day(
    #[case] today: Option<&str>,
    #[case] expected: Verdict,
    #[case] message: &str,
) {
    let today: Option<Date> = today.map(|today| today.parse().unwrap());
    let told = judge(&versions("kubernetes=v1.34.2-eks-3abbec1"), today);

    assert_eq!(told.len(), 1);
    assert_eq!(told[0].verdict, expected);
    assert!(told[0].message.contains(message), "{}", told[0].message);
}

#[test]
fn flux_ends_its_support_with_a_later_version() {
    insta::assert_snapshot!(told("kubernetes=1.31,flux=2.6.4", None), @"
    Kubernetes 1.31
      Supported: EKS supports Kubernetes 1.31 until 2025-11-26, and with extended support until 2026-11-26
    Flux 2.6.4
      EndOfSupport: the support of Flux 2.6 ended when Flux 2.9 came out: go on to Flux 2.7 to 2.9, as far as Kubernetes allows
    Flux 2.6.4 and Kubernetes 1.31
      Supported: Flux 2.6.4 supports Kubernetes 1.31 to 1.33
    ");
}
