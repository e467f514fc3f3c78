"""Signatures after https://www.standardwebhooks.com, and the secrets that the gateway shares with the function."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import logging
import os
import re
from typing import Optional, Sequence

from .refused import Refused

TOLERANCE = 300
"""Greatest difference between the time of a message and our clock, in seconds: an older message may be a replay."""
MAX_SIGNATURES = 50
MIN_SECRET_BYTES = 24

log = logging.getLogger("drover")


class SecretError(Exception):
    """The shared secrets cannot be used. The message says why, without the secret."""


class FolderSecrets:
    """The files ``current`` and, during a change of the secret, ``previous`` of a folder in which a Secret is mounted.

    They are read for each request, so that a changed Secret counts at once. If reading fails, the secrets that were read
    before stay valid.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._last = self._read()

    def __call__(self) -> Sequence[bytes]:
        try:
            self._last = self._read()
        except SecretError as error:
            log.warning("The secrets cannot be read; those that were read before stay in use. %s", error)
        return self._last

    def _read(self) -> Sequence[bytes]:
        current = self._secret("current")
        if current is None:
            raise SecretError(
                f"There is no file current in {self._folder}. Mount the Secret <name>-webhook of the ReconcileFunction "
                "there (DROVER_WEBHOOK_SECRETS)."
            )
        previous = self._secret("previous")
        return [current] if previous is None else [current, previous]

    def _secret(self, name: str) -> Optional[bytes]:
        path = os.path.join(self._folder, name)
        try:
            with open(path, encoding="ascii") as file:
                text = file.read().strip()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise SecretError(f"{path} cannot be read: {type(error).__name__}.") from None
        encoded = text[len("whsec_") :].rstrip("=")
        try:
            secret = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
        except binascii.Error:
            secret = b""
        # An empty secret is none: everybody could sign with it.
        if not text.startswith("whsec_") or len(secret) < MIN_SECRET_BYTES:
            raise SecretError(f"The secret in {path} is not whsec_ with {MIN_SECRET_BYTES} bytes or more in base64.")
        return secret


def signatures(secrets: Sequence[bytes], id: str, timestamp: str, body: bytes) -> list[str]:
    """The signatures of a message, one with each secret."""
    content = f"{id}.{timestamp}.".encode() + body
    macs = (hmac.new(secret, content, hashlib.sha256).digest() for secret in secrets)
    return ["v1," + base64.b64encode(mac).decode() for mac in macs]


def verified(secrets: Sequence[bytes], headers: Sequence[Sequence[str]], body: bytes, now: float) -> tuple[str, int]:
    """The id and the time of a message, which was signed with one of the secrets.

    ``headers`` are all values of webhook-id, webhook-timestamp and webhook-signature. A header that came twice, also
    joined by a proxy, counts as missing.
    """
    if any(len(values) != 1 or ", " in values[0] for values in headers):
        raise Refused(401, "The call is not signed.")
    id, timestamp, given = (values[0] for values in headers)
    if not re.fullmatch(r"[!-\-/-~]{1,256}", id) or not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise Refused(401, "The call is not signed.")
    if abs(now - int(timestamp)) > TOLERANCE:
        raise Refused(401, "The call was not signed within five minutes. Compare the clocks.")
    ours = [one.encode() for one in signatures(secrets, id, timestamp, body)]
    theirs = [one.encode("latin-1", "replace") for one in given.split(" ")[:MAX_SIGNATURES]]
    # A list, not a generator: all are compared, so that the time does not reveal which one fits.
    if not any([hmac.compare_digest(one, two) for one in theirs for two in ours]):
        raise Refused(401, "The call is not signed with a secret of this function.")
    return id, int(timestamp)
