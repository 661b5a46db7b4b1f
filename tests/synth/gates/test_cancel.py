"""How inverses and determinants lose digits, beside what float32 does to them."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from generators.build import KernelBuilder, fn, make
from generators.build.draw import Draw
from generators.program.dtypes import FLOAT32, Vec
from generators.program.expr import literal
from generators.program.ir import Program
from synth.gates.cancel import CancellingEvaluation, permanent
from synth.gates.contract import args_of
from synth.gates.evaluate import Evaluation
from synth.gates.judge import SURE_FACTOR
from synth.gates.lanes.values import NOISE
from synth.gates.variants import prepare
from validate.row.inputs import draw_inputs

N = 64
V3 = Vec(3, FLOAT32)


def nearly_singular() -> Program:
    """Out is b's solution of (6 a aT + 0.5) x = b: of terms that all but cancel."""
    k = KernelBuilder(Draw(3, "test", 0, 0))
    n = k.size("n", N, N)
    a = k.array("a", V3, n, low=1.0, high=2.0)
    b = k.array("b", V3, n, low=1.0, high=2.0)
    out = k.out("out", V3, n)
    (i,) = k.thread(n)
    half = make(V3, *[literal(0.5, FLOAT32)] * 3)
    matrix = fn("outer", a[i] * 6.0, a[i]) + fn("diag", half)
    k.store(out, i, fn("inverse", matrix) * b[i])
    return k.program("test", 1, "kernel", "A planted kernel for a test.")


def by_cofactors(m: np.ndarray) -> np.ndarray:
    """The inverse as Warp computes it, every result a float32."""
    rows = [np.cross(m[1], m[2]), np.cross(m[2], m[0]), np.cross(m[0], m[1])]
    found: np.ndarray = np.array(rows, np.float32).T / np.float32(m[0] @ rows[0])
    return found


def deviation(kind: type[Evaluation]) -> float:
    """The largest move of an output in the noise lanes."""
    evaluation = prepare(nearly_singular(), {"n": N}, redraw=False, nudge=False, kind=kind)
    evaluation.run()
    out = evaluation.memories["out"]
    return max(float(np.abs(out.variant(k) - out.variant(0)).max()) for k in (NOISE, NOISE + 1))


def error() -> float:
    """The largest error of the same outputs in float32."""
    program = nearly_singular()
    drawn = draw_inputs(args_of(program), {"n": N}, program.input_seed)
    worst = 0.0
    for a, b in zip(drawn["a"], drawn["b"], strict=True):
        matrix = np.outer(a * np.float32(6), a) + np.eye(3, dtype=np.float32) / 2
        wide = a.astype(np.float64)
        exact = np.linalg.solve(6 * np.outer(wide, wide) + np.eye(3) / 2, b.astype(np.float64))
        worst = max(worst, float(np.abs(by_cofactors(matrix) @ b - exact).max()))
    return worst


def test_the_noise_is_as_large_as_what_float32_does() -> None:
    assert error() > SURE_FACTOR * deviation(Evaluation)
    assert error() < SURE_FACTOR * deviation(CancellingEvaluation)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_the_terms_of_a_determinant(order: int) -> None:
    size = np.random.default_rng(order).random((order, order, 5))
    wanted = sum(
        np.prod([size[row, column] for row, column in enumerate(columns)], axis=0)
        for columns in permutations(range(order))
    )
    np.testing.assert_allclose(permanent(size), wanted)
