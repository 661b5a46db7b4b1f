"""Judge plain CUDA that others wrote for a row: on hidden inputs and shapes, behind limits.

    with Scorer() as scorer:
        verdict = scorer.score(completion, row)
        reward = float(verdict.passed)

A row's own plain CUDA is run first, once: a draw on which it does not pass is unfit for every
answer to that row, and the next is taken (`hidden.draws`). When it passes on none, the row is
wrong: what is wrong with a row never counts against an answer.

The texts are hostile until shown otherwise. They are read by `validate.text.answer`; each is
compiled, linked to a list of functions and run in a process forked for it alone, behind `confine`,
without the reference; what it hands back is compared here. What passes is compiled by NVRTC too.
Not defended against: a text that finds, in its own process, the notes on races and bounds and
erases them (its values must be right all the same); one that breaks the compiler or the kernel of
the system. Run the whole in a container when answers come from people who would try.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

from validate.score.answers import judge_answers
from validate.score.fit import Fit, RowUnfit, find_fit
from validate.score.lane import Lane
from validate.score.task import Row, row_key
from validate.score.verdict import Answer as Answer
from validate.score.verdict import Launches
from validate.score.verdict import Verdict as Verdict

# Rows; what one wants takes up to some megabytes.
_MOST_KEPT = 256
# Answers that are compiled for a device together: more are quicker, but wait for each other.
_CHUNK = 16


class Scorer:
    """Keeps child processes and what each row wants; use it as a context manager.

    Several threads may use one. `workers` answers are run at a time. `hidden_seed` is to be kept
    from those who answer; equal seeds give equal verdicts. None: one of the system's randomness,
    readable as `scorer.hidden_seed`.
    """

    def __init__(self, *, hidden_seed: int | None = None, workers: int = 1) -> None:
        """Raises ValueError for fewer than one worker."""
        if workers < 1:
            raise ValueError(f"workers is {workers}, at least 1 is needed")
        self.hidden_seed = secrets.randbits(63) if hidden_seed is None else hidden_seed
        self._lanes: SimpleQueue[Lane] = SimpleQueue()
        self._all_lanes = [Lane() for _ in range(workers)]
        for lane in self._all_lanes:
            self._lanes.put(lane)
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="pairsmith-score")
        self._fits: OrderedDict[str, Fit | RowUnfit] = OrderedDict()
        self._lock = threading.Lock()
        self._finding: dict[str, threading.Lock] = {}

    def __enter__(self) -> Scorer:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child processes; what is being scored meanwhile fails."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        for lane in self._all_lanes:
            lane.close()

    def score(self, cuda_text: Any, row: Row, *, launch: Launches = None) -> Verdict:
        """Judge one text; see `score_batch`."""
        return self.score_batch([Answer(cuda_text, row, launch)])[0]

    async def score_async(self, cuda_text: Any, row: Row, *, launch: Launches = None) -> Verdict:
        """The same without blocking the event loop."""
        return await asyncio.to_thread(self.score, cuda_text, row, launch=launch)

    def score_batch(
        self, answers: Sequence[Answer], *, timeout_s: float | None = None
    ) -> list[Verdict]:
        """Judge texts, in their order; many together are quicker than one by one.

        A row that cannot be used gives its answers `row_unfit`, and what is not reached within
        `timeout_s` is `not_judged`: neither says anything of the answer. Raises RuntimeError when
        the machinery fails, HostRunUnavailable when Warp's Clang is not there and
        CompileUnavailable without NVRTC.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        order = sorted(range(len(answers)), key=lambda p: str(answers[p].row["id"]))
        size = max(1, min(_CHUNK, -(-len(order) // len(self._all_lanes))))
        chunks = [order[start : start + size] for start in range(0, len(order), size)]
        futures = [
            self._pool.submit(self._judge_chunk, [answers[p] for p in chunk], deadline)
            for chunk in chunks
        ]
        found: dict[int, Verdict] = {}
        try:
            for chunk, future in zip(chunks, futures, strict=True):
                found.update(zip(chunk, future.result(), strict=True))
        except BaseException:
            for future in futures:
                future.cancel()
            raise
        return [found[position] for position in range(len(answers))]

    def _judge_chunk(self, answers: list[Answer], deadline: float | None) -> list[Verdict]:
        lane = self._lanes.get()
        try:
            return judge_answers(answers, lane, self._fit, deadline)
        finally:
            self._lanes.put(lane)

    def _fit(self, row: Row, lane: Lane) -> Fit:
        """What a row's answers are judged on. Raises RowUnfit."""
        key = row_key(row)
        with self._lock:
            finding = self._finding.setdefault(key, threading.Lock())
        # Lanes that meet a new row at once wait for the first of them.
        with finding:
            known = self._fits.get(key)
            if known is None:
                known = self._found(key, row, lane)
        if isinstance(known, RowUnfit):
            raise RowUnfit(str(known))
        return known

    def _found(self, key: str, row: Row, lane: Lane) -> Fit | RowUnfit:
        found: Fit | RowUnfit
        try:
            found = find_fit(row, self.hidden_seed, lane)
        except RowUnfit as unfit:
            found = unfit
        with self._lock:
            self._fits[key] = found
            while len(self._fits) > _MOST_KEPT:
                gone, _ = self._fits.popitem(last=False)
                self._finding.pop(gone, None)
        return found
