//! A function for Website objects: each gets a page in a ConfigMap, a Deployment that serves it, and a Service.
//! It only declares these children. Drover creates them, keeps them as they are declared, and deletes them.

use std::process::ExitCode;

use drover::{Again, Call, Composed, Function, Result};
use serde::Deserialize;
use serde_json::{Value, json};

#[cfg(test)]
mod tests;

/// The fields that users set.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    html: String,
    image: String,
    replicas: i64,
    /// A Secret with environment variables of the web server.
    secret_name: Option<String>,
}

async fn compose(call: Call) -> Result {
    let spec: Spec = call.spec()?;
    let secret = spec
        .secret_name
        .as_ref()
        .and_then(|secret| call.related.get("v1", "Secret", secret));
    if let (Some(name), None) = (&spec.secret_name, secret) {
        return Ok(Again::because("10m", "NoSecret", format!("Create the Secret {name}.")).into());
    }
    let name = call.name();
    let labels = json!({"app.kubernetes.io/name": "website", "app.kubernetes.io/instance": name});
    let running = call.children.get("apps/v1", "Deployment", name);
    let ready = running
        .and_then(|deployment| deployment["status"]["readyReplicas"].as_i64())
        .unwrap_or(0);
    let status = json!({"address": format!("http://{name}.{}.svc", call.namespace()), "readyReplicas": ready});
    let children = [
        config_map(name, &spec),
        deployment(name, &spec, &labels, secret),
        service(name, &labels),
    ];
    Ok(Composed {
        status: Some(status),
        ..Composed::of(children)
    }
    .into())
}

fn config_map(name: &str, spec: &Spec) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"index.html": spec.html}})
}

fn deployment(name: &str, spec: &Spec, labels: &Value, secret: Option<&Value>) -> Value {
    let mut container = json!({
        "name": "web",
        "image": spec.image,
        "ports": [{"name": "http", "containerPort": 8080}],
        "readinessProbe": {"httpGet": {"path": "/", "port": "http"}},
        "volumeMounts": [{"name": "page", "mountPath": "/usr/share/nginx/html", "readOnly": true}],
    });
    let mut metadata = json!({"labels": labels});
    if let Some(secret) = secret {
        container["envFrom"] = json!([{"secretRef": {"name": spec.secret_name}}]);
        // A new version of the Secret replaces the Pods.
        metadata["annotations"] =
            json!({"example.com/secret-version": secret["metadata"]["resourceVersion"]});
    }
    let pod = json!({
        "containers": [container],
        "volumes": [{"name": "page", "configMap": {"name": name}}],
    });
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": spec.replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": metadata, "spec": pod},
        },
    })
}

fn service(name: &str, labels: &Value) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"selector": labels, "ports": [{"name": "http", "port": 80, "targetPort": "http"}]},
    })
}

fn main() -> ExitCode {
    drover::serve(Function::new().compose(compose))
}
