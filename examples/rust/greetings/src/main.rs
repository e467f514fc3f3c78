//! A function that greets: it writes a greeting for `spec.name` into `status.text`.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use drover::{Again, Answer, Call, Done, Function, Result};
use serde::Deserialize;
use serde_json::json;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Spec {
    name: String,
    refuse: bool,
    fail: bool,
    wait: u64,
    hold: bool,
    count: bool,
}

/// For tests of the contract. Not an example to follow: it is lost with the process.
static RUNS: AtomicU64 = AtomicU64::new(0);

async fn reconcile(call: Call) -> Result {
    let runs = RUNS.fetch_add(1, Ordering::SeqCst) + 1;
    let spec: Spec = call.spec()?;
    if spec.refuse {
        return Ok(Answer::parked("NoGreeting", "no greeting for that"));
    }
    if spec.fail {
        return Err("this one always fails".into());
    }
    if spec.wait > 0 {
        return Ok(wait(spec.wait));
    }
    let mut status = json!({"text": format!("Hello, {}!", spec.name)});
    if spec.count {
        status["runs"] = runs.into();
    }
    Ok(Done {
        status: Some(status),
        ..Done::default()
    }
    .into())
}

async fn finalize(call: Call) -> Result {
    let spec: Spec = call.spec()?;
    Ok(if spec.hold {
        wait(1)
    } else {
        Answer::Finalized
    })
}

fn wait(seconds: u64) -> Answer {
    Again::because(format!("{seconds}s"), "TooEarly", "not yet").into()
}

fn main() -> ExitCode {
    drover::serve(Function::new().reconcile(reconcile).finalize(finalize))
}
