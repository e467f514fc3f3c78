"""The answers of a function. Each class is one outcome of Drover's contract."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar, Mapping, Optional, Sequence, Union

Object = Mapping[str, Any]


@dataclass(frozen=True)
class Child:
    """A child with settings: the order in which it is applied, how it is updated, and what becomes of it."""

    object: Object
    wave: Optional[int] = None
    """Children of a higher wave are applied when all children of lower waves are ready. Default: 0."""
    update: Optional[str] = None
    """Apply (default), Recreate, OnDelete or Rolling."""
    max_unavailable: Optional[int] = None
    deletion: Optional[str] = None
    """Delete (default), Orphan or Retain."""
    adopt: Optional[bool] = None


@dataclass(frozen=True)
class Answer:
    """Base of all answers."""

    outcome: ClassVar[str]

    def body(self) -> dict[str, Any]:
        """The answer as the JSON object that is sent."""
        return {"outcome": self.outcome, **_fields(self)}


@dataclass(frozen=True)
class Done(Answer):
    """The object is reconciled. A status that is left out stays as it is."""

    outcome: ClassVar[str] = "done"
    status: Optional[Object] = None
    conditions: Optional[Sequence[Mapping[str, str]]] = None
    requeue_after: Optional[str] = None
    """A duration such as 30s: call again after it, even if nothing has changed."""
    account: Optional[str] = None
    """The external account that was used."""


@dataclass(frozen=True)
class Composed(Answer):
    """All children that should exist. Answers compose."""

    outcome: ClassVar[str] = "composed"
    children: Sequence[Union[Object, Child]] = ()
    status: Optional[Object] = None
    conditions: Optional[Sequence[Mapping[str, str]]] = None
    requeue_after: Optional[str] = None


@dataclass(frozen=True)
class Finalized(Answer):
    """Everything is undone: the object may be deleted. Answers finalize."""

    outcome: ClassVar[str] = "finalized"


@dataclass(frozen=True)
class Again(Answer):
    """Not yet: call again after a duration such as 30s. It counts as a wait, not as a failure."""

    outcome: ClassVar[str] = "again"
    after: str = "30s"
    message: Optional[str] = None
    reason: Optional[str] = None
    account: Optional[str] = None
    """This external account accepts no calls until then: all keys that use it wait."""


@dataclass(frozen=True)
class Conflict(Answer):
    """Another writer came first: called again almost at once."""

    outcome: ClassVar[str] = "conflict"
    message: Optional[str] = None


@dataclass(frozen=True)
class Failed(Answer):
    """The run failed: called again, with backoff. An exception in a handler has the same effect."""

    outcome: ClassVar[str] = "failed"
    message: str = ""
    reason: Optional[str] = None


@dataclass(frozen=True)
class Parked(Answer):
    """Another call cannot help: the key is parked until the object changes."""

    outcome: ClassVar[str] = "parked"
    message: str = ""
    reason: Optional[str] = None


def _fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass that are set, with the names that they have in JSON."""
    fields = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
    return {_camel(name): _json(one) for name, one in fields if one is not None}


def _json(value: Any) -> Any:
    if isinstance(value, Child):
        return _fields(value)
    return [_json(one) for one in value] if isinstance(value, (list, tuple)) else value


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
