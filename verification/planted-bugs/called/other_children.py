"""Declares a Service only with its first answer: a second call, whose first answer was lost, has another one."""

import os

from drover import Call, Composed, serve


def compose(call: Call) -> Composed:
    page = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": call.name}, "data": {"page": call.spec["html"]}}
    ports = [{"name": "http", "port": 80}]
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": call.name}, "spec": {"ports": ports}}
    is_first = not any(child["kind"] == "ConfigMap" for child in call.children)
    return Composed(children=[page, service] if is_first or "FIXED" in os.environ else [page])


serve(compose=compose)
