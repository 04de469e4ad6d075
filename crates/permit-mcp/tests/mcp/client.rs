//! A client that sends exactly what it is told to, byte for byte.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// One HTTP request to be.
#[derive(Clone)]
pub(crate) struct Ask {
    address: SocketAddr,
    method: &'static str,
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

/// One HTTP response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Ask {
    pub(crate) fn new(address: SocketAddr, method: &'static str, path: &str) -> Self {
        let ask = Self {
            address,
            method,
            path: path.to_owned(),
            headers: Vec::new(),
            body: String::new(),
        };
        ask.with("Host", &address.to_string())
            .with("Connection", "close")
    }

    /// Adds a header, even one that is there.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers
            .retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    /// Puts a header in the place of one that is there.
    pub(crate) fn set(self, name: &str, value: &str) -> Self {
        self.without(name).with(name, value)
    }

    pub(crate) fn body(mut self, body: impl Into<String>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) async fn send(self) -> Answer {
        let length = self.body.len().to_string();
        let ask = if self.body.is_empty() {
            self
        } else {
            self.with("Content-Length", &length)
        };
        let bytes = ask.head("HTTP/1.1") + &ask.body;
        exchange(ask.address, bytes.as_bytes()).await
    }

    /// Sends the body in chunks, without saying how long it is.
    pub(crate) async fn send_chunked(self) -> Answer {
        let ask = self.with("Transfer-Encoding", "chunked");
        let mut bytes = ask.head("HTTP/1.1").into_bytes();
        for chunk in ask.body.as_bytes().chunks(1000) {
            bytes.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
            bytes.extend(chunk);
            bytes.extend(b"\r\n");
        }
        bytes.extend(b"0\r\n\r\n");
        exchange(ask.address, &bytes).await
    }

    /// Promises a body of some length and sends less.
    pub(crate) async fn send_stalled(self, promised: usize) -> Answer {
        let ask = self.with("Content-Length", &promised.to_string());
        let bytes = ask.head("HTTP/1.1") + &ask.body;
        exchange(ask.address, bytes.as_bytes()).await
    }

    pub(crate) async fn send_http_1_0(self) -> Answer {
        let length = self.body.len().to_string();
        let ask = self.with("Content-Length", &length);
        let bytes = ask.head("HTTP/1.0") + &ask.body;
        exchange(ask.address, bytes.as_bytes()).await
    }

    fn head(&self, version: &str) -> String {
        let mut head = format!("{} {} {version}\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head + "\r\n"
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"));
        serde_json::from_str(&self.body).expect("a JSON body")
    }

    /// The result of a JSON-RPC response.
    pub(crate) fn result(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.body);
        let mut json = self.json();
        assert_eq!(json.get("error"), None);
        json["result"].take()
    }

    /// The code of a JSON-RPC error.
    pub(crate) fn code(&self) -> i64 {
        self.json()["error"]["code"]
            .as_i64()
            .expect("an error code")
    }

    /// The status and the code of a JSON-RPC error.
    pub(crate) fn refusal(&self) -> (u16, i64) {
        (self.status, self.code())
    }

    /// Without the header that tells the time.
    pub(crate) fn timeless(mut self) -> Self {
        self.headers.retain(|(name, _)| name != "date");
        self
    }
}

async fn exchange(address: SocketAddr, bytes: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    // The server may answer and close before it has read everything.
    let _ = stream.write_all(bytes).await;
    let mut raw = Vec::new();
    let _ = stream.read_to_end(&mut raw).await;
    let text = String::from_utf8(raw).expect("text");
    let (head, body) = text.split_once("\r\n\r\n").expect("a whole head");
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1));
    let headers = lines.filter_map(|line| line.split_once(": "));
    Answer {
        status: status.and_then(|code| code.parse().ok()).expect("a status"),
        headers: headers
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        body: body.to_owned(),
    }
}
