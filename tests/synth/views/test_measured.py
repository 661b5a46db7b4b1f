"""The view of what is slower, where a GPU has timed the schedules of some rows."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from synth.dataset.stored import stored_rows
from synth.dataset.views_index import stored_views
from synth.errors import SettingsError
from synth.gpu.output import write_run
from synth.gpu.tune import TUNE_SCHEMA
from synth.render.cuda.choose import Candidate
from synth.render.cuda.schedule import Schedule
from synth.views.file import make_view_file
from synth.views.make import make_views
from synth.views.measured import Timed, timings_of
from synth.views.reasons import Choice, choice_of
from synth.views.slower import LEAST_GAIN_US, LEAST_RATIO, Slower, _slower
from validate.row.sizes import describe

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
ABOUT = {"devices": [{"name": "NVIDIA H100"}]}
Times = Callable[[Candidate], float]
Row = dict[str, Any]


def records(row: Row, choice: Choice, times: Times) -> list[Row]:
    """What `gpu tune` would write of a row, at three sizes; the times are of the middle one."""
    found = []
    for step, factor in enumerate((1, 2, 3)):
        sizes = {name: size * factor // 2 for name, size in choice.sizes.items()}
        for one in choice.all:
            found.append(
                {
                    **{key: row[key] for key in ("id", "category", "idiom", "level")},
                    "contender": "plain",
                    "status": "passed",
                    "own": one is choice.own,
                    "schedule": one.schedule.to_json(),
                    "sizes": describe(sizes),
                    "elements": step,
                    "time_us": times(one) if step == 1 else 1.0,
                    "device": "NVIDIA H100",
                }
            )
    return found


def is_slow(choice: Choice, other: Candidate) -> bool:
    gain_us = other.prediction.time_us - choice.own.prediction.time_us
    return choice.ratio(other) >= LEAST_RATIO and gain_us >= LEAST_GAIN_US


def slower_choices() -> list[tuple[Row, Choice]]:
    """Rows of the samples for which the model knows a layout that is slow enough."""
    found = []
    for _, row in stored_rows(SAMPLES):
        choice = choice_of(row)
        if choice is not None and any(is_slow(choice, c) for c in choice.all):
            found.append((row, choice))
    return found


@pytest.fixture
def tuned(tmp_path: Path) -> tuple[Path, list[tuple[Row, Choice]]]:
    """The samples beside a tuning of three rows: others are 4 times as slow; all are as quick; the
    schedule that was timed as its own is not the row's."""
    out = Path(shutil.copytree(SAMPLES, tmp_path / "data"))
    chosen = slower_choices()[:4]
    (a, slow), (b, same), (c, other) = chosen[:3]
    stale = replace(other, own=next(one for one in other.all if one is not other.own))
    listed = records(a, slow, lambda one: 8.0 if one is slow.own else 32.0)
    listed += records(b, same, lambda _: 8.0)
    listed += records(c, stale, lambda _: 8.0)
    (out / "gpu").mkdir()
    write_run(out, "tune", listed, TUNE_SCHEMA, ABOUT)
    return out, chosen


def test_times_of_a_device_come_before_those_of_the_model(
    tuned: tuple[Path, list[tuple[Row, Choice]]],
) -> None:
    out, ((a, _), (b, _), (c, _), (d, _)) = tuned
    made = make_views(out, ["optimise"])
    rows: dict[str, Row] = {}
    for file in made.views["optimise"].files:
        rows |= {row["id"]: row for row in pq.read_table(out / file.path).to_pylist()}
    timed = rows[a["id"]]
    assert (timed["ratio"], timed["time"], timed["device"]) == (4.0, "measured", "NVIDIA H100")
    question, answer = (message["content"] for message in timed["messages"])
    assert "Measured on one NVIDIA H100 with" in question
    assert "it takes 32 µs." in question
    assert "Measured there it takes 8 µs, the kernel given 32 µs." in answer
    # No layout was measured to be slower, whatever the model says.
    assert b["id"] not in rows
    for row in (c, d):
        if row["id"] in rows:
            assert (rows[row["id"]]["time"], rows[row["id"]]["device"]) == ("predicted", None)
            assert "Measured" not in rows[row["id"]]["messages"][0]["content"]
    others = [row for name, row in rows.items() if name not in (a["id"], b["id"])]
    assert others
    assert {row["time"] for row in others} == {"predicted"}


def test_a_new_tuning_makes_the_view_anew_and_no_other(
    tuned: tuple[Path, list[tuple[Row, Choice]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, chosen = tuned
    monkeypatch.setattr("synth.views.slower.choice_of", lambda _row: None)
    make_views(out, ["sft", "optimise"])
    before = stored_views(out)
    assert before is not None
    assert before.settings["tuned"].keys() == {"tune-nvidia-h100.parquet"}
    # A shard of which a view left out all has no file to be taken over.
    kept = {file.path for view in before.views.values() for file in view.files}
    made: list[str] = []
    monkeypatch.setattr(
        "synth.views.make.make_view_file",
        lambda task: made.append(task.name) or make_view_file(task),
    )
    a, slow = chosen[0]
    listed = records(a, slow, lambda one: 8.0 if one is slow.own else 80.0)
    write_run(out, "tune", listed, TUNE_SCHEMA, ABOUT)
    after = make_views(out, ["sft", "optimise"])
    again = {path for path in kept if any(path.endswith(name) for name in made)}
    assert again == {path for path in kept if path.startswith("views/optimise/")}
    assert after.settings["tuned"] != before.settings["tuned"]


def test_a_schedule_is_timed_in_the_middle_of_its_sizes(
    tuned: tuple[Path, list[tuple[Row, Choice]]],
) -> None:
    out, chosen = tuned
    path = out / "gpu" / "tune-nvidia-h100.parquet"
    (a, slow) = chosen[0]
    found = timings_of([path])[a["id"]]
    assert (found.own_us, {us for _, us in found.others}) == (8.0, {32.0})
    assert found.own == replace(Schedule.from_json(a["schedule"]), limits="")
    assert len(found.others) == len(slow.all) - 1
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(SettingsError, match=r"tune-nvidia-h100.parquet cannot be read"):
        timings_of([path])


@pytest.mark.parametrize(("slow_us", "reason"), [(2.9, "little_gain"), (1.4, "nothing_slower")])
def test_small_gains_are_left_out_and_counted(slow_us: float, reason: str) -> None:
    """Half as long again, but within what launches vary by; and not even that."""
    row, choice = slower_choices()[0]
    own = replace(choice.own.schedule, limits="")
    others = [(c.schedule, slow_us) for c in choice.all if c is not choice.own]
    timed = Timed("NVIDIA H100", choice.sizes, own, 1.0, others)
    assert _slower(row, {row["id"]: timed}) == reason
    clear = replace(timed, others=[(one, 1.0 + LEAST_GAIN_US) for one, _ in others])
    found = _slower(row, {row["id"]: clear})
    assert isinstance(found, Slower)
    assert found.ratio == 1.0 + LEAST_GAIN_US
