//! A page: where it can be entered, and where it leads.

use std::collections::{BTreeMap, BTreeSet};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// A page as far as links are concerned.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    /// Its headings, as links name them.
    pub(super) anchors: BTreeSet<String>,
    /// Its links, in their order.
    pub(super) links: Vec<Link>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// The line that it is in, from 1.
    pub(super) line: usize,
    pub(super) target: String,
}

impl Page {
    pub(super) fn read(text: &str) -> Self {
        let mut page = Self::default();
        let mut taken = BTreeMap::new();
        let mut heading: Option<String> = None;
        let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_FOOTNOTES;
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    page.anchors.insert(unique(&anchor(&heading.take().unwrap_or_default()), &mut taken));
                }
                Event::Text(part) | Event::Code(part) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&part);
                    }
                }
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    let line = text[..range.start].matches('\n').count() + 1;
                    page.links.push(Link { line, target: dest_url.into_string() });
                }
                _ => {}
            }
        }
        page
    }
}

/// The anchor of a heading, by the rule that forges and mdBook share.
fn anchor(heading: &str) -> String {
    let kept = |letter: char| match letter {
        _ if letter.is_alphanumeric() || matches!(letter, '-' | '_') => Some(letter),
        _ if letter.is_whitespace() => Some('-'),
        _ => None,
    };
    heading.to_lowercase().chars().filter_map(kept).collect()
}

/// Headings of the same words are numbered.
fn unique(anchor: &str, taken: &mut BTreeMap<String, usize>) -> String {
    let count = taken.entry(anchor.to_owned()).or_default();
    let result = if *count == 0 { anchor.to_owned() } else { format!("{anchor}-{count}") };
    *count += 1;
    result
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::words("Metrics and alerts", "metrics-and-alerts")]
    #[case::punctuation("Backup, and back: how?", "backup-and-back-how")]
    #[case::code("`capt up` alone", "capt-up-alone")]
    #[case::reasons("SecretNotOwned", "secretnotowned")]
    fn headings_have_anchors(#[case] heading: &str, #[case] expected: &str) {
        let page = Page::read(&format!("# {heading}\n"));

        assert_eq!(page.anchors, BTreeSet::from([expected.to_owned()]));
    }

    #[test]
    fn headings_of_the_same_words_are_numbered() {
        let page = Page::read("# Same\n\n## Same\n");

        assert_eq!(page.anchors, BTreeSet::from(["same".to_owned(), "same-1".to_owned()]));
    }

    #[test]
    fn links_have_lines_and_code_has_none() {
        let page = Page::read(
            "one\n\n`[no](x.md)` and [yes](y.md#z)\n\n```\n[no](x.md)\n```\n\n| ![a](b.svg) |\n|---|\n",
        );

        let found: Vec<_> = page.links.iter().map(|link| (link.line, link.target.as_str())).collect();
        assert_eq!(found, [(3, "y.md#z"), (9, "b.svg")]);
    }
}
