"""What is foreseen of a reference is never more than it runs, and most of it where sizes decide."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from validate.oracle.effort import BUDGET, Budget, TooLong, instrumented
from validate.oracle.foresight import ADDED, FORESEEN, foresight
from validate.oracle.reference import run_reference

ARGS = [
    {"name": "x", "dtype": "int32", "role": "in", "kind": "array", "shape": ["n"], "fields": []},
    {"name": "k", "dtype": "int32", "role": "in", "kind": "scalar", "shape": [], "fields": []},
    {"name": "y", "dtype": "int32", "role": "out", "kind": "array", "shape": ["n"], "fields": []},
]
MANY = 1 << 40
EXACT = {
    "plain": "for j in range(k):\n    s += j",
    "triangular": "for j in range(k, -1, -1):\n    for h in range(j):\n        s += h",
    "by thread": "for j in range(i + 1, len(x)):\n    s += j",
    "empty": "for j in range(0):\n    for h in range(1000000):\n        s += h",
    "shape": "for j in range(min(x.shape[0], 3 * k)):\n    s += j",
    "unused": "if x[i] > 1:\n    s += 2",
    "kept on": "for j in range(k):\n    if j == 2:\n        continue\n    s += j",
}
LESS = {
    "left": "for j in range(k):\n    if j == 2:\n        break\n    s += j",
    "returned": "if x[i] > 1:\n    y[i] = 0\n    return\nfor j in range(k):\n    s += j",
    "behind continue": """
for j in range(k):
    if j < 2:
        continue
    for h in range(50):
        s += h
""",
    "returned from within": """
for j in range(k):
    for h in range(k):
        y[i] = h
        return
""",
    "written": "k_2 = 3\nfor j in range(k_2):\n    s += j",
    "counter written": "for j in range(k):\n    j = 0\n    for h in range(j):\n        s += h",
    "a loop on data": "for j in range(x[i]):\n    s += j",
    "while": "while s < 9:\n    s += 1\n    for j in range(k):\n        s += j",
    "by cases": "if x[i] > 1:\n    for j in range(100):\n        s += j",
}


def text_of(body: str) -> str:
    lines = "\n".join(f"        {line}" for line in ["s = 0", *body.strip().splitlines()])
    head = "def f(dim, x, k, y):\n    def thread(i):\n"
    return f"{head}{lines}\n        y[i] = s\n\n    for i in range(dim[0]):\n        thread(i)\n"


def inputs_of(n: int) -> dict[str, np.ndarray]:
    ramp = np.arange(n, dtype=np.int32)
    return {"x": ramp % 3, "k": np.array(5, np.int32), "y": np.zeros(n, np.int32)}


def foreseen(text: str, n: int) -> int:
    code = foresight(ast.parse(text), "f")
    assert code is not None
    namespace: dict[str, object] = {ADDED: sum}
    exec(code, namespace)
    found = namespace[FORESEEN]((n,), inputs_of(n)["x"], 5, inputs_of(n)["y"])  # type: ignore[operator]
    assert isinstance(found, int)
    return found


def spent(text: str, n: int) -> int:
    namespace: dict[str, object] = {BUDGET: Budget(MANY)}
    exec(compile(instrumented(ast.parse(text)), "text", "exec"), namespace)
    given = inputs_of(n)
    namespace["f"]((n,), given["x"], 5, given["y"])  # type: ignore[operator]
    budget = namespace[BUDGET]
    assert isinstance(budget, Budget)
    return budget.spent


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("n", [0, 1, 7, 20])
def test_what_sizes_decide_is_foreseen_to_the_statement(name: str, n: int) -> None:
    assert foreseen(text_of(EXACT[name]), n) == spent(text_of(EXACT[name]), n)


@pytest.mark.parametrize("name", LESS)
@pytest.mark.parametrize("n", [0, 1, 7, 20])
def test_what_values_decide_is_not_counted(name: str, n: int) -> None:
    text = text_of(LESS[name])
    assert n <= foreseen(text, n) <= spent(text, n)


@pytest.mark.parametrize("name", [*EXACT, *LESS])
def test_a_run_ends_the_same_way_whether_it_is_foreseen(name: str) -> None:
    text = text_of({**EXACT, **LESS}[name])
    enough = spent(text, 20)
    whole = run_reference(text, "f", ARGS, (20,), inputs_of(20))["y"]
    for foresees in (False, True):
        budget = Budget(enough, foreseen=foresees)
        found = run_reference(text, "f", ARGS, (20,), inputs_of(20), budget=budget)["y"]
        assert found.tolist() == whole.tolist()
        budget = Budget(enough - 1, foreseen=foresees)
        with pytest.raises(TooLong):
            run_reference(text, "f", ARGS, (20,), inputs_of(20), budget=budget)


def test_a_run_that_is_foreseen_is_not_begun() -> None:
    budget = Budget(1000, foreseen=True)
    with pytest.raises(TooLong):
        run_reference(
            text_of(EXACT["plain"]), "f", ARGS, (20_000,), inputs_of(20_000), budget=budget
        )
    assert budget.spent == 0


@pytest.mark.parametrize("line", ["len = 3", "range = 3", "global g"])
def test_nothing_is_said_of_texts_that_name_things_anew(line: str) -> None:
    assert foresight(ast.parse(text_of(line)), "f") is None
