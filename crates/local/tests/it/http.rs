//! A web server on the loopback interface that knows a few files.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

pub(crate) struct Http {
    pub(crate) url: String,
    requests: Arc<AtomicUsize>,
}

impl Http {
    pub(crate) fn serving(files: impl IntoIterator<Item = (&'static str, Vec<u8>)>) -> Self {
        let files: HashMap<&str, Vec<u8>> = files.into_iter().collect();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                counter.fetch_add(1, Ordering::Relaxed);
                answer(stream, &files);
            }
        });
        Self { url, requests }
    }

    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }
}

fn answer(mut stream: TcpStream, files: &HashMap<&str, Vec<u8>>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let request = lines.next().unwrap_or_default();
    let _headers = lines.take_while(|line| !line.is_empty()).count();
    let file = request.split(' ').nth(1).and_then(|path| files.get(path));
    let (status, body) = file.map_or(("404 Not Found", &[][..]), |body| ("200 OK", body));
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}
