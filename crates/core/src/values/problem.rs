//! Why a cluster cannot get its values.

use capt_api::names::Reason;

/// Why a Secret with values cannot be made. The sentence never repeats a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A name that cannot be one.
    #[error("a Secret for values cannot be called `{namespace}/{name}`; give another name or namespace")]
    Name {
        /// The namespace.
        namespace: String,
        /// The name.
        name: String,
    },
    /// The kubeconfig is chosen.
    #[error("the kubeconfig is not handed to the cluster; name the outputs that the add-on needs")]
    Kubeconfig,
    /// Two outputs for one key.
    #[error("the outputs {} would both be the key `{key}`; give one of them another key", listed(.outputs))]
    SameKey {
        /// The key.
        key: String,
        /// The outputs.
        outputs: [String; 2],
    },
    /// Outputs that the module does not give, or gives empty.
    #[error(
        "the module gives no value for {}; add {} to the module, or give a default, or write `optional: true`; \
         what it gives: {}",
        listed(.outputs),
        if .outputs.len() == 1 { "this output" } else { "these outputs" },
        if .known.is_empty() { "nothing".to_owned() } else { listed(.known) }
    )]
    Missing {
        /// The outputs.
        outputs: Vec<String>,
        /// Those that there are.
        known: Vec<String>,
    },
    /// Bytes that are no text.
    #[error("the output `{output}` is not UTF-8 text; encode it in the module, for example as base64")]
    NotText {
        /// The output.
        output: String,
    },
    /// Characters that no value for a chart should have.
    #[error(
        "the value of `{key}` {}, which would become part of what {} sets by targetPath; \
         remove it in the module, for example with trimspace()",
        if *.ends_in_line_break { "ends in a line break" } else { "holds a control character" },
        plain(.releases)
    )]
    Unprintable {
        /// The key in the Secret.
        key: String,
        /// It is a line with its end.
        ends_in_line_break: bool,
        /// The `HelmReleases` that read it.
        releases: Vec<String>,
    },
    /// Readers that need the value in different forms.
    #[error(
        "the value of `{key}` is one that Flux would change (a number, true, null, or with a comma, brace, quote or \
         backslash), and its readers need it in different forms: {} without literal, {} as it is; \
         write `literal: true` beside every targetPath that reads it",
        plain(.interpreting),
        plain(.verbatim)
    )]
    Mixed {
        /// The key in the Secret.
        key: String,
        /// The `HelmReleases` that read it by a targetPath without `literal: true`.
        interpreting: Vec<String>,
        /// Those that read it with `literal: true`, or as a whole file of values.
        verbatim: Vec<String>,
    },
}

impl Problem {
    /// The word for conditions.
    pub const fn reason(&self) -> Reason {
        match self {
            Self::Name { .. } | Self::Kubeconfig | Self::SameKey { .. } => Reason::SpecInvalid,
            Self::Missing { .. } => Reason::OutputMissing,
            Self::NotText { .. } | Self::Unprintable { .. } => Reason::VariableInvalid,
            Self::Mixed { .. } => Reason::ManifestInvalid,
        }
    }
}

fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    plain(&quoted)
}

fn plain(words: &[String]) -> String {
    match words {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => words.concat(),
    }
}
