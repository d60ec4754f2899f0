use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::thread;

use rstest::rstest;
use tempfile::TempDir;

use super::*;

const CONTENT: &[u8] = b"the archive";

/// Answers one request after the other on a port of its own. Ends with the test's process.
fn serve(answer: impl Fn(&str, &mut TcpStream) -> io::Result<()> + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let request = lines.next().unwrap().unwrap();
            while !lines.next().unwrap().unwrap().is_empty() {}
            // Whoever has heard enough hangs up.
            let _ = answer(&request, &mut stream);
        }
    });
    address
}

fn content(stream: &mut TcpStream) -> io::Result<()> {
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", CONTENT.len())?;
    stream.write_all(CONTENT)
}

fn redirect(stream: &mut TcpStream, location: &str) -> io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )
}

fn digest(content: &[u8]) -> String {
    let mut content = content;
    copy(&mut content, &mut io::sink())
        .map_or_else(|_| panic!("no digest"), |(digits, _)| format!("sha256:{digits}"))
}

struct Kept {
    directory: TempDir,
    store: Store,
}

impl Kept {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Store { directory: directory.path().join("artifacts"), largest: 100_000 };
        Self { directory, store }
    }

    fn fetch(&self, url: &str) -> Result<PathBuf, ArtifactError> {
        self.store.fetch(url, &digest(CONTENT))
    }

    /// What is left of a fetch that failed.
    fn left(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.store.directory).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

#[rstest]
#[case::none("")]
#[case::another_algorithm("sha512:00")]
#[case::no_algorithm(&"0".repeat(64))]
#[case::too_short("sha256:00")]
#[case::a_path("sha256:../../../../../../../../../../../../../../../../../../../../etc/x")]
#[case::upper_case(&format!("sha256:{}", "A".repeat(64)))]
fn a_digest_that_cannot_be_checked_is_refused(#[case] digest: &str) {
    let kept = Kept::new();
    let error = kept.store.fetch("http://127.0.0.1:1/", digest).unwrap_err();
    assert!(matches!(error, ArtifactError::Digest { .. }), "{error}");
}

#[rstest]
#[case::a_file("file:///etc/passwd")]
#[case::another_scheme("ftp://example.org/x")]
#[case::no_scheme("example.org/x")]
#[case::no_host("http:///x")]
#[case::nothing("")]
fn only_http_is_asked(#[case] url: &str) {
    let error = Kept::new().fetch(url).unwrap_err();
    assert!(matches!(error, ArtifactError::Address), "{error}");
}

#[test]
fn content_with_another_digest_is_never_kept() {
    let kept = Kept::new();
    let url = serve(|_, stream| {
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nother")
    });
    let error = kept.fetch(&url).unwrap_err();
    assert!(matches!(error, ArtifactError::OtherContent { .. }), "{error}");
    assert_eq!(kept.left(), Vec::<PathBuf>::new());
}

#[rstest]
#[case::with_its_length("content-length: 99\r\n")]
#[case::in_chunks("transfer-encoding: chunked\r\n")]
fn a_body_that_is_cut_off_is_never_kept(#[case] header: &'static str) {
    let kept = Kept::new();
    let url = serve(move |_, stream| {
        write!(stream, "HTTP/1.1 200 OK\r\n{header}connection: close\r\n\r\n")?;
        if header.contains("chunked") {
            write!(stream, "{:x}\r\n", CONTENT.len())?;
        }
        stream.write_all(CONTENT)
    });
    let error = kept.fetch(&url).unwrap_err();
    assert!(matches!(error, ArtifactError::Fetch { .. }), "{error}");
    assert_eq!(kept.left(), Vec::<PathBuf>::new());
}

#[test]
fn an_endless_body_comes_to_an_end() {
    let kept = Kept::new();
    let url = serve(|_, stream| {
        write!(stream, "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")?;
        loop {
            stream.write_all(&[0; 4096])?;
        }
    });
    let error = kept.fetch(&url).unwrap_err();
    assert!(matches!(error, ArtifactError::TooLarge { .. }), "{error}");
    assert_eq!(kept.left(), Vec::<PathBuf>::new());
}

