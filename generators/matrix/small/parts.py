"""Small matrices: identities, rows and columns, symmetric parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.body import identity as builtin_identity
from generators.kit.masks import early_out, flag
from generators.kit.sites import Names, Site
from generators.program.dtypes import FLOAT32, Mat, Scalar, Vec
from generators.program.expr import Construct, Expr, Operand, Var, literal


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
