//! For tests of your handlers: `answer_of(compose(call_for("a", json!({"html": "Hi"}))))`.

use std::future::Future;
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value, json};

use crate::call::{Call, CallType, Objects};
use crate::function::Result;

/// A call for the object default/`name` with this spec. Its other fields can be set: `Call { children, ..call_for("a", spec) }`.
pub fn call_for(name: &str, spec: Value) -> Call {
    let metadata = json!({"name": name, "namespace": "default", "uid": "1", "resourceVersion": "1", "generation": 1});
    Call {
        r#type: CallType::Reconcile,
        key: format!("default/{name}"),
        token: "token".into(),
        deadline: SystemTime::now() + Duration::from_secs(60),
        object: json!({"apiVersion": "example.com/v1", "kind": "Example", "metadata": metadata, "spec": spec}),
        children: Objects::default(),
        related: Objects::default(),
        fields: Map::new(),
    }
}

/// Waits for a handler.
pub fn answer_of(handler: impl Future<Output = Result>) -> Result {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(handler)
}
