//! Reads a table, and sees whether it can be relied on.

use super::super::version::{Minor, Minors, Version};
use super::{FeatureName, Table};

/// What is wrong with a table.
#[derive(Debug, thiserror::Error)]
pub enum Invalid {
    /// It cannot be read.
    #[error("reading the table of versions")]
    Unreadable(#[source] Box<serde_saphyr::Error>),
    /// A section has no rows.
    #[error("the section `{0}` has no rows")]
    Empty(&'static str),
    /// A row does not say where it is from.
    #[error("{row} names no source")]
    NoSource {
        /// The row.
        row: String,
    },
    /// A row names a source that is not there.
    #[error("{row} names the source `{source_name}`, which is not among the sources")]
    UnknownSource {
        /// The row.
        row: String,
        /// The source.
        source_name: String,
    },
    /// A source that no row names, or that says nothing.
    #[error("the source `{0}` is empty, or no row names it")]
    IdleSource(String),
    /// A row that does not follow the one before it.
    #[error("{row} does not follow {before}: rows go from old to new, without a gap")]
    OutOfOrder {
        /// The row.
        row: String,
        /// The one before it.
        before: String,
    },
    /// A range whose end is before its beginning, or that goes beyond the table.
    #[error("{row} has the range {range}, which has no order, goes back, or ends after the table")]
    BadRange {
        /// The row.
        row: String,
        /// The range.
        range: Minors,
    },
    /// Something else that cannot be.
    #[error("{row}: {problem}")]
    Contradiction {
        /// The row.
        row: String,
        /// What cannot be.
        problem: &'static str,
    },
}

impl Table {
    /// Reads a table; one with a gap, without an order or without a source is refused.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let table: Self =
            serde_saphyr::from_str(text).map_err(|error| Invalid::Unreadable(Box::new(error)))?;
        table.check_rows()?;
        table.check_sources()?;
        table.check_order()?;
        table.check_ranges()?;
        table.check_details()?;
        Ok(table)
    }

    fn check_rows(&self) -> Result<(), Invalid> {
        let sections = [
            ("kubernetes", self.kubernetes.is_empty()),
            ("flux", self.flux.is_empty()),
            ("karpenter", self.karpenter.is_empty()),
        ];
        let empty = sections.into_iter().find(|(_, empty)| *empty);
        empty.map_or(Ok(()), |(section, _)| Err(Invalid::Empty(section)))
    }

    /// Each row by a name for people, with its sources.
    fn rows(&self) -> Vec<(String, &[String])> {
        let kubernetes =
            self.kubernetes.iter().map(|row| (format!("Kubernetes {}", row.minor), &row.sources));
        let flux = self.flux.iter().map(|row| (format!("Flux {}", row.minor), &row.sources));
        let features =
            self.features.iter().map(|row| (format!("feature {}", row.name.as_str()), &row.sources));
        let karpenter = self.karpenter.iter().map(|row| (format!("Karpenter {}", row.from), &row.sources));
        let avoided = self.avoid.iter().map(|row| (format!("avoid {}", row.version), &row.sources));
        let all = kubernetes.chain(flux).chain(features).chain(karpenter).chain(avoided);
        all.map(|(name, sources)| (name, sources.as_slice())).collect()
    }

    fn check_sources(&self) -> Result<(), Invalid> {
        let rows = self.rows();
        for (row, sources) in &rows {
            if sources.is_empty() {
                return Err(Invalid::NoSource { row: row.clone() });
            }
            if let Some(unknown) = sources.iter().find(|source| !self.sources.contains_key(*source)) {
                return Err(Invalid::UnknownSource { row: row.clone(), source_name: unknown.clone() });
            }
        }
        let is_idle = |name: &String| !rows.iter().any(|(_, sources)| sources.contains(name));
        let says_nothing =
            |name: &String| self.sources[name].document.is_empty() || self.sources[name].version.is_empty();
        let idle = self.sources.keys().find(|name| is_idle(name) || says_nothing(name));
        idle.map_or(Ok(()), |name| Err(Invalid::IdleSource(name.clone())))
    }

    fn check_order(&self) -> Result<(), Invalid> {
        let follows = |before: Version, row: Version| row.short() == Version::of(before.minor().next());
        let is_newer_patch = |before: Version, row: Version| before.minor() == row.minor() && before < row;
        let kubernetes: Vec<_> = self.kubernetes.iter().map(|row| Version::of(row.minor)).collect();
        let flux: Vec<_> = self.flux.iter().map(|row| Version::of(row.minor)).collect();
        let karpenter: Vec<_> = self.karpenter.iter().map(|row| row.from).collect();
        for (name, rows, patches) in
            [("Kubernetes", kubernetes, false), ("Flux", flux, false), ("Karpenter", karpenter, true)]
        {
            let is_wrong = |pair: &&[Version]| {
                let [before, row] = [pair[0], pair[1]];
                !(follows(before, row) || patches && is_newer_patch(before, row))
            };
            if let Some([before, row]) = rows.windows(2).find(is_wrong) {
                let [row, before] = [row, before].map(|version| format!("{name} {version}"));
                return Err(Invalid::OutOfOrder { row, before });
            }
        }
        Ok(())
    }

    fn check_ranges(&self) -> Result<(), Invalid> {
        let newest = self.kubernetes.last().map(|row| row.minor);
        let flux = self.flux.iter().map(|row| (format!("Flux {}", row.minor), row.kubernetes));
        let karpenter = self.karpenter.iter().map(|row| (format!("Karpenter {}", row.from), row.kubernetes));
        for rows in [flux.collect::<Vec<_>>(), karpenter.collect()] {
            let mut before: Option<Minors> = None;
            for (row, range) in &rows {
                let goes_back =
                    before.is_some_and(|before| range.first < before.first || range.last < before.last);
                if range.last < range.first || goes_back || newest.is_some_and(|newest| newest < range.last) {
                    return Err(Invalid::BadRange { row: row.clone(), range: *range });
                }
                before = Some(*range);
            }
            let supports = |minor: Minor| rows.iter().any(|(_, range)| range.contains(minor));
            if let Some(alone) = self.kubernetes.iter().find(|row| !supports(row.minor)) {
                let row = format!("Kubernetes {}", alone.minor);
                return Err(Invalid::Contradiction { row, problem: "no version of an add-on supports it" });
            }
        }
        Ok(())
    }

    fn check_details(&self) -> Result<(), Invalid> {
        let wrong = |row: String, problem| Err(Invalid::Contradiction { row, problem });
        for row in &self.kubernetes {
            let in_order = |eks: &super::Eks| {
                eks.released < eks.standard_support_ends
                    && eks.standard_support_ends < eks.extended_support_ends
            };
            if !row.eks.as_ref().is_none_or(in_order) {
                return wrong(format!("Kubernetes {}", row.minor), "the dates of EKS have no order");
            }
        }
        for row in &self.flux {
            let name = format!("Flux {}", row.minor);
            if row.seen.minor() != row.minor {
                return wrong(name, "`seen` is of another minor version");
            }
            if row.kubernetes.first < row.check_minimum {
                return wrong(name, "`flux check` refuses a version that is supported");
            }
            if row
                .ended_by
                .is_some_and(|ended_by| ended_by <= row.minor || self.flux(Version::of(ended_by)).is_err())
            {
                return wrong(name, "`endedBy` is not a newer version of Flux in the table");
            }
            if row.helm_release.is_empty() || row.oci_repository.is_empty() {
                return wrong(name, "it serves a kind in no version");
            }
        }
        for name in FeatureName::ALL {
            let count = self.features.iter().filter(|feature| feature.name == name).count();
            if count != 1 {
                return wrong(format!("feature {}", name.as_str()), "it is not there exactly once");
            }
        }
        for avoided in &self.avoid {
            if self.karpenter(avoided.version).is_err() || avoided.reason.is_empty() {
                return wrong(
                    format!("avoid {}", avoided.version),
                    "it is not in the table, or has no reason",
                );
            }
        }
        Ok(())
    }
}
