"""A text that is wrong at an edge alone, where no drawn input lies, is refused by every judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hand_rows import arg, make_row, output, sizes
from plain_rows import guarded
from score_rows import STORE, cube_row, kernel

from validate.host.runner import HostRunner, RunResult
from validate.row.edges import settings
from validate.row.inputs import DRAWN, draw_inputs
from validate.score.scorer import Answer, Scorer
from validate.statuses import RunStatus

Row = dict[str, Any]
EDGE = "0.5"


@pytest.fixture(scope="module")
def host() -> Iterator[HostRunner]:
    with HostRunner() as runner:
        yield runner


def at_edge(row: Row, name: str) -> Row:
    values = [{"arg": name, "field": "", "among": [EDGE, DRAWN]}]
    found = {**row, "edge_inputs": [{"name": "edges", "values": values}]}
    *usual, last = settings(found)
    assert all((_values(row, setting, name) != float(EDGE)).all() for setting in usual)
    assert (_values(row, last, name) == float(EDGE)).any()
    return found


def _values(row: Row, setting: Any, name: str) -> Any:
    return draw_inputs(setting.args, setting.sizes, row["input_seed"])[name]


def by_hand(comparison: str) -> Row:
    """Doubled above one half, in Warp; the reference has `>=`."""
    return make_row(
        "steps",
        f"""
        @wp.kernel
        def steps(x: wp.array(dtype=float), y: wp.array(dtype=float)):
            i = wp.tid()
            if x[i] {comparison} 0.5:
                y[i] = 2.0 * x[i]
            else:
                y[i] = x[i]
        """,
        """
        def steps(dim, x, y):
            for i in range(dim[0]):
                y[i] = 2.0 * x[i] if x[i] >= 0.5 else x[i]
        """,
        [arg("x", "float32"), output("y", "float32")],
        sizes(n=64),
        ["n"],
    )


def plain(wrong: bool) -> Row:
    row = {**guarded(), "edge_inputs": []}
    read = "const float u = a[i];"
    assert read in row["cuda_plain"]
    other = "const float u = a[i] == 0.5f ? 0.75f : a[i];"
    return {**row, "cuda_plain": row["cuda_plain"].replace(read, other if wrong else read)}


Run = Callable[[HostRunner, Row], RunResult]


@pytest.mark.parametrize(
    ("right", "wrong", "name", "run"),
    [
        (by_hand(">="), by_hand(">"), "x", lambda host, row: host.run([row])[0]),
        (plain(False), plain(True), "a", lambda host, row: host.run_plain([row])[0]),
    ],
    ids=["warp", "plain"],
)
def test_the_host_run_notices(
    host: HostRunner, right: Row, wrong: Row, name: str, run: Run
) -> None:
    assert run(host, at_edge(right, name)).status == RunStatus.AGREES
    assert run(host, wrong).status == RunStatus.AGREES
    found = run(host, at_edge(wrong, name))
    assert found.status == RunStatus.WRONG_VALUE
    assert found.reason.endswith("at edges")


def test_the_scorer_notices() -> None:
    bare = {**cube_row(), "edge_inputs": []}
    launch = {"grid": ["(n + 63) / 64"], "block": [64], "shared_bytes": 0}
    right, wrong = kernel(STORE), kernel(f"{STORE} if (i < n && a[i] == 0.5f) out[i] = 9.0f;")
    answers = [(right, at_edge(bare, "a")), (wrong, bare), (wrong, at_edge(bare, "a"))]
    with Scorer() as scorer:
        found = scorer.score_batch([Answer(text, row, launch) for text, row in answers])
    assert [verdict.passed for verdict in found] == [True, True, False]
