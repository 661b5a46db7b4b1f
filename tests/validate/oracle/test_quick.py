"""Quick NumPy: the same bits, types and layout as NumPy, and NumPy's own answer elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from validate.oracle.quick import QUICK

SPECIAL = [0.0, -0.0, 1e308, -1e-320, np.inf, np.nan]


def vectors(size: int) -> Iterator[np.ndarray[Any, Any]]:
    draw = np.random.default_rng(size)
    for _ in range(40):
        vector = draw.normal(size=size) * 10.0 ** draw.integers(-5, 6)
        yield vector
        yield np.where(draw.random(size) < 0.4, draw.choice(SPECIAL, size), vector)
        yield draw.normal(size=2 * size)[::2]


def arguments(name: str) -> Iterator[tuple[Any, ...]]:
    """What references give the function, and what only NumPy can answer."""
    matrix = np.arange(6.0).reshape(2, 3)
    for size in (2, 3, 4, 6):
        for one, other in zip(vectors(size), [*vectors(size)][::-1], strict=True):
            if name == "dot":
                yield from ((one, other), (one, one), (matrix, other[:3]), (one, 2.0))
                yield np.ones(2, np.float32), other[:2]
            elif name in ("cross", "outer"):
                yield (one, other) if size == 3 or name == "outer" else (one[:2], other[:2])
                yield np.ones(2, np.float32), other[:2]
            elif name == "append":
                yield from ((one, float(other[0])), (one, other[0]), (one, other), (one, 3))
            elif name == "column_stack":
                yield from (([one, other, one],), ([one],), ([matrix, one[:2]],))
            elif name == "eye":
                yield from ((size,), (size + 6,), (size, 3))
            else:
                yield from ((one,), (matrix,), (np.ones(size, np.float32),), (one, 0))


def answer(function: Any, given: tuple[Any, ...]) -> Any:
    try:
        with np.errstate(all="ignore"):
            return function(*given)
    except (TypeError, ValueError, np.exceptions.AxisError) as error:
        return type(error)


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")
@pytest.mark.parametrize("name", QUICK)
def test_each_function_gives_what_numpy_gives(name: str) -> None:
    folder, _, last = name.rpartition(".")
    of_numpy = getattr(np.linalg if folder else np, last)
    tried = 0
    for given in arguments(name):
        got, want = answer(QUICK[name], given), answer(of_numpy, given)
        assert type(got) is type(want), given
        if isinstance(want, np.ndarray | np.generic):
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            assert got.tobytes() == want.tobytes(), given
        if isinstance(want, np.ndarray):
            assert got.flags.c_contiguous == want.flags.c_contiguous
            assert got.flags.writeable == want.flags.writeable
        tried += 1
    assert tried > 100


def test_what_eye_gives_can_be_written_to() -> None:
    QUICK["eye"](3)[0, 0] = 5.0
    assert QUICK["eye"](3)[0, 0] == 1.0
