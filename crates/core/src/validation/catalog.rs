//! All objects of all files.

use std::collections::{BTreeMap, HashMap};

use super::File;
use super::elsewhere::Elsewhere;
use super::finding::Severity;
use super::object::{Object, unfold};
use super::other_tools::{OtherTool, other_tools};
use super::position::Origin;
use super::read::read;
use super::report::Report;

/// What `kustomize` reads has no name and is no object of a cluster.
const BUILD: &str = "kustomize.config.k8s.io";

/// How many objects are looked at: each is compared with others.
const MOST: usize = 10_000;

/// All objects of all files, and what is said to be elsewhere.
pub(super) struct Catalog<'files> {
    files: Vec<Vec<&'files str>>,
    objects: Vec<Object>,
    /// By kind, namespace and name.
    index: HashMap<(String, String, String), Vec<usize>>,
    elsewhere: &'files [Elsewhere],
}

impl<'files> Catalog<'files> {
    /// Reads the files, and tells what cannot be read.
    pub(super) fn read(
        files: &'files [File<'files>],
        elsewhere: &'files [Elsewhere],
        report: &mut Report<'_>,
    ) -> Self {
        let mut objects = Vec::new();
        for ((index, file), other) in files.iter().enumerate().zip(other_tools(files)) {
            // Templates of a chart are no YAML before they are rendered.
            if other == Some(OtherTool::Helm) {
                continue;
            }
            let reading = read(file.text);
            for (at, problem) in reading.problems {
                let hidden = is_in_secret(file.text, at.line);
                let message = if hidden { problem.without_content() } else { problem.to_string() };
                report.tell(index, at, Severity::Error, hidden, message);
            }
            if other.is_some() {
                continue;
            }
            let nodes = reading.documents.into_iter().flat_map(unfold);
            let read = nodes.map(|node| Object::new(index, Origin::File, node, false));
            objects.extend(read.filter(|object| object.key.group() != BUILD));
        }
        if objects.len() > MOST {
            let message = format!(
                "there are more than {MOST} objects, and the rest is not looked at; name fewer files"
            );
            report.tell(objects[MOST].file, objects[MOST].place(""), Severity::Error, true, message);
            objects.truncate(MOST);
        }
        let mut index: HashMap<_, Vec<usize>> = HashMap::new();
        for (position, object) in objects.iter().enumerate() {
            let key = (object.key.kind.clone(), object.namespace().to_owned(), object.key.name.clone());
            index.entry(key).or_default().push(position);
        }
        let files = files.iter().map(|file| file.text.lines().collect()).collect();
        Self { files, objects, index, elsewhere }
    }

    pub(super) fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// The lines of a file.
    pub(super) fn lines(&self, file: usize) -> &[&'files str] {
        &self.files[file]
    }

    /// The objects of a group and kind.
    pub(super) fn of(&self, group: &str, kind: &str) -> impl Iterator<Item = &Object> {
        self.objects.iter().filter(move |object| object.is(group, kind))
    }

    /// An object by its name. Where it is there twice, the last one counts, as with `kubectl apply`.
    pub(super) fn find(&self, group: &str, kind: &str, namespace: &str, name: &str) -> Option<&Object> {
        let key = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        let found = self.index.get(&key).into_iter().flatten().map(|position| &self.objects[*position]);
        found.rev().find(|object| object.key.group() == group)
    }

    /// Whether the user said that an object is elsewhere.
    pub(super) fn is_elsewhere(&self, kind: &str, namespace: &str, name: &str) -> bool {
        self.elsewhere.iter().any(|elsewhere| elsewhere.has(kind, namespace, name))
    }
}

/// Whether the document around a line seems to be a Secret. It cannot be read, so its words are all there is.
fn is_in_secret(text: &str, line: usize) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    let is_marker = |line: &&str| line.starts_with("---");
    let at = line.clamp(1, lines.len().max(1)) - 1;
    let before = lines.iter().take(at).rev().take_while(|line| !is_marker(line));
    let after = lines.iter().skip(at).enumerate().take_while(|(index, line)| *index == 0 || !is_marker(line));
    before.chain(after.map(|(_, line)| line)).any(|line| line.contains("kind") && line.contains("Secret"))
}

/// Tells of objects that are there twice.
pub(super) fn duplicates(catalog: &Catalog<'_>, report: &mut Report<'_>) {
    let mut first: BTreeMap<(&str, &str, &str, &str), &Object> = BTreeMap::new();
    for object in catalog.objects() {
        let name = object.key.name.as_str();
        let key = (object.key.group(), object.key.kind.as_str(), object.namespace(), name);
        let earlier = *first.entry(key).or_insert(object);
        if !std::ptr::eq(earlier, object) && !name.is_empty() {
            let line = earlier.place("metadata.name").line;
            let place = report.file(earlier.file);
            report.warning(
                object,
                "metadata.name",
                format!(
                    "{} is there twice: first in {place}:{line}; rename or remove one of them",
                    object.key
                ),
            );
        }
    }
}
