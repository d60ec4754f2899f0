use super::*;

fn names(read: &[Read], root: &Path) -> Vec<String> {
    read.iter().map(|one| one.name.replace(&root.display().to_string(), "")).collect()
}

#[test]
fn directories_are_read_in_order_without_what_is_hidden() {
    let root = tempfile::tempdir().unwrap();
    for name in ["b.yaml", "a/z.yml", "a/b.JSON", "readme.md", ".git/x.yaml", ".hidden.yaml"] {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    // A link to itself leads nowhere.
    std::os::unix::fs::symlink(root.path(), root.path().join("a/loop")).unwrap();

    let read = read(&[root.path().to_owned(), root.path().join("b.yaml")]).unwrap();

    assert_eq!(names(&read, root.path()), ["/a/b.JSON", "/a/z.yml", "/b.yaml"]);
}

#[test]
fn what_is_no_text_or_too_large_is_a_finding() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("a.yaml"), [0xff, 0xfe]).unwrap();
    let large = fs::File::create(root.path().join("b.yaml")).unwrap();
    large.set_len(LARGEST + 1).unwrap();

    let read = read(&[root.path().to_owned()]).unwrap();

    let messages: Vec<String> =
        read.iter().filter_map(Read::problem).map(|finding| finding.message).collect();
    assert_eq!(
        messages,
        ["this is not UTF-8 text; write manifests as YAML or JSON", "this is larger than 16 MiB; split it"]
    );
}
