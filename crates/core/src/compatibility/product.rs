//! What has a version in the table.

use std::fmt;

use serde::Serialize;

use super::version::{NotAVersion, Version};

/// What has a version in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Product {
    /// Kubernetes.
    Kubernetes,
    /// Flux.
    Flux,
    /// Karpenter.
    Karpenter,
    /// Helm.
    Helm,
}

impl Product {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Kubernetes, Self::Flux, Self::Karpenter, Self::Helm];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kubernetes => "Kubernetes",
            Self::Flux => "Flux",
            Self::Karpenter => "Karpenter",
            Self::Helm => "Helm",
        }
    }

    /// Reads a version of it. Of Helm the major version is enough.
    pub fn version(self, text: &str) -> Result<Version, NotAVersion> {
        let number = text.trim().trim_start_matches('v');
        let is_major = number.len() < 4 && number.bytes().all(|byte| byte.is_ascii_digit());
        match self {
            Self::Helm if is_major => {
                Version::parse(&format!("{number}.0")).map_err(|_| NotAVersion::new(text))
            }
            Self::Kubernetes | Self::Flux | Self::Karpenter | Self::Helm => Version::parse(text),
        }
    }
}

impl fmt::Display for Product {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A version of each, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Versions {
    /// Of Kubernetes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubernetes: Option<Version>,
    /// Of Flux.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flux: Option<Version>,
    /// Of Karpenter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub karpenter: Option<Version>,
    /// Of Helm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub helm: Option<Version>,
}

impl Versions {
    /// The version of a product.
    pub const fn get(&self, product: Product) -> Option<Version> {
        match product {
            Product::Kubernetes => self.kubernetes,
            Product::Flux => self.flux,
            Product::Karpenter => self.karpenter,
            Product::Helm => self.helm,
        }
    }

    /// These, with this version of a product.
    #[must_use]
    pub const fn with(mut self, product: Product, version: Version) -> Self {
        match product {
            Product::Kubernetes => self.kubernetes = Some(version),
            Product::Flux => self.flux = Some(version),
            Product::Karpenter => self.karpenter = Some(version),
            Product::Helm => self.helm = Some(version),
        }
        self
    }

    /// These, and where one is not known that of `others`.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self {
            kubernetes: self.kubernetes.or(others.kubernetes),
            flux: self.flux.or(others.flux),
            karpenter: self.karpenter.or(others.karpenter),
            helm: self.helm.or(others.helm),
        }
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Product::ALL.into_iter().filter_map(|product| Some((product, self.get(product)?)));
        for (index, (product, version)) in known.enumerate() {
            let before = if index == 0 { "" } else { ", " };
            write!(formatter, "{before}{product} {version}")?;
        }
        Ok(())
    }
}
