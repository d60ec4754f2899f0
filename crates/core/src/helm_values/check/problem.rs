//! What can be wrong, in the sentences that tell it.

use capt_api::resource_set::ResourceKind;

use super::wording::{FILE, instead_or_example, instead_or_file, near_or_add, refused, shape};
use crate::helm_values::effect::Effect;
use crate::helm_values::file::FileFlaw;
use crate::helm_values::path::PathProblem;

/// Who has the last word where a path is also set in `spec.values`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Winner {
    /// `spec.values`.
    Inline,
    /// The reference.
    Reference,
    /// It depends on what a file of values holds.
    Unclear,
}

/// What is wrong. Reads on after the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// `spec.values` that Flux passes over.
    #[error(
        "is not a mapping, so that Flux passes over all of it; write the chart's values there, each by its \
         key"
    )]
    ValuesNotMapping,
    /// `spec.valuesFrom` that the API server refuses.
    #[error("is not a list; write one item for each reference, with its kind and name")]
    ReferencesNotList,
    /// More references than are looked at.
    #[error(
        "has more than {most} items, and the rest is not checked; put values together into files of values"
    )]
    TooManyReferences {
        /// How many are looked at.
        most: usize,
    },
    /// An item that the API server refuses.
    #[error("is not a mapping; write kind, name and valuesKey there")]
    EntryNotMapping,
    /// A kind that Flux does not read.
    #[error("is neither `Secret` nor `ConfigMap`; write one of them")]
    Kind,
    /// No name, or too long a one.
    #[error("is no name of an object; write that of a Secret or ConfigMap in namespace `{namespace}`")]
    Name {
        /// The namespace of the release.
        namespace: String,
    },
    /// Something else than true or false.
    #[error("is neither true nor false; write `true` without quotes, or leave it out")]
    NotTruth,
    /// What cannot be a key.
    #[error(
        "cannot be a key: those have letters, digits, `-`, `_` and `.`; write the key of the Secret or \
         ConfigMap, and where the value goes as targetPath"
    )]
    Key,
    /// `literal` without effect.
    #[error(
        "means nothing without targetPath, since the value is read as a file of values; write a \
         targetPath, or leave literal out"
    )]
    LiteralWithoutPath,
    /// A number or the like.
    #[error("is not a text; write the path in quotes")]
    PathNotText,
    /// An empty path.
    #[error(
        "is empty, which the API server refuses; leave it out if the value is a file of values, or write \
         where the value goes, for example `settings.clusterName`"
    )]
    PathEmpty,
    /// A path that Flux does not take.
    #[error("has {length} characters, and Flux takes 250; {}", FILE)]
    PathTooLong {
        /// How many it has.
        length: usize,
    },
    /// A character that Flux does not take.
    #[error(
        "has {}, which Flux does not take in a path; {}",
        refused(*.character),
        instead_or_file(.instead.as_deref())
    )]
    PathCharacter {
        /// The character.
        character: char,
        /// What is probably meant.
        instead: Option<String>,
    },
    /// A path that leads nowhere.
    #[error("{problem}; {}", instead_or_example(.instead.as_deref(), *.problem))]
    PathGrammar {
        /// What is wrong with it.
        problem: PathProblem,
        /// What is probably meant.
        instead: Option<String>,
    },
    /// A backslash that escapes a backslash.
    #[error(
        "has two backslashes before a dot, which are a backslash in the key and leave the dot unescaped; \
         write `{instead}`"
    )]
    DoubledBackslash {
        /// What is meant.
        instead: String,
    },
    /// A key that was taken apart.
    #[error(
        "takes `{key}` apart at its dots; {} `{instead}`",
        if *.certain { "write" } else { "if it is one key, write" }
    )]
    UnescapedDots {
        /// The key.
        key: String,
        /// What is meant.
        instead: String,
        /// It can hardly be meant otherwise.
        certain: bool,
    },
    /// A path from `.Values` on.
    #[error(
        "begins with `Values`, which templates write before a path and which no chart has as a key; write \
         `{instead}`"
    )]
    ValuesPrefix {
        /// What is meant.
        instead: String,
    },
    /// A path with slashes in place of dots.
    #[error("has slashes and no dot, so that all of it is one key; write `{instead}`")]
    Slashes {
        /// What is meant.
        instead: String,
    },
    /// Set here and in `spec.values`.
    #[error("is also set in spec.values, {}; remove `{at}` from spec.values", .winner.told())]
    AlsoInline {
        /// The path.
        at: String,
        /// Who has the last word.
        winner: Winner,
    },
    /// Something else than a mapping or list in `spec.values`.
    #[error(
        "leads through `{at}`, which spec.values sets to something that is not a {}, and Flux fails; remove `{at}` \
         from spec.values, or make it a {}",
        shape(*.wants_list),
        shape(*.wants_list)
    )]
    ThroughInline {
        /// What is not a mapping or list.
        at: String,
        /// A list is wanted.
        wants_list: bool,
    },
    /// A list that is put back.
    #[error(
        "loses its value, because Flux puts the list `{at}` back as it was without it; write the whole \
         list in one file of values"
    )]
    LostInList {
        /// The list.
        at: String,
    },
    /// The path of another reference.
    #[error("is also that of spec.valuesFrom[{other}], which this one replaces; remove one of the two")]
    SamePath {
        /// The earlier one.
        other: usize,
    },
    /// A path through another's value.
    #[error(
        "leads through `{path}`, to which spec.valuesFrom[{other}] gives a value, and Flux fails; give one \
         of the two another path"
    )]
    ThroughReference {
        /// The earlier one.
        other: usize,
        /// Its path.
        path: String,
    },
    /// A path that contains another.
    #[error(
        "replaces all that is there, and with it `{path}` of spec.valuesFrom[{other}]; remove one of the \
         two, or put this one first if its value is a mapping"
    )]
    OverReference {
        /// The earlier one.
        other: usize,
        /// Its path.
        path: String,
    },
    /// A list where another has a mapping.
    #[error(
        "has an index where `{path}` of spec.valuesFrom[{other}] has a key, or a key where that has an \
         index, and Flux fails; correct one of the two"
    )]
    SplitReference {
        /// The earlier one.
        other: usize,
        /// Its path.
        path: String,
    },
    /// A key that the stack's Secret does not have.
    #[error(
        "is `{key}`, which no output feeds: Secret `{secret}` gets `{}`; {}",
        .known.join("`, `"),
        near_or_add(.near.as_deref(), .key)
    )]
    KeyNotFed {
        /// The Secret.
        secret: String,
        /// The key.
        key: String,
        /// Those that it has.
        known: Vec<String>,
        /// The one that is probably meant.
        near: Option<String>,
        /// Flux passes over it.
        optional: bool,
    },
    /// An output that the module does not give.
    #[error(
        "is fed by the output `{output}`, which the module does not give; add it to the module, or give it a default \
         in the stack's values{}",
        if *.left_out { ", or write `optional: true` beside this reference too" } else { "" }
    )]
    OutputMissing {
        /// The output.
        output: String,
        /// The key is left out then.
        left_out: bool,
    },
    /// An output that may be missing, for a reference that needs it.
    #[error(
        "is not true, but the stack leaves the key out where the module does not give `{output}`, and Flux \
         would fail; write `optional: true` here too, or give the output a default"
    )]
    MayBeMissing {
        /// The output.
        output: String,
    },
    /// A Secret in another namespace.
    #[error(
        "names Secret `{name}`, which the stack brings to namespace `{brought_to}`, and Flux reads it from \
         `{namespace}`; write `namespace: {namespace}` in the stack's values"
    )]
    OtherNamespace {
        /// The Secret.
        name: String,
        /// Where it is.
        brought_to: String,
        /// Where it is looked for.
        namespace: String,
    },
    /// An object that somebody else must bring.
    #[error(
        "names {} `{name}`, which neither the stack's values nor its manifests bring; make sure that something else \
         makes it in namespace `{namespace}`, or correct the name",
        .kind.as_str()
    )]
    ObjectUnknown {
        /// A `ConfigMap` or a Secret.
        kind: ResourceKind,
        /// Its name.
        name: String,
        /// Where it is looked for.
        namespace: String,
    },
    /// A key that an object of the manifests does not have.
    #[error(
        "is `{key}`, which {} `{name}` of the manifests does not have; add the key there, or correct it \
         here",
        .kind.as_str()
    )]
    KeyNotHeld {
        /// A `ConfigMap` or a Secret.
        kind: ResourceKind,
        /// Its name.
        name: String,
        /// The key.
        key: String,
    },
    /// A value of a manifest that does not come through.
    #[error("is not true, and the value of `{key}` {effect}; write `literal: true` if it is meant as a text")]
    Changes {
        /// The key.
        key: String,
        /// What becomes of the value.
        effect: Effect,
    },
    /// A value that comes through because CAPT helps.
    #[error(
        "is not true, so that CAPT writes the value of `{key}` in quotes, without which it {effect}; write \
         `literal: true` where Flux is 2.9 or later"
    )]
    KeptByQuotes {
        /// The key.
        key: String,
        /// What would become of the value.
        effect: Effect,
    },
    /// Readers that need a value in different forms.
    #[error(
        "is not true, but spec.valuesFrom[{other}] reads `{key}` as it is, and one of the two would get \
         quotes with it; write `literal: true` here too"
    )]
    MixedForms {
        /// The key.
        key: String,
        /// The one that reads it as it is.
        other: usize,
    },
    /// A value with characters that none should have.
    #[error(
        "is `{key}`, whose value ends in a line break or holds a control character; remove it in the \
         module, for example with trimspace()"
    )]
    Unprintable {
        /// The key.
        key: String,
    },
    /// A file of values that is none.
    #[error(
        "is `{key}`, which is read as a file of values without a targetPath, and {flaw}; write a \
         targetPath, or a mapping as the value"
    )]
    FileUnusable {
        /// The key.
        key: String,
        /// What is wrong with it.
        flaw: FileFlaw,
    },
}
