//! What can be wrong with a kubeconfig.

use std::fmt;

use crate::condition::cut;
use crate::{certificate, endpoint};

/// What is wrong with a kubeconfig, and where. The sentence says what to do, and never repeats a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// What is wrong.
    pub reason: Problem,
    /// The field, such as `users[admin].user.exec`; empty where it is the whole document.
    pub field: String,
}

impl Invalid {
    /// Something about the whole document.
    pub(super) const fn document(reason: Problem) -> Self {
        Self { reason, field: String::new() }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reason, field } = self;
        if field.is_empty() {
            write!(formatter, "the kubeconfig {reason}")
        } else {
            write!(formatter, "`{field}` {reason}")
        }
    }
}

impl std::error::Error for Invalid {}

/// What is wrong. Reads on after the name of the field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Nothing there.
    #[error("is empty; the Terraform output has to hold a kubeconfig")]
    Empty,
    /// Larger than any Secret.
    #[error("is larger than 1 MiB; give one that holds this cluster only")]
    TooLarge,
    /// Bytes that are no text.
    #[error("is not UTF-8 text; give it as YAML or JSON")]
    NotUtf8,
    /// Base64 of something.
    #[error("is base64-encoded; remove base64encode() from the output")]
    Base64,
    /// Neither YAML nor JSON.
    #[error("is not YAML: line {line} cannot be read; correct it there")]
    NotYaml {
        /// Where the reader gave up.
        line: u64,
    },
    /// A key that is there twice.
    #[error("has the same key twice in one mapping, in line {line}; remove one of them")]
    DuplicateKey {
        /// Where the second one is.
        line: u64,
    },
    /// `---`
    #[error("holds several YAML documents; give one")]
    SeveralDocuments,
    /// `*name`
    #[error("has YAML aliases (`*name`); write the values out")]
    Alias,
    /// More of everything than any kubeconfig has.
    #[error("is nested too deeply or holds too many values; give one that holds this cluster only")]
    TooComplex,
    /// A text that holds YAML or JSON.
    #[error("is a text in quotes; remove jsonencode() from the output")]
    QuotedText,
    /// A text, a number or a truth value.
    #[error("is plain text without any field; the Terraform output has to hold a whole kubeconfig")]
    PlainText,
    /// A list.
    #[error("is a list; give one mapping with `clusters`, `contexts` and `users`")]
    List,
    /// Another kind of object.
    #[error("is of kind `{kind}` and not `Config`; give the kubeconfig itself")]
    OtherKind {
        /// The kind.
        kind: String,
    },
    /// Another version.
    #[error("is not `v1`, the only version of kubeconfigs; correct it")]
    OtherVersion,
    /// A mapping of something else.
    #[error(
        "has neither `clusters` nor `contexts` nor `users`; the Terraform output has to hold a whole kubeconfig"
    )]
    NotKubeconfig,
    /// Not a text.
    #[error("is not a text; put it in quotes")]
    NotText,
    /// Not a list.
    #[error("is not a list; write it as one, each entry with a dash")]
    NotList,
    /// Not a mapping.
    #[error("is not a mapping; write it as fields with values")]
    NotMapping,
    /// Neither true nor false.
    #[error("is neither true nor false; correct it")]
    NotBoolean,
    /// Two entries of one name.
    #[error("is there twice; remove one of them or give it another name")]
    DuplicateName,
    /// No current context.
    #[error("is missing; name the context to use")]
    NoCurrentContext,
    /// A current context that is none.
    #[error("names `{name}`, which is not among `contexts`; correct one of them")]
    UnknownContext {
        /// What it names.
        name: String,
    },
    /// A context without cluster.
    #[error("is missing; name an entry of `clusters`")]
    NoCluster,
    /// A context that names a cluster that is none.
    #[error("names `{name}`, which is not among `clusters`; correct one of them")]
    UnknownCluster {
        /// What it names.
        name: String,
    },
    /// A context without user.
    #[error("is missing; name an entry of `users`")]
    NoUser,
    /// A context that names a user that is none.
    #[error("names `{name}`, which is not among `users`; correct one of them")]
    UnknownUser {
        /// What it names.
        name: String,
    },
    /// No server.
    #[error("is missing; give the URL of the API server, such as https://api.example.com:6443")]
    NoServer,
    /// A server that is none.
    #[error(transparent)]
    Server(endpoint::Problem),
    /// A name that no certificate has.
    #[error("is not a host name; give the name that the API server's certificate is for, or remove it")]
    TlsServerName,
    /// Certificates or keys that are none.
    #[error(transparent)]
    Certificate(certificate::Problem),
    /// A file.
    #[error(
        "is the path of a file, and CAPT reads no files that a kubeconfig names; put the content into `{instead}`"
    )]
    File {
        /// The field for the content.
        instead: &'static str,
    },
    /// TLS that proves nothing.
    #[error(
        "is true, so that anybody could pass for the API server; remove it, and give the CA in `certificate-authority-data`"
    )]
    InsecureSkipTlsVerify,
    /// A proxy.
    #[error("names a proxy, and CAPT sends no credentials through one that a kubeconfig names; remove it")]
    ProxyUrl,
    /// No credentials.
    #[error("has no credentials; give `token`, or `client-certificate-data` and `client-key-data`")]
    NoCredentials,
    /// A token and a password.
    #[error("has both a token and a password, which no client takes; remove one of them")]
    TwoCredentials,
    /// One half of certificate and key.
    #[error("is missing, while `{given}` is there; give both")]
    OtherHalf {
        /// The half that is there.
        given: &'static str,
    },
    /// A token with blanks in it.
    #[error(
        "holds a blank, a line break or another character that no token has; remove it, for example with trimspace()"
    )]
    TokenCharacter,
    /// An auth provider.
    #[error("is an auth provider, which no client knows any longer; give `token`, or a client certificate")]
    AuthProvider,
    /// Impersonation where CAPT makes the tokens.
    #[error(
        "lets the user act as somebody else, which the tokens that CAPT makes for EKS cannot carry; remove it"
    )]
    Impersonation,
    /// An exec plugin without command.
    #[error("names no command; give `token`, or a client certificate")]
    NoCommand,
    /// An exec plugin that CAPT cannot stand in for.
    #[error(
        "runs `{command}`, and CAPT runs no programs that a kubeconfig names; \
         give `token` or a client certificate, or for EKS plain `aws eks get-token`"
    )]
    ExecPlugin {
        /// The command's file name.
        command: String,
    },
    /// Another command of the AWS CLI or the authenticator.
    #[error(
        "makes no token for an EKS cluster; write `aws eks get-token --cluster-name NAME --region REGION`"
    )]
    ExecArguments,
    /// An option that changes what CAPT cannot change.
    #[error("has the option `{option}`, whose meaning CAPT cannot keep; remove it")]
    ExecOption {
        /// The option.
        option: String,
    },
    /// An option without value, or with one that cannot be.
    #[error("has no usable value for {what}; correct it")]
    ExecValue {
        /// What the value is.
        what: &'static str,
    },
    /// A profile of the AWS CLI.
    #[error(
        "uses the AWS profile `{profile}`, which CAPT does not have; \
         remove it, and name a role in spec.controlPlaneConfig.identity if one is needed"
    )]
    Profile {
        /// Its name.
        profile: String,
    },
    /// An identity in the plugin's environment.
    #[error(
        "gives the program an AWS identity, which CAPT does not take from a kubeconfig; \
         remove it, and name a role in spec.controlPlaneConfig.identity if one is needed"
    )]
    ExecIdentity,
}

/// A name as it is shown: short, and without characters that would break the sentence.
pub(super) fn shown(name: &str) -> String {
    const LONGEST: usize = 64;
    let plain = |character: char| if character.is_control() || character == '`' { '?' } else { character };
    cut(name, LONGEST).chars().map(plain).collect()
}
