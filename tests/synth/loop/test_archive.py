"""The archive: only added to, whole after any kill, one at a time at an attempt."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import time
from pathlib import Path

import pytest

from synth.errors import SettingsError
from synth.loop.archive import Archive, ArchivedTask, Attempt, Judgement
from synth.loop.archive_schema import APPEND_ONLY

TASK = ArchivedTask("t1", "r1", "sft", "math", 2, "Write a kernel.", "{}")


def attempt(number: int, **more: object) -> Attempt:
    prompt = [{"role": "user", "content": "Write a kernel."}]
    values = {"prompt_tokens": 10, "completion_tokens": 5, "usd": 0.25, **more}
    return Attempt(f"a{number}", None, "t1", "m", number, 0, prompt, f"text {number}", **values)  # type: ignore[arg-type]


def judgement(number: int, passed: bool = False) -> Judgement:
    status = "passed" if passed else "wrong_value"
    return Judgement(f"a{number}", status, "", [], {"share": 0.5}, {}, passed, True, 0.1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Archive(tmp_path / "a.sqlite", create=True) as archive:
        archive.add_tasks([TASK])
    return tmp_path / "a.sqlite"


def test_what_is_added_is_there_again(path: Path) -> None:
    with Archive(path) as archive:
        seed = archive.hidden_seed
        archive.add_attempt(attempt(0))
        archive.add_judgement(judgement(0))
        archive.add_judgement(judgement(0, passed=True))
    with Archive(path) as archive:
        assert archive.hidden_seed == seed
        found = archive.attempt("a0")
        assert found is not None
        assert found.answered_at
        assert found.prompt == attempt(0).prompt
        # The first verdict stays.
        assert archive.judgement("a0") == judgement(0)
        assert archive.task("t1") == TASK
        assert archive.attempt("a1") is None
        assert archive.spent("m") == (15, 0.25)
        assert archive.spent("other") == (0, 0.0)


@pytest.mark.parametrize("table", APPEND_ONLY)
def test_nothing_is_changed_or_removed(path: Path, table: str) -> None:
    with Archive(path) as archive:
        archive.add_attempt(attempt(0))
        archive.add_judgement(judgement(0))
        archive.add_failure("a0", "m", "HTTP 500", 0.1)
    db = sqlite3.connect(path)
    for change in (f"DELETE FROM {table}", f"UPDATE {table} SET rowid=7"):
        text = change if table != "settings" else change.replace("rowid=7", "value=7")
        with pytest.raises(sqlite3.IntegrityError, match="only added to"):
            db.execute(text)
    db.close()


def test_queries_take_conditions_together(path: Path) -> None:
    with Archive(path) as archive:
        for number in range(4):
            archive.add_attempt(attempt(number))
        archive.add_judgement(judgement(0))
        archive.add_judgement(judgement(1, passed=True))
        archive.add_failure("a1", "m", "HTTP 429", 0.1, tokens=7)
        ids = lambda **wanted: [row["id"] for row in archive.query(**wanted)]  # noqa: E731
        assert ids() == ["a0", "a1", "a2", "a3"]
        assert ids(passed=True) == ids(verdict="passed") == ["a1"]
        assert ids(verdict="none", model="m") == ["a2", "a3"]
        assert ids(task="t2") == ids(row="r2") == []
        assert ids(limit=2) == ["a0", "a1"]
        third = archive.attempt("a2")
        assert third is not None
        assert ids(since=third.answered_at) == ["a2", "a3"]
        assert ids(until=third.answered_at) == ["a0", "a1"]
        with pytest.raises(TypeError, match="no such condition"):
            archive.query(color="red")
        (row,) = archive.summary()
        assert (row["attempts"], row["solved"], row["passed"], row["failures"]) == (4, 1, 1, 1)
        assert archive.spent("m") == (67, 1.0)


@pytest.mark.parametrize("content", [b"", b"no database at all, but a text of some length" * 99])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    strange = tmp_path / "x.sqlite"
    with pytest.raises(SettingsError, match="no archive"):
        Archive(strange)
    if content:
        strange.write_bytes(content)
    else:
        db = sqlite3.connect(strange)
        db.execute("CREATE TABLE notes (text)")
        db.close()
    with pytest.raises(SettingsError, match="cannot be used as an archive"):
        Archive(strange, create=True)


def test_an_attempt_is_claimed_by_one_that_lives(path: Path) -> None:
    with Archive(path) as mine:
        assert mine.claim("a0")
        assert mine.claim("a0")
        child = os.fork()
        if not child:
            with Archive(path) as theirs:
                os._exit(0 if not theirs.claim("a0") and theirs.claim("a1") else 1)
        assert os.waitpid(child, 0)[1] == 0
        # It ended without an answer.
        assert mine.claim("a1")
        mine.add_attempt(attempt(1))
        assert not mine.claim("a1")
        mine.release("a0")
        assert mine.claim("a0")


def _write(path: Path, first: int, count: int) -> None:
    with Archive(path, create=True) as archive:
        archive.add_tasks([TASK])
        for number in range(first, first + count):
            archive.add_attempt(attempt(number))
            archive.add_judgement(judgement(number))


def test_two_that_begin_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "new.sqlite"
    fork = multiprocessing.get_context("fork")
    writers = [fork.Process(target=_write, args=(path, at, 40)) for at in (0, 40, 80)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    with Archive(path) as archive:
        assert sorted(row["sample"] for row in archive.query()) == list(range(120))
        assert len(archive.query(verdict="wrong_value")) == 120


def _write_and_tell(path: Path, first: int, pipe: int) -> None:
    with Archive(path) as archive:
        for number in range(first, first + 100_000):
            archive.add_attempt(attempt(number))
            os.write(pipe, f"{number}\n".encode())


def test_what_was_stored_outlives_sigkill(path: Path) -> None:
    told: list[int] = []
    for turn in range(5):
        read, write = os.pipe()
        child = os.fork()
        if not child:
            try:
                _write_and_tell(path, 100_000 * turn, write)
            finally:
                os._exit(1)
        os.close(write)
        with os.fdopen(read, "rb") as lines:
            told.append(int(lines.readline()))
            time.sleep(0.02 * turn)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            told += [int(line) for line in lines.read().split(b"\n") if line]
    with Archive(path) as archive:
        kept = {row["sample"] for row in archive.query(columns=("sample",))}
        assert len(told) >= 5
        assert set(told) <= kept
        assert len(kept) <= len(told) + 5
