"""What the conformance suite cannot see from outside: overlapping runs, bounds, and how a process ends."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import logging
import os
import socket
import tempfile
import threading
import time
import unittest
import unittest.mock
import urllib.request
from datetime import datetime, timedelta, timezone
from typing import Any, Callable, Optional

from drover import Answer, Call, Child, Composed, Done
from drover.call import COMPOSE, RECONCILE, call_of, parse_json
from drover.function import Function
from drover.history import CallHistory
from drover.refused import Refused
from drover.server import Server, _TimedReader
from drover.settings import SettingsError, settings_of
from drover.signing import FolderSecrets, SecretError, signatures, verified
from drover.waiting import Waiting

logging.disable(logging.CRITICAL)
SECRET = bytes(range(32))


def body_of(token: str = "t1", version: str = "1", key: str = "web/a", **more: Any) -> bytes:
    deadline = datetime.now(timezone.utc) + timedelta(seconds=more.pop("seconds", 60))
    return json.dumps(
        {
            "type": RECONCILE,
            "audience": {"name": "web/f", "uid": "f"},
            "key": key,
            "token": token,
            "deadline": deadline.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "object": {"metadata": {"name": "a", "resourceVersion": version}, "spec": {}},
            **more,
        }
    ).encode()


def call(**fields: Any) -> Call:
    return call_of(parse_json(body_of(**fields)))


class SigningTest(unittest.TestCase):
    def test_signs_as_the_specification_does(self) -> None:
        secret = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        body = b'{"test": 2432232314}'
        expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        headers = [["msg_p5jXN8AQM9LWM0D4loKWxJek"], ["1614265330"], [expected]]
        self.assertEqual(signatures([secret], headers[0][0], headers[1][0], body), [expected])
        self.assertEqual(verified([secret], headers, body, 1614265330), (headers[0][0], 1614265330))
        with self.assertRaises(Refused):
            verified([secret], headers, body, 1614265330 + 301)
        with self.assertRaises(Refused):
            verified([secret], [*headers[:2], headers[2] * 2], body, 1614265330)

    def test_a_secret_that_is_none_is_refused_and_not_printed(self) -> None:
        for text in ("", "whsec_", "whsec_AAAA", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYq?rTwjUPD8ILPZIo2LaLaSw"):
            with tempfile.TemporaryDirectory() as folder:
                with open(os.path.join(folder, "current"), "w") as file:
                    file.write(text)
                with self.assertRaises(SecretError) as raised:
                    FolderSecrets(folder)
                self.assertIn(folder, str(raised.exception))
                self.assertNotIn("KYq", str(raised.exception))


class HistoryTest(unittest.TestCase):
    def answer(self, history: CallHistory, one: Call, at: int, run: Callable[[], bytes] = lambda: b"ran") -> Optional[bytes]:
        return history.answer(one, at, one.token.encode(), run)

    def test_a_newer_call_of_a_key_waits_for_the_run_and_ends_it(self) -> None:
        history, begun, order = CallHistory(), threading.Event(), []
        first, second = call(token="t1", version="1"), call(token="t2", version="2")

        def run_first() -> bytes:
            begun.set()
            order.append("first" if first.over.wait(10) else "too late")
            return b"first"

        thread = threading.Thread(target=self.answer, args=(history, first, int(time.time()), run_first))
        thread.start()
        begun.wait(10)
        answer = self.answer(history, second, int(time.time()), lambda: bytes(order.append("second") or b"second"))
        thread.join()
        self.assertEqual((answer, order), (b"second", ["first", "second"]))

    def test_a_repeated_call_waits_for_the_answer_of_the_first(self) -> None:
        history, begun, end, answers = CallHistory(), threading.Event(), threading.Event(), []
        one = call()

        def run() -> bytes:
            begun.set()
            end.wait(10)
            return b"once"

        threads = [
            threading.Thread(target=lambda: answers.append(self.answer(history, one, int(time.time()), run))) for _ in range(3)
        ]
        threads[0].start()
        begun.wait(10)
        for thread in threads[1:]:
            thread.start()
        end.set()
        for thread in threads:
            thread.join()
        self.assertEqual(answers, [b"once"] * 3)

    def test_gives_up_at_the_deadline_while_the_run_before_lasts(self) -> None:
        history, begun, end = CallHistory(), threading.Event(), threading.Event()
        thread = threading.Thread(
            target=self.answer, args=(history, call(), int(time.time()), lambda: bytes(begun.set() or end.wait(10)))
        )
        thread.start()
        begun.wait(10)
        self.assertIsNone(self.answer(history, call(token="t2", version="2", seconds=0.05), int(time.time())))
        end.set()
        thread.join()

    def test_a_call_that_it_has_no_room_for_is_never_run_again(self) -> None:
        now, runs = int(time.time()), []
        history = CallHistory(max_calls=10, clock=lambda: now)
        calls = [call(token=f"t{i}", key=f"web/{i}") for i in range(30)]
        for _ in range(2):
            for i, one in enumerate(calls):
                self.answer(history, one, now - 30 + i, lambda: bytes(runs.append(1) or b"ran"))
        self.assertEqual(len(runs), 30)

    def test_answers_take_no_more_room_than_allowed(self) -> None:
        now, runs = int(time.time()), []
        history = CallHistory(max_bytes=1_000, clock=lambda: now)
        calls = [call(token=f"t{i}", key=f"web/{i}") for i in range(30)]
        again = []
        for results in ([], again):
            for one in reversed(calls) if results is again else calls:
                results.append(self.answer(history, one, now, lambda: bytes(runs.append(1) or b"x" * 100)))
        self.assertEqual((len(runs), len([one for one in again if one is not None])), (30, 10))

    def test_forgets_calls_that_could_not_be_verified_any_more(self) -> None:
        now = [int(time.time())]
        history = CallHistory(clock=lambda: now[0])
        self.answer(history, call(version="5"), now[0])
        now[0] += 601
        self.assertEqual(self.answer(history, call(token="t2", version="4"), now[0]), b"ran")


class HandlerTest(unittest.TestCase):
    def said(self, handler: Callable[[Call], Any], type: str = RECONCILE) -> dict[str, Any]:
        function = Function({RECONCILE: handler, COMPOSE: handler}, "web/f", None, lambda: [SECRET])
        body = body_of(type=type)
        return json.loads(function.answer(call_of(parse_json(body)), int(time.time()), body).body)

    def test_an_exception_is_a_failed_run(self) -> None:
        self.assertEqual(self.said(lambda _: {}["x"]), {"outcome": "failed", "message": "KeyError: 'x'"})

    def test_what_is_no_answer_is_a_failed_run(self) -> None:
        for wrong in (None, {"outcome": "done"}, Done(status={"a": object()}), Done(status={"a": float("nan")})):
            self.assertEqual(self.said(lambda _: wrong)["outcome"], "failed")

    def test_children_and_related_objects_are_found(self) -> None:
        def of(name: str, namespace: str) -> dict[str, Any]:
            return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": namespace}}

        one = call(children=[of("a", "x"), of("a", "y")], related=[of("b", "x")])
        self.assertEqual(one.children.get("v1", "Secret", "a", "y"), of("a", "y"))
        self.assertEqual(one.children.get("v1", "Secret", "a"), of("a", "x"))
        self.assertEqual(one.related.get("v1", "Secret", "b"), of("b", "x"))
        self.assertIsNone(one.related.get("v1", "ConfigMap", "b"))
        with self.assertRaises(Refused):
            call(related=[{"kind": "Secret"}])

    def test_settings_of_a_child_have_the_names_of_the_contract(self) -> None:
        children = [{"kind": "A"}, Child({"kind": "B"}, wave=1, max_unavailable=2, deletion="Retain", adopt=False)]
        said = self.said(lambda _: Composed(children, requeue_after="5m"), COMPOSE)
        settled = {"object": {"kind": "B"}, "wave": 1, "maxUnavailable": 2, "deletion": "Retain", "adopt": False}
        self.assertEqual(said, {"outcome": "composed", "children": [{"kind": "A"}, settled], "requeueAfter": "5m"})

    def test_integers_of_64_bits_keep_their_digits(self) -> None:
        self.assertIn(b"9223372036854775807", json.dumps(call(later=2**63 - 1).fields).encode())


class ServerTest(unittest.TestCase):
    def start(self, handler: Callable[[Call], Answer], **options: Any) -> Server:
        function = Function({RECONCILE: handler}, "web/f", "f", lambda: [SECRET])
        server = Server("127.0.0.1", 0, function, options.get("connections", 4))
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return server

    def post(self, server: Server) -> dict[str, Any]:
        body, now = body_of(), str(int(time.time()))
        headers = {"webhook-id": "t1", "webhook-timestamp": now, "webhook-signature": signatures([SECRET], "t1", now, body)[0]}
        url = f"http://127.0.0.1:{server.server_port}/"
        with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as response:
            return json.load(response)

    def test_a_request_that_comes_too_slowly_is_cut_off(self) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            reader = _TimedReader(ours)
            theirs.send(b"ab")
            self.assertEqual(reader.read(1), b"a")
            reader._end = time.monotonic()
            with self.assertRaises(socket.timeout):
                reader.read(1)

    def test_the_connection_that_waits_longest_is_closed_and_never_a_call_in_progress(self) -> None:
        begun, end, said = threading.Event(), threading.Event(), []

        def slow(_: Call) -> Answer:
            begun.set()
            end.wait(10)
            return Done()

        server = self.start(slow, connections=3)
        client = threading.Thread(target=lambda: said.append(self.post(server)))
        client.start()
        begun.wait(10)
        strangers = []
        for text in (b"", b"POST / HTTP/1.1\r\ncontent-length: 9\r\n\r\n1", b"POST", b"", b"P"):
            strangers.append(socket.create_connection(("127.0.0.1", server.server_port), timeout=10))
            strangers[-1].send(text)
            if len(strangers) > 2:
                with contextlib.suppress(ConnectionResetError):
                    self.assertEqual(strangers[-3].recv(1), b"")
        for stranger in strangers[-2:]:
            stranger.setblocking(False)
            with self.assertRaises(BlockingIOError):
                stranger.recv(1)
        end.set()
        client.join()
        self.assertEqual(said, [{"outcome": "done"}])
        for stranger in strangers:
            stranger.close()
        server.stop(0)

    def test_a_call_that_has_just_arrived_is_not_closed_for_a_new_connection(self) -> None:
        server, asked = self.start(lambda _: Done(), connections=1), threading.Semaphore(0)

        def clock() -> float:
            asked.release()
            return 0.0

        server._waiting = Waiting(clock)
        body, at = body_of(), str(int(time.time()))
        headers = {"webhook-id": "t1", "webhook-timestamp": at, "webhook-signature": signatures([SECRET], "t1", at, body)[0]}
        client = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
        client.putrequest("POST", "/")
        for name, value in {**headers, "content-length": str(len(body)), "connection": "close"}.items():
            client.putheader(name, value)
        client.endheaders(body[:9])
        with socket.create_connection(("127.0.0.1", server.server_port), timeout=10):
            # When the call began to wait, and whether it has waited long enough.
            for _ in range(2):
                self.assertTrue(asked.acquire(timeout=10))
            client.send(body[9:])
            self.assertEqual(json.load(client.getresponse()), {"outcome": "done"})
        client.close()
        server.stop(0)

    def test_calls_in_progress_end_within_the_grace(self) -> None:
        begun, end, said = threading.Event(), threading.Event(), []

        def slow(_: Call) -> Answer:
            begun.set()
            end.wait(10)
            return Done(status={"text": "in time"})

        server = self.start(slow)
        client = threading.Thread(target=lambda: said.append(self.post(server)))
        client.start()
        begun.wait(10)
        wait_for = server._changed.wait_for

        def end_call(done: Callable[[], bool], grace: float) -> bool:
            end.set()
            return wait_for(done, grace)

        with unittest.mock.patch.object(server._changed, "wait_for", side_effect=end_call) as waits:
            server.stop(30)
        client.join()
        self.assertEqual([one.args[1] for one in waits.call_args_list], [30])
        self.assertEqual(said, [{"outcome": "done", "status": {"text": "in time"}}])

    def test_after_the_grace_runs_are_asked_to_stop(self) -> None:
        begun, stopped = threading.Event(), []

        def endless(call: Call) -> Answer:
            begun.set()
            stopped.append(call.over.wait(10))
            return Done()

        server = self.start(endless)
        client = threading.Thread(target=self.post, args=(server,))
        client.start()
        begun.wait(10)
        server.stop(0)
        client.join()
        self.assertEqual(stopped, [True])


class SettingsTest(unittest.TestCase):
    ENVIRONMENT = {"DROVER_WEBHOOK_AUDIENCE": "web/f", "DROVER_WEBHOOK_SECRETS": "/s"}

    def test_a_wrong_setting_is_named(self) -> None:
        for name, value in (
            ("DROVER_WEBHOOK_AUDIENCE", "f"),
            ("DROVER_WEBHOOK_SECRETS", ""),
            ("DROVER_HTTP_PORT", "70000"),
            ("DROVER_STOP_GRACE", "20"),
        ):
            with self.assertRaisesRegex(SettingsError, name):
                settings_of({**self.ENVIRONMENT, name: value})

    def test_durations_are_those_of_drover(self) -> None:
        for text, seconds in (("70000ms", 70), ("1m30s", 90), ("1.5h", 5_400), ("1d", 86_400)):
            self.assertEqual(settings_of({**self.ENVIRONMENT, "DROVER_STOP_GRACE": text}).stop_grace, seconds)


if __name__ == "__main__":
    unittest.main()
