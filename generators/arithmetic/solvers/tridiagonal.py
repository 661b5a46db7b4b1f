"""Tridiagonal systems: a thread for each, by elimination; and steps of cyclic reduction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from generators.build import KernelBuilder, extent, make
from generators.build.registry import Title, idiom
from generators.kit.functions import least, most, where
from generators.kit.naming import maybe_all
from generators.kit.sources import setting
from generators.kit.words import say
from generators.program.dtypes import INT32, Array, Scalar, Vec
from generators.program.expr import Const, Expr, Op, Operand, Var


@dataclass(frozen=True)
class Batch:
    """Many systems, their unknowns interleaved (unknown first) or one after another."""

    k: KernelBuilder
    type: Scalar
    layout: str
    at: tuple[Var, ...]
    batch: tuple[str, ...]
    """Sizes of the systems."""
    unknowns: str = "m"
    """Size of one system."""
    ahead: int = 0
    """Axes of the batch before the unknown where that is not the last."""

    def shape(self, rows: str = "") -> tuple[str, ...]:
        return (*self.batch[: self.axis], rows or self.unknowns, *self.batch[self.axis :])

    def place(self, row: Operand) -> tuple[Operand, ...]:
        return (*self.at[: self.axis], row, *self.at[self.axis :])

    @property
    def axis(self) -> int:
        return self.ahead if self.layout == "interleaved" else len(self.batch)

    def array(self, names: str, low: float, high: float, role: str = "in") -> Var:
        return self.k.array(names, self.type, self.shape(), role=role, low=low, high=high)

    def out(self, names: str) -> Var:
        return self.k.out(names, self.type, self.shape())

    def said(self) -> str:
        if self.layout == "interleaved":
            return "the unknown is the first index, the system the last"
        return "the system is the first index, the unknown the last"


def batch_of(k: KernelBuilder, level: int, least_rows: int = 1) -> Batch:
    shape = k.draw.shape
    type_ = k.draw.wide_float_type()
    several = level > 1 and shape.chance(0.35)
    sizes = ("planes", "lines") if several else ("systems",)
    for symbol, low, high in (
        (("planes", 3, 4), ("lines", 4, 6)) if several else (("systems", 10, 16),)
    ):
        k.size(symbol, low, high)
    k.size("m", 6, 9, least_rows)
    names = (
        k.draw.word.choice(("p q", "s l", "plane line")).split()
        if several
        else [k.name("s system")]
    )
    at = k.thread(*sizes, names=names)
    return Batch(k, type_, shape.choice(("interleaved", "contiguous")), at, sizes)


class _Bands:
    """The three bands of the matrices, of each system."""

    def __init__(self, b: Batch, symmetric: bool) -> None:
        self.b, k = b, b.k
        self.symmetric = symmetric
        dims = b.shape()
        longer = b.shape("m+1") if symmetric else dims
        names = k.draw.word.choice(("lower diag upper", "a b c", "sub main_diag sup")).split()
        self.lower = k.array(names[0], b.type, longer, low=-1.0, high=-0.2)
        self.diagonal = k.array(names[1], b.type, dims, low=2.5, high=4.0)
        self.upper = self.lower
        if not symmetric:
            self.upper = k.array(names[2], b.type, dims, low=-1.0, high=-0.2)

    def low(self, row: Operand) -> Expr:
        return self.lower[self.b.place(row)]

    def middle(self, row: Operand) -> Expr:
        return self.diagonal[self.b.place(row)]

    def high(self, row: Expr) -> Expr:
        if self.symmetric:
            row = self.b.k.lift(1, INT32) if isinstance(row, Const) else row + 1
        return self.upper[self.b.place(row)]

    def said(self) -> str:
        if self.symmetric:
            return (
                f"symmetric, with {self.diagonal.name} on the diagonal and {self.lower.name} "
                f"beside it ({self.lower.name} of a row is before the diagonal, that of the next "
                "row after it; it has an entry more),"
            )
        return (
            f"with {self.lower.name}, {self.diagonal.name} and {self.upper.name} before, on and "
            "after the diagonal, of each system,"
        )


@dataclass(frozen=True)
class _Factors:
    """One matrix for all systems, eliminated before: what the sweeps need of it, by row."""

    below: Var | Expr
    """The band before the diagonal: an array, or one number."""
    inverse_pivot: Var
    ratios: Var

    def low(self, row: Operand) -> Expr:
        of = self.below
        return of[row] if isinstance(of, Var) and isinstance(of.type, Array) else of


def _factors(b: Batch) -> tuple[_Factors, str]:
    """Draw the factors of the shared matrix; and what is said of it."""
    k = b.k
    if k.draw.shape.chance(0.5):
        r = setting(k, "r lam alpha", b.type, 0.2, 1.5, 0.8)
        below: Expr = -r
        shown = f"-{say(k, r)}"
    else:
        below = k.array("lower sub", b.type, "m", low=-1.0, high=-0.2)
        shown = f"{say(k, below)}"
    ratios = k.array("c_prime gamma", b.type, "m", low=-0.6, high=-0.1)
    inverse = k.array("inv_pivot inv_beta", b.type, "m", low=0.25, high=0.5)
    text = f"the band before the diagonal is {shown}, {inverse.name} one over the pivots and "
    text += f"{ratios.name} the upper band as elimination leaves it"
    return _Factors(below, inverse, ratios), text


def _sweep_shared(b: Batch, f: _Factors, rhs: Var, count: Expr, x: Var) -> None:
    """Both sweeps of the right-hand sides through the factors, in the array of the solution."""
    k = b.k
    y = k.let("d_star carried y", rhs[b.place(0)] * f.inverse_pivot[0])
    k.store(x, b.place(0), y)
    with k.for_("i row j", count, start=1) as i:
        k.assign(y, _less(rhs[b.place(i)], f.low(i), y) * f.inverse_pivot[i])
        k.store(x, b.place(i), y)
    back = k.draw.word.choice(("n", "back", "step"))
    if k.draw.shape.chance(0.5):
        with k.for_(back, count, start=1) as n:
            at = k.let("at row_at", count - 1 - n)
            k.store(x, b.place(at), f.ratios[at] * x[b.place(at + 1)], "sub")
        return
    with k.for_(back, count, start=1) as n:
        at = k.let("at row_at", count - 1 - n)
        k.assign(y, x[b.place(at)] - f.ratios[at] * y)
        k.store(x, b.place(at), y)


def _eliminate(b: Batch, bands: _Bands, rhs: Var, count: Expr, ratios: Var, x: Var) -> None:
    """Forward elimination: the modified upper band to ``ratios``, right-hand sides to ``x``."""
    k = b.k
    start = k.let("beta pivot denom", bands.middle(k.lift(0, INT32)))
    carried = k.draw.shape.chance(0.5)
    first = rhs[b.place(0)] / start
    if not carried:
        k.store(x, b.place(0), first)
        k.store(ratios, b.place(0), bands.high(k.lift(0, INT32)) / start)
        with k.for_("i row j", count, start=1) as i:
            k.assign(start, _less(bands.middle(i), bands.low(i), ratios[b.place(i - 1)]))
            _ratio(b, bands, ratios, i, count, start)
            before = x[b.place(i - 1)]
            k.store(x, b.place(i), _less(rhs[b.place(i)], bands.low(i), before) / start)
        return
    c = k.let("c_star ratio gam", bands.high(k.lift(0, INT32)) / start)
    d = k.let("d_star carried y", first)
    k.store(ratios, b.place(0), c)
    k.store(x, b.place(0), d)
    with k.for_("i row j", count, start=1) as i:
        k.assign(start, _less(bands.middle(i), bands.low(i), c))
        k.assign(d, _less(rhs[b.place(i)], bands.low(i), d) / start)
        k.assign(c, bands.high(i) / start)
        k.store(ratios, b.place(i), c)
        k.store(x, b.place(i), d)


def _less(value: Expr, factor: Expr, x: Expr) -> Expr:
    """``value - factor * x``, with a sum in place of a factor that is negated."""
    if isinstance(factor, Op) and factor.op == "neg":
        return value + factor.args[0] * x
    return value - factor * x


def _ratio(b: Batch, bands: _Bands, ratios: Var, i: Var, count: Expr, pivot: Var) -> None:
    b.k.store(ratios, b.place(i), bands.high(i) / pivot)


def _substitute(b: Batch, count: Expr, ratios: Var, x: Var) -> None:
    """Back substitution, in place."""
    k = b.k
    if k.draw.shape.chance(0.5):
        with k.for_("n back step", count, start=1) as n:
            i = k.let("at row_at", count - 1 - n)
            k.store(x, b.place(i), ratios[b.place(i)] * x[b.place(i + 1)], "sub")
        return
    last = k.let("last x_next", x[b.place(count - 1)])
    with k.for_("n back step", count, start=1) as n:
        i = k.let("at row_at", count - 1 - n)
        k.assign(last, x[b.place(i)] - ratios[b.place(i)] * last)
        k.store(x, b.place(i), last)


@idiom
def thomas_solve(k: KernelBuilder, level: int) -> Title:
    """A tridiagonal system for each thread by the Thomas algorithm."""
    b = batch_of(k, level)
    way = k.draw.shape.weighted({"full": 4, "symmetric": 2, "factored": 3})
    if way == "factored":
        return _factored_solve(b)
    bands = _Bands(b, way == "symmetric")
    rhs = b.array("rhs d f", -1.0, 1.0)
    counted = k.draw.shape.chance(0.5)
    count = k.size_param("m num_rows unknowns", "m") if counted else extent(rhs, b.axis)
    ratios = b.out("c_prime ratios gamma")
    x = b.out("x solution u")
    _eliminate(b, bands, rhs, count, ratios, x)
    _substitute(b, count, ratios, x)
    text = "Solve tridiagonal systems by the Thomas algorithm, one a thread: "
    text += f"{bands.said()} "
    text = f"{text.rstrip(', ')}; the right-hand side is {rhs.name}; {b.said()}. "
    text += f"{x.name} gets the solution, "
    text += f"{ratios.name} the upper band as elimination leaves it."
    return Title(k.name("thomas_solve tridiagonal_solve", "solve_tridiag_batch"), text)


def _factored_solve(b: Batch) -> Title:
    """Systems that share a matrix whose elimination was done before."""
    k = b.k
    factors, said = _factors(b)
    rhs = b.array("rhs d f", -1.0, 1.0)
    counted = k.draw.shape.chance(0.5)
    count = k.size_param("m num_rows unknowns", "m") if counted else extent(rhs, b.axis)
    x = b.out("x solution u")
    _sweep_shared(b, factors, rhs, count, x)
    text = "Solve tridiagonal systems with one matrix, already eliminated, one system a thread: "
    text += f"{said}; the right-hand side is {rhs.name}; {b.said()}. {x.name} gets the solution."
    return Title(k.name("thomas_solve_factored tridiagonal_sweeps", "thomas_const_batch"), text)


def _rows(k: KernelBuilder, level: int) -> tuple[Batch, Var]:
    """A thread for each row of one system or of several."""
    shape = k.draw.shape
    k.size("m", *((12, 16) if level > 1 else (24, 32)))
    type_ = k.draw.wide_float_type()
    row = k.name("i row j")
    if not shape.chance(0.3 + 0.12 * level):
        (i,) = k.thread("m", names=(row,))
        return Batch(k, type_, "contiguous", (), ()), i
    k.size("systems", 4, 6)
    system = k.name("s sys")
    layout = shape.choice(("interleaved", "contiguous"))
    if layout == "interleaved":
        i, s = k.thread("m", "systems", names=(row, system))
    else:
        s, i = k.thread("systems", "m", names=(system, row))
    return Batch(k, type_, layout, (s,), ("systems",)), i


@dataclass(frozen=True)
class _Equations:
    """Rows a, b, c, d of tridiagonal systems: in four arrays, or each row in one vector."""

    b: Batch
    bands: tuple[Var, ...]

    def row(self, at: Expr, called: str = "row") -> list[Expr]:
        """The row at an index, each entry under a name or read where it is used."""
        b, k = self.b, self.b.k
        if len(self.bands) == 1:
            vec = k.let([called], self.bands[0][b.place(at)])
            return [vec[n] for n in range(4)]
        entries: list[Expr] = [band[b.place(at)] for band in self.bands]
        return entries

    def put(self, row: Var, values: Sequence[Expr]) -> str:
        """Store a new row in new outputs, which are named."""
        b, k = self.b, self.b.k
        if len(self.bands) == 1:
            out = k.out("eqs_new equations_out reduced", Vec(4, b.type), b.shape())
            k.store(out, b.place(row), make(Vec(4, b.type), *values))
            return f"{out.name} gets the new rows"
        end = k.draw.word.choice(("out", "next"))
        outs = [b.out(f"{band.name}_{end}") for band in self.bands]
        for out, value in zip(outs, values, strict=True):
            k.store(out, b.place(row), value)
        names = [out.name for out in outs]
        return f"{', '.join(names)} get the new rows"

    def new(self) -> list[str]:
        """What the entries of the new row are called."""
        several = len(self.bands) > 1
        names = [band.name for band in self.bands] if several else ["a", "b", "c", "d"]
        return [f"new_{name}" for name in names]

    def said(self) -> str:
        if len(self.bands) == 1:
            entries = "(lower, diagonal, upper, right-hand side)"
            return f"whose rows {self.bands[0].name} are vectors {entries}"
        names = [band.name for band in self.bands]
        return f"with the bands {', '.join(names[:3])} and the right-hand side {names[3]}"


def _equations(b: Batch) -> _Equations:
    k = b.k
    if k.draw.shape.chance(0.3):
        vec = Vec(4, b.type)
        return _Equations(
            b, (k.array("equations eqs rows_abcd", vec, b.shape(), low=0.5, high=1.5),)
        )
    names = k.draw.word.choice(("a b c d", "lower diag upper rhs", "sub main_diag sup rhs")).split()
    bounds = ((-1.0, -0.2), (2.5, 4.0), (-1.0, -0.2), (-1.0, 1.0))
    rows = (b.array(name, low, high) for name, (low, high) in zip(names, bounds, strict=True))
    return _Equations(b, tuple(rows))


@idiom
def cyclic_reduction_step(k: KernelBuilder, level: int) -> Title:
    """One step of parallel cyclic reduction: each row rid of its neighbours at a stride."""
    shape = k.draw.shape
    b, row = _rows(k, level)
    eqs = _equations(b)
    by_step = shape.chance(0.35)
    if by_step:
        step = k.scalar("level step pass_index", INT32, 0, 2)
        stride = k.let("stride dist", k.lift(1, INT32) << step)
    else:
        stride = k.scalar("stride dist", INT32, 1, 4)
    count: Expr = extent(eqs.bands[0], b.axis)
    if shape.chance(0.5):
        count = k.size_param("m num_rows", "m")
    called = (("prev_row", "next_row"), ("up", "down"), (f"{row.name}m", f"{row.name}p"))
    sides = k.draw.word.choice(called)
    before = k.let([sides[0]], most(row - stride, 0))
    after = k.let([sides[1]], least(row + stride, count - 1))
    here = eqs.row(row, "eq")
    up, down = eqs.row(before, "eq_prev"), eqs.row(after, "eq_next")
    factors = ((-here[0] / up[1], row >= stride), (-here[2] / down[1], row + stride < count))
    found = []
    guarded = shape.chance(0.5)
    for names, (value, inside) in zip(("alpha", "gamma"), factors, strict=True):
        if guarded:
            factor = k.let(names, k.lift(0.0, b.type))
            with k.if_(inside):
                k.assign(factor, value)
        else:
            factor = k.let(names, where(inside, value, 0.0))
        found.append(factor)
    alpha, gamma = found
    values = [alpha * up[0], here[1] + alpha * up[2] + gamma * down[0], gamma * down[2]]
    values.append(here[3] + alpha * up[3] + gamma * down[3])
    stored = maybe_all(k, dict(zip(eqs.new(), values, strict=True)), 0.4)
    put = eqs.put(row, stored)
    far = f"2^{step.name}" if by_step else stride.name
    return _cyclic_reduction_step_title(far, put, eqs, k)


def _cyclic_reduction_step_title(far: str, put: str, eqs: _Equations, k: KernelBuilder) -> Title:
    """What the kernel is called, and what it does in words."""
    systems = "a tridiagonal system" if len(k.threads) == 1 else "tridiagonal systems"
    text = (
        f"One step of parallel cyclic reduction of {systems} {eqs.said()}: to each row "
        f"add alpha times the row {far} places before it and gamma times the row {far} places "
        "after it, so that the unknowns of these two drop out; where there is no such row its "
        "factor is 0. "
        f"{put}."
    )
    return Title(k.name("pcr_step cyclic_reduction_step", "reduce_rows"), text)
