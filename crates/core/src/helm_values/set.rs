//! Setting a value by `path=value`, as `helm --set` does.
//!
//! Path and value are one line, and the value goes on being read as such lines are: a comma begins another path. Some
//! ends of a line are no error but leave something out; what Helm does there is done here too.

use std::rc::Rc;
use std::str::Chars;

use super::tree::{DEEPEST, Heap, Limit, ListId, MapId, Node};

/// How many names a path may have after its first one.
pub(super) const MOST_NAMES: usize = 30;
/// The largest index of a list.
pub(super) const LARGEST_INDEX: usize = 65_536;

/// What is wrong with a line. It reads on after what the line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// A name and nothing after it.
    #[error("has a name without a value, as after a comma")]
    NoValue,
    /// Nothing between or after dots.
    #[error("has an empty name beside a dot")]
    NoName,
    /// More names than Helm takes.
    #[error("has more than 31 names with dots between them")]
    TooManyNames,
    /// Something else than a number in brackets.
    #[error("has an index that is no number from 0 to 65536")]
    Index,
    /// Text between an index and what may follow it.
    #[error("goes on after an index without a dot")]
    AfterIndex,
    /// A list without its end.
    #[error("begins a list with `{{` and does not end it with `}}`")]
    OpenList,
    /// Something that is no mapping where the path wants one.
    #[error("runs through something that is not a mapping")]
    NotMapping,
    /// Something that is no list where the path wants one.
    #[error("has an index where there is something that is not a list")]
    NotList,
    /// More than anybody means.
    #[error("makes {0}")]
    Limit(#[from] Limit),
}

/// Whether the line goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    More,
    End,
}

/// How values are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Words and numbers get types.
    Typed,
    /// Everything is a text, also in lists.
    Text,
}

/// Sets what the line says in a mapping.
pub(super) fn set(heap: &mut Heap, root: MapId, line: &str, reading: Reading) -> Result<(), Flaw> {
    let mut setter = Setter { heap, rest: line.chars(), reading };
    while setter.assignment(root, At::default())? == Flow::More {}
    Ok(())
}

/// How far down a path is.
#[derive(Clone, Copy, Default)]
struct At {
    /// Names, which Helm counts.
    names: usize,
    /// Names and indexes, which only we count.
    depth: usize,
}

impl At {
    fn deeper(self) -> Result<Self, Flaw> {
        let depth = self.depth + 1;
        if depth > DEEPEST { Err(Limit::Deep.into()) } else { Ok(Self { depth, ..self }) }
    }

    fn named(self) -> Result<Self, Flaw> {
        let names = self.names + 1;
        if names > MOST_NAMES { Err(Flaw::TooManyNames) } else { Self { names, ..self }.deeper() }
    }
}

struct Setter<'line, 'heap> {
    heap: &'heap mut Heap,
    rest: Chars<'line>,
    reading: Reading,
}

impl Setter<'_, '_> {
    /// One `path=value` in a mapping, with what follows its value left to read.
    fn assignment(&mut self, map: MapId, at: At) -> Result<Flow, Flaw> {
        let (name, stop) = until(&mut self.rest, &['=', '[', ',', '.']);
        match stop {
            None if name.is_empty() => Ok(Flow::End),
            None | Some(',') => Err(Flaw::NoValue),
            Some('=') => match self.value()? {
                Some(node) => self.insert(map, &name, node).map(|()| Flow::More),
                None => self.insert(map, &name, text("")).map(|()| Flow::End),
            },
            Some('[') => self.in_list(map, &name, at),
            Some(_) => self.in_map(map, &name, at),
        }
    }

    /// What is without a name is not kept.
    fn insert(&mut self, map: MapId, name: &str, node: Node) -> Result<(), Flaw> {
        if !name.is_empty() {
            self.heap.insert(map, name, node)?;
        }
        Ok(())
    }

    fn in_map(&mut self, map: MapId, name: &str, at: At) -> Result<Flow, Flaw> {
        let at = at.named()?;
        let inner = match self.heap.get(map, name) {
            None => self.heap.new_map()?,
            Some(Node::Map(inner)) => inner,
            Some(_) => return Err(Flaw::NotMapping),
        };
        let flow = self.assignment(inner, at)?;
        if !self.heap.map(inner).is_empty() {
            self.insert(map, name, Node::Map(inner))?;
        } else if flow == Flow::More {
            return Err(Flaw::NoName);
        }
        Ok(flow)
    }

    fn in_list(&mut self, map: MapId, name: &str, at: At) -> Result<Flow, Flaw> {
        let Some(index) = self.index()? else { return Ok(Flow::End) };
        let list = match self.heap.get(map, name) {
            None => self.heap.new_list(Vec::new())?,
            Some(Node::List(list)) => list,
            Some(_) => return Err(Flaw::NotList),
        };
        let (list, flow) = self.item(list, index, at.deeper()?)?;
        self.insert(map, name, Node::List(list))?;
        Ok(flow)
    }

