"""The settings of a function's process: the environment variables that Drover's deployer sets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Mapping, Optional


class SettingsError(Exception):
    """An environment variable is missing or invalid. The message says what to set."""


@dataclass(frozen=True)
class Settings:
    audience: str
    """DROVER_WEBHOOK_AUDIENCE: namespace/name of the ReconcileFunction."""
    uid: Optional[str]
    """DROVER_WEBHOOK_UID: its uid. Without it, calls for an earlier object of the same name are answered, too."""
    secrets: str
    """DROVER_WEBHOOK_SECRETS: the folder in which the Secret <name>-webhook is mounted."""
    host: str
    """DROVER_HTTP_HOST: the address to listen on, by default 127.0.0.1."""
    port: int
    """DROVER_HTTP_PORT: by default 8080; 0 is any free port."""
    stop_grace: float
    """DROVER_STOP_GRACE: seconds for calls in progress to end after SIGTERM, by default 20."""


def settings_of(environment: Mapping[str, str]) -> Settings:
    """Reads the settings. Raises SettingsError."""
    audience = environment.get("DROVER_WEBHOOK_AUDIENCE", "")
    if not re.fullmatch(r"[^/\s]+/[^/\s]+", audience):
        raise SettingsError("Set DROVER_WEBHOOK_AUDIENCE to namespace/name of the ReconcileFunction.")
    secrets = environment.get("DROVER_WEBHOOK_SECRETS", "")
    if secrets == "":
        raise SettingsError("Set DROVER_WEBHOOK_SECRETS to the folder in which the Secret <name>-webhook is mounted.")
    port = environment.get("DROVER_HTTP_PORT") or "8080"
    if not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > 65_535:
        raise SettingsError("Set DROVER_HTTP_PORT to a port from 0 to 65535.")
    return Settings(
        audience=audience,
        uid=environment.get("DROVER_WEBHOOK_UID") or None,
        secrets=secrets,
        host=environment.get("DROVER_HTTP_HOST") or "127.0.0.1",
        port=int(port),
        stop_grace=_seconds(environment.get("DROVER_STOP_GRACE") or "20s"),
    )


_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3_600, "d": 86_400}


def _seconds(duration: str) -> float:
    if not re.fullmatch(r"([0-9]+(\.[0-9]+)?(ms|s|m|h|d))+", duration):
        raise SettingsError("Set DROVER_STOP_GRACE to a duration such as 20s.")
    return sum(float(number) * _UNITS[unit] for number, unit in re.findall(r"([0-9.]+)(ms|s|m|h|d)", duration))
