"""Verdicts stay with their answers: after exceptions, of threads, of killed processes."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from kills import children
from score_rows import NOTHING, STORE, cube_answer, statuses

from validate.nvrtc.answers import AnswerCompiler
from validate.process.parent import WorkerProcess
from validate.score import answers as answers_module
from validate.score import lane as lane_module
from validate.score.scorer import Scorer

RIGHT_ONE, WRONG_ONE = cube_answer(STORE), cube_answer(NOTHING)
LATER = [RIGHT_ONE, WRONG_ONE, WRONG_ONE, RIGHT_ONE]
OF_LATER = ["passed", "wrong_value", "wrong_value", "passed"]


@pytest.fixture(scope="module")
def kept() -> Iterator[Scorer]:
    with Scorer(hidden_seed=13) as found:
        yield found


@pytest.fixture
def scorer(kept: Scorer) -> Scorer:
    """A scorer with its processes at work."""
    assert statuses(kept, [RIGHT_ONE]) == ["passed"]
    return kept


class Once:
    """Calls what it stands for, and raises at one of its calls, before it or after it."""

    def __init__(self, call: Callable[..., Any], at: int, after: bool, error: BaseException):
        self.call, self.left, self.after, self.error = call, at, after, error

    def __call__(self, *args: Any, **named: Any) -> Any:
        self.left -= 1
        if self.left == 0 and not self.after:
            raise self.error
        found = self.call(*args, **named)
        if self.left == 0:
            raise self.error
        return found


PLACES = {
    "before a text is read": (answers_module, "task_of", False),
    "after a text is read": (answers_module, "task_of", True),
    "before a text is sent": (WorkerProcess, "send", False),
    "after a text is sent": (WorkerProcess, "send", True),
    "before its result is read": (WorkerProcess, "result", False),
    "after its result is read": (WorkerProcess, "result", True),
    "before a device's compiler": (AnswerCompiler, "compile", False),
    "after a device's compiler": (AnswerCompiler, "compile", True),
}
ERRORS = [RuntimeError("planted"), KeyboardInterrupt()]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_after_an_exception_the_next_batch_has_its_own_verdicts(
    scorer: Scorer, monkeypatch: pytest.MonkeyPatch, place: str, error: BaseException
) -> None:
    where, name, after = PLACES[place]
    at = 1 if where is AnswerCompiler else 2
    planted = Once(getattr(where, name), at, after, error)
    with monkeypatch.context() as patch:
        # A function, so that what is called on an object is given that object.
        patch.setattr(where, name, lambda *args, **named: planted(*args, **named))
        with pytest.raises(type(error)):
            scorer.score_batch([WRONG_ONE, RIGHT_ONE, WRONG_ONE])
    assert planted.left <= 0
    assert statuses(scorer, LATER) == OF_LATER


def test_an_interrupt_of_the_waiting_thread_leaves_nothing_behind(scorer: Scorer) -> None:
    endless = cube_answer("for (;;) {}")

    def interrupt(*_about: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(2):
            signal.setitimer(signal.ITIMER_REAL, 0.4)
            with pytest.raises(KeyboardInterrupt):
                scorer.score_batch([endless, WRONG_ONE])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert statuses(scorer, LATER) == OF_LATER


def test_a_late_answer_is_nobodys(scorer: Scorer, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(lane_module, "_TIMEOUT_S", 0.001)
        (late,) = scorer.score_batch([RIGHT_ONE])
    assert late.status == "timeout"
    assert statuses(scorer, LATER) == OF_LATER


def test_a_result_of_another_number_is_not_taken(
    scorer: Scorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = WorkerProcess.result

    def other(self: WorkerProcess, timeout_s: float, what: str) -> dict[str, Any]:
        return {**result(self, timeout_s, what), "number": 0}

    with monkeypatch.context() as patch:
        patch.setattr(WorkerProcess, "result", other)
        with pytest.raises(RuntimeError, match="answer 0 came for"):
            scorer.score_batch([RIGHT_ONE])
    assert statuses(scorer, LATER) == OF_LATER


@pytest.mark.parametrize("workers", [1, 2])
def test_six_threads_on_one_scorer_have_their_own_verdicts(workers: int) -> None:
    jobs = [(RIGHT_ONE, "passed"), (WRONG_ONE, "wrong_value"), (cube_answer(""), "wrong_value")]
    with Scorer(hidden_seed=14, workers=workers) as scorer, ThreadPoolExecutor(6) as pool:
        futures = [
            (pool.submit(statuses, scorer, [jobs[k % 3][0], jobs[k % 2][0]]), k) for k in range(12)
        ]
        for future, k in futures:
            assert future.result() == [jobs[k % 3][1], jobs[k % 2][1]]


def test_one_threads_exception_is_not_anothers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of six threads the batches of some fail; those of the others have their own verdicts."""
    task_of = getattr(answers_module, "task_of")  # noqa: B009 - no export of its module

    def planted(cuda: Any, row: Any, launch: Any) -> Any:
        if cuda == "raise":
            raise ValueError("planted")
        return task_of(cuda, row, launch)

    monkeypatch.setattr(answers_module, "task_of", planted)
    failing = [WRONG_ONE, type(WRONG_ONE)("raise", WRONG_ONE.row)]

    def fails(scorer: Scorer) -> list[str]:
        with pytest.raises(ValueError, match="planted"):
            scorer.score_batch(failing)
        return OF_LATER

    with Scorer(hidden_seed=15, workers=2) as scorer, ThreadPoolExecutor(6) as pool:
        calls = [
            pool.submit(fails, scorer) if k % 3 == 0 else pool.submit(statuses, scorer, LATER)
            for k in range(6)
        ]
        assert [call.result() for call in calls] == [OF_LATER] * 6


