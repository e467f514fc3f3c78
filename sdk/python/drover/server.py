"""The HTTP server of a function, from its start to SIGTERM."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import re
import signal
import socket
import socketserver
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Iterator, Optional

from .call import COMPOSE, FINALIZE, RECONCILE, Call
from .function import Function, Handler, Reply
from .refused import Refused
from .settings import SettingsError, settings_of
from .signing import FolderSecrets, SecretError
from .waiting import Waiting

MAX_BODY = 2 * 2**20
"""An object may have 1.5 MiB."""
REQUEST_SECONDS = 30
"""Time for a whole request to arrive, and for which a connection may be idle."""
REPLY_SECONDS = 1
"""Time for runs to send their answers after the grace."""

log = logging.getLogger("drover")


def serve(
    *,
    reconcile: Optional[Handler] = None,
    compose: Optional[Handler] = None,
    finalize: Optional[Handler] = None,
    connections: int = 64,
) -> None:
    """Answers the gateway's calls until SIGTERM or SIGINT, then lets the calls in progress end.

    Handlers run in threads: calls of different keys run at once, and one call of a key at a time. The settings are
    environment variables, which Drover's deployer sets (see ``settings.py``).

    :param connections: the most connections at once, each with a thread. For one more, the connection is closed on
        which no call is in progress and that has waited longest, as soon as it has waited 0.1 s.
    :raises SystemExit: if a setting or secret is missing or the port is taken; the message says what to do.
    """
    if not logging.getLogger().handlers:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        settings = settings_of(os.environ)
        secrets = FolderSecrets(settings.secrets)
        handlers = {RECONCILE: reconcile, COMPOSE: compose, FINALIZE: finalize}
        server = Server(settings.host, settings.port, Function(handlers, settings.audience, settings.uid, secrets), connections)
    except (SettingsError, SecretError, OSError) as error:
        raise SystemExit(f"error: {error}") from None
    stop = threading.Event()
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, lambda *_: stop.set())
    threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True).start()
    log.info("Answering calls at %s, port %d", *server.server_address[:2])
    stop.wait()
    server.stop(settings.stop_grace)
    log.info("Stopped")


class Server(ThreadingHTTPServer):
    """A thread for each connection, up to a limit."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, host: str, port: int, function: Function, connections: int) -> None:
        self.function = function
        self._free = threading.Semaphore(connections)
        self._waiting = Waiting()
        self._stopping = threading.Event()
        self._running: list[Call] = []
        self._changed = threading.Condition()
        try:
            self.address_family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            super().__init__((str(address[0]), int(address[1])), _Requests)
        except OSError as error:
            problem = f"Cannot listen on {host}, port {port}: {error.strerror}"
            raise OSError(f"{problem}. Set DROVER_HTTP_HOST and DROVER_HTTP_PORT.") from None

    def server_bind(self) -> None:
        # That of HTTPServer looks up the name of the address, which may take long in a Pod without DNS.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._take_thread():
            return self.shutdown_request(request)
        self._waiting.enter(request)
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._waiting.leave(request)
            self._free.release()
            raise

    def _take_thread(self) -> bool:
        """Waits for a free thread; false if the server stops."""
        if self._free.acquire(blocking=False):
            return True
        closed = False
        while not self._stopping.is_set():
            closed = closed or self._waiting.close_first()
            if self._free.acquire(timeout=0.1):
                return True
        return False

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def shutdown_request(self, request: Any) -> None:
        self._waiting.leave(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        log.debug("A connection broke", exc_info=True)

    @contextlib.contextmanager
    def in_progress(self, call: Call, connection: socket.socket) -> Iterator[None]:
        """While a verified call runs and its answer is sent."""
        self._waiting.leave(connection)
        with self._changed:
            self._running.append(call)
        try:
            yield
        finally:
            self._waiting.enter(connection)
            with self._changed:
                self._running = [one for one in self._running if one is not call]
                self._changed.notify_all()

    def is_stopping(self) -> bool:
        return self._stopping.is_set()

    def stop(self, grace: float) -> None:
        """Takes no new connections; calls in progress end within the grace, or have to stop then."""
        self._stopping.set()
        self.shutdown()
        self.server_close()
        with self._changed:
            if self._changed.wait_for(lambda: not self._running, grace):
                return
            for call in self._running:
                call.over.set()
            self._changed.wait_for(lambda: not self._running, REPLY_SECONDS)


class _Requests(BaseHTTPRequestHandler):
    """The requests of one connection. After any but an answered call, it is closed."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "drover", ""
    server: Server

    def setup(self) -> None:
        super().setup()
        self.connection.settimeout(REQUEST_SECONDS)
        self._timed = _TimedReader(self.connection)
        self.rfile = io.BufferedReader(self._timed)

    def handle_one_request(self) -> None:
        self._timed.restart()
        super().handle_one_request()

    def do_GET(self) -> None:
        """For probes: the process answers."""
        self._send(Reply(200 if self.path in ("/healthz", "/readyz") else 405, {}, b""))

    def do_POST(self) -> None:
        """A POST to any path is a call, since the ReconcileFunction chooses the path."""
        try:
            body = self._body()
            headers = [self.headers.get_all(f"webhook-{name}") or [] for name in ("id", "timestamp", "signature")]
            call, at = self.server.function.receive(headers, body)
        except Refused as refused:
            log.warning("A call was refused: %s", refused)
            self.close_connection = True
            text = json.dumps({"error": str(refused)}).encode()
            return self._send(Reply(refused.status, {"content-type": "application/json"}, text))
        with self.server.in_progress(call, self.connection):
            self._send(self.server.function.answer(call, at, body))

    def _body(self) -> bytes:
        lengths = self.headers.get_all("content-length") or []
        if len(lengths) != 1 or not re.fullmatch("[0-9]{1,9}", lengths[0]) or "transfer-encoding" in self.headers:
            raise Refused(411, "A call has one content-length.")
        if int(lengths[0]) > MAX_BODY:
            raise Refused(413, f"A call has at most {MAX_BODY} bytes.")
        if self.headers.get("content-encoding", "identity") != "identity":
            raise Refused(415, "A call is not compressed.")
        body = self.rfile.read(int(lengths[0]))
        if len(body) < int(lengths[0]):
            raise Refused(400, "The call was cut off.")
        return body

    def _send(self, reply: Reply) -> None:
        self.connection.settimeout(REQUEST_SECONDS)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(reply.body)))
        if self.close_connection or self.server.is_stopping():
            self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, *_: Any) -> None:
        """Calls are logged by their answers, not as requests."""


class _TimedReader(io.RawIOBase):
    """A connection's bytes, which have to arrive in time all together: a timeout of the socket is for each piece."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.restart()

    def restart(self) -> None:
        self._end = time.monotonic() + REQUEST_SECONDS

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._end - time.monotonic()
        if left <= 0:
            raise socket.timeout("the request took too long")
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)
