"""A request's way: it is verified, runs once, and its answer is signed. No HTTP server and no settings are in here."""

from __future__ import annotations

import json
import logging
import time
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional, Sequence

from .answers import Answer, Conflict, Failed, Finalized, Parked
from .call import COMPOSE, FINALIZE, RECONCILE, Call, call_of, parse_json
from .history import CallHistory
from .refused import Refused
from .signing import signatures, verified

Handler = Callable[[Call], Answer]

MAX_MESSAGE = 32_768

log = logging.getLogger("drover")


@dataclass(frozen=True)
class Reply:
    """A response: signed, or the refusal of a request."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Function:
    """Answers calls with handlers.

    :param audience: namespace/name of the ReconcileFunction: calls for another one are refused.
    :param uid: of the ReconcileFunction, if it is known.
    :param secrets: returns the secrets that the gateway may sign with; answers are signed with all of them.
    """

    def __init__(
        self,
        handlers: Mapping[str, Optional[Handler]],
        audience: str,
        uid: Optional[str],
        secrets: Callable[[], Sequence[bytes]],
    ) -> None:
        self._handlers, self._audience, self._uid, self._secrets = handlers, audience, uid, secrets
        self._history = CallHistory()

    def receive(self, headers: Sequence[Sequence[str]], body: bytes) -> tuple[Call, int]:
        """A call, if it is genuine, meant for this function, and in time; and when it was signed.

        :param headers: all values of webhook-id, webhook-timestamp and webhook-signature.
        :raises Refused: otherwise.
        """
        now = time.time()
        id, at = verified(self._secrets(), headers, body, now)
        fields = parse_json(body)
        audience = fields.get("audience")
        if not isinstance(audience, dict) or audience.get("name") != self._audience:
            raise Refused(421, "The call is meant for another function. Correct the address of that function.")
        if self._uid is not None and audience.get("uid") != self._uid:
            raise Refused(421, "The call is meant for another object of this name.")
        call = call_of(fields)
        if call.token != id:
            raise Refused(400, "The token of the call is not its webhook-id.")
        if call.deadline.timestamp() <= now:
            raise Refused(408, "The deadline of the call is over. Compare the clocks.")
        return call, at

    def answer(self, call: Call, at: int, body: bytes) -> Reply:
        """Runs a received call, unless it ran before, and signs the answer."""
        said = self._history.answer(call, at, body, lambda: self._run(call))
        if said is None:
            said = _render(Conflict("A newer run of this key has begun here, or this one was answered long ago."))
        timestamp = str(int(time.time()))
        headers = {
            "content-type": "application/json",
            "webhook-id": call.token,
            "webhook-timestamp": timestamp,
            "webhook-signature": " ".join(signatures(self._secrets(), call.token, timestamp, said)),
        }
        return Reply(200, headers, said)

    def _run(self, call: Call) -> bytes:
        """The handler's answer as JSON. An exception is an answer, too: the run failed."""
        try:
            handler = self._handlers.get(call.type)
            answer = handler(call) if handler is not None else _missing(call.type)
            if not isinstance(answer, Answer):
                raise TypeError(f"the handler returned {type(answer).__name__}, and no answer such as drover.Done()")
            return _render(answer)
        except Exception as error:
            log.exception("The run of %s failed", call.key)
            return _render(Failed(f"{type(error).__name__}: {error}"[:MAX_MESSAGE]))


def _missing(type: str) -> Answer:
    """The answer to a call for which the function has no handler."""
    if type == FINALIZE:
        return Finalized()
    message = {
        COMPOSE: "This function declares no children. Leave out spec.webhook.composes, or give serve() compose.",
        RECONCILE: "This function declares children: set spec.webhook.composes to true, and list their kinds in spec.owns.",
    }
    return Parked(message[type], "NotComposed" if type == COMPOSE else None)


def _render(answer: Answer) -> bytes:
    return json.dumps(answer.body(), allow_nan=False, default=_dataclass_or_mapping).encode()


def _dataclass_or_mapping(value: Any) -> Any:
    """Mappings that are not dicts. JSON has nothing for other values: the run fails."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"an answer cannot contain {type(value).__name__}")
