"""The judge: outputs compared with the reference or the own text, shares, and what is told."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from validate.host.answered import Answered
from validate.row.inputs import Array, poison
from validate.score.feedback import public_reason
from validate.score.hidden import OWN, Draw, Trial, draws, trial_inputs
from validate.score.judge import Judge
from validate.statuses import ScoreStatus

Row = dict[str, Any]
DATA = Path(__file__).resolve().parents[2] / "data" / "judge" / "rows.jsonl"
ROWS: dict[str, Row] = {row["id"]: row for row in map(json.loads, DATA.read_text().splitlines())}
# `row_sums` and `total_acc`, both accumulators of floats; and one float a thread.
SUMS, PLAIN = ROWS["65655120d0b6fd17"], ROWS["8564ff516394692f"]
Arrays = dict[str, Array]


def text(arrays: Arrays) -> dict[str, bytes]:
    return {name: a.tobytes() for name, a in arrays.items()}


def answer(outputs: list[Any], status: str = "ran", reason: str = "") -> Answered:
    return Answered.from_bytes(Answered(status, reason, outputs).to_bytes())


def said(outputs: Any, status: Any, branches: Any = ()) -> bytes:
    """What a process may write that does not mean to answer; no outputs follow."""
    head = {"status": status, "reason": "", "outputs": outputs, "branches": branches}
    return json.dumps(head).encode() + b"\n"


def stored(row: Row, draw: Draw, number: int, wanted: Arrays) -> Arrays:
    """Wanted outputs in the dtypes that a kernel writes."""
    inputs = trial_inputs(row, draw.trials[number], draw)
    return {name: array.astype(inputs[name].dtype) for name, array in wanted.items()}


def reference_draw(row: Row) -> Draw:
    """Near, again, small and minimum."""
    draw = next(draws(row, 3))
    return draw.without([n for n, trial in enumerate(draw.trials) if trial.oracle == OWN])


def right(row: Row, draw: Draw, judge: Judge) -> list[Arrays]:
    return [stored(row, draw, n, judge.wanted[n]) for n in sorted(judge.wanted)]


def own_judge(count: int = 1000) -> tuple[Judge, Arrays]:
    """A judge of one reference trial and one of the own text, and what that wrote."""
    (name,) = [arg["name"] for arg in PLAIN["args"] if arg["role"] == "out"]
    draw = Draw("hidden", (Trial({"n": 5}, 1), Trial({"n": count}, 2, OWN, "wide n", True)))
    judge = Judge(PLAIN, draw)
    inputs = trial_inputs(PLAIN, draw.trials[1], draw)
    own = {name: np.linspace(1, 2, count).astype(inputs[name].dtype)}
    assert judge.take_own(1, text(own))
    return judge, own


def first_right(judge: Judge) -> dict[str, str]:
    return text(stored(PLAIN, judge.draw, 0, judge.wanted[0]))


@pytest.mark.parametrize("row", [SUMS, PLAIN], ids=lambda row: row["id"])
def test_right_outputs_pass(row: Row) -> None:
    draw = reference_draw(row)
    judge = Judge(row, draw)
    found = judge.judge(answer([text(arrays) for arrays in right(row, draw, judge)]))
    assert (found.status, found.reason, found.share) == (ScoreStatus.PASSED, "", 1.0)
    assert 0.0 <= found.tolerance_used < 0.5


def test_the_reference_runs_where_a_draw_does_not_know_it() -> None:
    draw = reference_draw(SUMS)
    bare = Judge(SUMS, Draw(draw.kind, draw.trials, draw.starts))
    known = Judge(SUMS, draw)
    assert sorted(bare.wanted) == sorted(known.wanted) == [0, 1, 2, 3]
    for number, wanted in known.wanted.items():
        assert all(np.array_equal(wanted[n], bare.wanted[number][n]) for n in wanted)


def test_a_wrong_value_is_told_with_and_without_what_is_hidden() -> None:
    draw = reference_draw(SUMS)
    judge = Judge(SUMS, draw)
    outputs = right(SUMS, draw, judge)
    outputs[1]["row_sums"][2] += 100.0
    found = judge.judge(answer([text(arrays) for arrays in outputs]))
    assert found.status == ScoreStatus.WRONG_VALUE
    example = found.counter_example
    assert example is not None
    assert (example.output, example.index) == ("row_sums", (2,))
    assert example.sizes == draw.trials[1].sizes
    assert example.got == pytest.approx(example.want + 100.0, rel=1e-5)
    rows = draw.trials[1].sizes["rows"]
    assert found.reason == f"row_sums: {round(100 / rows)} % of the elements differ"
    assert f"rows={rows}" in found.detail
    assert "row_sums[2] is" in found.detail
    # One of rows + 1 elements, in one of four trials.
    assert found.share == pytest.approx(1 - 1 / (rows + 1) / 4)


def test_later_trials_count_for_the_share_of_a_wrong_answer() -> None:
    draw = reference_draw(PLAIN)
    judge = Judge(PLAIN, draw)
    outputs = right(PLAIN, draw, judge)
    (name,) = outputs[0]
    outputs[0][name][:] = 1e9
    found = judge.judge(answer([text(arrays) for arrays in outputs]))
    assert found.reason == f"{name}: all elements differ"
    assert found.share == 0.75
    outputs[2][name][:] = np.nan
    found = judge.judge(answer([text(arrays) for arrays in outputs]))
    assert found.share == 0.5


def test_what_ran_before_a_failure_counts() -> None:
    draw = reference_draw(SUMS)
    judge = Judge(SUMS, draw)
    outputs = [text(arrays) for arrays in right(SUMS, draw, judge)][:2]
    reason = "thread 17 reads 4 bytes after the end of row_sums"
    found = judge.judge(answer(outputs, ScoreStatus.READ_OUT_OF_BOUNDS, reason))
    assert (found.status, found.share) == (ScoreStatus.READ_OUT_OF_BOUNDS, 0.5)
    assert "row_sums" in found.reason
    assert not re.search(r"\d", found.reason)
    assert found.detail.startswith(reason)
    assert "rows=" in found.detail


def test_own_outputs_decide_wide_trials_with_wide_tolerances() -> None:
    judge, own = own_judge()
    (name,) = own
    (arg,) = [arg for arg in PLAIN["args"] if arg["name"] == name]
    start = first_right(judge)

    def status(change: Any) -> tuple[str, float]:
        got = {name: own[name].copy()}
        change(got[name])
        found = judge.judge(answer([start, text(got)]))
        return found.status, found.share

    def moved(times: float) -> Any:
        def change(a: Array) -> None:
            a += times * (arg["atol"] + arg["rtol"] * np.abs(a))

        return change

    def put(value: float, places: slice) -> Any:
        def change(a: Array) -> None:
            a[places] = value

        return change

    assert status(moved(50)) == (ScoreStatus.PASSED, 1.0)
    assert status(moved(1e5)) == (ScoreStatus.WRONG_VALUE, 0.5)
    # One lane in 500 may be decided by a jump, but must have been written.
    assert status(put(77.0, slice(0, 2)))[0] == ScoreStatus.PASSED
    assert status(put(77.0, slice(0, 3)))[0] == ScoreStatus.WRONG_VALUE
    assert status(put(float("nan"), slice(999, 1000)))[0] == ScoreStatus.WRONG_VALUE
    assert status(put(float("inf"), slice(0, 1)))[0] == ScoreStatus.WRONG_VALUE


def test_unwritten_whole_numbers_are_wrong_however_few() -> None:
    row = ROWS["a8381a406f6c9ed9"]
    draw = Draw("hidden", (Trial({"count": 5}, 1), Trial({"count": 4000}, 2, OWN)))
    judge = Judge(row, draw)
    inputs = trial_inputs(row, draw.trials[1], draw)
    names = [arg["name"] for arg in row["args"] if arg["role"] == "out"]
    own = {name: np.ones_like(inputs[name]) for name in names}
    assert judge.take_own(1, text(own))
    before = text(stored(row, draw, 0, judge.wanted[0]))
    got = {name: array.copy() for name, array in own.items()}
    assert judge.judge(answer([before, text(got)])).status == ScoreStatus.PASSED
    # Without floats nothing is decided by a rounding: no element may differ.
    got[names[0]][7] += 1
    assert judge.judge(answer([before, text(got)])).status == ScoreStatus.WRONG_VALUE
    got[names[0]][7] = poison(got[names[0]].dtype, (1,))[0]
    assert judge.judge(answer([before, text(got)])).status == ScoreStatus.WRONG_VALUE


def test_trials_without_wanted_outputs_are_not_judged() -> None:
    judge, own = own_judge()
    start = first_right(judge)
    bare = Judge(PLAIN, judge.draw)
    for second in (None, {"nonsense": b"1"}, text(own)):
        found = bare.judge(answer([start, second]))
        assert (found.status, found.share) == (ScoreStatus.PASSED, 1.0)
    # Here it is judged: left out it is no pass.
    found = judge.judge(answer([start, None]))
    assert (found.status, found.share) == (ScoreStatus.TIMEOUT, 0.5)
    assert found.reason == "takes too many steps"


def test_own_outputs_that_nothing_agrees_with_are_not_taken() -> None:
    judge = Judge(PLAIN, own_judge()[0].draw)
    _, own = own_judge()
    (name,) = own
    assert not judge.take_own(1, None)
    assert not judge.take_own(1, {})
    assert not judge.take_own(1, {name: b"!"})
    assert not judge.take_own(1, {name: bytes(4)})
    own[name][3] = np.nan
    assert not judge.take_own(1, text(own))
    assert 1 not in judge.wanted
    with pytest.raises(ValueError, match="decided by the reference"):
        judge.take_own(0, text(own))


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"[]\n",
        b"7\n",
        b"[" * 100_000 + b"\n",
        said([], "passed"),
        said([], "wrong_value"),
        said([], "compile_error"),
        said([{}], "ran"),
        said([{}] * 5, "timeout"),
        said([7, 7, 7, 7], "ran"),
        said([{"row_sums": "!", "total_acc": ""}] * 4, "ran"),
        said([{"row_sums": -4, "total_acc": 1 << 70}] * 4, "ran"),
        said([{"row_sums": 4, "total_acc": 4}] * 4, "ran"),
        said([], ["ran"]),
        said({}, "ran"),
        said([], "ran", branches=[[[1, 2]]]),
        said([], "ran", branches=7),
    ],
    ids=range(17),
)
def test_an_answer_of_no_such_form_is_a_crash(said: bytes) -> None:
    found = Judge(SUMS, reference_draw(SUMS)).judge(Answered.from_bytes(said))
    assert found.status == ScoreStatus.CRASHED
    assert found.share == 0.0
    assert found.counter_example is None


@pytest.mark.parametrize(
    ("status", "reason", "told"),
    [
        ("data_race", "thread 5 writes x[17], which thread 3 read", ["x"]),
        ("data_race", "thread 5 writes byte 12 of shared memory", ["shared memory"]),
        ("bad_sync", "a thread has left while others wait for it (thread 77)", []),
        ("crashed", "the answer is 42, x is 3.5", ["x"]),
        ("timeout", "no end after 4 s of computing", []),
        ("bad_launch", "grid [12, 3] of blocks [7] cannot be launched", []),
        ("bad_signature", "rows is 1234", []),
    ],
)
def test_public_reasons_hold_no_number(status: str, reason: str, told: list[str]) -> None:
    found = public_reason(status, reason, ["x", "y"])
    assert found
    assert not re.search(r"\d", found)
    assert all(f"({name})" in found for name in told)
    assert "y" not in re.findall(r"\((.*)\)", found)


def test_what_a_kernel_takes_is_no_secret() -> None:
    reason = "the kernel takes 3 parameters, the row has 4"
    assert public_reason(ScoreStatus.BAD_SIGNATURE, reason, []) == reason
