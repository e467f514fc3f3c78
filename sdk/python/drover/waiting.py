"""The connections on which no verified call is in progress: strangers may have opened them."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections import OrderedDict


class Waiting:
    """In the order in which they began to wait.

    A stranger can open connections and send nothing, or very little. A genuine call arrives within milliseconds, so the
    connection that has waited longest is closed when there are too many, and a new one is never refused.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_age: OrderedDict[socket.socket, None] = OrderedDict()

    def enter(self, connection: socket.socket) -> None:
        with self._lock:
            self._by_age[connection] = None

    def leave(self, connection: socket.socket) -> None:
        with self._lock:
            self._by_age.pop(connection, None)

    def close_first(self) -> bool:
        """Ends the connection that has waited longest. False if none waits."""
        with self._lock:
            if not self._by_age:
                return False
            connection, _ = self._by_age.popitem(last=False)
            # Within the lock: after `leave`, a connection may be closed, and its number be that of another one.
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            return True
