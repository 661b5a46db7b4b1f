"""OpenEnv: an environment in which kernels are submitted until one passes.

    app = create_app(KernelEnvironment, KernelAction, KernelObservation, env_name="pairsmith")

With openenv-core 0.3.0: `notes/measurements/loop.md`.
"""

from __future__ import annotations

import uuid
from typing import Any

from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State

from pairsmith import tasks
from synth.loop.prompts import feedback_of
from synth.loop.rewards import row_of, shared_scorer
from synth.loop.tasks import Tasks


class KernelAction(Action):
    """``cuda``: the whole text of a kernel and its launch."""

    cuda: str


class KernelObservation(Observation):
    """``text``: the task after a reset, the verdict after a step."""

    text: str = ""


class KernelState(State):
    """``row_id``: the row of the task."""

    row_id: str = ""


class KernelEnvironment(Environment[KernelAction, KernelObservation, KernelState]):
    """Task number ``seed`` of a stream, or of the dataset at ``path``; at most ``turns`` steps."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, path: str = "", view: str = "sft", turns: int = 4, **drawn: Any) -> None:
        super().__init__()
        size = None if path else 1 << 30
        self._tasks: Tasks = tasks(view, path=path or None, size=size, **drawn)
        self._turns = turns
        self._next = 0
        self._row: Any = None
        self._state = KernelState()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **more: Any
    ) -> KernelObservation:
        """Put the task of number ``seed`` (modulo how many there are), or else the next one."""
        number = self._next if seed is None else seed
        entry = self._tasks[number % len(self._tasks)]
        self._next = number + 1
        self._row = row_of(entry["metadata"]["row"])
        self._state = KernelState(
            episode_id=episode_id or uuid.uuid4().hex, row_id=entry["metadata"]["id"]
        )
        return KernelObservation(text=entry["question"])

    def step(
        self, action: KernelAction, timeout_s: float | None = None, **more: Any
    ) -> KernelObservation:
        """Judge a kernel: ``reward`` 1.0 ends the episode. RuntimeError before a reset."""
        if self._row is None:
            raise RuntimeError("reset the environment before a step")
        verdict = shared_scorer().score(action.cuda, self._row)
        self._state.step_count += 1
        done = verdict.passed or not verdict.judged or self._state.step_count >= self._turns
        said = "It is right."
        if not verdict.passed:
            said = feedback_of(self._row, verdict.status, verdict.reason, {}, "", full=False)
        return KernelObservation(
            text=said,
            done=done,
            reward=float(verdict.passed) if verdict.judged else None,
            metadata={"status": str(verdict.status), "credit": verdict.credit},
        )

    @property
    def state(self) -> KernelState:
        """Episode, number of steps, row."""
        return self._state
