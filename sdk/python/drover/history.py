"""The calls of the last minutes: none runs twice, and none after a newer one of its key."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from concurrent.futures import Future, TimeoutError
from dataclasses import dataclass, field
from typing import Any, Callable, Optional

from .call import Call
from .signing import TOLERANCE

RETENTION = 2 * TOLERANCE
"""A call is remembered for so many seconds: an older one is not verified any more."""


@dataclass
class _Known:
    at: int
    digest: bytes
    answer: Optional[Future[Optional[bytes]]] = field(default_factory=Future)
    size: int = 0


@dataclass
class _Latest:
    at: int
    version: int
    over: threading.Event
    """That of the call: set when it has to end."""
    running: threading.Lock
    """Held by the run that lasts, one at a time for each key."""


class CallHistory:
    """A bounded memory of calls. A call that was removed to make room is refused by its time, and never runs again."""

    def __init__(self, max_calls: int = 50_000, max_bytes: int = 32 * 2**20, clock: Callable[[], float] = time.time) -> None:
        self._max_calls, self._max_bytes, self._clock = max_calls, max_bytes, clock
        self._lock = threading.Lock()
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._latest: OrderedDict[str, _Latest] = OrderedDict()
        self._floor = self._bytes = 0

    def answer(self, call: Call, at: int, body: bytes, run: Callable[[], bytes]) -> Optional[bytes]:
        """Runs a new call, and returns its answer; for a repeated call, returns the answer that it had before.

        None if a newer run of the key has begun, an earlier one has not ended by the deadline, the token came with
        another body, or the answer is not remembered any more.

        :param at: when the call was signed, in seconds.
        """
        digest = hashlib.sha256(body).digest()
        timeout = min(call.remaining(), threading.TIMEOUT_MAX)
        with self._lock:
            self._make_room()
            known = self._known.get(call.token)
            if known is None:
                latest = self._begin(call, at)
                if latest is None:
                    return None
                mine, running = _Known(at, digest), latest.running
                self._known[call.token] = mine
            promise = known.answer if known is not None and known.digest == digest else None
        if known is None:
            return self._run(call, mine, running, run, timeout)
        try:
            return None if promise is None else promise.result(timeout)
        except TimeoutError:
            return None

    def _begin(self, call: Call, at: int) -> Optional[_Latest]:
        """Makes a call the newest of its key, unless a newer one has begun."""
        text = call.metadata["resourceVersion"]
        version = int(text) if len(text) <= 20 and text.isascii() and text.isdecimal() else 0
        before = self._latest.get(call.key)
        if at <= self._floor or (before is not None and _is_older(at, version, before)):
            return None
        if before is not None:
            before.over.set()
            del self._latest[call.key]  # Those that were called last are at the end.
        latest = _Latest(at, version, call.over, threading.Lock() if before is None else before.running)
        self._latest[call.key] = latest
        return latest

    def _run(
        self, call: Call, mine: _Known, running: threading.Lock, run: Callable[[], bytes], timeout: float
    ) -> Optional[bytes]:
        promise, answer = mine.answer, None
        try:
            if running.acquire(timeout=timeout):
                try:
                    # A newer call may have come while this one waited.
                    answer = None if call.over.is_set() else run()
                finally:
                    running.release()
        finally:
            with self._lock:
                if answer is not None and self._known.get(call.token) is mine:
                    mine.size = len(answer)
                    self._bytes += mine.size
            if promise is not None:
                promise.set_result(answer)
        return answer

    def _make_room(self) -> None:
        oldest = self._clock() - RETENTION
        both: tuple[OrderedDict[str, Any], ...] = (self._known, self._latest)
        for entries in both:
            while entries:
                name, one = next(iter(entries.items()))
                if one.at >= oldest:
                    if len(entries) < self._max_calls:
                        break
                    self._floor = max(self._floor, one.at)
                del entries[name]
                self._bytes -= getattr(one, "size", 0)
        for known in self._known.values():
            if self._bytes <= self._max_bytes:
                break
            if known.size > 0:
                self._bytes -= known.size
                known.size, known.answer = 0, None


def _is_older(at: int, version: int, than: _Latest) -> bool:
    """True if the object was read at a lower version, or, if the versions do not decide it, the call was signed earlier."""
    if 0 in (version, than.version) or version == than.version:
        return at < than.at
    return version < than.version
