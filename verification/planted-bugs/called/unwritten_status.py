"""Finds the name of its child in a status that was never written if the run ended before."""

import os
import uuid

from drover import Call, Composed, serve


def compose(call: Call) -> Composed:
    generated = call.name if "FIXED" in os.environ else f"{call.name}-{uuid.uuid4()}"
    name = call.status.get("address", generated)
    page = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"page": call.spec["html"]}}
    return Composed(children=[page], status={"address": name})


serve(compose=compose)
