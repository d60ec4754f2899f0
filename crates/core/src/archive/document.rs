//! A backup as a text: one JSON value a line, first what it is, then what is in it, then its end.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::kind::kind_of;
use super::object::Key;

/// What every backup says of itself.
pub const FORMAT: &str = "capt-backup";
/// The version of the format that is written, and the newest that can be read.
pub const FORMAT_VERSION: u32 = 1;
/// How long a line may be: an object has at most 1.5 MiB in the API server's store, and less than twice that as text.
pub const LONGEST_LINE: usize = 4 << 20;
/// How many bytes of a file go into one line.
pub const LONGEST_PART: usize = 1 << 20;
/// More than any home has; a text that goes on for ever ends here.
const MOST_OBJECTS: usize = 500_000;

/// What a backup says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// What it is.
    pub format: String,
    /// Which version of that.
    pub version: u32,
    /// The version of CAPT that made it.
    pub capt: String,
    /// Names this backup.
    pub id: String,
    /// When it was made.
    pub taken_at: String,
    /// The namespaces that were asked for; none for all of them.
    pub namespaces: Vec<String>,
    /// The directory of the home on whose machine it was made, if the local clusters of one are in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// How many objects of each kind are in it.
    pub objects: BTreeMap<String, usize>,
    /// The local clusters in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<String>,
}

/// A piece of a file of a local cluster. Those of one file follow each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FilePart {
    /// Whose file.
    pub workload: String,
    /// Where in its directory.
    pub path: String,
    /// Where in the file.
    pub offset: u64,
    /// What is there, in base64.
    pub data: String,
}

/// How a backup ends: without this, it is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// How many lines came before.
    pub lines: usize,
}

/// A line of a backup.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Line {
    /// The first one.
    Header(Header),
    /// An object.
    Object(Value),
    /// A piece of a file.
    File(FilePart),
    /// The last one.
    End(End),
}

/// What a line brought.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// What the backup says of itself.
    Header(Header),
    /// An object, and which one it is.
    Object(Key, Value),
    /// A piece of a file.
    File(FilePart),
    /// All of it was read.
    End,
}

/// All objects of a backup, in the order of their kinds.
#[derive(Clone, Debug, PartialEq)]
pub struct Backup {
    /// What it says of itself.
    pub header: Header,
    /// Its objects.
    pub objects: Vec<(Key, Value)>,
}

/// Why a text is no backup that can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It is something else.
    #[error("it is not a backup of capt")]
    NotABackup,
    /// It is of a version that is not known yet.
    #[error(
        "it is of version {0} of the format, and this capt reads versions up to {FORMAT_VERSION}: use the capt that made it, or a newer one"
    )]
    Newer(u64),
    /// A line cannot be read.
    #[error("line {0} of it is broken")]
    Broken(usize),
    /// An object is none of a backup's.
    #[error(
        "line {0} of it holds an object that no backup has: its kind, its name or its namespace is not right"
    )]
    Stranger(usize),
    /// An object is in it twice.
    #[error("it holds {0} twice")]
    Twice(String),
    /// It goes on after its end, or has a second beginning.
    #[error("line {0} of it is out of place")]
    OutOfPlace(usize),
    /// It has no end.
    #[error("it breaks off after {0} lines: it is not whole")]
    Incomplete(usize),
    /// There is no end to it.
    #[error("it holds more than {MOST_OBJECTS} objects")]
    TooMany,
}

/// Reads a backup line by line.
#[derive(Debug, Default)]
pub struct Reading {
    lines: usize,
    objects: std::collections::BTreeSet<Key>,
    ended: bool,
}

impl Reading {
    /// Reads the next line.
    pub fn take(&mut self, line: &[u8]) -> Result<Item, Problem> {
        let number = self.lines + 1;
        if number == 1 {
            return self.begin(line).map(Item::Header);
        }
        if self.ended {
            return Err(Problem::OutOfPlace(number));
        }
        let read: Line = serde_json::from_slice(line).map_err(|_| Problem::Broken(number))?;
        let item = match read {
            Line::Header(_) => return Err(Problem::OutOfPlace(number)),
            Line::Object(object) => {
                let key = Key::of(&object).ok_or(Problem::Stranger(number))?;
                if self.objects.len() >= MOST_OBJECTS {
                    return Err(Problem::TooMany);
                }
                if !self.objects.insert(key.clone()) {
                    return Err(Problem::Twice(key.to_string()));
                }
                Item::Object(key, object)
            }
            Line::File(part) if is_inside(&part.path) => Item::File(part),
            Line::File(_) => return Err(Problem::Stranger(number)),
            Line::End(End { lines }) if lines == self.lines => {
                self.ended = true;
                Item::End
            }
            Line::End(_) => return Err(Problem::Incomplete(self.lines)),
        };
        self.lines = number;
        Ok(item)
    }

    /// Nothing comes any more.
    pub fn finish(self) -> Result<(), Problem> {
        match (self.lines, self.ended) {
            (_, true) => Ok(()),
            (0, false) => Err(Problem::NotABackup),
            (lines, false) => Err(Problem::Incomplete(lines)),
        }
    }

    /// The version is looked at before all else: whatever a newer one has, it says so.
    fn begin(&mut self, line: &[u8]) -> Result<Header, Problem> {
        let read: Value = serde_json::from_slice(line).map_err(|_| Problem::NotABackup)?;
        let header = &read["header"];
        if header["format"] != FORMAT {
            return Err(Problem::NotABackup);
        }
        match header["version"].as_u64() {
            Some(version) if version > u64::from(FORMAT_VERSION) => return Err(Problem::Newer(version)),
            Some(_) => {}
            None => return Err(Problem::NotABackup),
        }
        self.lines = 1;
        Header::deserialize(header).map_err(|_| Problem::Broken(1))
    }
}

impl Backup {
    /// Puts the objects into the order in which they are put back.
    pub fn new(header: Header, mut objects: Vec<(Key, Value)>) -> Self {
        let rank =
            |object: &Value| kind_of(object).and_then(|kind| super::KINDS.iter().position(|one| one == kind));
        objects.sort_by_cached_key(|(key, object)| (rank(object), key.clone()));
        Self { header, objects }
    }
}

/// Whether a path leads to a file below the directory that it begins in.
fn is_inside(path: &str) -> bool {
    let plain = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains('\0');
    path.len() <= 4096 && path.split('/').all(plain)
}
