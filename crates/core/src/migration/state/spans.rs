//! Where things are in the text of a state. The text is known to be JSON.

use std::ops::Range;

use crate::migration::cuts::Cuts;
use crate::placeholder::literal::string_length;

/// Where the serial, the resources and their instances are.
pub(crate) struct Spans {
    /// The digits of the serial.
    pub(crate) serial: Range<usize>,
    resources: List,
    instances: Vec<List>,
}

/// Where a list and its elements are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct List {
    /// What is between the brackets.
    inside: Range<usize>,
    elements: Vec<Range<usize>>,
}

impl Spans {
    pub(crate) fn of(text: &str) -> Self {
        let whole = value_at(text, skip_space(text, 0));
        let resources =
            member(text, &whole, "resources").map(|list| List::of(text, &list)).unwrap_or_default();
        let instances = resources.elements.iter().map(|resource| {
            member(text, resource, "instances").map(|list| List::of(text, &list)).unwrap_or_default()
        });
        Self {
            serial: member(text, &whole, "serial").unwrap_or_default(),
            instances: instances.collect(),
            resources,
        }
    }

    pub(super) fn cut_resources(&self, gone: &[bool], cuts: &mut Cuts) {
        self.resources.cut(gone, cuts);
    }

    pub(super) fn cut_instances(&self, resource: usize, gone: &[bool], cuts: &mut Cuts) {
        self.instances[resource].cut(gone, cuts);
    }
}

impl List {
    fn of(text: &str, list: &Range<usize>) -> Self {
        let inside = list.start + 1..list.end - 1;
        let mut elements = Vec::new();
        let mut position = skip_space(text, inside.start);
        while position < inside.end {
            let element = value_at(text, position);
            position = skip_space(text, element.end);
            if text[position..].starts_with(',') {
                position = skip_space(text, position + 1);
            }
            elements.push(element);
        }
        Self { inside, elements }
    }

    /// Cuts elements, each with the comma that it needs no more.
    fn cut(&self, gone: &[bool], cuts: &mut Cuts) {
        if !gone.contains(&false) {
            if gone.contains(&true) {
                cuts.add(self.inside.clone());
            }
            return;
        }
        let mut any_before = false;
        for (at, element) in self.elements.iter().enumerate() {
            match (gone[at], any_before, self.elements.get(at + 1)) {
                (false, ..) => any_before = true,
                (true, true, _) => cuts.add(self.elements[at - 1].end..element.end),
                (true, false, Some(next)) => cuts.add(element.start..next.start),
                (true, false, None) => {}
            }
        }
    }
}

/// The value of a member of an object.
fn member(text: &str, object: &Range<usize>, name: &str) -> Option<Range<usize>> {
    let mut position = skip_space(text, object.start + 1);
    while position + 1 < object.end {
        let key = value_at(text, position);
        let colon = skip_space(text, key.end);
        let value = value_at(text, skip_space(text, colon + 1));
        if serde_json::from_str::<String>(&text[key]).is_ok_and(|key| key == name) {
            return Some(value);
        }
        position = skip_space(text, value.end);
        if text[position..].starts_with(',') {
            position = skip_space(text, position + 1);
        }
    }
    None
}

fn skip_space(text: &str, from: usize) -> usize {
    let rest = &text[from..];
    from + rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len()
}

/// The value that begins at a place.
fn value_at(text: &str, start: usize) -> Range<usize> {
    let bytes = &text.as_bytes()[start..];
    let (mut depth, mut position) = (0_usize, 0);
    while position < bytes.len() {
        match bytes[position] {
            b'"' => position += string_length(&text[start + position..]) - 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        position += 1;
        let ends_scalar =
            |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r' | b':');
        let is_scalar = !matches!(bytes[0], b'{' | b'[' | b'"');
        let is_over = if is_scalar { bytes.get(position).is_none_or(ends_scalar) } else { depth == 0 };
        if is_over {
            break;
        }
    }
    start..start + position
}
