"""Hidden draws: shapes, start values of accumulators, and what idle kernels get right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from validate.oracle.reference import ReferenceFailed
from validate.row.inputs import draw_inputs, draw_trial_inputs
from validate.score import shapes
from validate.score.effort import Effort, count_lines, threads
from validate.score.hidden import (
    KINDS,
    OWN,
    REFERENCE,
    TRIES,
    Draw,
    Trial,
    draws,
    reference_outputs,
    trial_inputs,
)
from validate.score.idle import outputs_without_work
from validate.score.shapes import Stream
from validate.score.starts import accumulators, choose_starts

Row = dict[str, Any]
DATA = Path(__file__).resolve().parents[2] / "data" / "judge" / "rows.jsonl"
ROWS: list[Row] = [json.loads(line) for line in DATA.read_text().splitlines()]
BY_ID = {row["id"]: row for row in ROWS}


def first(row: Row, seed: int = 5) -> Draw:
    return next(draws(row, seed))


def of(draw: Draw, what: str) -> list[Trial]:
    return [trial for trial in draw.trials if trial.what.split()[0] == what]


def everywhere(fits: bool) -> shapes.Fits:
    return lambda sizes: fits


def scatter(body: str, **changes: Any) -> Row:
    """`result[at[i]]` joined with `values[i]`, whole numbers, by a reference of this body."""
    text = "def k(dim, at, values, result, seen):\n    for i in range(dim[0]):\n        " + body
    none: dict[str, Any] = {"fields": [], "low": None, "high": None, "rtol": None, "atol": None}
    zero = {"init": "reduction_identity", "low": "0", "high": "0"}
    args: list[dict[str, Any]] = [
        {"name": "at", "role": "in", "shape": ["n"], "init": "index_of:m"},
        {"name": "values", "role": "in", "shape": ["n"], "init": "integers"},
        {"name": "result", "role": "inout", "shape": ["m"], **zero},
        {"name": "seen", "role": "out", "shape": ["n"], "init": "uniform"},
    ]
    args[1] |= {"low": "1", "high": "50"}
    args = [{**none, "kind": "array", "dtype": "int32", **arg} for arg in args]
    sizes = [
        {"symbol": name, "value": value, "min": 1, "multiple_of": 1}
        for name, value in (("n", 40), ("m", 7))
    ]
    args[2] |= changes
    return {
        "id": "made",
        "kernel_name": "k",
        "reference": text,
        "args": args,
        "sizes": sizes,
        "launch": {"dim": ["n"]},
        "input_seed": 3,
        "cuda_plain": "",
        "plain_args": [],
        "plain_launch": {"grid": ["(n + 255) / 256"], "block": [256]},
    }


ADD = "result[at[i]] += values[i]; seen[i] = values[i] * 2"


@pytest.mark.parametrize("row", ROWS[::5], ids=lambda row: row["id"])
def test_sizes_differ_from_each_other_and_respect_what_the_row_says(row: Row) -> None:
    own = {entry["symbol"]: entry["value"] for entry in row["sizes"]}
    for draw in draws(row, 9):
        for trial in draw.trials:
            assert trial.sizes.keys() == own.keys()
            for entry in row["sizes"]:
                size = trial.sizes[entry["symbol"]]
                assert size >= entry["min"]
                assert size % max(1, entry["multiple_of"]) == 0
            if trial.what not in ("minimum", "own"):
                assert len(set(trial.sizes.values())) == len(trial.sizes)
                assert min(trial.sizes.values()) >= 2
        for trial in of(draw, "near"):
            assert not set(trial.sizes.items()) & set(own.items())


def test_sizes_keep_to_multiples_and_least_values() -> None:
    entries = [
        {"symbol": "a", "value": 8, "min": 1, "multiple_of": 4},
        {"symbol": "b", "value": 8, "min": 1, "multiple_of": 4},
        {"symbol": "c", "value": 3, "min": 3, "multiple_of": 1},
    ]
    row = {**scatter(ADD), "sizes": entries, "launch": {"dim": ["a", "b"]}}
    row["plain_launch"] = {"grid": ["(a * b + 255) / 256"], "block": [256]}
    for seed in range(20):
        stream, fits = Stream(str(seed)), everywhere(True)
        small = shapes.small(row, stream)
        assert 3 <= small["c"] <= 5
        wide = shapes.wide(row, "a", small, stream, fits, fits)
        found = [shapes.near(row, stream), small, wide, shapes.blocks(row, small, stream, fits)]
        for sizes in found:
            assert sizes is not None
            assert sizes["a"] % 4 == sizes["b"] % 4 == 0
            assert sizes["c"] >= 3
            assert len(set(sizes.values())) == 3
        assert wide is not None
        assert wide["a"] > 1536
        assert wide["a"] % 32


def test_a_wide_size_takes_two_blocks_of_the_own_launch() -> None:
    row = scatter(ADD)
    row["plain_launch"] = {"grid": ["(n + 2047) / 2048"], "block": [512]}
    small, fits = {"n": 2, "m": 3}, everywhere(True)
    wide = shapes.wide(row, "n", small, Stream("x"), fits, fits)
    assert wide is not None
    assert wide["n"] > 2048
    # The other size is in no launch.
    other = shapes.wide(row, "m", small, Stream("x"), fits, fits)
    assert other is not None
    assert 1536 < other["m"] < 2048
    assert shapes.wide(row, "n", small, Stream("x"), everywhere(False), everywhere(False)) is None


def test_what_does_not_fit_is_made_smaller() -> None:
    row, small = scatter(ADD), {"n": 2, "m": 3}

    def few(sizes: dict[str, int]) -> bool:
        return sizes["n"] < 600

    found = shapes.wide(row, "n", small, Stream("x"), few, few)
    assert found is not None
    assert 263 <= found["n"] < 600
    assert shapes.big(row, small, Stream("x"), few) is None
    big = shapes.big(row, small, Stream("x"), everywhere(True))
    assert big is not None
    assert 70_000 <= big["n"] <= 80_001
    assert big["m"] == 3


@pytest.mark.parametrize(("dims", "least"), [(["b", "n"], (33, 33)), (["b", "n", "m"], (5, 9, 33))])
def test_every_axis_of_a_launch_has_blocks_and_a_tail(
    dims: list[str], least: tuple[int, ...]
) -> None:
    row = scatter(ADD)
    sizes = [{"symbol": s, "value": 5, "min": 1, "multiple_of": 1} for s in ("b", "n", "m", "k")]
    row |= {"sizes": sizes, "launch": {"dim": dims}}
    small = shapes.small(row, Stream("s"))
    for seed in range(20):
        found = shapes.blocks(row, small, Stream(str(seed)), everywhere(True))
        assert found is not None
        assert all(found[name] >= low for name, low in zip(dims, least, strict=True))
        assert found["k"] == small["k"]
        big = shapes.big(row, small, Stream(str(seed)), everywhere(True))
        assert big is not None
        assert 65_536 < threads(row, big) < 90_000
        assert max(big.values()) > 256
    assert shapes.blocks(row, small, Stream("0"), everywhere(False)) is None


def test_a_long_size_that_arrays_have_twice_is_left_out() -> None:
    row = scatter("pass")
    shape = shapes.long(row, {"n": 5, "m": 3}, Stream("x"))
    assert shape is not None
    assert shape["n"] > 8192
    squares = [{**arg, "shape": ["n", "n"]} for arg in row["args"]]
    assert shapes.long({**row, "args": squares}, {"n": 5, "m": 3}, Stream("x")) is None


def test_draws_follow_from_the_secret_the_row_and_the_attempt() -> None:
    row = BY_ID["65655120d0b6fd17"]
    assert list(draws(row, 1)) == list(draws(row, 1))
    seen = [
        trial.input_seed for seed in (1, 2) for draw in draws(row, seed) for trial in draw.trials
    ]
    others = [trial.input_seed for trial in first({**row, "id": "another"}, 1).trials]
    hidden = [number for number in seen if number != row["input_seed"]]
    assert len(hidden) == len(set(hidden))
    assert not set(hidden) & set(others)


def test_the_kinds_and_trials_of_draws() -> None:
    row = BY_ID["65655120d0b6fd17"]
    found = list(draws(row, 4))
    assert [draw.kind for draw in found] == [*[KINDS[0]] * TRIES, KINDS[1], KINDS[2]]
    assert [draw.accumulators for draw in found] == [True, True, *[False] * 4]
    for draw in found[:3]:
        assert [t.what for t in draw.trials[:4]] == ["near", "again", "small", "minimum"]
        near, again = draw.trials[:2]
        assert near.sizes == again.sizes
        assert near.input_seed != again.input_seed
        assert {t.what for t in draw.trials[4:]} >= {"wide rows", "wide cols", "blocks", "big"}
        for trial in draw.trials[4:]:
            assert (trial.oracle, trial.optional) == (OWN, True)
            assert trial.most_steps > 0
        (big,) = of(draw, "big")
        assert threads(row, big.sizes) > 32_768
    assert all(trial.oracle == REFERENCE for draw in found[3:] for trial in draw.trials)
    assert {t.input_seed for t in found[4].trials[:2]} == {row["input_seed"]}
    assert found[5].trials[0].sizes == {"rows": 10, "cols": 11}


def test_trials_can_be_left_out_and_keep_what_they_want() -> None:
    draw = first(BY_ID["65655120d0b6fd17"])
    kept = draw.without([0, len(draw.trials) - 1])
    assert kept.trials == draw.trials[1:-1]
    assert [kept.wanted[n] for n in sorted(kept.wanted)] == [draw.wanted[n] for n in (1, 2, 3)]


def test_known_wanted_outputs_are_those_of_the_reference() -> None:
    row = BY_ID["65655120d0b6fd17"]
    draw = first(row)
    assert sorted(draw.wanted) == [0, 1, 2, 3]
    for number, wanted in draw.wanted.items():
        again = reference_outputs(row, draw.trials[number], draw)
        assert all(np.array_equal(wanted[name], again[name]) for name in again)


@pytest.mark.parametrize(
    ("body", "init", "joins"),
    [
        (ADD, ("0", "0"), True),
        ("result[at[i]] |= 1 << values[i] % 8; seen[i] = 1", ("0", "0"), True),
        ("result[at[i]] ^= values[i]; seen[i] = 1", ("0", "0"), True),
        ("result[at[i]] = max(result[at[i]], values[i]); seen[i] = 1", ("-1000", "-1000"), True),
        ("result[at[i]] = min(result[at[i]], values[i]); seen[i] = 1", ("1000", "1000"), True),
        ("result[at[i]] = 17; seen[i] = 1", ("0", "0"), True),
        # What an update returns is used: as a place, and as a value.
        ("seen[result[0]] = values[i]; result[0] += 1", ("0", "0"), False),
        ("seen[i] = result[at[i]]; result[at[i]] += 1", ("0", "0"), False),
        # A lock, taken from 0 only.
        ("result[at[i]] = result[at[i]] or i + 1; seen[i] = 1", ("0", "0"), False),
    ],
)
def test_accumulators_start_elsewhere_where_only_the_sum_shows_it(
    body: str, init: tuple[str, str], joins: bool
) -> None:
    row = scatter(body, low=init[0], high=init[1])
    assert accumulators(row) == ["result"]
    found = choose_starts(row, {"n": 31, "m": 5}, 7)
    assert bool(found) == joins
    if joins:
        low, high = (int(bound) for bound in found["result"])
        assert low <= high
        assert (low, high) != (0, 0)


def test_start_values_are_drawn_and_leave_other_arguments_alone() -> None:
    args = scatter(ADD)["args"]
    sizes = {"n": 31, "m": 50}
    before = draw_inputs(args, sizes, 7)
    after = draw_trial_inputs(args, sizes, 7, {"result": ("1", "9")})
    assert not before["result"].any()
    assert set(after["result"].tolist()) == set(range(1, 10))
    assert all(np.array_equal(before[n], after[n]) for n in before if n != "result")
    assert draw_trial_inputs(args, sizes, 7, {})["result"].tolist() == before["result"].tolist()


def test_a_reference_that_fails_is_no_choice_of_start_values() -> None:
    with pytest.raises(ReferenceFailed):
        choose_starts(scatter("raise ValueError"), {"n": 31, "m": 5}, 7)
    draw = first(scatter("raise ValueError"))
    assert not draw.wanted
    assert not draw.accumulators


def test_all_rows_with_atomics_start_at_drawn_values_in_some_trials_only() -> None:
    rows = [row for row in ROWS if row["category"] == "atomic"]
    assert len(rows) >= 10
    for row in rows:
        draw = first(row)
        assert set(draw.starts) == set(accumulators(row)), row["id"]
        near, again = (trial_inputs(row, trial, draw) for trial in draw.trials[:2])
        for arg in row["args"]:
            if (name := arg["name"]) in draw.starts:
                assert (near[name] != float(arg["low"])).any()
                assert (again[name] == float(arg["low"])).all()


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (ADD, []),
        ("result[0] += 1; seen[i] = values[i]", ["seen: copies values"]),
        ("result[0] += 1; seen[i] = 0", ["seen: one value", "seen: zeros"]),
        ("result[0] += 1; seen[i] = 4", ["seen: one value"]),
        ("result[0] += 0; seen[i] = values[i] * i", ["result: nothing"]),
    ],
)
def test_outputs_that_need_no_work_are_named(body: str, found: list[str]) -> None:
    row = scatter(body)
    draw = Draw("hidden", (Trial({"n": 30, "m": 4}, 1), Trial({"n": 3, "m": 2}, 2)))
    draw = Draw("hidden", draw.trials, {"result": ("1", "9")})
    told = [(trial_inputs(row, t, draw), reference_outputs(row, t, draw)) for t in draw.trials]
    assert outputs_without_work(row["args"], told) == found


def test_a_row_of_which_nothing_better_can_be_had_keeps_its_idle_outputs() -> None:
    draw = first(scatter("result[at[i]] += 1; seen[i] = values[i]"))
    assert draw.idle == ("seen: copies values",)
    assert draw.wanted


def test_no_idle_kernel_passes_on_the_rows() -> None:
    assert [row["id"] for row in ROWS[::3] if first(row).idle] == []


def test_a_draw_that_tells_too_little_is_made_anew() -> None:
    # Right without work where no value is above 49: of 3 to 5 values, mostly.
    row = scatter("result[at[i]] += 1; seen[i] = 7 if values[i] < 40 else 8")
    row["sizes"][0]["value"] = 3
    assert sum(bool(first(row, seed).idle) for seed in range(30)) <= 1


def test_effort_grows_as_the_reference_does() -> None:
    body = "result[at[i]] += values[i]; seen[i] = 1\n        for j in range(dim[0]):\n            i"
    linear, square = scatter(ADD), scatter(body)
    small, large = {"n": 3, "m": 2}, {"n": 300, "m": 2}
    for row, most in ((linear, 1.2), (square, 1.35)):
        foretold, counted = Effort(row, small).lines(large), count_lines(row, large)
        assert counted / most <= foretold <= counted * most
    assert Effort(square, small).milliseconds(large) > 10 * Effort(linear, small).milliseconds(
        large
    )
