"""What whole numbers of inputs lead to: which arrays index which extents, and which hold the
offsets at which the rows of a ragged array begin."""

from __future__ import annotations

from collections import defaultdict

from generators.program import ir
from generators.program.dtypes import Array
from generators.program.expr import Cast, Component, Const, Expr, Load, Var
from generators.program.walk import expressions, statements

INDEX, OFFSETS, COUNT = "index", "offsets", "count"
"""Uses of an array's values: as an index as they are, as ends of a loop over a row's entries, as
the number of a loop's turns."""


def uses_of(kernel: ir.Kernel) -> dict[str, tuple[str, str]]:
    """Of each input array of whole numbers what its values are used as, and the extent, a size
    expression, that they lead into; those that lead into several, or into none, are left out."""
    return _Uses(kernel).found()


class _Uses:
    def __init__(self, kernel: ir.Kernel) -> None:
        self.kernel = kernel
        self.shapes = {p.name: p.shape for p in kernel.params if isinstance(p.type, Array)}
        self.inputs = {p.name for p in kernel.params if p.role == "in"} & self.shapes.keys()
        self.given: dict[str, list[Expr]] = defaultdict(list)
        for s in statements(kernel.body):
            if isinstance(s, ir.Assign | ir.AugAssign):
                self.given[s.name].append(s.value)

    def found(self) -> dict[str, tuple[str, str]]:
        uses: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for array, index, extent in self._indexed(self.kernel.body):
            if (source := self._source(index)) and source != array:
                uses[source].add((INDEX, extent))
        for s in statements(self.kernel.body):
            if isinstance(s, ir.For):
                for source, how in self._ends(s):
                    for _, index, extent in self._indexed(s.body):
                        if isinstance(index, Var) and index.name == s.name:
                            uses[source].add((how, extent))
        return {name: use for name, found in uses.items() if len(found) == 1 for use in found}

    def _indexed(self, body: ir.Body) -> list[tuple[str, Expr, str]]:
        """Array, index and extent of each index of what is read, stored or updated."""
        found = [
            (e.array.name, index, extent)
            for e in expressions(body)
            if isinstance(e, Load) and e.array.name in self.shapes
            for index, extent in zip(e.indices, self.shapes[e.array.name], strict=False)
        ]
        for s in statements(body):
            if isinstance(s, ir.Store | ir.Atomic):
                shape = self.shapes[s.array.name]
                pairs = zip(s.indices, shape, strict=False)
                found += [(s.array.name, index, extent) for index, extent in pairs]
        return found

    def _ends(self, loop: ir.For) -> list[tuple[str, str]]:
        start, stop = self._source(loop.start), self._source(loop.stop)
        if start and start == stop:
            return [(start, OFFSETS)]
        if stop and isinstance(loop.start, Const) and int(loop.start.value) == 0:
            return [(stop, COUNT)]
        return []

    def _source(self, e: Expr) -> str:
        """The input array whose value an expression is, empty where it is none."""
        while isinstance(e, Cast | Component):
            e = e.value
        if isinstance(e, Var) and len(self.given[e.name]) == 1:
            (value,) = self.given[e.name]
            return self._source(value) if not isinstance(value, Var) else ""
        is_input = isinstance(e, Load) and e.array.name in self.inputs
        return e.array.name if is_input and isinstance(e, Load) else ""
