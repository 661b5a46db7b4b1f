"""Tasks done by Ray, on this machine or on a cluster; what they give comes back to this process.

Only this process writes, so the machines of a cluster share nothing but the installed pairsmith.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import islice
from typing import Any

from synth.errors import RunError, SettingsError
from synth.plan import Task
from synth.settings import Settings, Versions
from synth.unit import make_task

_ANSWER_TIMEOUT_S = 10.0
_RETRIES = 5
"""Of a task whose worker or machine died. One that raises is not tried again."""


class RayEngine:
    """Ray tasks of one core each."""

    def __init__(self, address: str | None, workers: int | None) -> None:
        """Start Ray here with so many ``workers``, or join the cluster at ``address``.

        :class:`SettingsError` when Ray is not installed or there is no cluster.
        """
        self._ray = _load_ray()
        # Ray reports its use over the network otherwise.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        if address:
            _require_answer(address)
        here: dict[str, Any] = {"num_cpus": workers, "include_dashboard": False}
        try:
            self._ray.init(
                address=address or "local",
                log_to_driver=False,
                logging_level="error",
                **({} if address else here),
            )
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise SettingsError(f"no Ray at {address or 'this machine'}: {error}") from None

    def run(
        self, settings: Settings, versions: Versions, tasks: Iterable[Task]
    ) -> Iterator[tuple[Task, bytes]]:
        ray = self._ray
        work = ray.remote(num_cpus=1, max_retries=_RETRIES)(_checked_task)
        shared = [ray.put(settings), ray.put(versions)]
        left = iter(tasks)
        waiting: dict[Any, Task] = {}
        while True:
            for task in islice(left, self._most_waiting() - len(waiting)):
                waiting[work.remote(*shared, task)] = task
            if not waiting:
                return
            done, _ = ray.wait(list(waiting), num_returns=1)
            for reference in done:
                data = self._result(reference)
                yield waiting.pop(reference), data

    def _most_waiting(self) -> int:
        """Twice the cores that there are now: machines may come and go."""
        return max(2, 2 * int(self._ray.cluster_resources().get("CPU", 1)))

    def _result(self, reference: Any) -> bytes:
        try:
            data: bytes = self._ray.get(reference)
            return data
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self._ray.exceptions.RayError as error:
            said = str(error).strip().splitlines()[0]
            raise RunError(
                f"Ray lost a task {_RETRIES + 1} times ({said}); finished units are kept: run the "
                "same command again to go on"
            ) from None

    def close(self) -> None:
        self._ray.shutdown()


def _load_ray() -> Any:
    try:
        return import_module("ray")
    except ImportError:
        raise SettingsError(
            "--engine ray needs Ray: pip install 'pairsmith[ray]' on every machine"
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


def _checked_task(settings: Settings, versions: Versions, task: Task) -> bytes:
    here = Versions.installed(settings.verify)
    if here != versions:
        ours, theirs = vars(here), vars(versions)
        what = ", ".join(
            f"{name} {ours[name]} in place of {theirs[name]}"
            for name in ours
            if ours[name] != theirs[name]
        )
        raise SettingsError(f"machine {os.uname().nodename} has {what}; install the same there")
    return make_task(settings, versions, task)
