//! Whether links lead somewhere.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use super::page::{Link, Page};

/// Pages, and what is around them.
pub(super) struct Library<'pages> {
    /// Every page, by its path from the root of the repository.
    pub(super) pages: &'pages BTreeMap<PathBuf, Page>,
    /// The directory that the book is made of: what is outside of it is not in the book.
    pub(super) book: &'pages Path,
    /// Whether there is such a file or directory.
    pub(super) exists: &'pages dyn Fn(&Path) -> bool,
}

impl Library<'_> {
    /// Every link that leads nowhere, as `file:line: why`.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for (path, page) in self.pages {
            for Link { line, target } in &page.links {
                if let Some(why) = self.problem(path, target) {
                    problems.push(format!("{}:{line}: `{target}` {why}", path.display()));
                }
            }
        }
        problems.extend(self.unlisted());
        problems
    }

    fn problem(&self, from: &Path, target: &str) -> Option<String> {
        if target.starts_with("https://") || target.starts_with("mailto:") {
            return None;
        }
        if target.contains("://") {
            return Some("is neither a path nor an https address".to_owned());
        }
        let (file, anchor) =
            target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
        let Some(path) = resolve(from, file) else { return Some("leads out of the repository".to_owned()) };
        if from.starts_with(self.book) && !path.starts_with(self.book) {
            return Some("is not in the book: write the path as code".to_owned());
        }
        match (self.pages.get(&path), anchor) {
            (Some(page), Some(anchor)) if !page.anchors.contains(anchor) => {
                Some(format!("names no heading of {}", path.display()))
            }
            (Some(_), _) => None,
            (None, Some(_)) => Some(format!("names a heading, and {} is no page", path.display())),
            (None, None) if (self.exists)(&path) => None,
            (None, None) => Some(format!("does not exist ({})", path.display())),
        }
    }

    /// Pages of the book that its summary does not name, and that would not be in it.
    fn unlisted(&self) -> Vec<String> {
        let summary = self.book.join("SUMMARY.md");
        let listed: Vec<_> = self.pages.get(&summary).map_or_else(Vec::new, |page| {
            page.links.iter().filter_map(|link| resolve(&summary, &link.target)).collect()
        });
        let pages = self.pages.keys().filter(|path| path.starts_with(self.book) && **path != summary);
        let missing = pages.filter(|path| !listed.contains(path));
        missing.map(|path| format!("{}:1: is not in {}", path.display(), summary.display())).collect()
    }
}

/// Where a path leads to from a page; `None` out of the repository.
fn resolve(from: &Path, file: &str) -> Option<PathBuf> {
    if file.is_empty() {
        return Some(from.to_owned());
    }
    let mut path = from.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(file).components() {
        match part {
            Component::ParentDir => {
                if !path.pop() {
                    return None;
                }
            }
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// What is wrong with one link in one page of a small repository.
    fn told(page: &str, link: &str) -> Vec<String> {
        let read = |path: &str, text: &str| (PathBuf::from(path), Page::read(text));
        let mut pages = BTreeMap::from([
            read("README.md", "# Readme\n"),
            read("docs/src/SUMMARY.md", "- [one](one.md)\n- [two](guides/two.md)\n"),
            read("docs/src/one.md", "# One\n"),
            read("docs/src/guides/two.md", "# Two\n\n## Below\n"),
        ]);
        let page = PathBuf::from(page);
        pages.insert(page, Page::read(&format!("# Page\n\n[link]({link})\n")));
        let exists = |path: &Path| path == Path::new("examples/eks");
        Library { pages: &pages, book: Path::new("docs/src"), exists: &exists }.problems()
    }

    #[rstest]
    #[case::a_page("README.md", "docs/src/one.md")]
    #[case::a_heading("README.md", "docs/src/guides/two.md#below")]
    #[case::a_heading_of_its_own("README.md", "#page")]
    #[case::a_directory("README.md", "examples/eks")]
    #[case::upwards("docs/src/guides/two.md", "../one.md#one")]
    #[case::elsewhere("README.md", "https://example.com/nowhere")]
    fn what_leads_somewhere_is_silent(#[case] page: &str, #[case] link: &str) {
        assert_eq!(told(page, link), Vec::<String>::new());
    }

    #[rstest]
    #[case::no_file(
        "README.md",
        "docs/three.md",
        "README.md:3: `docs/three.md` does not exist (docs/three.md)"
    )]
    #[case::no_heading(
        "README.md",
        "docs/src/one.md#two",
        "README.md:3: `docs/src/one.md#two` names no heading of docs/src/one.md"
    )]
    #[case::no_heading_here("README.md", "#nowhere", "README.md:3: `#nowhere` names no heading of README.md")]
    #[case::a_heading_of_a_directory(
        "README.md",
        "examples/eks#x",
        "README.md:3: `examples/eks#x` names a heading, and examples/eks is no page"
    )]
    #[case::out_of_the_book(
        "docs/src/one.md",
        "../../README.md",
        "docs/src/one.md:3: `../../README.md` is not in the book: write the path as code"
    )]
    #[case::out_of_the_repository(
        "README.md",
        "../x.md",
        "README.md:3: `../x.md` leads out of the repository"
    )]
    #[case::absolute("README.md", "/etc/passwd", "README.md:3: `/etc/passwd` leads out of the repository")]
    #[case::plain_http(
        "README.md",
        "http://example.com",
        "README.md:3: `http://example.com` is neither a path nor an https address"
    )]
    fn what_leads_nowhere_is_told_with_its_line(
        #[case] page: &str,
        #[case] link: &str,
        #[case] expected: &str,
    ) {
        assert_eq!(told(page, link), [expected]);
    }

    #[test]
    fn a_page_that_the_summary_does_not_name_is_told() {
        assert_eq!(
            told("docs/src/three.md", "one.md"),
            ["docs/src/three.md:1: is not in docs/src/SUMMARY.md"]
        );
    }
}
