"""Loops along a row in vectors: arrays of which several elements are read and written at a time.

A kernel has such a loop beside the usual one, for rows made of whole vectors. A row of a dataset is
proven at few shapes: there are vectors where its own shape has such rows, and the loop is run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from generators.program import ir
from generators.program.dtypes import INT32, Array, Scalar, Vec
from generators.program.expr import Const, Expr, Extent, Load, Var
from generators.program.walk import operands, parts, statements
from synth.render.cuda.body import Body
from synth.render.cuda.find.remember import remembered
from synth.render.cuda.find.split import split_loops
from synth.render.cuda.kernel import KernelText
from synth.render.cuda.offsets import without_idle
from synth.render.cuda.scopes import names_in
from synth.render.cuda.text import Text
from synth.render.cuda.types import LETTERS, name_of
from validate.row.sizes import evaluate

BYTES = 16
"""Of the widest load that a device has."""


@dataclass(frozen=True)
class Along:
    """An array that a loop goes along, and where in it: the loop's variable is the last index."""

    array: Var
    indices: tuple[Expr, ...]
    scalar: Scalar

    @property
    def scalar_name(self) -> str:
        """The type of an element."""
        return name_of(self.scalar)

    def vector(self, width: int) -> str:
        """The type of a load of so many elements."""
        return name_of(Vec(width, self.scalar))


@dataclass(frozen=True)
class RowVectors:
    """What one loop can read and write in vectors while its count is a multiple of their width."""

    loaded: tuple[Along, ...]
    stored: tuple[Along, ...]


@remembered
def width_of(program: ir.Program) -> int:
    """Elements to a load that most loops shared out can take, 1 where none can."""
    kernel = program.kernel
    split = split_loops(kernel)
    loops = [kernel.body[place] for place in split.sums] if split is not None else []
    found = {w: sum(row_vectors(program, s, w) is not None for s in loops) for w in (4, 2)}
    best = max(found, key=lambda w: found[w])
    return best if found[best] else 1


def row_vectors(program: ir.Program, loop: ir.Statement, width: int) -> RowVectors | None:
    """The arrays of a loop that lie along it, from the first element of their rows to the last."""
    assert isinstance(loop, ir.For)
    kernel, own = program.kernel, {size.symbol: size.value for size in program.sizes}
    count = _count(kernel, loop.stop)
    if loop.start != Const(0, INT32) or count is None:
        return None
    if evaluate(count, own) % width:
        return None
    inner = list(statements(loop.body))
    if any(isinstance(s, ir.For | ir.While | ir.Break | ir.Continue) for s in inner):
        return None
    made = {loop.name, *(s.name for s in inner if isinstance(s, ir.Assign | ir.AugAssign))}
    loaded: dict[Along, None] = {}
    for s in loop.body:
        for e in (part for tree in operands(s) for part in _all(tree)):
            if isinstance(e, Load):
                found = _along(kernel, e.array, e.indices, loop.name, count, made, width)
                loaded |= {found: None} if found is not None else {}
    stored = []
    for s in inner:
        if isinstance(s, ir.Store):
            found = _along(kernel, s.array, s.indices, loop.name, count, made, width)
            if found is None or s.op or not any(s is own for own in loop.body) or found in stored:
                return None
            stored.append(found)
    return RowVectors(tuple(loaded), tuple(stored)) if loaded else None


def _along(
    kernel: ir.Kernel,
    array: Var,
    indices: tuple[Expr, ...],
    name: str,
    count: str,
    made: set[str],
    width: int,
) -> Along | None:
    element = array.type.element if isinstance(array.type, Array) else None
    if not isinstance(element, Scalar) or element.bits * width != BYTES * 8:
        return None
    shape = next(p.shape for p in kernel.params if p.name == array.name)
    last, before = indices[-1], indices[:-1]
    if shape[-1] != count or not isinstance(last, Var) or last.name != name:
        return None
    if any(made & set(names_in(i)) or any(isinstance(p, Load) for p in _all(i)) for i in before):
        return None
    return Along(array, indices, element)


