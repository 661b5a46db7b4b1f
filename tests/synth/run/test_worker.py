"""Worker processes end whenever they are told to, and their errors come here."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from worker_jobs import LARGE_BYTES, answer

from synth.errors import RunError
from synth.run.engine import Processes
from synth.run.worker import Worker, WorkerLost, end_all

ROOT = Path(__file__).resolve().parents[3]
SUPPORT = ROOT / "tests" / "support"
MOST_S = 300
"""Longer than any machine takes, and shorter than for ever."""


@pytest.fixture
def pool() -> Iterator[Processes]:
    pool = Processes(2)
    yield pool
    pool.close()


def test_each_job_is_answered_once_by_few_processes(pool: Processes) -> None:
    jobs = [("plain", k) for k in range(9)]
    answers = dict(pool.each(answer, jobs))
    assert sorted(answers) == jobs
    assert all(data.startswith(f"plain {job[1]} ".encode()) for job, data in answers.items())
    assert len({data.split()[-1] for data in answers.values()}) <= 2
    assert [job for job, _ in pool.each(answer, jobs[:1])] == jobs[:1]


def test_jobs_are_taken_as_they_are_needed(pool: Processes) -> None:
    taken = []
    jobs = (("plain", k) for k in range(100) if taken.append(k) is None)
    for done, _ in enumerate(pool.each(answer, jobs)):
        assert len(taken) <= done + 3
        if done == 4:
            break


def test_what_is_made_is_heard(pool: Processes) -> None:
    heard: list[int] = []
    pool.made = heard.append
    assert len(list(pool.each(answer, [("counts", 5), ("counts", 3)]))) == 2
    assert sum(heard) == 15 + 6


def test_an_error_comes_with_its_place_and_the_pool_goes_on(pool: Processes) -> None:
    with pytest.raises(ValueError, match="job 3") as caught:
        list(pool.each(answer, [("raises", 3)]))
    assert "in answer" in str(caught.value.__cause__)
    pool.close()
    with pytest.raises(RuntimeError, match="Unsaid: 4 and 4"):
        list(pool.each(answer, [("unsaid", 4)]))


def test_a_worker_that_dies_is_said(pool: Processes) -> None:
    with pytest.raises(RunError, match="a worker process died"):
        list(pool.each(answer, [("dies", 0), ("plain", 1), ("plain", 2)]))


def test_a_worker_cut_off_in_an_answer_is_lost_and_no_other(tmp_path: Path) -> None:
    workers = [Worker(str(tmp_path)), Worker(str(tmp_path))]
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.give(answer, ("large", LARGE_BYTES))
        assert workers[0].connection.poll(MOST_S)
        workers[0].process.kill()
        with pytest.raises(WorkerLost):
            workers[0].hear()
        assert workers[1].hear() == bytes(LARGE_BYTES)
    finally:
        end_all(workers, at_once=True)


BREAK_OFF = """
import sys, time
sys.path[:0] = sys.argv[1:3]
from worker_jobs import LARGE_BYTES, answer

if __name__ == "__main__":
    from synth.run.engine import Processes

    for delay_s in (0.0, 0.02, 0.04):
        pool = Processes(2)
        answers = pool.each(answer, [("plain", 0), ("plain", 1), *[("large", LARGE_BYTES)] * 9])
        next(answers), next(answers)
        time.sleep(delay_s)
        pool.close()
"""


def test_breaking_off_amid_long_answers_ends(tmp_path: Path) -> None:
    """The pool of the standard library waited for ever for the rest of an answer."""
    script = tmp_path / "break_off.py"
    script.write_text(BREAK_OFF)
    command = [sys.executable, str(script), str(ROOT), str(SUPPORT)]
    subprocess.run(command, check=True, timeout=MOST_S)


INTERRUPTED = """
import sys
sys.path[:0] = sys.argv[1:3]
from worker_jobs import answer

if __name__ == "__main__":
    from synth.run.engine import Processes

    pool = Processes(2)
    try:
        print("starts", flush=True)
        for job, _ in pool.each(answer, [("plain", 0), *[("sleeps", 0)] * int(sys.argv[3])]):
            print("at work", flush=True)
    except KeyboardInterrupt:
        pool.close()
        print("closed")
"""


@pytest.mark.parametrize("moment", ["starts", "at work"])
def test_ctrl_c_ends_workers_without_a_word_of_theirs(tmp_path: Path, moment: str) -> None:
    """Also while they start: a terminal sends it to them too."""
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    process = subprocess.Popen(
        [sys.executable, str(script), str(ROOT), str(SUPPORT), "3"],
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        while process.stdout.readline() != f"{moment}\n":
            assert process.poll() is None
        if moment == "starts":
            time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)
        said, errors = process.communicate(timeout=MOST_S)
    finally:
        process.kill()
    # Quick workers are at work by then.
    assert (said.removeprefix("at work\n"), errors) == ("closed\n", "")
