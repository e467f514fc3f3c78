"""A function for Website objects: each gets a page in a ConfigMap, a Deployment that serves it, and a Service.

It only declares these children. Drover creates them, keeps them as they are declared, and deletes them.
"""

from __future__ import annotations

from typing import Any

from drover import Call, Composed, serve


def compose(call: Call) -> Composed:
    name, spec = call.name, call.spec
    labels = {"app.kubernetes.io/name": "website", "app.kubernetes.io/instance": name}
    running = call.children.get("apps/v1", "Deployment", name) or {}
    return Composed(
        children=[config_map(name, spec), deployment(name, spec, labels), service(name, labels)],
        status={
            "address": f"http://{name}.{call.namespace}.svc",
            "readyReplicas": running.get("status", {}).get("readyReplicas", 0),
        },
    )


def config_map(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"index.html": spec["html"]}}


def deployment(name: str, spec: dict[str, Any], labels: dict[str, str]) -> dict[str, Any]:
    container = {
        "name": "web",
        "image": spec["image"],
        "ports": [{"name": "http", "containerPort": 8080}],
        "readinessProbe": {"httpGet": {"path": "/", "port": "http"}},
        "volumeMounts": [{"name": "page", "mountPath": "/usr/share/nginx/html", "readOnly": True}],
    }
    pod = {"containers": [container], "volumes": [{"name": "page", "configMap": {"name": name}}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": spec["replicas"],
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
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