def _count(kernel: ir.Kernel, stop: Expr) -> str | None:
    """The size expression that a loop runs up to."""
    if isinstance(stop, Extent):
        return next(p.shape for p in kernel.params if p.name == stop.array.name)[stop.axis]
    if isinstance(stop, Var):
        inits = (p.init for p in kernel.params if p.name == stop.name)
        word, _, symbol = next(inits, "").partition(":")
        return symbol if word == "size" else None
    return None


def _all(e: Expr) -> list[Expr]:
    return [e, *(inner for part in parts(e) for inner in _all(part))]


class RowBody(Body):
    """Prints statements in which elements of some arrays are in registers."""

    held: Mapping[Along, str] = MappingProxyType({})

    def index(self, array: Var, indices: Sequence[Expr]) -> Text:
        for along, text in self.held.items():
            if along.array == array and along.indices == tuple(indices):
                return Text(text)
        return super().index(array, indices)


class VectorLoop:
    """Prints the turns of a loop several at a time, with a vector for each of its arrays."""

    def __init__(self, text: KernelText, body: RowBody) -> None:
        self.text, self.body = text, body
        self.width = text.schedule.vector_width
        self.part = text.fresh("k", "part")
        self.place = text.fresh("at", "entry")
        self._names: dict[tuple[Along, str], str] = {}

    def put(self, loop: ir.For, vectors: RowVectors, head: str, depth: int) -> None:
        """``head`` opens the loop over the first elements of the vectors."""
        body, width = self.body, self.width
        places = {a: self._place(a) for a in (*vectors.loaded, *vectors.stored)}
        values = {a: self._name(a) for a in places}
        body.put(depth, head)
        for a in vectors.loaded:
            kind, vector = a.vector(width), self._name(a, str(width))
            source = f"*reinterpret_cast<const {kind}*>({places[a]})"
            body.put(depth + 1, f"const {kind} {vector} = {source};")
            parts = ", ".join(f"{vector}.{c}" for c in LETTERS[:width])
            body.put(depth + 1, f"const {a.scalar_name} {values[a]}[{width}] = {{{parts}}};")
        for a in vectors.stored:
            body.put(depth + 1, f"{a.scalar_name} {values[a]}[{width}];")
        body.lines.append("#pragma unroll")
        body.put(depth + 1, f"for (int {self.part} = 0; {self.part} < {width}; ++{self.part}) {{")
        body.lines += self._turn(loop, values, depth + 2)
        body.put(depth + 1, "}")
        for a in vectors.stored:
            kind = a.vector(width)
            parts = ", ".join(f"{values[a]}[{k}]" for k in range(width))
            target = f"*reinterpret_cast<{kind}*>({places[a]})"
            body.put(depth + 1, f"{target} = make_{kind}({parts});")
        body.put(depth, "}")

    def _place(self, a: Along) -> str:
        """The address of the first element of a vector."""
        body = self.body
        flat = body.flat(a.indices, body.shapes[a.array.name][1:]).text
        return f"{body.name(a.array.name)} + {flat}"

    def _name(self, a: Along, end: str = "_values") -> str:
        if (a, end) not in self._names:
            name = f"{a.array.name}{end}"
            self._names[a, end] = self.text.fresh(name, *(f"{name}_{k}" for k in range(2, 99)))
        return self._names[a, end]

    def _turn(self, loop: ir.For, values: Mapping[Along, str], depth: int) -> list[str]:
        """One turn of the loop, on one part of its vectors."""
        body, before, usual = self.body, self.body.lines, self.body.names
        body.lines, body.names = [], {**usual, loop.name: self.place}
        body.held = {a: f"{name}[{self.part}]" for a, name in values.items()}
        body.block(loop.body, depth)
        lines, body.lines, body.names, body.held = body.lines, before, usual, {}
        place = f"const int {self.place} = {usual.get(loop.name, loop.name)} + {self.part};"
        return without_idle([f"{' ' * 4 * depth}{place}", *lines])
