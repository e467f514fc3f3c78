//! Connections of strangers, who know no secret.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, Semaphore};

use super::handlers::gated;
use super::{Body, Served, request, rest, write};
use crate::waiting::Waiting;
use crate::{Answer, Call, Function};

const MINUTE: Duration = Duration::from_secs(60);

fn function() -> Function {
    Function::new().reconcile(|_: Call| async { Ok(Answer::Finalized) })
}

const HEADERS: &str = "POST / HTTP/1.1\r\nhost: a\r\ncontent-le";
const BODY: &str = "POST / HTTP/1.1\r\ncontent-length: 2000000\r\n\r\n{";

#[tokio::test]
async fn a_connection_without_a_complete_call_is_closed_after_a_time() {
    let served = Served::start(
        "slow",
        function(),
        Waiting::new(8, Duration::from_millis(1)),
        MINUTE,
    )
    .await;
    for sent in ["", HEADERS, BODY] {
        let stranger = served.open(sent.as_bytes()).await;
        assert_eq!(rest(&stranger).await, "", "{sent}");
    }
    served.stop().await;
}

#[tokio::test]
async fn a_connection_that_sends_a_byte_now_and_then_is_closed_all_the_same() {
    let served = Served::start(
        "drip",
        function(),
        Waiting::new(8, Duration::from_millis(1)),
        MINUTE,
    )
    .await;
    let stranger = served.open(BODY.as_bytes()).await;
    while write(&stranger, b" ").await.is_ok() {
        tokio::task::yield_now().await;
    }
    served.stop().await;
}

#[tokio::test]
async fn the_oldest_is_closed_when_there_are_too_many_and_a_call_is_answered() {
    let served = Served::start("many", function(), Waiting::new(8, MINUTE), MINUTE).await;
    let mut strangers = Vec::new();
    for i in 0..100 {
        strangers.push(served.open([HEADERS, BODY][i % 2].as_bytes()).await);
    }
    let (status, body) = served.post("t1", &Body::default().text()).await;
    assert_eq!((status, body.as_str()), (200, r#"{"outcome":"finalized"}"#));
    for stranger in &strangers[..92] {
        assert_eq!(rest(stranger).await, "");
    }
    served.stop().await;
}

#[tokio::test]
async fn a_connection_with_a_call_in_progress_is_not_closed() {
    let (begun, end) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
    let waiting = Waiting::new(1, Duration::from_millis(1));
    let served = Served::start("busy", gated(&begun, &end), waiting, MINUTE).await;
    let called = served.open(&request("t1", &Body::default().text())).await;
    begun.notified().await;
    // One is closed because there are too many, the other after a time.
    for other in [served.open(b"").await, served.open(b"").await] {
        assert_eq!(rest(&other).await, "");
    }
    end.add_permits(1);
    assert!(rest(&called).await.ends_with(r#""status":"in time"}"#));
    served.stop().await;
}

#[tokio::test]
async fn requests_that_are_no_calls_are_refused_without_a_signature() {
    let served = Served::start("refused", function(), Waiting::new(8, MINUTE), MINUTE).await;
    let chunk = "a".repeat(0x10000);
    let many_chunks = format!(
        "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n{}",
        format!("10000\r\n{chunk}\r\n").repeat(33)
    );
    let many_headers = format!("POST / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(1_000));
    let long_header = format!("POST / HTTP/1.1\r\na: {}\r\n\r\n", "b".repeat(100_000));
    let call = String::from_utf8(request("t1", &Body::default().text())).unwrap();
    for (sent, status) in [
        (
            "POST / HTTP/1.1\r\ncontent-length: 3000000\r\nexpect: 100-continue\r\n\r\n",
            "413",
        ),
        (&many_chunks, "400"),
        (&many_headers, "431"),
        (&long_header, "431"),
        ("nonsense\r\n\r\n", "400"),
        (
            "POST / HTTP/1.1\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}",
            "400",
        ),
        ("POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}", "401"),
        (
            &call.replace("content-length", "content-encoding: gzip\r\ncontent-length"),
            "415",
        ),
        (&call.replace("POST", "PUT"), "405"),
        (&call.replace("web/f", "web/g"), "401"),
    ] {
        let stranger = served.open(sent.as_bytes()).await;
        let response = rest(&stranger).await;
        assert_eq!(response.get(9..12), Some(status), "{sent:.60}: {response}");
        assert!(!response.contains("webhook-signature"), "{response}");
    }
    let probe = served
        .open(b"GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n")
        .await;
    assert!(rest(&probe).await.starts_with("HTTP/1.1 200"));
    served.stop().await;
}

#[tokio::test]
async fn a_stranger_does_not_hold_up_the_end_of_the_process() {
    let served = Served::start("end", function(), Waiting::new(8, MINUTE), MINUTE).await;
    let (headers, body) = (
        served.open(HEADERS.as_bytes()).await,
        served.open(BODY.as_bytes()).await,
    );
    served.stop().await;
    assert_eq!(
        (rest(&headers).await, rest(&body).await),
        (String::new(), String::new())
    );
}
