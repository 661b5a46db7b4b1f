"""Tuning by a clock of our own: nothing is measured twice and nothing lost, whoever is killed."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from lower_bench import ComputedBench

from synth.errors import RunError, SettingsError
from synth.lower.choose import choice as choice_module
from synth.lower.choose.choice import choose
from synth.lower.choose.request import read_request
from synth.lower.tune.bench import Outcome
from synth.lower.tune.measured import FILE, Measured, Measurement
from synth.lower.tune.tuner import Tuned, tune
from validate.statuses import GpuStatus

ROOT = Path(__file__).resolve().parents[3]
SPEC = '{"op": "softmax", "shape": [4096, 4096]}'
MUCH = 1e9


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log"
    path.touch()
    return path


def started(log: Path) -> list[str]:
    return log.read_text().split()


def kept(index: Path) -> list[Measurement]:
    with Measured(index) as measured:
        return measured.of()


def tuned(index: Path, log: Path, budget_s: float = MUCH, spec: str = SPEC) -> Tuned:
    with Measured(index) as measured:
        return tune(read_request(spec), ComputedBench(log), measured, budget_s)


def process(index: Path, log: Path, pause_s: float, together: int = 1) -> subprocess.Popen[str]:
    words = [ROOT / "tests/support/lower_bench.py", index, log, SPEC, pause_s, MUCH, together]
    return subprocess.Popen(
        [sys.executable, *map(str, words)],
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        stdout=subprocess.PIPE,
        text=True,
    )


def wait_for(log: Path, count: int) -> None:
    end_s = time.monotonic() + 600
    while len(started(log)) < count:
        assert time.monotonic() < end_s
        time.sleep(0.005)


def test_all_is_measured_once_and_the_best_is_found(tmp_path: Path, log: Path) -> None:
    first = tuned(tmp_path / "index", log)
    keys = started(log)
    assert first.whole
    assert first.fresh == len(keys) == len(set(keys)) >= 28
    assert first.best is not None
    assert first.untuned is not None
    assert keys[0] == choose(SPEC).spec.key() == first.untuned.key
    assert first.best.time_us == min(one.time_us or MUCH for one in kept(tmp_path / "index"))
    again = tuned(tmp_path / "index", log)
    assert (again.fresh, again.best) == (0, first.best)
    assert again.kept >= first.fresh
    assert started(log) == keys


def test_a_budget_is_kept_to_and_the_rest_is_tried_later(tmp_path: Path, log: Path) -> None:
    index = tmp_path / "index"
    some = tuned(index, log, 5.0)
    assert (some.fresh, some.whole) == (5, False)
    more = tuned(index, log, 3.0)
    assert (more.fresh, more.kept) == (3, 5)
    whole = tuned(index, log)
    assert whole.whole
    alone = tuned(tmp_path / "other", tmp_path / "log2")
    assert whole.best is not None
    assert alone.best is not None
    assert whole.best.key == alone.best.key
    assert sorted(started(log)) == sorted(started(tmp_path / "log2"))


def test_killed_and_resumed_nothing_is_measured_twice(tmp_path: Path, log: Path) -> None:
    index, drawn = tmp_path / "index", random.Random(3)
    for count in (2, 9, 17):
        begun = len(started(log))
        running = process(index, log, 0.02)
        wait_for(log, max(count, begun + 1))
        time.sleep(drawn.random() * 0.04)
        running.send_signal(signal.SIGKILL)
        running.wait()
        done = {one.key for one in kept(index)}
        # Of what was begun, the last alone may be unfinished.
        assert set(started(log)[:-1]) <= done
        before = len(started(log))
        step = tuned(index, log, 1.0)
        assert step.kept >= len(done)
        assert not set(started(log)[before:]) & done
    whole = tuned(index, log)
    assert whole.whole
    assert {one.key for one in kept(index)} == set(started(log))
    # A kill costs the one measurement that was under way.
    assert len(started(log)) <= len(set(started(log))) + 3
    alone = tuned(tmp_path / "other", tmp_path / "log2")
    assert set(started(tmp_path / "log2")) == set(started(log))
    assert whole.best == replace(alone.best, measured_at=whole.best.measured_at)  # type: ignore[type-var,union-attr]


def test_two_tuners_on_one_index_share_the_work(tmp_path: Path, log: Path) -> None:
    index = tmp_path / "index"
    both = [process(index, log, 0.1, together=2) for _ in range(2)]
    said = [one.communicate(timeout=600)[0].split() for one in both]
    assert [one.returncode for one in both] == [0, 0]
    keys = started(log)
    assert len(keys) == len(set(keys))
    assert {one.key for one in kept(index)} == set(keys)
    assert sum(int(words[0]) for words in said) == len(keys)
    assert all(int(words[0]) > 3 for words in said)
    # What one left to the other is there at the end: nothing is missing.
    assert tuned(index, log).fresh == 0


def test_what_is_kept_is_only_added_to(tmp_path: Path, log: Path) -> None:
    tuned(tmp_path / "index", log, 2.0)
    with sqlite3.connect(tmp_path / "index" / FILE) as database:
        for text in ("DELETE FROM measurements", "UPDATE measurements SET time_us=1"):
            with pytest.raises(sqlite3.IntegrityError, match="only added to"):
                database.execute(text)


def test_a_wrong_result_is_kept_and_never_chosen(tmp_path: Path, log: Path) -> None:
    tuned(tmp_path / "index", log)
    quickest = min(set(started(log)), key=lambda key: int(key[:4], 16))
    bench = ComputedBench(tmp_path / "log2")
    bench.refused.add(quickest)
    with Measured(tmp_path / "other") as measured:
        found = tune(read_request(SPEC), bench, measured, MUCH)
        (wrong,) = measured.of(key=quickest)
    assert (wrong.verdict, wrong.time_us, wrong.error) == ("wrong_value", None, 0.5)
    assert found.best is not None
    assert found.best.key != quickest


class Breaking(ComputedBench):
    """Breaks off at its third measurement, as a device does after a bad access."""

    def measure(self, *given: object) -> Outcome:
        outcome = super().measure(*given)  # type: ignore[arg-type]
        if self.count == 3:
            return Outcome(GpuStatus.LAUNCH_ERROR, "an illegal access", fatal=True)
        return outcome


def test_what_breaks_the_device_is_kept_and_not_tried_again(tmp_path: Path, log: Path) -> None:
    with Measured(tmp_path / "index") as measured:
        with pytest.raises(RunError, match="run the same again"):
            tune(read_request(SPEC), Breaking(log), measured, MUCH)
        broken = started(log)[2]
        assert [one.verdict for one in measured.of(key=broken)] == ["launch_error"]
        tune(read_request(SPEC), ComputedBench(log), measured, MUCH)
    assert started(log).count(broken) == 1


def test_lower_takes_what_was_found_near_and_on_the_device(tmp_path: Path, log: Path) -> None:
    index = tmp_path / "index"
    best = tuned(index, log).best
    assert best is not None
    with Measured(index) as measured:
        for spec, by in (
            (SPEC, "found"),
            ('{"op": "softmax", "shape": [4096, 5120]}', "found"),
            ('{"op": "softmax", "shape": [4096, 1024]}', "model"),
            ('{"op": "softmax", "shape": [4096, 4099]}', "model"),
            ('{"op": "rms_norm", "shape": [4096, 4096]}', "table"),
        ):
            choice = choose(spec, "computed", measured.found)
            assert choice.by == by, spec
            assert (choice.spec.key() == best.key) == (by == "found")
        assert choose(SPEC, "another", measured.found).by == "table"
        part = '{"op": "softmax", "shape": [4096, 4096], "schedule": {"threads": 64}}'
        kept_part = choose(part, "computed", measured.found)
        assert dict(kept_part.spec.schedule)["threads"] == 64  # type: ignore[union-attr]


def test_a_schedule_that_is_said_is_kept_while_tuning(tmp_path: Path, log: Path) -> None:
    spec = '{"op": "softmax", "shape": [64, 512], "schedule": {"threads": 64}}'
    found = tuned(tmp_path / "index", log, spec=spec)
    listed = kept(tmp_path / "index")
    assert found.whole
    assert {one.spec["schedule"]["threads"] for one in listed} == {64}
    assert len({one.spec["schedule"]["held"] for one in listed}) >= 4


def test_a_changed_compiler_measures_again(tmp_path: Path, log: Path) -> None:
    tuned(tmp_path / "index", log, 4.0)
    bench = ComputedBench(log)
    bench.compiler = "none 2.0"
    with Measured(tmp_path / "index") as measured:
        again = tune(read_request(SPEC), bench, measured, 4.0)
    assert (again.fresh, again.kept) == (4, 0)


def test_a_plain_spec_is_not_tuned(tmp_path: Path, log: Path) -> None:
    with (
        Measured(tmp_path / "index") as measured,
        pytest.raises(SettingsError, match="not tuned"),
    ):
        tune(read_request({"op": "relu"}), ComputedBench(log), measured, MUCH)


def test_a_shape_is_asked_for(tmp_path: Path, log: Path) -> None:
    with (
        Measured(tmp_path / "index") as measured,
        pytest.raises(SettingsError, match='say the shape, as "shape": '),
    ):
        tune(read_request({"op": "softmax"}), ComputedBench(log), measured, MUCH)


def test_an_op_that_no_model_knows_is_tuned_around_its_default(
    tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = replace(read_request(SPEC), family=None)
    monkeypatch.setattr(choice_module, "table", lambda request: [])
    assert choose(request).by == "default"
    with Measured(tmp_path / "index") as measured:
        found = tune(request, ComputedBench(log), measured, MUCH)
    keys = started(log)
    assert found.whole
    assert keys[0] == request.first.key()
    assert len(keys) >= 4


def test_a_file_that_is_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"not SQLite" * 100)
    with pytest.raises(SettingsError, match="cannot be used as an index of tuned schedules"):
        Measured(tmp_path)
