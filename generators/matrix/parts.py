"""What kernels of matrices share: places with a description, identities, rows and columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.body import identity as builtin_identity
from generators.build.draw import Stream
from generators.kit.masks import early_out, flag
from generators.kit.outputs import Extra, extras
from generators.kit.sites import Names, Site, launch
from generators.kit.sources import given
from generators.kit.text import written
from generators.kit.words import words
from generators.program.dtypes import FLOAT32, Mat, Scalar, Type, Vec
from generators.program.expr import Call, Const, Construct, Expr, Load, Op, Operand, Var, literal

POINTS = {"list": 9, "batch": 1}
"""Usual launches."""


_OFFERED = 0.2
"""How often something is made of a result beside the result itself."""


@dataclass(frozen=True)
class Place(Site):
    """A launch whose locals have names in the description, which is printed from their values."""

    spoken: dict[str, tuple[str, str]] = field(default_factory=dict)
    """What the description calls a local, and what it is."""
    inlined: dict[str, Expr] = field(default_factory=dict)
    """Locals that the description writes out."""

    @property
    def shape(self) -> Stream:
        return self.k.draw.shape

    def chance(self, probability: float) -> bool:
        return self.shape.chance(probability)

    def given(
        self, names: Names, type_: Type, low: float, high: float, literals: bool = True
    ) -> Expr:
        """A quantity of each thread or line of threads, or the same for all, maybe a literal."""
        number = literals and isinstance(type_, Scalar)
        ways = {"each": 2, "shared": 12, "literal": int(number), "axis": self.rank - 1}
        return given(self, names, type_, low, high, forms=ways)

    def one(self, names: Names, type_: Type, low: float, high: float) -> Expr:
        """A quantity that all threads share: a parameter."""
        return self.k.scalar(words(names), type_, low, high)

    def let(self, names: Names, value: Expr, said: str = "") -> Var:
        """A local that the description calls by its first name, a matrix in capitals."""
        first = words(names)[0]
        text = self.tell(value)
        var = self.k.let(words(names), value)
        self.spoken[var.name] = (
            said or (first.upper() if isinstance(value.type, Mat) else first),
            text,
        )
        return var

    def part(self, names: Names, value: Expr) -> Var:
        """A local that the description writes out."""
        var = self.k.let(words(names), value)
        self.inlined[var.name] = value
        return var

    def tell(self, value: Expr) -> str:
        """A value in the names of the description."""
        threads = tuple(self.k.threads)

        def leaf(e: Expr) -> str | None:
            match e:
                case Var() if e.name in self.spoken:
                    return self.spoken[e.name][0]
                case Load():
                    own = tuple(i.name if isinstance(i, Var) else "" for i in e.indices) == threads
                    return e.array.name if own else None
                case Var():
                    meant = self.k.meaning(e)
                    return e.name if meant is None else written(meant, leaf)
            return None

        return written(_readable(value, self.inlined), leaf)

    def told(self, *values: Expr) -> str:
        """What locals are: ``p = points, q = turns * p``."""
        named = [v.name for v in values if isinstance(v, Var) and v.name in self.spoken]
        known = [self.spoken[name] for name in named]
        return ", ".join(f"{name} = {text}" for name, text in known)

    def gets(self, names: Names, value: Expr, text: str = "") -> str:
        """Store a value in a new output; the sentence on it."""
        text = text or self.tell(value)
        return f" {self.put(names, value).name} gets {text}."

    def offer(self, count: int, **menu: Entry) -> str:
        """Write a result on offer, and say which; often none where there is a result already."""
        if any(p.role != "in" for p in self.k.params):
            count = min(count, int(self.k.draw.shape.chance(_OFFERED)))
        keys = self.k.draw.shape.sample(sorted(menu), min(count, len(menu)))
        chosen = {}
        for key in keys:
            names, code, *texts = menu[key]
            value = code()
            text = texts[0] if texts else self.tell(value)
            text = text if isinstance(text, str) else text()
            chosen[key] = Extra(names, partial(_same, value), text)
        return extras(self, chosen, len(chosen))


def _readable(node: Any, inlined: Mapping[str, Expr]) -> Any:
    """A tree as people read it: locals written out, I for an identity, entries repeated."""
    match node:
        case tuple():
            return tuple(_readable(part, inlined) for part in node)
        case Var() if node.name in inlined:
            return _readable(inlined[node.name], inlined)
        case Op(op="identity") | Op(op="diag", args=(Construct(args=(Const(value="1.0"),)),)):
            return Var("I", node.type)
        case Op(op="diag", args=(Construct(args=(entry,)),)):
            return _readable(entry, inlined) * Var("I", node.type)
        case Construct(type=Mat() as mat) if _is_identity(node, mat):
            return Var("I", mat)
        case Construct(args=(entry,), type=Mat()):
            return _readable(entry, inlined) * Var("ones", node.type)
        case Construct(args=(entry,), type=Vec(size=size)):
            return make(node.type, *(_readable(entry, inlined),) * size)
        case Construct(type=Mat(cols=wide, scalar=scalar)) if len(node.args) > wide:
            entries, starts = _readable(node.args, inlined), range(0, len(node.args), wide)
            rows = (make(Vec(wide, scalar), *entries[at : at + wide]) for at in starts)
            return Call("", tuple(rows), node.type)
        case Var() | Const():
            return node
        case Expr():
            named = {f.name: getattr(node, f.name) for f in fields(node)}  # type: ignore[arg-type]
            return type(node)(**{key: _readable(part, inlined) for key, part in named.items()})
    return node


def _is_identity(node: Construct, mat: Mat) -> bool:
    """Whether a matrix is written out as ones on the diagonal and zeros beside."""
    entries = [float(e.value) if isinstance(e, Const) else None for e in node.args]
    return entries == [float(r == c) for r in range(mat.rows) for c in range(mat.cols)]


def index(*parts: Operand) -> tuple[Operand, ...]:
    """Parts of an index as one."""
    return parts


def _same(value: Expr) -> Expr:
    return value


Text = str | Callable[[], str]
"""A text, or what gives it once the value is there."""

Entry = tuple[str, Callable[[], Expr]] | tuple[str, Callable[[], Expr], Text]
"""Names of an output, its value, and a text where its value does not say it."""


def place(k: KernelBuilder, indices: Names = "i tid idx", **weights: int) -> Place:
    """A launch over points; ``indices`` are names for the single index of a list."""
    site = launch(k, weights or POINTS, indices)
    return Place(k, site.form, site.dims, site.at)


def skipped(g: Site, names: Names, writes: Sequence[tuple[Var, Expr]], instead: str) -> str:
    """Threads without a flag write something plain and end; the sentence that says so."""
    test = flag(g, names)
    early_out(g, test, writes)
    return f" Where {test.off}, {instead} instead."


def times_identity(mat: Mat, value: Operand) -> Expr:
    """The square matrix with ``value`` on its diagonal."""
    entry = value if isinstance(value, Expr) else literal(value, mat.scalar)
    return fn("diag", make(Vec(mat.rows, mat.scalar), entry))


def identity(k: BodyBuilder, mat: Mat) -> Expr:
    """The identity as people write it."""
    if k.draw.shape.chance(0.5):
        return builtin_identity(mat)
    short = mat.rows == 2 or mat.scalar == FLOAT32
    if mat.rows <= 3 and short and k.draw.shape.chance(0.4):
        ones = [float(r == c) for r in range(mat.rows) for c in range(mat.cols)]
        return make(mat, *(literal(one, mat.scalar) for one in ones))
    return times_identity(mat, 1.0)


def transpose(m: Expr) -> Expr:
    return fn("transpose", m)


def symmetric(m: Expr) -> Expr:
    return 0.5 * (m + transpose(m))


def square_type(k: KernelBuilder, weights: Mapping[int, int], scalar: Scalar) -> Mat:
    size = k.draw.shape.weighted(weights)
    return Mat(size, size, scalar)


def voigt(m: Expr, shear: float = 1.0) -> Expr:
    """The independent entries of a symmetric matrix, its off-diagonal ones times ``shear``."""
    assert isinstance(m.type, Mat)
    size = m.type.rows
    beside = [(0, 1)] if size == 2 else [(1, 2), (0, 2), (0, 1)]
    entries: list[Expr] = [m[d, d] for d in range(size)]
    entries += [m[r, c] if shear == 1.0 else shear * m[r, c] for r, c in beside]
    return make(Vec(len(entries), m.type.scalar), *entries)


def column(m: Expr, c: int) -> Expr:
    """A column of a matrix, component by component."""
    assert isinstance(m.type, Mat)
    return make(Vec(m.type.rows, m.type.scalar), *(m[r, c] for r in range(m.type.rows)))


def row(m: Expr, r: int) -> Expr:
    """A row of a matrix, component by component."""
    assert isinstance(m.type, Mat)
    return make(Vec(m.type.cols, m.type.scalar), *(m[r, c] for c in range(m.type.cols)))


def rows_of(mat: Mat) -> Vec:
    """The vector type of a column: as long as there are rows."""
    return Vec(mat.rows, mat.scalar)


def from_columns(k: KernelBuilder, mat: Mat, columns: Sequence[Expr]) -> Expr:
    """A matrix of its columns: by the builtin, or entry by entry."""
    if k.draw.shape.chance(0.6):
        return fn("matrix_from_cols", *columns)
    return make(mat, *(_entry(c, r) for r in range(mat.rows) for c in columns))


def from_rows(k: KernelBuilder, mat: Mat, rows: Sequence[Expr]) -> Expr:
    """A matrix of its rows: by the builtin, or entry by entry."""
    if mat.rows > 3 or k.draw.shape.chance(0.6):
        return fn("matrix_from_rows", *rows)
    return make(mat, *(_entry(line, c) for line in rows for c in range(mat.cols)))


def _entry(vec: Expr, at: int) -> Expr:
    return vec.args[at] if isinstance(vec, Construct) else vec[at]


def mat_of(m: Expr) -> Mat:
    """The type of a matrix."""
    assert isinstance(m.type, Mat)
    return m.type
