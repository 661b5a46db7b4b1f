"""Times of answers: whose are predicted, what a GPU measures, and which answer is the best."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import pairsmith
from generators.program.serialise import from_json
from synth.loop import stopwatch
from synth.loop.archive import Archive, ArchivedTask, Attempt, Judgement, best_of
from synth.loop.prompts import faster_of
from synth.loop.sources.find import tasks_of
from synth.loop.stopwatch import Stopwatch, timer_here
from synth.loop.timed import Time
from synth.loop.times import NO_MODEL, NOT_OURS, Predictor, timed_sizes
from synth.lower.choose.choice import candidates
from synth.lower.choose.request import read_request
from synth.lower.text import lower
from synth.render.cuda.choose import candidates_of
from synth.render.cuda.module import render
from synth.views.plain import plain_answer
from validate.errors import GpuUnavailable
from validate.gpu import runner
from validate.gpu.ceilings import Peaks
from validate.gpu.device import Device
from validate.text.launches import listed

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
DEVICE = Device(0, "a GPU", "GPU-0", "sm_90", 8 << 30, 1, 1 << 20, "13.0", "13.0", "0")
Row = dict[str, Any]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """As tasks have them."""
    return [json.loads(task.row) for task in tasks_of(str(SAMPLES), "sft", limit=5)]


def test_texts_of_schedules_are_predicted_and_others_are_not(rows: list[Row]) -> None:
    predictor = Predictor()
    for row in rows:
        known = candidates_of(from_json(row["program"]), timed_sizes(row))
        times = {round(one.prediction.time_us, 6) for one in known}
        found = predictor.of(plain_answer(row), row)
        assert (found.how, found.device) == ("predicted", "NVIDIA H200")
        assert round(found.us or 0.0, 6) in times
        # Another schedule's text has its own time, however it is set and annotated.
        slow = known[-1]
        columns = render(from_json(row["program"]), slow.schedule).columns()
        told = plain_answer({**row, **columns}).replace(";\n", "; // so\n\n")
        assert (predictor.of(told, row).us or 0.0) <= slow.prediction.time_us
        other = predictor.of(plain_answer(row).replace("{\n", "{\n    int more = 0;\n", 1), row)
        assert (other.us, other.why) == (None, NOT_OURS)


def test_another_block_is_another_schedule(rows: list[Row]) -> None:
    row = next(row for row in rows if len(row["plain_launch"]) == 1)
    one = row["plain_launch"][0]
    odd = {**one, "block": [96, *one["block"][1:]]}
    found = Predictor().of(plain_answer({**row, "plain_launch": [odd]}), row)
    assert (found.us, found.why) == (None, NOT_OURS)


def test_candidates_of_a_spec_are_predicted(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(json.dumps({"op": "softmax"}))
    (task,) = tasks_of(str(tmp_path / "s.json"), "sft")
    row = json.loads(task.row)
    known = candidates(read_request({"op": "softmax", "shape": timed_sizes(row)}))
    predictor = Predictor()
    for one in known:
        made = lower(one.spec)
        told = {"cuda_plain": made.text, "plain_launch": list(listed(made.launch))}
        text = plain_answer({**row, **told, "plain_args": made.args, "plain_scratch": made.scratch})
        found = predictor.of(text, row)
        assert found.us is not None
        assert found.us <= one.predicted_us


def test_a_function_of_ones_own_has_no_model(tmp_path: Path) -> None:
    text = (
        'SIZES = {"n": 8}\n\n\ndef double(x: "float32[n]") -> "float32[n]":\n    return 2.0 * x\n'
    )
    (tmp_path / "f.py").write_text(text)
    (task,) = tasks_of(str(tmp_path / "f.py"), "sft")
    kernel = "__global__ void double_kernel(const float* x, float* out, int n) { out[0] = x[0]; }"
    found = Predictor().of(f"```cuda\n{kernel}\n```", json.loads(task.row))
    assert (found.us, found.why) == (None, NO_MODEL)


def test_columns_for_times_do_not_decide_which_task_it_is(rows: list[Row]) -> None:
    found = {task.row_id: task for task in tasks_of(str(SAMPLES), "sft")}
    entry = pairsmith.tasks("sft", path=SAMPLES)[0]
    from synth.loop.solve import archived_task

    bare = archived_task(entry, "sft")
    assert found[bare.row_id].id == bare.id
    assert json.loads(found[bare.row_id].row)["program"]
    assert "program" not in json.loads(bare.row)


@pytest.mark.parametrize(
    ("attempts", "best"),
    [
        ([(False, 0.3, None), (False, 0.5, None), (False, 0.5, None)], 1),
        ([(False, 0.5, None), (True, 1.0, None), (True, 1.0, None)], 1),
        ([(True, 1.0, None), (True, 1.0, ("predicted", 9.0))], 1),
        ([(True, 1.0, ("predicted", 3.0)), (True, 1.0, ("measured", 9.0))], 1),
        ([(True, 1.0, ("measured", 9.0)), (True, 1.0, ("measured", 8.0))], 1),
        ([(False, 0.5, None), (True, 1.0, ("measured", 9.0))], 1),
    ],
)
def test_the_best_passes_and_is_quickest(
    attempts: list[tuple[bool, float, tuple[str, float] | None]], best: int, tmp_path: Path
) -> None:
    with Archive(tmp_path / "a.sqlite", create=True) as archive:
        archive.add_tasks([ArchivedTask("t", "r", "sft", "c", 1, "?", "{}")])
        for number, (passed, credit, took) in enumerate(attempts):
            archive.add_attempt(Attempt(f"a{number}", None, "t", "m", number, 0, [], "text"))
            metrics: dict[str, Any] = {"credit": credit}
            if took is not None:
                metrics["time"] = Time(took[1], took[0]).as_dict()
            status = "passed" if passed else "wrong_value"
            archive.add_judgement(
                Judgement(f"a{number}", status, "", None, {}, metrics, passed, True, 0.0)
            )
        assert best_of(archive.query(task="t"))["id"] == f"a{best}"


def test_a_model_is_told_its_time_beside_the_roof(rows: list[Row]) -> None:
    row = rows[0]
    time = Time(40.0, "measured", "", "a GPU", timed_sizes(row), 10.0, "memory").as_dict()
    told = faster_of(row, {"facts": ["line 3: a stride"]}, time)
    assert "it takes 40 µs on one a GPU, measured; reading and writing its arrays once" in told
    assert "10 µs, 25% of that" in told
    assert "line 3: a stride" in told
    assert told.endswith("Give the whole text and its launch.")
    assert "roof" not in told
    # More bytes are counted than are moved where arrays are read in part.
    assert "once" not in faster_of(row, {}, {**time, "roof_us": 50.0})
    assert "not known" in faster_of(row, {}, Time(why=NOT_OURS).as_dict())


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Stopwatch]:
    monkeypatch.setattr(runner, "WORKER", "stand_in_worker")
    rates = {"float32": 1e9, "float64": 5e8}
    monkeypatch.setattr(stopwatch, "measure_peaks", lambda _device: Peaks(1e9, rates))
    return lambda: Stopwatch(DEVICE)


def test_what_a_device_measures_is_kept_with_its_roof(
    rows: list[Row], watch: Callable[[], Stopwatch]
) -> None:
    row = rows[0]
    with watch() as timer:
        found = timer.of(plain_answer(row), row)
        bare = timer.of(plain_answer(row), {**row, "program": None})
    assert (found.us, found.how, found.device) == (12.5, "measured", "a GPU")
    assert found.sizes == timed_sizes(row)
    assert (found.roof_us or 0.0) >= (bare.roof_us or 0.0) > 0.0
    assert bare.roof == "memory"


def test_an_answer_that_breaks_the_device_has_no_time_and_harms_no_other(
    rows: list[Row], watch: Callable[[], Stopwatch]
) -> None:
    row = rows[0]
    broken = re.sub(r"\{\n", "{\n    // CRASH\n    int CRASH = 0;\n", plain_answer(row), count=1)
    wrong = broken.replace("CRASH", "WRONG")
    with watch() as timer:
        first, second = timer.of(broken, row), timer.of(wrong, row)
        third = timer.of(plain_answer(row), row)
    assert (first.us, second.us, third.us) == (None, None, 12.5)
    assert first.why.startswith("on the device: launch_error")
    assert second.why == "on the device: wrong_value: y[0] is wrong"


def test_without_a_gpu_times_are_predicted(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> list[Device]:
        raise GpuUnavailable("a GPU run needs CuPy")

    monkeypatch.setattr(stopwatch, "devices", none)
    timer, said = timer_here()
    assert isinstance(timer, Predictor)
    assert said == "times are predicted, not measured: a GPU run needs CuPy"
    monkeypatch.setattr(stopwatch, "devices", lambda: [replace(DEVICE, name="first"), DEVICE])
    timer, said = timer_here()
    assert isinstance(timer, Stopwatch)
    assert said == ""
