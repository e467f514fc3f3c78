use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio::sync::{Notify, Semaphore};

use super::{Body, Served, request, rest};
use crate::testing::call_for;
use crate::waiting::Waiting;
use crate::{Call, CallType, Done, Function};

const MINUTE: Duration = Duration::from_secs(60);

fn waiting() -> Arc<Waiting> {
    Waiting::new(8, MINUTE)
}

async fn answer_of(function: Function, r#type: CallType) -> serde_json::Value {
    let call = Call {
        r#type,
        ..call_for("a", json!({"name": {"first": 1}}))
    };
    serde_json::to_value(function.run(call).await).unwrap()
}

#[tokio::test]
async fn an_error_a_panic_and_an_unreadable_spec_are_answers() {
    #[derive(Debug, Deserialize)]
    struct Name {
        #[serde(rename = "first")]
        _first: String,
    }
    #[derive(Debug, Deserialize)]
    struct Spec {
        #[serde(rename = "name")]
        _name: Name,
    }
    let unreadable = Function::new().reconcile(|call: Call| async move {
        call.spec::<Spec>()?;
        unreachable!()
    });
    let parked = answer_of(unreadable, CallType::Reconcile).await;
    assert_eq!(
        (&parked["outcome"], &parked["reason"]),
        (&json!("parked"), &json!("InvalidSpec"))
    );
    assert!(
        parked["message"]
            .as_str()
            .unwrap()
            .starts_with("spec.name.first: invalid type"),
        "{parked}"
    );

    let fails = Function::new().reconcile(|_| async { Err("é".repeat(40_000).into()) });
    let failed = answer_of(fails, CallType::Reconcile).await;
    assert_eq!(
        (
            failed["outcome"].as_str(),
            failed["message"].as_str().unwrap().len()
        ),
        (Some("failed"), 32_768)
    );

    async fn panics(_: Call) -> crate::Result {
        panic!("a bug with a secret")
    }
    let message = "the function panicked: see its log";
    let failed = json!({"outcome": "failed", "message": message});
    assert_eq!(
        answer_of(Function::new().reconcile(panics), CallType::Reconcile).await,
        failed
    );
    let at_once = Function::new().reconcile(|_| -> std::future::Ready<crate::Result> { panic!() });
    assert_eq!(answer_of(at_once, CallType::Reconcile).await, failed);
}

#[tokio::test]
async fn a_call_without_a_handler_has_an_answer_that_says_what_to_do() {
    assert_eq!(
        answer_of(Function::new(), CallType::Finalize).await,
        json!({"outcome": "finalized"})
    );
    assert_eq!(
        answer_of(Function::new(), CallType::Compose).await["reason"],
        "NotComposed"
    );
    assert_eq!(
        answer_of(Function::new(), CallType::Reconcile).await["outcome"],
        "parked"
    );
}

/// A handler that notifies `begun`, and is done when `end` has a permit.
pub(super) fn gated(begun: &Arc<Notify>, end: &Arc<Semaphore>) -> Function {
    let (begun, end) = (begun.clone(), end.clone());
    Function::new().reconcile(move |_| {
        let (begun, end) = (begun.clone(), end.clone());
        async move {
            begun.notify_one();
            let _permit = end.acquire().await?;
            Ok(Done {
                status: Some(json!("in time")),
                ..Done::default()
            }
            .into())
        }
    })
}

#[tokio::test]
async fn calls_in_progress_end_within_the_grace_or_are_stopped() {
    for (grace, expected) in [(MINUTE, "done"), (Duration::ZERO, "conflict")] {
        let (begun, end) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
        let served = Served::start(
            &format!("grace-{expected}"),
            gated(&begun, &end),
            waiting(),
            grace,
        )
        .await;
        let stream = served.open(&request("t1", &Body::default().text())).await;
        begun.notified().await;
        let address = served.address.clone();
        let stopping = tokio::spawn(served.stop());
        // It listens no longer.
        while tokio::net::TcpStream::connect(&address).await.is_ok() {
            tokio::task::yield_now().await;
        }
        if grace > Duration::ZERO {
            end.add_permits(1);
        }
        let response = rest(&stream).await;
        assert!(
            response.contains(&format!(r#"{{"outcome":"{expected}""#)),
            "{response}"
        );
        assert!(response.contains("webhook-signature: v1,"), "{response}");
        stopping.await.unwrap();
    }
}

#[tokio::test]
async fn a_run_ends_at_its_deadline_and_the_next_of_its_key_runs_then() {
    let (begun, end) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
    let served = Served::start("deadline", gated(&begun, &end), waiting(), MINUTE).await;
    let hurried = Body {
        timeout: Duration::from_millis(200),
        ..Body::default()
    };
    let (_, stopped) = served.post("t1", &hurried.text()).await;
    assert!(stopped.contains("conflict"), "{stopped}");
    end.add_permits(1);
    let next = Body {
        token: "t2".into(),
        version: 2,
        ..Body::default()
    };
    let (_, done) = served.post("t2", &next.text()).await;
    assert_eq!(done, r#"{"outcome":"done","status":"in time"}"#);
    served.stop().await;
}

#[tokio::test]
async fn a_run_continues_when_its_connection_breaks() {
    let (begun, end) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
    let served = Served::start("breaks", gated(&begun, &end), waiting(), MINUTE).await;
    let body = Body::default().text();
    let broken = served.open(&request("t1", &body)).await;
    begun.notified().await;
    drop(broken);
    let again = served.open(&request("t1", &body)).await;
    end.add_permits(1);
    let response = rest(&again).await;
    assert!(
        response.ends_with(r#"{"outcome":"done","status":"in time"}"#),
        "{response}"
    );
    served.stop().await;
}

#[tokio::test]
async fn a_connection_carries_one_call_after_the_other() {
    let (begun, end) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(1)));
    let served = Served::start("kept", gated(&begun, &end), waiting(), MINUTE).await;
    let first = String::from_utf8(request("t1", &Body::default().text())).unwrap();
    let second = Body {
        token: "t2".into(),
        version: 2,
        ..Body::default()
    };
    let both = [
        first.replace("connection: close\r\n", "").into(),
        request("t2", &second.text()),
    ]
    .concat();
    let responses = rest(&served.open(&both).await).await;
    assert_eq!(
        responses.matches(r#""status":"in time""#).count(),
        2,
        "{responses}"
    );
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_handler_that_blocks_keeps_others_of_its_key_from_running() {
    let (begun, end) = (
        Arc::new(Notify::new()),
        Arc::new(std::sync::Barrier::new(2)),
    );
    let (begins, ends) = (begun.clone(), end.clone());
    let blocks = Function::new().reconcile(move |call: Call| {
        let (begins, ends) = (begins.clone(), ends.clone());
        async move {
            if call.token == "t1" {
                begins.notify_one();
                ends.wait();
            }
            Ok(Done::default().into())
        }
    });
    let served = Served::start("blocks", blocks, waiting(), MINUTE).await;
    let first = served.open(&request("t1", &Body::default().text())).await;
    begun.notified().await;
    let hurried = Body {
        token: "t2".into(),
        version: 2,
        timeout: Duration::from_millis(200),
        ..Body::default()
    };
    let (_, second) = served.post("t2", &hurried.text()).await;
    tokio::task::spawn_blocking(move || end.wait())
        .await
        .unwrap();
    rest(&first).await;
    assert!(second.contains("conflict"), "{second}");
    served.stop().await;
}
