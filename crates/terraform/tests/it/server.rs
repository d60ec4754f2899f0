//! A little server that keeps a state, and can refuse to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What the server knows.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) state: Vec<u8>,
    pub(crate) lock: Option<String>,
    pub(crate) refuses: bool,
}

/// Serves Terraform's `http` backend until the process ends.
pub(crate) struct StateServer {
    pub(crate) address: String,
    pub(crate) kept: Arc<Mutex<Kept>>,
}

impl StateServer {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let kept = Arc::new(Mutex::new(Kept::default()));
        thread::spawn({
            let kept = Arc::clone(&kept);
            move || listener.incoming().flatten().for_each(|stream| answer(stream, &kept))
        });
        Self { address, kept }
    }
}

fn answer(stream: TcpStream, kept: &Mutex<Kept>) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let method = line.split(' ').next().unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        if header.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let (status, content) = decide(&method, body, &mut kept.lock().unwrap());
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", content.len());
    let mut stream = reader.into_inner();
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&content).unwrap();
}

fn decide(method: &str, body: Vec<u8>, kept: &mut Kept) -> (&'static str, Vec<u8>) {
    match method {
        "GET" if kept.state.is_empty() => ("404 Not Found", Vec::new()),
        "GET" => ("200 OK", kept.state.clone()),
        // Not a 5xx, which would be tried again for a while.
        "POST" if kept.refuses => ("403 Forbidden", Vec::new()),
        "POST" => {
            kept.state = body;
            ("200 OK", Vec::new())
        }
        "LOCK" if kept.lock.is_some() => ("423 Locked", kept.lock.clone().unwrap().into_bytes()),
        "LOCK" => {
            kept.lock = Some(String::from_utf8(body).unwrap());
            ("200 OK", Vec::new())
        }
        "UNLOCK" => {
            kept.lock = None;
            ("200 OK", Vec::new())
        }
        _ => ("400 Bad Request", Vec::new()),
    }
}
