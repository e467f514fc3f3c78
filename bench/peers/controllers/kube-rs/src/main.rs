//! The same controller with kube-rs.
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::StreamExt;
use kube::{
    Api, Client, CustomResource, ResourceExt,
    api::{Patch, PatchParams},
    runtime::{
        controller::{Action, Config, Controller},
        watcher,
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "peers.drover.dev", version = "v1", kind = "Gauge", namespaced, status = "GaugeStatus")]
struct GaugeSpec {
    turn: i64,
    notes: Option<String>,
    fails: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GaugeStatus {
    observed_generation: Option<i64>,
}

struct Context {
    client: Client,
    work: Duration,
    runs: AtomicU64,
}

async fn reconcile(gauge: Arc<Gauge>, context: Arc<Context>) -> Result<Action, kube::Error> {
    context.runs.fetch_add(1, Ordering::Relaxed);
    let generation = gauge.metadata.generation;
    if gauge.status.as_ref().and_then(|status| status.observed_generation) >= generation {
        return Ok(Action::await_change());
    }
    if gauge.spec.fails == Some(true) {
        return Err(kube::Error::Service("it is to fail".into()));
    }
    if !context.work.is_zero() {
        tokio::time::sleep(context.work).await; // of 0 ms it takes one
    }
    let api: Api<Gauge> = Api::namespaced(context.client.clone(), &gauge.namespace().unwrap_or_default());
    let status = json!({ "status": { "observedGeneration": generation } });
    api.patch_status(&gauge.name_any(), &PatchParams::default(), &Patch::Merge(&status)).await?;
    Ok(Action::await_change())
}

fn error_policy(_: Arc<Gauge>, _: &kube::Error, _: Arc<Context>) -> Action {
    Action::requeue(Duration::from_secs(5))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workers = std::env::var("BENCH_WORKERS")?.parse()?;
    let work = Duration::from_millis(std::env::var("BENCH_WORK_MS")?.parse()?);
    let client = Client::try_default().await?;
    let context = Arc::new(Context { client: client.clone(), work, runs: AtomicU64::new(0) });
    Controller::new(Api::<Gauge>::all(client), watcher::Config::default())
        .with_config(Config::default().concurrency(workers))
        .shutdown_on_signal()
        .run(reconcile, error_policy, context.clone())
        .for_each(|_| futures::future::ready(()))
        .await;
    std::fs::write(std::env::var("BENCH_RUNS_FILE")?, context.runs.load(Ordering::Relaxed).to_string())?;
    Ok(())
}