#[rstest]
#[case::not_found("404 Not Found", "status 404")]
#[case::broken("500 Internal Server Error", "status 500")]
fn a_refusal_is_told_with_the_host_and_nothing_else(#[case] status: &'static str, #[case] told: &str) {
    let url = serve(move |_, stream| {
        write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 6\r\nconnection: close\r\n\r\nsecret")
    });
    let error = Kept::new().fetch(&format!("{url}/password")).unwrap_err().to_string();
    assert!(error.contains("`127.0.0.1`") && error.contains(told), "{error}");
    assert!(!error.contains("secret") && !error.contains("password"), "{error}");
}

#[test]
fn a_host_that_is_not_there_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://user:password@{}/x", listener.local_addr().unwrap());
    drop(listener);
    let error = Kept::new().fetch(&url).unwrap_err().to_string();
    assert!(error.starts_with("it could not be fetched from `127.0.0.1`: "), "{error}");
    assert!(!error.contains("password"), "{error}");
}

#[rstest]
#[case::a_file("file:///etc/passwd")]
#[case::another_scheme("ftp://127.0.0.1/x")]
#[case::in_a_circle("/again")]
fn a_redirect_does_not_lead_astray(#[case] location: &'static str) {
    let kept = Kept::new();
    let url = serve(move |_, stream| redirect(stream, location));
    let error = kept.fetch(&url).unwrap_err();
    assert!(matches!(error, ArtifactError::Fetch { .. }), "{error}");
    assert!(error.to_string().contains("not asked"), "{error}");
    assert_eq!(kept.left(), Vec::<PathBuf>::new());
}

#[test]
fn a_redirect_on_the_same_terms_is_followed() {
    let url = serve(
        |request, stream| {
            if request.contains("/moved") { content(stream) } else { redirect(stream, "/moved") }
        },
    );
    let path = Kept::new().fetch(&url);
    assert!(path.is_ok(), "{path:?}");
}

#[test]
fn an_archive_is_readable_by_its_owner_alone_and_named_after_its_digest() {
    let kept = Kept::new();
    let url = serve(|_, stream| content(stream));

    let path = kept.fetch(&url).unwrap();

    assert_eq!(fs::read(&path).unwrap(), CONTENT);
    let digits = digest(CONTENT).replace("sha256:", "");
    assert_eq!(path, kept.directory.path().join("artifacts").join(format!("{digits}.tar.gz")));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(&kept.store.directory)), (0o600, 0o700));
    assert_eq!(kept.left(), [path]);
}

#[test]
fn what_is_kept_is_not_fetched_again_unless_it_was_damaged() {
    let kept = Kept::new();
    let url = serve(|_, stream| content(stream));
    let path = kept.fetch(&url).unwrap();

    let age = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    File::open(&path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    // Nobody listens there.
    assert_eq!(kept.fetch("http://127.0.0.1:1/").unwrap(), path);
    assert!(age(&path) > SystemTime::UNIX_EPOCH, "it was used just now");

    fs::write(&path, b"damaged").unwrap();
    assert_eq!(kept.fetch(&url).unwrap(), path);
    assert_eq!(fs::read(&path).unwrap(), CONTENT);
}

#[test]
fn what_nobody_uses_is_removed_and_what_is_arriving_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| {
        let path = directory.path().join(name);
        File::create(&path).unwrap();
        path
    };
    let (used, unused) = (file("a.tar.gz"), file("b.tar.gz"));
    let (arriving, given_up) = (file(".incomplete-1"), file(".incomplete-2"));
    File::options().write(true).open(&given_up).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();

    prune(directory.path(), &[used.clone()].into()).unwrap();

    let is_there = |path: &PathBuf| path.exists();
    assert_eq!([&used, &unused, &arriving, &given_up].map(is_there), [true, false, true, false]);
}

#[test]
fn there_need_not_be_anything_to_remove() {
    let directory = tempfile::tempdir().unwrap();
    prune(&directory.path().join("absent"), &BTreeSet::new()).unwrap();
}
