"""A function for Website objects: each gets a page in a ConfigMap, a Deployment that serves it, and a Service.

It only declares these children. Drover creates them, keeps them as they are declared, and deletes them.
"""

from __future__ import annotations

from typing import Any, Optional

from drover import Again, Answer, Call, Composed, serve


def compose(call: Call) -> Answer:
    name, spec = call.name, call.spec
    secret = call.related.get("v1", "Secret", spec.get("secretName", ""))
    if secret is None and "secretName" in spec:
        return Again(after="10m", reason="NoSecret", message=f"Create the Secret {spec['secretName']}.")
    labels = {"app.kubernetes.io/name": "website", "app.kubernetes.io/instance": name}
    running = call.children.get("apps/v1", "Deployment", name) or {}
    return Composed(
        children=[config_map(name, spec), deployment(name, spec, labels, secret), service(name, labels)],
        status={
            "address": f"http://{name}.{call.namespace}.svc",
            "readyReplicas": running.get("status", {}).get("readyReplicas", 0),
        },
    )


def config_map(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"index.html": spec["html"]}}


def deployment(
    name: str, spec: dict[str, Any], labels: dict[str, str], secret: Optional[dict[str, Any]]
) -> dict[str, Any]:
    container: dict[str, Any] = {
        "name": "web",
        "image": spec["image"],
        "ports": [{"name": "http", "containerPort": 8080}],
        "readinessProbe": {"httpGet": {"path": "/", "port": "http"}},
        "volumeMounts": [{"name": "page", "mountPath": "/usr/share/nginx/html", "readOnly": True}],
    }
    metadata: dict[str, Any] = {"labels": labels}
    if secret is not None:
        container["envFrom"] = [{"secretRef": {"name": spec["secretName"]}}]
        # A new version of the Secret replaces the Pods.
        metadata["annotations"] = {"example.com/secret-version": secret["metadata"]["resourceVersion"]}
    pod = {"containers": [container], "volumes": [{"name": "page", "configMap": {"name": name}}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": spec["replicas"],
            "selector": {"matchLabels": labels},
            "template": {"metadata": metadata, "spec": pod},
        },
    }


def service(name: str, labels: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"selector": labels, "ports": [{"name": "http", "port": 80, "targetPort": "http"}]},
    }


if __name__ == "__main__":
    serve(compose=compose)
