"""Fast functions that keep a row's promise, and choices of vectors that change no result."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hand_rows import Row
from plain_rows import guarded

from validate.host.runner import HostRunner
from validate.mutants.kill import try_mutants
from validate.mutants.plain.choice import only_narrows
from validate.mutants.plain.documented import at_its_bound, with_promised
from validate.mutants.plain.draw import plain_mutants
from validate.mutants.warp.draw import Mutant

CHOICE = "step = first % 4 == 0 && c + 4 <= n ? 4 : 1;"


@pytest.fixture(scope="module")
def runner() -> Iterator[HostRunner]:
    with HostRunner(timeout_s=10.0) as host:
        yield host


def fast(row: Row) -> Mutant:
    (found,) = [m for m in plain_mutants(row) if m.operator == "fast_function"]
    return found


def statuses(runner: HostRunner, row: Row) -> list[str]:
    return [r.status for r in runner.run_plain(at_its_bound(row, fast(row)))]


@pytest.mark.parametrize("call", ["sinf(v)", "cosf(v)", "expf(v)", "logf(v)", "log2f(v)"])
def test_off_by_its_bound_each_function_is_within_an_ordinary_tolerance(
    runner: HostRunner, call: str
) -> None:
    row = guarded()
    python = call.replace("f(", "(")
    row["cuda_plain"] = row["cuda_plain"].replace("sinf(v)", call)
    row["reference"] = row["reference"].replace("math.sin(v)", f"math.{python}")
    assert statuses(runner, row) == ["agrees", "agrees"]


def test_a_tolerance_below_the_documented_error_is_no_promise_of_it(runner: HostRunner) -> None:
    row = guarded()
    row["args"] = [
        a | {"rtol": 1e-7, "atol": 1e-7} if a["name"] == "out" else a for a in row["args"]
    ]
    assert statuses(runner, row) == ["wrong_value", "wrong_value"]


def test_nothing_is_documented_for_a_sine_beyond_pi(runner: HostRunner) -> None:
    row = guarded()
    row["cuda_plain"] = row["cuda_plain"].replace("sinf(v)", "sinf(v + 6.0f)")
    row["reference"] = row["reference"].replace("math.sin(v)", "math.sin(v + 6.0)")
    assert statuses(runner, row) == ["wrong_value", "wrong_value"]


def test_a_function_without_a_bound_is_never_promised() -> None:
    row = guarded()
    row["cuda_plain"] = row["cuda_plain"].replace("sinf(v)", "tanf(v)")
    assert at_its_bound(row, fast(row)) == []


@pytest.mark.parametrize(
    ("after", "narrows"),
    [
        ("step = 1;", True),
        ("step = 4 == 0 && c + 4 <= n ? 4 : 1;", True),
        ("step = first % 4 == 0 && c + 5 <= n ? 4 : 1;", True),
        ("step = first % 4 == 0 && c + 4 < n ? 4 : 1;", True),
        ("step = first % 4 == 0 && c + 3 <= n ? 4 : 1;", False),
        ("step = first % 4 == 1 && c + 4 <= n ? 4 : 1;", False),
        ("step = first % 4 != 0 && c + 4 <= n ? 4 : 1;", False),
        ("step = (c + 4 <= n) ? 4 : 1;", False),
        ("step = first % 4 == 0 && c + 4 <= n ? 5 : 1;", False),
        ("step = 4;", False),
    ],
)
def test_less_vectors_are_no_fault_and_more_are(after: str, narrows: bool) -> None:
    mutant = Mutant("constant_nudged", 1, "cuda_plain", CHOICE, after, after)
    assert only_narrows(mutant) == narrows


def test_a_fast_function_that_keeps_the_promise_does_not_count(runner: HostRunner) -> None:
    row = guarded() | {"category": "math"}
    position = plain_mutants(row).index(fast(row))
    trials = try_mutants([row], [[position]], runner.run_plain, plain_mutants)
    assert trials[0].counts
    assert not trials[0].killed
    told = with_promised(trials, [row], runner.run_plain, plain_mutants)
    assert told[0].promised
    assert not told[0].counts


def test_a_product_by_a_sign_is_not_made_a_quotient() -> None:
    row = guarded()
    row["cuda_plain"] = row["cuda_plain"].replace("sinf(v)", "v * (v < 0.0f ? -1.0f : 1.0f)")
    after = [m.after for m in plain_mutants(row) if m.operator == "operator_swapped"]
    assert any("v + (v < 0.0f" in text for text in after)
    assert not any("v / (v < 0.0f" in text for text in after)
