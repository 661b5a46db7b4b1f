"""What kernels on small matrices share: launches, where quantities come from, extra results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.body import identity as builtin_identity
from generators.kit.pieces import times_identity
from generators.program import ir
from generators.program.dtypes import FLOAT32, Mat, Scalar, Struct, Type, Vec
from generators.program.expr import Const, Construct, Expr, Load, Operand, Var, literal

Names = tuple[str, ...]
INDICES: tuple[Names, ...] = (("i", "j", "k"), ("b", "i", "j"), ("row", "col", "lane"))
RANGES = {1: ((48, 80),), 2: ((6, 9), (7, 9)), 3: ((3, 4), (3, 5), (4, 5))}
SYMBOLS = {1: ("n",), 2: ("b", "n"), 3: ("b", "h", "w")}


@dataclass(frozen=True)
class Grid:
    """One thread for each point of one to three sizes."""

    k: KernelBuilder
    dims: tuple[str, ...]
    index: tuple[Var, ...]

    def array(
        self,
        names: Names,
        type_: Type,
        low: object = None,
        high: object = None,
        init: str = "uniform",
        role: str = "in",
    ) -> Var:
        """An array with one element for each thread."""
        return self.k.array(names, type_, self.dims, low=low, high=high, init=init, role=role)

    def read(
        self,
        names: Names,
        local: Names,
        type_: Type,
        low: object = None,
        high: object = None,
        init: str = "uniform",
    ) -> Var:
        """This thread's element of a new array, in a local variable."""
        return self.k.let(local, self.array(names, type_, low, high, init)[self.index])

    def out(self, names: Names, type_: Type) -> Var:
        return self.k.out(names, type_, self.dims)

    def write(self, names: Names, value: Expr) -> Var:
        """Store a value in a new output, which is given back."""
        target = self.out(names, value.type)
        self.k.store(target, self.index, value)
        return target

    def structs(
        self,
        names: Names,
        struct: Struct,
        fields: Sequence[ir.FieldInit],
        role: str = "in",
    ) -> Var:
        return self.k.array(names, struct, self.dims, role=role, fields=fields)

    def supply(
        self,
        one: Names,
        many: Names,
        type_: Type,
        low: float,
        high: float,
        literals: bool = True,
    ) -> Expr:
        """A quantity of each thread or line of threads, or the same for all, maybe a literal."""
        ways = {"each": 3, "all": 3, "literal": 2 if literals else 0, "line": len(self.dims) - 1}
        if not isinstance(type_, Scalar):
            ways["literal"] = 0
        way = self.k.draw.shape.weighted(ways)
        if way == "literal":
            return literal(float(self.k.draw.value.constant(low, high)), type_)
        if way == "all":
            return self.k.scalar(one, type_, low, high)
        if way == "line":
            axis = self.k.draw.shape.integer(0, len(self.dims) - 1)
            lines = self.k.array(many, type_, self.dims[axis], low=low, high=high)
            return lines[self.index[axis]]
        return self.array(many, type_, low, high)[self.index]

    def at(self, *more: Operand) -> tuple[Operand, ...]:
        """The index of this thread's element, and of a part of it."""
        return (*self.index, *more)

    @property
    def place(self) -> str:
        return ", ".join(v.name for v in self.index)


def grid(k: KernelBuilder, weights: Mapping[int, int] | None = None, *names: str) -> Grid:
    """Launch in one, two or three dimensions; ``names`` are for the index of a single one."""
    count = k.draw.shape.weighted(dict(weights or {1: 5, 2: 4, 3: 1}))
    symbols = SYMBOLS[count]
    for symbol, (low, high) in zip(symbols, RANGES[count], strict=True):
        k.size(symbol, low, high)
    if count == 1:
        chosen: Names = (k.name(*(names or ("i", "tid", "idx"))),)
    else:
        chosen = k.draw.word.choice(INDICES)
    return Grid(k, symbols, k.thread(*symbols, names=chosen))


def say(value: Expr) -> str:
    """An operand as a description names it."""
    if isinstance(value, Load):
        inside = ", ".join(say(index) for index in value.indices)
        return f"{value.array.name}[{inside}]"
    if isinstance(value, Var):
        return value.name
    assert isinstance(value, Const)
    return str(value.value)


def kept(k: KernelBuilder, names: Names, value: Expr, share: float = 0.5) -> Expr:
    """A value that is used once: named, or nested in what comes next."""
    return k.let(names, value) if k.draw.shape.chance(share) else value


def identity(k: BodyBuilder, mat: Mat) -> Expr:
    """The identity as people write it."""
    assert mat.rows == mat.cols
    if k.draw.shape.chance(0.5):
        return builtin_identity(mat)
    short = mat.rows == 2 or mat.scalar == FLOAT32
    if mat.rows <= 3 and short and k.draw.shape.chance(0.4):
        ones = [1.0 if r == c else 0.0 for r in range(mat.rows) for c in range(mat.cols)]
        return make(mat, *(literal(one, mat.scalar) for one in ones))
    return times_identity(mat, 1.0)


def symmetric(m: Expr) -> Expr:
    return 0.5 * (m + fn("transpose", m))


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


def held(k: KernelBuilder, names: Names, value: Expr) -> Expr:
    """An element that was read, in a local; a parameter as it is."""
    return k.let(names, value) if isinstance(value, Load) else value
