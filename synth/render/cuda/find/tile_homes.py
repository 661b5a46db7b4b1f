"""Where the tiles of a kernel lie: in the registers of the threads, or in shared memory.

A tile whose elements the threads can share out evenly lies in their registers, each thread's a
block apart, and one of fewer elements in those of the first threads; one that others than its
owners read lies in shared memory; one of a single element every thread has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from generators.program import ir, tiles
from generators.program.dtypes import Tile
from generators.program.expr import Expr, Var
from generators.program.walk import expressions, parts, statements
from synth.render.cuda.dialect.current import spoken

_LEAST_BLOCK = 64
"""Threads of the smallest blocks."""


@dataclass(frozen=True)
class Home:
    """Where a tile lies: ``each`` elements in the registers of a thread, or with 0 in shared
    memory; ``pad`` elements more a row keep columns in different banks."""

    type: Tile
    each: int
    pad: int = 0
    some: bool = False
    """Whether only the first threads of a block have an element, in a register."""

    @property
    def is_shared(self) -> bool:
        return not self.each

    @property
    def is_number(self) -> bool:
        return self.type.size == 1

    def declared(self, name: str, scalar: str) -> str:
        if self.is_shared:
            *rows, last = self.type.shape
            sides = "".join(f"[{n}]" for n in (*rows, last + self.pad))
            return f"{spoken().shared}{scalar} {name}{sides};"
        return f"{scalar} {name}[{self.each}];" if self.each > 1 else f"{scalar} {name};"


def homes(kernel: ir.Kernel, threads: int) -> dict[str, Home]:
    """Where each tile of a kernel lies in blocks of so many threads."""
    shared, columns = _read_by_others(kernel.body)
    seen_in = views(kernel.body)
    found = {}
    for s in statements(kernel.body):
        if not (isinstance(s, ir.Assign) and isinstance(s.value.type, Tile)):
            continue
        type_ = s.value.type
        if s.name in seen_in:
            continue
        if type_.size == 1:
            found[s.name] = Home(type_, 1)
        elif s.name not in shared and type_.size < threads:
            found[s.name] = Home(type_, 1, some=True)
        elif s.name in shared or type_.size % threads:
            found[s.name] = Home(type_, 0, int(s.name in columns))
        else:
            found[s.name] = Home(type_, type_.size // threads)
    return found


def idle_threads(kernel: ir.Kernel, threads: int) -> bool:
    """Whether blocks of so many threads have more of them than a tile has elements: a smaller block
    would hold in registers what this one passes through shared memory.

    Tiles below a warp or two, such as the sums of rows, leave threads idle in any block.
    """
    return any(_LEAST_BLOCK <= home.type.size < threads for home in homes(kernel, threads).values())


def _read_by_others(body: ir.Body) -> tuple[set[str], set[str]]:
    """Tiles that threads read which do not own the element, and those of them read by columns."""
    shared, columns = set[str](), set[str]()
    for e in expressions(body):
        by_columns = isinstance(e, tiles.TileTranspose)
        by_columns |= isinstance(e, tiles.TileReduce) and e.axis == 1
        by_rows = isinstance(e, tiles.TileReduce) and e.axis == 0
        if by_columns or by_rows or isinstance(e, tiles.TileBroadcast):
            inner = tile_names(parts(e))
            shared |= inner
            columns |= inner if by_columns else set()
    for s in statements(body):
        if isinstance(s, ir.TileMatmul):
            shared |= {s.a.name, s.b.name}
    return shared, columns


def _changed(body: ir.Body) -> set[str]:
    """Tiles that are written to after they are declared."""
    return {s.name for s in statements(body) if isinstance(s, ir.AugAssign | ir.TileMatmul)}


def views(body: ir.Body) -> dict[str, str]:
    """Transposed tiles by the name of what they are of, which nothing changes: no copies."""
    written = _changed(body)
    return {
        s.name: s.value.value.name
        for s in statements(body)
        if isinstance(s, ir.Assign)
        and isinstance(s.value, tiles.TileTranspose)
        and isinstance(s.value.value, Var)
        and not {s.name, s.value.value.name} & written
    }


def tile_names(trees: Sequence[Expr]) -> set[str]:
    """Tile variables of more than one element that stand in expressions."""
    found = set[str]()
    for e in trees:
        if isinstance(e, Var) and isinstance(e.type, Tile) and e.type.size > 1:
            found.add(e.name)
        found |= tile_names(parts(e))
    return found
