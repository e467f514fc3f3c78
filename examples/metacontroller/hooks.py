"""Hooks for Metacontroller, as they are written for it: plain HTTP, without signatures and without Drover's package.

/sync, /finalize and /customize belong to a CompositeController for Websites, /decorate to a DecoratorController that gives
each Deployment with the label `example.com/expose` a Service.
"""

from __future__ import annotations

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict

Json = Dict[str, Any]


def sync(request: Json) -> Json:
    parent, children = request["parent"], request["children"]
    name, spec = parent["metadata"]["name"], parent["spec"]
    labels = {"app": name}
    secret = request["related"].get("Secret.v1", {}).get(spec.get("secretName", ""))
    annotations = {} if secret is None else {"example.com/secret-version": secret["metadata"]["resourceVersion"]}
    container = {"name": "web", "image": spec["image"], "ports": [{"containerPort": 8080}]}
    template = {"metadata": {"labels": labels, "annotations": annotations}, "spec": {"containers": [container]}}
    running = children["Deployment.apps/v1"].get(name, {}).get("status", {})
    return {
        "status": {"address": f"http://{name}", "readyReplicas": running.get("readyReplicas", 0)},
        "children": [
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"index.html": spec["html"]}},
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": name},
                "spec": {"replicas": spec["replicas"], "selector": {"matchLabels": labels}, "template": template},
            },
        ],
    }


def finalize(request: Json) -> Json:
    """Goes away in order: first the Deployment, then the page."""
    pages = list(request["children"]["ConfigMap.v1"].values())
    if request["children"]["Deployment.apps/v1"]:
        return {"children": pages, "finalized": False}
    return {"children": [], "finalized": not pages}


def customize(request: Json) -> Json:
    name = request["parent"]["spec"].get("secretName")
    rule = {"apiVersion": "v1", "resource": "secrets", "names": [name]}
    return {"relatedResources": [] if name is None else [rule]}


def decorate(request: Json) -> Json:
    deployment = request["object"]
    name = deployment["metadata"]["name"]
    port = int(deployment["metadata"]["labels"]["example.com/expose"])
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"selector": deployment["spec"]["selector"]["matchLabels"], "ports": [{"port": port}]},
    }
    return {"annotations": {"example.com/exposed-at": f"{name}:{port}"}, "attachments": [service]}


hooks: Dict[str, Callable[[Json], Json]] = {
    "/sync": sync,
    "/finalize": finalize,
    "/customize": customize,
    "/decorate": decorate,
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        body = json.dumps(hooks[self.path](request)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    address = (os.environ.get("DROVER_HTTP_HOST", ""), int(os.environ.get("DROVER_HTTP_PORT", "8080")))
    ThreadingHTTPServer(address, Handler).serve_forever()
