//! One object of the tree.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::Serialize;

use super::state::State;

/// How it is with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Mark {
    /// It is as it should be.
    Ready,
    /// It waits, or is on its way.
    Waiting,
    /// Something is wrong that calls for somebody.
    Failing,
    /// Somebody has paused it.
    Paused,
    /// It could not be read.
    Unknown,
}

impl Mark {
    /// As it is drawn.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Ready => "✓",
            Self::Waiting => "◌",
            Self::Failing => "✗",
            Self::Paused => "⏸",
            Self::Unknown => "?",
        }
    }
}

/// What a part is to its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Place {
    /// Its network, or whatever its infrastructure provider makes.
    Infrastructure,
    /// Its control plane.
    ControlPlane,
    /// Its workers, as far as they are objects of the management cluster.
    Workers,
    /// Its add-ons.
    Addons,
}

/// One object of the tree.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// Its kind; `Addon` for a step of a stack, `Endpoint` for the API server.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// What it is to the cluster, of those right below it.
    #[serde(rename = "part", skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// How it is.
    pub state: Mark,
    /// Why, in one word.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// Why, in sentences.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Of a Secret: when the credentials in it end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
    /// Of a Secret: when CAPT renews the credentials in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renews_at: Option<Time>,
    /// It is what blocks first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub blocks: bool,
    /// What it is made of, in the order in which it comes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Node>,
    /// Whether it does what it is for, whatever else there is to tell of it.
    #[serde(skip)]
    pub(super) holds: bool,
    /// Whether it can be what blocks: what only follows from others cannot.
    #[serde(skip)]
    pub(super) counts: bool,
}

impl Node {
    pub(super) fn new(kind: impl Into<String>, name: impl Into<String>, state: State) -> Self {
        let State { mark, holds, reason, message, since } = state;
        Self {
            kind: kind.into(),
            name: name.into(),
            place: None,
            state: mark,
            reason,
            since: since.map(Time),
            message,
            expires_at: None,
            renews_at: None,
            blocks: false,
            children: Vec::new(),
            holds,
            counts: true,
        }
    }

    pub(super) fn with(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        self.children.extend(children);
        self
    }

    /// The same as something that only follows from others.
    pub(super) fn following(self) -> Self {
        Self { counts: false, ..self }
    }

    /// Its kind and name.
    pub fn title(&self) -> String {
        format!("{}/{}", self.kind, self.name)
    }
}
