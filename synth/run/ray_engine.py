"""Tasks done by Ray, on this machine or on a cluster; what they give comes back to this process.

Only this process writes, so the machines of a cluster share nothing but the installed pairsmith.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from synth.dataset.positions import Task
from synth.dataset.settings import Settings, Versions
from synth.errors import SettingsError
from synth.run.ray_start import RETRIES, result, start_ray
from synth.run.unit import make_task


class RayEngine:
    """Ray tasks of one core each."""

    def __init__(self, address: str | None, workers: int | None) -> None:
        """Start Ray here with so many ``workers``, or join the cluster at ``address``.

        :class:`SettingsError` when Ray is not installed or there is no cluster.
        """
        self._ray = start_ray(address, workers)

    def run(
        self, settings: Settings, versions: Versions, tasks: Iterable[Task]
    ) -> Iterator[tuple[Task, bytes]]:
        ray = self._ray
        work = ray.remote(num_cpus=1, max_retries=RETRIES)(_checked_task)
        shared = [ray.put(settings), ray.put(versions)]
        left = iter(tasks)
        waiting: dict[Any, Task] = {}
        while True:
            # A machine that was lost may leave more waiting than there should be.
            for task in islice(left, max(0, self._most_waiting() - len(waiting))):
                waiting[work.remote(*shared, task)] = task
            if not waiting:
                return
            done, _ = ray.wait(list(waiting), num_returns=1)
            for reference in done:
                data: bytes = result(ray, reference)
                yield waiting.pop(reference), data

    def _most_waiting(self) -> int:
        """Twice the cores that there are now: machines may come and go."""
        return max(2, 2 * int(self._ray.cluster_resources().get("CPU", 1)))

    def close(self) -> None:
        self._ray.shutdown()


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
