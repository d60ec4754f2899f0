//! What can be wrong with manifests.

use std::fmt;

use capt_api::resource_set::ResourceReference;

use super::Place;
use crate::condition::cut;

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The `ConfigMap` or Secret.
    pub resource: ResourceReference,
    /// The key in it, unless it is about all of it.
    pub key: Option<String>,
    /// The document in the key's text, counted from 1.
    pub document: Option<usize>,
    /// The item of the document, counted from 1.
    pub item: Option<usize>,
    /// The line in the key's text, counted from 1.
    pub line: Option<usize>,
    /// What is wrong.
    pub problem: Problem,
}

impl Invalid {
    /// Something about a whole `ConfigMap` or Secret.
    pub(super) const fn of(resource: ResourceReference, problem: Problem) -> Self {
        Self { resource, key: None, document: None, item: None, line: None, problem }
    }

    /// Something about a manifest.
    pub(super) fn at(place: &Place, problem: Problem) -> Self {
        let Place { kind, name, key, document, item } = place.clone();
        let resource = ResourceReference { kind, name };
        Self { resource, key: Some(key), document: Some(document), item, line: None, problem }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resource: ResourceReference { kind, name }, key, document, item, line, problem } = self;
        write!(formatter, "{} `{name}`", kind.as_str())?;
        if let Some(key) = key {
            write!(formatter, ", key `{key}`")?;
        }
        for (word, number) in [("document", document), ("item", item), ("line", line)] {
            if let Some(number) = number {
                write!(formatter, ", {word} {number}")?;
            }
        }
        write!(formatter, ": {problem}")
    }
}

impl std::error::Error for Invalid {}

/// Everything that is wrong with a `ConfigMap` or Secret; there is at least one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(Vec<Invalid>);

impl Problems {
    /// These problems, if there are any.
    pub(super) fn from_all(problems: Vec<Invalid>) -> Option<Self> {
        (!problems.is_empty()).then_some(Self(problems))
    }

    /// All of them.
    pub fn all(&self) -> &[Invalid] {
        &self.0
    }
}

impl From<Invalid> for Problems {
    fn from(problem: Invalid) -> Self {
        Self(vec![problem])
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        sentences(formatter, &self.0)
    }
}

impl std::error::Error for Problems {}

/// One sentence after the other, as many as somebody reads.
pub(super) fn sentences<Sentence: fmt::Display>(
    formatter: &mut fmt::Formatter<'_>,
    all: &[Sentence],
) -> fmt::Result {
    const MOST: usize = 20;
    for (index, sentence) in all.iter().take(MOST).enumerate() {
        let before = if index == 0 { "" } else { ". " };
        write!(formatter, "{before}{sentence}")?;
    }
    match all.len().saturating_sub(MOST) {
        0 => Ok(()),
        more => write!(formatter, ". And {more} more"),
    }
}

/// What is wrong. Reads on after the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Larger than any `ConfigMap` or Secret.
    #[error("holds more than 1 MiB; split it into several")]
    TooLarge,
    /// More than anybody delivers at once.
    #[error("holds more than 2,000 documents or objects; split it into several")]
    TooMany,
    /// Bytes that are no text.
    #[error("is not UTF-8 text; give manifests as YAML or JSON")]
    NotUtf8,
    /// Neither YAML nor JSON.
    #[error("cannot be read as YAML{}; correct it there", details(.excerpt, .detail))]
    NotYaml {
        /// The line.
        excerpt: Shown,
        /// What the reader says.
        detail: Shown,
    },
    /// A key that is there twice.
    #[error("has the same key{key} twice in one mapping; remove one of them")]
    DuplicateKey {
        /// The key.
        key: Shown,
    },
    /// More of something than any manifest has.
    #[error(
        "is nested too deeply, or holds too many values or aliases (`*name`); \
         split it, and write out what the aliases stand for"
    )]
    TooComplex,
    /// Something else than an object.
    #[error("is {found}, not an object; write it with `apiVersion`, `kind` and `metadata`")]
    NotObject {
        /// What it is.
        found: &'static str,
    },
    /// A List that lists nothing.
    #[error("is a List without `items`; write the objects there")]
    NoItems,
    /// A list that is none.
    #[error("`items` is {found}, not a list; write each item with a dash")]
    ItemsNotList {
        /// What they are.
        found: &'static str,
    },
    /// A field that every object has.
    #[error("has no `{field}`; write it, for example {example}")]
    Missing {
        /// The field.
        field: &'static str,
        /// What it could be.
        example: &'static str,
    },
    /// Not a text.
    #[error("`{field}` is {found}, not a text; put it in quotes")]
    NotText {
        /// The field.
        field: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// Not a mapping.
    #[error("`metadata` is {found}, not a mapping; write `metadata:` and below it `name: …`, indented")]
    MetadataNotMapping {
        /// What it is.
        found: &'static str,
    },
    /// A name that the API server would make.
    #[error(
        "has `metadata.generateName` and no `metadata.name`, and every delivery would make one more object; \
         write a name"
    )]
    GenerateName,
    /// A group and version that cannot be one.
    #[error("has an `apiVersion`{value} that is none; write it as for example `v1` or `apps/v1`")]
    ApiVersion {
        /// What it says.
        value: Shown,
    },
    /// A kind that cannot be one.
    #[error("has a `kind`{value} that is none; write it as for example `Deployment`")]
    Kind {
        /// What it says.
        value: Shown,
    },
    /// A name that would lead elsewhere.
    #[error(
        "has a `{field}`{value} that cannot be a name; use letters, digits, hyphens and dots, 253 at most"
    )]
    Name {
        /// The field.
        field: &'static str,
        /// What it says.
        value: Shown,
    },
    /// Two labels or annotations that placeholders make one.
    #[error("has a label or annotation twice once its placeholders are replaced; remove one of them")]
    LabelTwice,
}

fn details(Shown(excerpt): &Shown, Shown(detail): &Shown) -> String {
    let excerpt = excerpt.as_ref().map(|excerpt| format!(" at `{excerpt}`")).unwrap_or_default();
    let detail = detail.as_ref().map(|detail| format!(" ({detail})")).unwrap_or_default();
    excerpt + &detail
}

/// A piece of a manifest in a sentence. Nothing shows of what comes from a Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown(Option<String>);

impl Shown {
    /// A piece that may be shown, or not.
    pub(super) fn new(text: &str, visible: bool) -> Self {
        Self::of(Some(text), visible)
    }

    /// A piece, if there is one that may be shown: short, and without characters that would break the sentence.
    pub(super) fn of(text: Option<&str>, visible: bool) -> Self {
        const LONGEST: usize = 80;
        let plain = |character: char| match character {
            '`' => '\'',
            control if control.is_control() => '?',
            other => other,
        };
        let text = text.filter(|text| visible && !text.is_empty());
        Self(text.map(|text| cut(text, LONGEST).chars().map(plain).collect()))
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |text| write!(formatter, " `{text}`"))
    }
}
