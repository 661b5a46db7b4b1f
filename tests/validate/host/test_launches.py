"""Plain CUDA of several kernels: what a launch leaves for the next, and what goes wrong between."""

from __future__ import annotations

from typing import Any

import pytest
from launch_rows import FIRST, SCRATCH, SECOND, TEXT, row_of_two

from validate.host.runner import RunResult, run_plain_rows
from validate.nvrtc.compiler import CompileRunner
from validate.text.launches import launches_problem


def result_of(**changes: Any) -> RunResult:
    (found,) = run_plain_rows([row_of_two(**changes)])
    return found


def test_the_end_of_a_launch_is_a_barrier_for_all() -> None:
    """Threads of other blocks read what a launch wrote: a race in one kernel, none in two."""
    found = result_of()
    assert (found.status, found.reason) == ("agrees", "")
    assert "b=1" in found.shapes
    first, second = TEXT.split("}\n\n")
    body = second[second.index("    const int j") :]
    fused = f"{first}{body}".replace("int n)", "int n, float* total, int blocks)")
    launch = [{**FIRST, "args": [*FIRST["args"], "total", "=b"]}]
    alone = result_of(cuda_plain=fused, plain_launch=launch)
    # What another block has not come to yet is unwritten, where that is seen first.
    assert alone.status in ("data_race", "read_out_of_bounds"), alone


WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "the other order": ({"plain_launch": [SECOND, FIRST]}, "read_out_of_bounds", "written"),
    "the second alone": ({"plain_launch": [SECOND]}, "read_out_of_bounds", "written"),
    "the other order of zeros": (
        {"plain_launch": [SECOND, FIRST], "plain_scratch": [{**SCRATCH, "init": "zero"}]},
        "wrong_value",
        "total",
    ),
    "scratch too small": (
        {"plain_scratch": [{**SCRATCH, "count": "64*b - 1"}]},
        "wrote_out_of_bounds",
        "after the end of scratch partial",
    ),
    "scratch of doubles": (
        {"plain_scratch": [{**SCRATCH, "dtype": "float64"}]},
        "bad_row",
        "8 to 8",
    ),
    "scratch of nothing": ({"plain_scratch": [{**SCRATCH, "count": "b - 3"}]}, "bad_row", "0 el"),
    "reads past scratch": (
        {"cuda_plain": TEXT.replace("64 * j + k]", "64 * j + k + 1]")},
        "read_out_of_bounds",
        "after the end of scratch partial",
    ),
    "an input for scratch": (
        {"plain_launch": [FIRST, {**SECOND, "args": ["x", "total", "=b"]}]},
        "wrong_value",
        "total",
    ),
    "writes to its input": (
        {
            "plain_launch": [FIRST, {**SECOND, "args": ["partial", "x", "=b"]}],
        },
        "input_changed",
        "x",
    ),
    "one parameter less": (
        {"plain_launch": [FIRST, {**SECOND, "args": ["partial", "total"]}]},
        "bad_row",
        "takes 3 parameters, the row has 2",
    ),
    "no such kernel": (
        {"plain_launch": [FIRST, {**SECOND, "kernel": "other"}]},
        "compile_error",
        "other",
    ),
    "no int": (
        {"plain_launch": [{**FIRST, "args": ["x", "partial", "=b << 31"]}]},
        "bad_row",
        "no int",
    ),
    "endless": (
        {"cuda_plain": TEXT.replace("k >= 0; --k", "k >= 0; k += 0")},
        "timeout",
        "without end",
    ),
}


@pytest.fixture(scope="module")
def wrong() -> dict[str, RunResult]:
    rows = [row_of_two(**changes, id=name) for name, (changes, _, _) in WRONG.items()]
    return dict(zip(WRONG, run_plain_rows(rows), strict=True))


@pytest.mark.parametrize("name", WRONG)
def test_what_goes_wrong_between_launches_is_named(name: str, wrong: dict[str, RunResult]) -> None:
    _, status, reason = WRONG[name]
    found = wrong[name]
    assert found.status == status, found
    assert reason in found.reason


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"plain_launch": []}, "list of 0"),
        ({"plain_launch": "x"}, "no object"),
        ({"plain_launch": [FIRST, {"grid": ["1"], "block": [1]}]}, "no kernel and args"),
        ({"plain_launch": [FIRST, {**SECOND, "args": ["partial", "y", "=b"]}]}, "'y'"),
        ({"plain_launch": [FIRST, {**SECOND, "kernel": "k; f"}]}, "names no kernel"),
        ({"plain_launch": [FIRST, {**SECOND, "args": "partial"}]}, "no list of texts"),
        ({"plain_launch": [{**FIRST, "args": ["=" + "n" * 400]}]}, "over 300"),
        ({"plain_scratch": [SCRATCH, SCRATCH]}, "is taken"),
        ({"plain_scratch": [{**SCRATCH, "name": "x"}]}, "is taken"),
        ({"plain_scratch": [{**SCRATCH, "dtype": "Particle"}]}, "dtype"),
        ({"plain_scratch": [{**SCRATCH, "init": "one"}]}, "init"),
        ({"plain_scratch": [{**SCRATCH, "count": None}]}, "count"),
        ({"plain_scratch": [{**SCRATCH, "more": 1}]}, "no object of"),
        ({"plain_scratch": SCRATCH}, "no list"),
    ],
)
def test_launches_that_are_none_are_refused(changes: dict[str, Any], line: str) -> None:
    assert launches_problem(row_of_two()) == ""
    assert line in launches_problem(row_of_two(**changes))


def test_texts_of_several_kernels_compile_together_and_cost_only_themselves() -> None:
    wrong = TEXT.replace("0.5f * sum", "0.5f * summ")
    texts = [TEXT, wrong, TEXT.replace("total_of", "sums_of"), TEXT]
    rows = [{"id": str(k), "cuda_plain": text} for k, text in enumerate(texts)]
    with CompileRunner() as compiler:
        found = [result.status for result in compiler.compile_plain(rows)]
        ptx = compiler.optimised_plain_ptx(rows)
    assert found == ["compiles", "compile_error", "compiles", "compiles"]
    assert ptx[1] is None
    assert ptx[0] is not None
    assert ptx[0] == ptx[2] == ptx[3]
