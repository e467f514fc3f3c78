"""Calls: the requests of the gateway, parsed after their signature has been verified."""

from __future__ import annotations

import json
import re
import threading
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Dict, List, Optional

from .refused import Refused

RECONCILE, FINALIZE, COMPOSE = (f"dev.drover.{verb}.v2" for verb in ("reconcile", "finalize", "compose"))


class Objects(List[Dict[str, Any]]):
    """Kubernetes objects."""

    def get(self, api_version: str, kind: str, name: str, namespace: Optional[str] = None) -> Optional[dict[str, Any]]:
        """An object, such as ``call.children.get("apps/v1", "Deployment", "web")``. Without a namespace: of any."""
        for one in self:
            metadata = one["metadata"]
            if (one["apiVersion"], one["kind"], metadata["name"]) == (api_version, kind, name):
                if namespace is None or metadata.get("namespace") == namespace:
                    return one
        return None


@dataclass(frozen=True)
class Call:
    """A call for one object. ``fields`` is its whole body, with fields that this version of the package does not have."""

    type: str
    key: str
    """namespace/name of the object, or its name if the kind is cluster-scoped."""
    token: str
    """Of the run, never used twice: the same token is the same call."""
    deadline: datetime
    """After this time another run may begin: stop by then. Pass ``remaining()`` on as a timeout."""
    object: dict[str, Any]
    """The object, as the run read it."""
    children: Objects
    """For compose: the children that exist. Secrets have only their metadata."""
    related: Objects
    """For compose: the related objects that exist."""
    fields: dict[str, Any]
    over: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)
    """Set when the run must stop before its deadline: a newer run has begun, or the process ends."""

    @property
    def metadata(self) -> dict[str, Any]:
        metadata: dict[str, Any] = self.object["metadata"]
        return metadata

    @property
    def name(self) -> str:
        return str(self.metadata["name"])

    @property
    def namespace(self) -> Optional[str]:
        return self.metadata.get("namespace")

    @property
    def spec(self) -> dict[str, Any]:
        spec: dict[str, Any] = self.object["spec"]
        return spec

    @property
    def status(self) -> dict[str, Any]:
        return self.object.get("status") or {}

    @property
    def fails(self) -> int:
        """The number of failed runs of this key in a row."""
        return int(self.fields.get("fails", 0))

    def remaining(self) -> float:
        """The seconds until the deadline, at least 0."""
        return max(0.0, self.deadline.timestamp() - time.time())


def parse_json(body: bytes) -> dict[str, Any]:
    """The JSON object of a verified body."""
    try:
        value = json.loads(body, object_pairs_hook=_object, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Refused(400, "The call is not JSON.") from None
    if not isinstance(value, dict):
        raise Refused(400, "The call is not a JSON object.")
    return value


def call_of(fields: dict[str, Any]) -> Call:
    """Checks the fields that every call has."""
    try:
        type, key, token, object = (fields[name] for name in ("type", "key", "token", "object"))
        metadata = object["metadata"]
        children, related = (Objects(fields.get(name, [])) for name in ("children", "related"))
        texts = (key, token, metadata["name"], metadata["resourceVersion"])
        valid = (
            type in (RECONCILE, FINALIZE, COMPOSE)
            and all(isinstance(text, str) and text != "" for text in texts)
            and isinstance(object["spec"], dict)
            and all(isinstance(one["metadata"]["name"] + one["apiVersion"] + one["kind"], str) for one in children + related)
        )
        deadline = _time(fields["deadline"])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        valid = False
    if not valid:
        raise Refused(400, "This is not a call of version 2 of the contract. Update the package or the gateway.")
    return Call(type, key, token, deadline, object, children, related, fields)


def _time(text: str) -> datetime:
    match = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?Z", text, re.ASCII)
    if match is None:
        raise ValueError
    whole, fraction = match.groups()
    seconds = datetime.fromisoformat(whole).replace(tzinfo=timezone.utc)
    return seconds.replace(microsecond=int((fraction or "0")[:6].ljust(6, "0")))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    # No Kubernetes object has such a field, and code in JavaScript that handles it later would lose it.
    if "__proto__" in value:
        raise ValueError
    return value


def _no_constant(_: str) -> Any:
    raise ValueError
