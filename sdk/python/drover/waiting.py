"""The connections on which no verified call is in progress: strangers may have opened them."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections import OrderedDict
from typing import Callable

MIN_WAIT = 0.1
"""Seconds within which a call that has arrived is verified."""


class Waiting:
    """In the order in which they began to wait.

    A stranger can open connections and send nothing, or very little. A genuine call arrives within milliseconds, so the
    connection that has waited longest is closed when there are too many, and a new one is never refused: it waits until one
    of them has waited for MIN_WAIT.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._by_age: OrderedDict[socket.socket, float] = OrderedDict()

    def enter(self, connection: socket.socket) -> None:
        with self._lock:
            self._by_age[connection] = self._clock()

    def leave(self, connection: socket.socket) -> None:
        with self._lock:
            self._by_age.pop(connection, None)

    def close_first(self) -> bool:
        """Ends the connection that has waited longest. False if none has waited for MIN_WAIT."""
        with self._lock:
            connection, since = next(iter(self._by_age.items()), (None, 0.0))
            if connection is None or self._clock() - since < MIN_WAIT:
                return False
            del self._by_age[connection]
            # Within the lock: after `leave`, a connection may be closed, and its number be that of another one.
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            return True
