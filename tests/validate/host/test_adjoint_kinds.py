"""The kinds of wrong adjoints of `notes/measurements/adjoint.md`, each with its smallest kernel.

Beside each stands a like one that Warp differentiates well: the check must tell the two apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import dedent, indent

import pytest
from hand_rows import Row, arg, make_row, output, scalar, sizes

from validate.host.runner import HostRunner

SUM_AT_RUN_TIME = """
total = float(0.0)
for j in range(n):
    total += x[i] * y[j]
out[i] = total * total
"""
SUM_UNROLLED = SUM_AT_RUN_TIME.replace("range(n)", "range(3)")

POWER_AT_RUN_TIME = """
power = float(1.0)
for j in range(n):
    power *= x[i]
out[i] = power + y[i]
"""
POWER_UNROLLED = POWER_AT_RUN_TIME.replace("range(n)", "range(3)")

WHILE_OVERWRITES = """
v = x[i]
while v > 1.0:
    v = v * v * 0.25
out[i] = v + y[i]
"""
WITHOUT_WHILE = """
v = x[i]
v = v * v * 0.25
out[i] = v + y[i]
"""

LOOP_WITH_BREAK = """
v = x[i]
for j in range(3):
    if v > 100.0:
        break
    v = v * x[i]
out[i] = v + y[i]
"""
LOOP_WITHOUT_BREAK = """
v = x[i]
for j in range(3):
    v = v * x[i]
out[i] = v + y[i]
"""

COMPONENT_OVERWRITTEN = """
v = wp.vec2(x[i], y[i])
size = wp.dot(v, v)
v[0] = 0.0
out[i] = size + v[1]
"""
VECTOR_MADE_ANEW = """
v = wp.vec2(x[i], y[i])
size = wp.dot(v, v)
w = wp.vec2(0.0, v[1])
out[i] = size + w[1]
"""

NEVER_ENDS = """
total = float(0.0)
for j in range(n):
    total += y[j]
v = x[i] / total
while v > 0.1:
    v *= 0.5
out[i] = v
"""
ENDS = NEVER_ENDS.replace("range(n)", "range(3)").replace("while v > 0.1", "for j in range(2)")

READ_WHERE_WHILE_ENDS = """
hits = float(0.0)
j = int(0)
while j < n - 1:
    if y[j] > 1.5:
        hits += 1.0
    j += 1
out[i] = x[i] + hits
"""
READ_IN_TURN = """
hits = float(0.0)
for j in range(n - 1):
    if y[j] > 1.5:
        hits += 1.0
out[i] = x[i] + hits
"""

PAIRS = {
    "while reads where it ends": (READ_WHERE_WHILE_ENDS, READ_IN_TURN),
    "sum used nonlinearly after a loop with a bound of run time": (SUM_AT_RUN_TIME, SUM_UNROLLED),
    "product in a loop with a bound of run time": (POWER_AT_RUN_TIME, POWER_UNROLLED),
    "while overwrites a variable": (WHILE_OVERWRITES, WITHOUT_WHILE),
    "break keeps a loop from being unrolled": (LOOP_WITH_BREAK, LOOP_WITHOUT_BREAK),
    "component overwritten after use": (COMPONENT_OVERWRITTEN, VECTOR_MADE_ANEW),
    "adjoint that never ends": (NEVER_ENDS, ENDS),
}


def _row(body: str) -> Row:
    head = """\
        @wp.kernel
        def k(x: wp.array[float], y: wp.array[float], n: int, out: wp.array[float]):
            i = wp.tid()
        """
    python = dedent(head) + indent(body.strip("\n"), "    ")
    plain = body.replace("wp.vec2(", "np.array((").replace(", y[i])", ", y[i]))")
    plain = plain.replace(", v[1])", ", v[1]))").replace("wp.dot", "np.dot")
    reference = "import numpy as np\n\n\ndef k(dim, x, y, n, out):\n    for i in range(dim[0]):\n"
    args = [
        arg("x", "float32", low="1.1", high="1.9"),
        arg("y", "float32", low="1.2", high="1.8"),
        scalar("n", "int32", init="integers", low="3", high="3"),
        output("out", "float32"),
    ]
    at_least_three = [{**entry, "min": 3} for entry in sizes(n=7)]
    text = reference + indent(plain.strip("\n"), " " * 8)
    return make_row("k", python, text, args, at_least_three, ["n"])


@pytest.fixture(scope="module")
def runner() -> Iterator[HostRunner]:
    with HostRunner() as host:
        yield host


@pytest.mark.parametrize("kind", sorted(PAIRS))
def test_kind(runner: HostRunner, kind: str) -> None:
    wrong, right = runner.run([_row(body) for body in PAIRS[kind]])
    assert (wrong.status, right.status) == ("agrees", "agrees"), (wrong, right)
    assert wrong.adjoint == "warp_differs"
    assert right.adjoint == "agrees", right
    assert ("without end" in wrong.adjoint_reason) == (kind == "adjoint that never ends")


def test_a_kink_at_the_point_itself_is_not_smooth(runner: HostRunner) -> None:
    row = _row("out[i] = wp.abs(x[i] - 2.0) + y[i]")
    row["reference"] = row["reference"].replace("wp.abs", "abs")
    row["args"][0].update(init="integers", low="1", high="3")
    (result,) = runner.run([row])
    assert (result.status, result.adjoint) == ("agrees", "not_smooth_here"), result


def test_a_derivative_that_is_zero_proves_nothing(runner: HostRunner) -> None:
    row = _row("out[i] = wp.floor(x[i] * 0.5) + wp.ceil(y[i])")
    text = row["reference"].replace("wp.floor", "np.floor").replace("wp.ceil", "np.ceil")
    (result,) = runner.run([{**row, "reference": text}])
    assert (result.status, result.adjoint) == ("agrees", "zero_gradient"), result


def test_without_float_arrays_there_is_no_gradient(runner: HostRunner) -> None:
    row = _row("out[i] = x[i]")
    plain = [{**a, "dtype": "int32", "rtol": None, "atol": None} for a in row["args"]]
    for column in ("python", "cuda_forward", "cuda_backward"):
        row[column] = row[column].replace("float32", "int32").replace("float", "int")
    bounds = {"low": "1", "high": "9", "init": "integers"}
    row["args"] = [{**a, **bounds} if a["role"] == "in" else a for a in plain]
    (result,) = runner.run([row])
    assert (result.status, result.adjoint) == ("agrees", "no_float_input"), result
