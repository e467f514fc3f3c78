//! What the conformance suite cannot see from outside: overlapping runs, bounds, strangers, and how a process ends.

mod handlers;
mod history;
mod messages;
mod strangers;

use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::Function;
use crate::server::Server;
use crate::settings::Settings;
use crate::signing::{FolderSecrets, signatures};
use crate::waiting::Waiting;

const SECRET: [u8; 32] = [7; 32];

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs()
}

/// The body of a call with these fields; a call of the key web/a otherwise.
struct Body {
    token: String,
    version: u64,
    key: String,
    timeout: Duration,
    spec: String,
}

impl Default for Body {
    fn default() -> Self {
        let (token, key, spec) = ("t1".into(), "web/a".into(), "{}".into());
        Self {
            token,
            version: 1,
            key,
            timeout: Duration::from_secs(60),
            spec,
        }
    }
}

impl Body {
    fn text(&self) -> String {
        let Self {
            token,
            version,
            key,
            timeout,
            spec,
        } = self;
        let deadline = humantime::format_rfc3339(SystemTime::now() + *timeout);
        format!(
            r#"{{"type":"dev.drover.reconcile.v2","audience":{{"name":"web/f","uid":"f"}},"key":"{key}","token":"{token}",
            "deadline":"{deadline}","object":{{"metadata":{{"name":"a","resourceVersion":"{version}"}},"spec":{spec}}}}}"#
        )
    }
}

/// A folder with the secret, as a Secret is mounted.
struct Folder(PathBuf);

impl Folder {
    fn with(name: &str, current: &str) -> Self {
        let path = std::env::temp_dir().join(format!("drover-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("current"), current).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

/// A served function.
struct Served {
    address: String,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<()>,
    _folder: Folder,
}

impl Served {
    async fn start(
        name: &str,
        function: Function,
        waiting: Arc<Waiting>,
        stop_grace: Duration,
    ) -> Self {
        let folder = Folder::with(name, &format!("whsec_{}", BASE64_STANDARD.encode(SECRET)));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let settings = Settings {
            audience: "web/f".into(),
            uid: Some("f".into()),
            secrets: String::new(),
            host: String::new(),
            port: 0,
            stop_grace,
        };
        let server = Server::new(
            function,
            settings,
            FolderSecrets::open(&folder.0).unwrap(),
            waiting,
        );
        let (stop, stopped) = oneshot::channel();
        let ended = tokio::spawn(server.serve_until(async { drop(stopped.await) }, listener));
        Self {
            address,
            stop,
            ended,
            _folder: folder,
        }
    }

    /// A connection on which this was sent.
    async fn open(&self, sent: &[u8]) -> TcpStream {
        let stream = TcpStream::connect(&self.address).await.unwrap();
        write(&stream, sent).await.unwrap();
        stream
    }

    /// The status and the body of the response to a signed body.
    async fn post(&self, token: &str, body: &str) -> (u16, String) {
        let stream = self.open(&request(token, body)).await;
        let response = rest(&stream).await;
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        (head[9..12].parse().unwrap(), body.into())
    }

    async fn stop(self) {
        self.stop.send(()).unwrap();
        self.ended.await.unwrap();
    }
}

fn request(token: &str, body: &str) -> Vec<u8> {
    let (at, length) = (now().to_string(), body.len());
    let signature = signatures(&[SECRET.into()], token, &at, body.as_bytes());
    format!(
        "POST / HTTP/1.1\r\nconnection: close\r\ncontent-length: {length}\r\nwebhook-id: {token}\r\n\
         webhook-timestamp: {at}\r\nwebhook-signature: {signature}\r\n\r\n{body}"
    )
    .into()
}

async fn write(stream: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.writable().await?;
        match stream.try_write(bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => (),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// What comes until the server closes the connection. One that is closed while something was not read is reset.
async fn rest(stream: &TcpStream) -> String {
    let (mut all, mut part) = (Vec::new(), [0; 4_096]);
    loop {
        stream.readable().await.unwrap();
        match stream.try_read(&mut part) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => (),
            Ok(0) | Err(_) => break,
            Ok(count) => all.extend_from_slice(&part[..count]),
        }
    }
    String::from_utf8(all).unwrap()
}
