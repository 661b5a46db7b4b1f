"""How far a reference may run is told by its statements, and no clock."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from validate.oracle.effort import BUDGET, Budget, TooLong, instrumented
from validate.oracle.reference import ReferenceFailed, run_reference

ARGS = [{"name": "y", "dtype": "float32", "role": "out", "kind": "array", "shape": ["n"]}]
TEXT = """
def half(v):
    return 0.5 * v

def fill(dim, y):
    def thread(i):
        total = 0.0
        for k in range(i):
            if k % 2:
                total += half(k)
        k = 0
        while k < 3:
            k += 1
        y[i] = total + k

    for i in range(dim[0]):
        thread(i)
"""


def spent(n: int) -> int:
    namespace: dict[str, object] = {BUDGET: Budget(1 << 30)}
    exec(compile(instrumented(ast.parse(TEXT)), "text", "exec"), namespace)
    namespace["fill"]((n,), np.zeros(n))  # type: ignore[operator]
    budget = namespace[BUDGET]
    assert isinstance(budget, Budget)
    return budget.spent


def run(n: int, most: int | None) -> np.ndarray:
    inputs = {"y": np.zeros(n, np.float32)}
    budget = None if most is None else Budget(most)
    return run_reference(TEXT, "fill", ARGS, (n,), inputs, budget=budget)["y"]


def test_what_fits_gives_what_it_gives_without_a_bound() -> None:
    assert run(20, spent(20)).tolist() == run(20, None).tolist()


def test_one_statement_less_and_it_is_too_long() -> None:
    with pytest.raises(TooLong):
        run(20, spent(20) - 1)


def test_inner_loops_and_calls_are_paid_for_by_turn() -> None:
    assert spent(40) > 3 * spent(20)
    assert spent(1) < spent(2) < 60


def test_an_endless_loop_ends() -> None:
    text = "def fill(dim, y):\n    while True:\n        pass\n"
    with pytest.raises(TooLong):
        run_reference(text, "fill", ARGS, (1,), {"y": np.zeros(1, np.float32)}, budget=Budget(99))


def test_classes_of_a_text_pay_as_well() -> None:
    text = (
        "class Pair:\n    def __init__(self, a):\n        self.a = a\n\n"
        "def fill(dim, y):\n    y[0] = Pair(2.0).a\n"
    )
    inputs = {"y": np.zeros(1, np.float32)}
    assert run_reference(text, "fill", ARGS, (1,), inputs, budget=Budget(5))["y"] == [2.0]
    with pytest.raises(TooLong):
        run_reference(text, "fill", ARGS, (1,), inputs, budget=Budget(3))


def test_no_text_can_reach_its_budget() -> None:
    text = f"def fill(dim, y):\n    {BUDGET}.left = 9\n    y[0] = 1.0\n"
    with pytest.raises(ReferenceFailed, match="name __budget"):
        run_reference(text, "fill", ARGS, (1,), {"y": np.zeros(1, np.float32)}, budget=Budget(99))
