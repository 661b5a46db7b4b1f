"""Lines of cells along beams stay within half a cell of the line itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from generators.atomic.mapping.beams import Evidence, Map
from generators.atomic.mapping.occupancy import _bresenham, _driven
from generators.build import KernelBuilder
from generators.build.draw import Draw
from generators.program.dtypes import INT32
from synth.render.reference import module as reference

SIDE = 9


def cells_of(
    follow: Callable[..., str], axes: int, start: Sequence[int], end: Sequence[int]
) -> list[tuple[int, ...]]:
    """The cells, x first, that a line of one thread passes in a map of SIDE cells along each axis;
    none is passed twice."""
    k = KernelBuilder(Draw(0, "atomic", 0, 0))
    k.size("n", 1, 1)
    (i,) = k.thread("n", names=("i",))
    m = Map(k, axes)
    evidence = Evidence(m, "counts", hit=False)
    given = {"start": start, "end": end}
    cells = {
        name: [k.let(f"{name}{a}", k.array(f"{name}_{a}", INT32, "n")[i]) for a in m.axes]
        for name in given
    }
    follow(evidence, cells["start"], cells["end"])
    space: dict[str, Any] = {}
    exec(reference.render(k.program("known", 1, "known", "Known cells.")), space)
    passed = np.zeros(SIDE**axes if m.flat else (SIDE,) * axes, np.int64)
    values: dict[str, Any] = {
        f"{name}_{a}": [place]
        for name, places in given.items()
        for a, place in zip(m.axes, places, strict=True)
    }
    _, *names = inspect.signature(space["known"]).parameters
    counts = evidence.changes["miss"][0].name
    space["known"]((1,), *({**values, counts: passed}.get(name, SIDE) for name in names))
    assert passed.max(initial=0) <= 1
    return [tuple(reversed(at)) for at in np.argwhere(passed.reshape((SIDE,) * axes)).tolist()]


@pytest.mark.parametrize(("follow", "axes"), [(_bresenham, 2), (_driven, 2), (_driven, 3)])
def test_lines_of_cells(follow: Callable[..., str], axes: int) -> None:
    start = (4, 3, 5)[:axes]
    ends = np.random.default_rng(7).integers(0, SIDE, (60, axes)).tolist()
    for end in [[*start], *ends]:
        steps = max(abs(e - s) for s, e in zip(start, end, strict=True))
        cells = cells_of(follow, axes, start, end)
        assert len(cells) == steps
        if steps == 0:
            continue
        assert start in cells
        assert tuple(end) not in cells
        along = max(range(axes), key=lambda a: abs(end[a] - start[a]))
        for cell in cells:
            share = (cell[along] - start[along]) / (end[along] - start[along])
            ideal = [s + share * (e - s) for s, e in zip(start, end, strict=True)]
            assert all(abs(c - i) <= 0.5 for c, i in zip(cell, ideal, strict=True)), (end, cell)


def test_the_line_that_textbooks_draw() -> None:
    cells = cells_of(_bresenham, 2, (0, 0), (5, 3))
    assert sorted(cells) == [(0, 0), (1, 1), (2, 1), (3, 2), (4, 2)]
