"""Start Ray here or join a cluster, and tell what became of a task."""

from __future__ import annotations

import os
import socket
from importlib import import_module
from typing import Any

from synth.errors import RunError, SettingsError

RETRIES = 5
"""Of a task whose worker or machine died. One that raises is not tried again."""

_ANSWER_TIMEOUT_S = 10.0


def start_ray(address: str | None, workers: int | None) -> Any:
    """The module, with a cluster behind it: the one at ``address``, or ``workers`` cores of this
    machine.

    Raises :class:`SettingsError` when Ray is not installed or nobody answers.
    """
    ray = _load_ray()
    # Ray reports its use over the network otherwise.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address:
        _require_answer(address)
    here: dict[str, Any] = {"num_cpus": workers, "include_dashboard": False}
    try:
        ray.init(
            address=address or "local",
            log_to_driver=False,
            logging_level="error",
            **({} if address else here),
        )
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise SettingsError(f"no Ray at {address or 'this machine'}: {error}") from None
    return ray


def result(ray: Any, reference: Any) -> Any:
    """What a task gave. Raises what it raised, and RunError when it was lost too often."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except ray.exceptions.RayError as error:
        said = str(error).strip().splitlines()[0]
        raise RunError(
            f"Ray lost a task {RETRIES + 1} times ({said}); what is finished is kept: run the same "
            "command again to go on"
        ) from None


def _load_ray() -> Any:
    try:
        return import_module("ray")
    except ImportError:
        raise SettingsError(
            "--engine ray needs Ray: pip install 'pairsmith[ray]', on each machine of a cluster"
        ) from None


def _require_answer(address: str) -> None:
    """Ray itself waits for minutes where nobody listens."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not (host and port.isdigit()):
        if address == "auto":
            return
        raise SettingsError(f"--address {address} is neither host:port nor auto")
    try:
        socket.create_connection((host, int(port)), _ANSWER_TIMEOUT_S).close()
    except OSError as error:
        raise SettingsError(f"no Ray at {address}: {error}") from None
