"""Calls for tests of your handlers: ``website = compose(call_for({"html": "Hi"}, name="a"))``."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any, Optional, Sequence

from .call import RECONCILE, Call, Objects


def call_for(
    spec: dict[str, Any],
    *,
    name: str = "a",
    namespace: str = "default",
    status: Optional[dict[str, Any]] = None,
    children: Sequence[dict[str, Any]] = (),
    related: Sequence[dict[str, Any]] = (),
    **fields: Any,
) -> Call:
    """A call as the gateway would send it for an object with this spec.

    :param fields: further fields of the call, such as ``fails=3``.
    """
    metadata = {"name": name, "namespace": namespace, "uid": "1", "resourceVersion": "1", "generation": 1}
    object: dict[str, Any] = {"apiVersion": "example.com/v1", "kind": "Example", "metadata": metadata, "spec": spec}
    if status is not None:
        object["status"] = status
    deadline = datetime.now(timezone.utc) + timedelta(minutes=1)
    return Call(RECONCILE, f"{namespace}/{name}", "token", deadline, object, Objects(children), Objects(related), fields)