def test_verdicts_can_be_awaited(scorer: Scorer) -> None:
    async def all_at_once() -> list[str]:
        asked = [scorer.score_async(a.cuda, a.row, launch=a.launch) for a in LATER * 3]
        return [found.status for found in await asyncio.gather(*asked)]

    assert asyncio.run(all_at_once()) == OF_LATER * 3


def workers_of(scorer: Scorer) -> list[int]:
    """Process ids of the processes that run answers."""
    started = [lane._worker._worker for lane in scorer._all_lanes]
    return [worker.process.pid for worker in started if worker is not None]


def test_a_worker_killed_between_batches_costs_no_verdict(scorer: Scorer) -> None:
    (pid,) = workers_of(scorer)
    os.kill(pid, signal.SIGKILL)
    assert statuses(scorer, [WRONG_ONE]) == ["wrong_value"]
    assert workers_of(scorer) != [pid]
    assert statuses(scorer, LATER) == OF_LATER


@pytest.mark.parametrize("whose", ["worker", "answer"])
def test_processes_killed_at_work_make_nothing_pass(scorer: Scorer, whose: str) -> None:
    def pids() -> list[int]:
        workers = workers_of(scorer)
        return workers if whose == "worker" else [c for pid in workers for c in children(pid)]

    stop = threading.Event()
    endless = cube_answer("for (;;) {}")

    def kill_once() -> None:
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline and not stop.is_set():
            if any(children(pid) for pid in workers_of(scorer)):
                for pid in pids():
                    os.kill(pid, signal.SIGKILL)
                return
            time.sleep(0.01)

    killer = threading.Thread(target=kill_once)
    killer.start()
    found = statuses(scorer, [endless, WRONG_ONE, RIGHT_ONE])
    stop.set()
    killer.join()
    assert found[0] in ("timeout", "crashed")
    assert found[1:] == ["wrong_value", "passed"]
    assert statuses(scorer, LATER) == OF_LATER


def test_a_killed_compiler_of_devices_is_started_again(scorer: Scorer) -> None:
    mine = {*children(os.getpid())} - {*workers_of(scorer)}
    assert mine
    for pid in mine:
        os.kill(pid, signal.SIGKILL)
    assert statuses(scorer, LATER) == OF_LATER
    assert statuses(scorer, LATER) == OF_LATER
