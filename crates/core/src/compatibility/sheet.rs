//! The table as people read it, on a terminal or in the guide.

use k8s_openapi::jiff::civil::Date;

use super::spans::{flux_for, flux_with_helm, karpenter_for};
use super::table::Table;

/// A part of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sheet {
    /// What it is about.
    pub title: &'static str,
    /// The names of the columns.
    pub columns: Vec<&'static str>,
    /// The rows; each has a text for every column.
    pub rows: Vec<Vec<String>>,
}

/// What stands where nothing is known.
const NOTHING: &str = "-";

/// Everything that the table tells.
pub fn sheets(table: &Table) -> Vec<Sheet> {
    vec![
        kubernetes(table),
        flux(table),
        served(table),
        helm(table),
        features(table),
        karpenter(table),
        avoided(table),
        sources(table),
    ]
}

fn kubernetes(table: &Table) -> Sheet {
    let rows = table.kubernetes.iter().map(|row| {
        let date = |of: fn(&super::table::Eks) -> Date| told(row.eks.as_ref().map(of));
        vec![
            row.minor.to_string(),
            told(flux_for(table, row.minor)),
            told(karpenter_for(table, row.minor)),
            date(|eks| eks.released),
            date(|eks| eks.standard_support_ends),
            date(|eks| eks.extended_support_ends),
            row.sources.join(", "),
        ]
    });
    Sheet {
        title: "Kubernetes",
        columns: vec![
            "Kubernetes",
            "Flux",
            "Karpenter",
            "on EKS since",
            "standard support ends",
            "extended support ends",
            "sources",
        ],
        rows: rows.collect(),
    }
}

fn flux(table: &Table) -> Sheet {
    let rows = table.flux.iter().map(|row| {
        let support = row.ended_by.map_or_else(|| "yes".to_owned(), |by| format!("ended by {by}"));
        vec![
            row.minor.to_string(),
            row.kubernetes.to_string(),
            format!("{} or newer", row.check_minimum),
            support,
            row.sources.join(", "),
        ]
    });
    Sheet {
        title: "Flux",
        columns: vec!["Flux", "Kubernetes", "flux check asks for", "support", "sources"],
        rows: rows.collect(),
    }
}

fn served(table: &Table) -> Sheet {
    let rows = table.flux.iter().map(|row| {
        vec![
            row.seen.to_string(),
            row.source_controller.to_string(),
            row.helm_controller.to_string(),
            row.helm.to_string(),
            row.helm_release.join(", "),
            row.oci_repository.join(", "),
        ]
    });
    Sheet {
        title: "What is in Flux",
        columns: vec!["Flux", "source-controller", "helm-controller", "Helm", "HelmRelease", "OCIRepository"],
        rows: rows.collect(),
    }
}

fn helm(table: &Table) -> Sheet {
    let mut majors: Vec<u32> = table.flux.iter().map(|row| row.helm.major()).collect();
    majors.sort_unstable();
    majors.dedup();
    let rows = majors.into_iter().map(|major| vec![major.to_string(), told(flux_with_helm(table, major))]);
    Sheet { title: "Helm", columns: vec!["Helm", "Flux"], rows: rows.collect() }
}

fn features(table: &Table) -> Sheet {
    let rows = table.features.iter().map(|row| {
        let name = row.name.as_str().to_owned();
        vec![name, format!("{} or newer", row.flux), row.what.clone(), row.sources.join(", ")]
    });
    Sheet {
        title: "What Flux has since when",
        columns: vec!["feature", "Flux", "what it is", "sources"],
        rows: rows.collect(),
    }
}

fn karpenter(table: &Table) -> Sheet {
    let rows = table.karpenter.iter().map(|row| {
        vec![row.from.to_string(), row.kubernetes.to_string(), told(row.released), row.sources.join(", ")]
    });
    Sheet {
        title: "Karpenter",
        columns: vec!["Karpenter from", "Kubernetes", "released", "sources"],
        rows: rows.collect(),
    }
}

fn avoided(table: &Table) -> Sheet {
    let rows = table
        .avoid
        .iter()
        .map(|row| vec![row.version.to_string(), row.reason.clone(), row.sources.join(", ")]);
    Sheet {
        title: "Versions of Karpenter not to be used",
        columns: vec!["Karpenter", "why", "sources"],
        rows: rows.collect(),
    }
}

fn sources(table: &Table) -> Sheet {
    let rows = table
        .sources
        .iter()
        .map(|(name, source)| vec![name.clone(), source.document.clone(), source.version.clone()]);
    Sheet { title: "Sources", columns: vec!["source", "document", "version"], rows: rows.collect() }
}

fn told<Text: ToString>(text: Option<Text>) -> String {
    text.map_or_else(|| NOTHING.to_owned(), |text| text.to_string())
}