    /// What is in brackets, after the first of them; nothing where the line ends before the second.
    fn index(&mut self) -> Result<Option<usize>, Flaw> {
        let (digits, stop) = until(&mut self.rest, &[']']);
        if stop.is_none() {
            return Ok(None);
        }
        let number: i64 = digits.parse().map_err(|_| Flaw::Index)?;
        usize::try_from(number).map(Some).map_err(|_| Flaw::Index)
    }

    /// What follows an index: the list with the item, unless the line ended before it was put there.
    fn item(&mut self, list: ListId, index: usize, at: At) -> Result<(ListId, Flow), Flaw> {
        let (between, stop) = until(&mut self.rest, &['[', '.', '=']);
        if !between.is_empty() {
            return Err(Flaw::AfterIndex);
        }
        let node = match stop {
            None => return Ok((list, Flow::End)),
            Some('=') => self.value()?.unwrap_or_else(|| text("")),
            Some('[') => match self.inner_list(list, index, at)? {
                Some(inner) => Node::List(inner),
                None => return Ok((list, Flow::End)),
            },
            Some(_) => {
                let inner = self.inner_map(list, index)?;
                if self.assignment(inner, at.deeper()?)? == Flow::End {
                    return Ok((list, Flow::End));
                }
                Node::Map(inner)
            }
        };
        if index > LARGEST_INDEX {
            return Err(Flaw::Index);
        }
        Ok((self.heap.put(list, index, node)?, Flow::More))
    }

    fn inner_list(&mut self, list: ListId, index: usize, at: At) -> Result<Option<ListId>, Flaw> {
        let Some(inner_index) = self.index()? else { return Ok(None) };
        let inner = match self.heap.item(list, index) {
            None | Some(Node::Null) => self.heap.new_list(Vec::new())?,
            Some(Node::List(inner)) => inner,
            Some(_) => return Err(Flaw::NotList),
        };
        let (inner, flow) = self.item(inner, inner_index, at.deeper()?)?;
        Ok((flow == Flow::More).then_some(inner))
    }

    /// The mapping at an index. Whatever else is there makes room for one.
    fn inner_map(&mut self, list: ListId, index: usize) -> Result<MapId, Flaw> {
        Ok(match self.heap.item(list, index) {
            Some(Node::Map(inner)) => inner,
            None => self.heap.new_map()?,
            Some(_) => {
                let inner = self.heap.new_map()?;
                self.heap.put(list, index, Node::Map(inner))?;
                inner
            }
        })
    }

    /// What follows an equals sign; nothing where the line ends there.
    fn value(&mut self) -> Result<Option<Node>, Flaw> {
        match self.rest.as_str().chars().next() {
            None => Ok(None),
            Some('{') => self.list().map(Some),
            Some(_) => {
                let (value, _) = until(&mut self.rest, &[',']);
                Ok(Some(read(&value, self.reading)))
            }
        }
    }

    fn list(&mut self) -> Result<Node, Flaw> {
        self.rest.next();
        let mut items = Vec::new();
        loop {
            let (item, stop) = until(&mut self.rest, &[',', '}']);
            items.push(read(&item, self.reading));
            match stop {
                None => return Err(Flaw::OpenList),
                Some(',') => {}
                Some(_) => break,
            }
        }
        if let Some(rest) = self.rest.as_str().strip_prefix(',') {
            self.rest = rest.chars();
        }
        Ok(Node::List(self.heap.new_list(items)?))
    }
}

/// The text before one of these characters, which is taken too, or before the end. A backslash makes the next character
/// part of the text, and is nothing at the end.
pub(super) fn until(rest: &mut Chars<'_>, stops: &[char]) -> (String, Option<char>) {
    let mut text = String::new();
    while let Some(character) = rest.next() {
        match character {
            stop if stops.contains(&stop) => return (text, Some(stop)),
            '\\' => text.extend(rest.next()),
            other => text.push(other),
        }
    }
    (text, None)
}

fn read(value: &str, reading: Reading) -> Node {
    match reading {
        Reading::Text => text(value),
        Reading::Typed => typed(value),
    }
}

fn text(value: &str) -> Node {
    Node::Text(Rc::from(value))
}

fn typed(value: &str) -> Node {
    // Go takes `ſ` for an `s` where it ignores case.
    let word = value.replace('ſ', "s");
    let is = |typed: &str| word.eq_ignore_ascii_case(typed);
    if is("true") {
        Node::Truth(true)
    } else if is("false") {
        Node::Truth(false)
    } else if is("null") {
        Node::Null
    } else if value.starts_with('0') && value != "0" {
        // A number with a zero before it stays a text, so that account ids keep it.
        text(value)
    } else {
        value.parse().map_or_else(|_| text(value), Node::Integer)
    }
}
