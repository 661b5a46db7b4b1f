"""Loops at the top of a kernel in which each thread goes along rows of its own, and nothing else is
written before the last of them ends: a block's threads can fetch the rows for each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from generators.program import ir
from generators.program.expr import Expr
from generators.program.walk import statements
from synth.render.cuda.find.remember import remembered
from synth.render.cuda.find.walks import Along, of_its_own, rows_along
from synth.render.cuda.scopes import names_in


@dataclass(frozen=True)
class RowsApart:
    """The rows that a loop reads, and those of which every turn writes an element."""

    loaded: tuple[Along, ...]
    stored: tuple[Along, ...]

    @property
    def arrays(self) -> tuple[Along, ...]:
        """Each once."""
        return tuple(dict.fromkeys((*self.loaded, *self.stored)))


@dataclass(frozen=True)
class Fetched:
    """Such loops of a kernel by ``id``, and the place in its body of the last of them."""

    loops: dict[int, RowsApart]
    last: int

    @property
    def names(self) -> list[str]:
        """The arrays of all loops."""
        return list(dict.fromkeys(a.array.name for r in self.loops.values() for a in r.arrays))


@remembered
def rows_apart(kernel: ir.Kernel) -> Fetched | None:
    """The loops of a kernel whose rows a block can fetch together; None where there are none."""
    found: dict[int, RowsApart] = {}
    last = -1
    for place, s in enumerate(kernel.body):
        if not isinstance(s, ir.For):
            continue
        rows = _rows(kernel, s)
        if rows is not None:
            found[id(s)] = rows
            last = place
    if not found or not _is_quiet(kernel.body[: last + 1], found):
        return None
    return Fetched(found, last)


def _rows(kernel: ir.Kernel, loop: ir.For) -> RowsApart | None:
    """The rows of a loop that all threads of a block turn together."""
    if any(isinstance(s, ir.Break) for s in of_its_own(loop.body)):
        return None
    rows = rows_along(kernel, loop)
    if rows is None:
        return None
    loaded, stored = ([a for a in each if _is_placed(kernel, a.indices)] for each in rows)
    names = [a.array.name for a in dict.fromkeys((*loaded, *stored))]
    # A tile is of one row of an array.
    loaded, stored = (
        [a for a in each if names.count(a.array.name) == 1] for each in (loaded, stored)
    )
    return RowsApart(tuple(loaded), tuple(stored)) if loaded else None


def _is_placed(kernel: ir.Kernel, indices: Sequence[Expr]) -> bool:
    """Whether a row follows from a thread's place and parameters alone: any thread can tell it."""
    given = {*kernel.threads, *(p.name for p in kernel.params)}
    return all(set(names_in(i)) <= given for i in indices[:-1])


def _is_quiet(body: Sequence[ir.Statement], loops: dict[int, RowsApart]) -> bool:
    """Whether nobody leaves, and all that is written is rows of these loops."""
    for s in body:
        written = {a.array.name for a in loops[id(s)].stored} if id(s) in loops else set()
        for inner in statements((s,)):
            if isinstance(inner, ir.Return | ir.Atomic):
                return False
            if isinstance(inner, ir.Store) and inner.array.name not in written:
                return False
    return True
