"""Rows of an array, one a thread: sums, norms, extremes, logs of sums."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.endings import Site, elements, write
from generators.kit.pieces import zero
from generators.program.dtypes import INT32
from generators.program.expr import Expr, Operand, Var


class Rows:
    """A launch with one thread for each row, and what a thread knows of its row."""

    def __init__(self, k: KernelBuilder, names: tuple[str, ...], span: float) -> None:
        self.k = k
        self.site: Site = elements(k, {1: 3, 2: 2})
        self.inner = k.size("width", 4, 7)
        self.scalar = k.draw.wide_float_type()
        self.dims = (*self.site.dims, self.inner)
        self.x = k.array(names, self.scalar, self.dims, low=-span, high=span)
        self.width = k.trip_count("width num_cols row_length", self.inner)
        self.lengths: Var | None = None

    def at(self, j: Expr) -> Expr:
        place: tuple[Operand, ...] = (*self.site.at, j)
        return self.x[place]

    def column(self, names: tuple[str, ...], low: float, high: float) -> Var:
        """An array of one entry for each column."""
        return self.k.array(names, self.scalar, self.inner, low=low, high=high)

    def loop(self) -> str:
        """The name of the index of all loops over the row."""
        name = self.k.name("j c col")
        self.k.used.discard(name)
        return name


Term = Callable[[KernelBuilder, Expr, Var | None], tuple[Expr, str]]


def _square(k: KernelBuilder, v: Expr, base: Var | None) -> tuple[Expr, str]:
    if base is None:
        return v * v, "v * v"
    diff = k.let("diff d centered", v - base)
    return diff * diff, "(v - b)^2"


def _magnitude(k: KernelBuilder, v: Expr, base: Var | None) -> tuple[Expr, str]:
    if base is None:
        return fn("abs", v), "|v|"
    return fn("abs", v - base), "|v - b|"


def _hinge(k: KernelBuilder, v: Expr, base: Var | None) -> tuple[Expr, str]:
    return fn(
        "max", v if base is None else v - base, 0.0
    ), f"max({'v' if base is None else 'v - b'}, 0)"


def _smooth(k: KernelBuilder, v: Expr, base: Var | None) -> tuple[Expr, str]:
    v = v if base is None else k.let("diff d", v - base)
    text = "v" if base is None else "(v - b)"
    return fn("sqrt", v * v + 1.0) - 1.0, f"sqrt({text}^2 + 1) - 1"


def _plain(k: KernelBuilder, v: Expr, base: Var | None) -> tuple[Expr, str]:
    return (v, "v") if base is None else (v - base, "v - b")


_TERMS: dict[str, Term] = {
    "sum": _plain,
    "squares": _square,
    "magnitudes": _magnitude,
    "smooth_l1": _smooth,
    "hinge": _hinge,
}


def _ended(k: KernelBuilder, form: str, total: Var, divisor: Expr) -> tuple[Expr, str]:
    """What is done with a row's sum, and what it is called then."""
    ways = {"sum": 3, "mean": 4}
    if form == "squares":
        ways |= {"norm": 3, "rms": 3}
    how = k.draw.shape.weighted(ways)
    if how == "sum":
        return total, ""
    if how == "norm":
        return fn("sqrt", total), " Take the square root."
    if how == "mean":
        return total / divisor, " Divide by their number."
    return fn("sqrt", total / divisor), " Divide by their number and take the square root."


def _summed(r: Rows, level: int, form: str) -> tuple[Expr, str]:
    """A sum of a term over the entries: all of them, or those before the row's length."""
    k, shape = r.k, r.k.draw.shape
    base, weights = _base(r, form), None
    if level >= 2 and shape.chance(0.6):
        weights = r.column("col_weights kernel w", 0.2, 1.0)
    count: Expr = r.width
    where = ""
    if level >= 3 and shape.chance(0.5):
        lengths = k.array("lengths row_ends", INT32, r.site.dims, low=1, high=8)
        count = k.let("length num_valid", fn("min", lengths[r.site.at], r.width))
        where = f" in the columns before {lengths.name} (at most all)"
    total = k.let("total acc s", zero(r.scalar))
    with k.for_((r.loop(),), count) as j:
        value = k.let("value v xj", r.at(j)) if shape.chance(0.6) else r.at(j)
        term, text = _TERMS[form](k, value, base)
        k.augment(total, "add", term if weights is None else weights[j] * term)
    what = "the entries" if text == "v" else f"{text} over the entries v"
    done = f"For each row of {r.x.name}, sum {what}{where}"
    done += f", each times {weights.name} of its column." if weights is not None else "."
    value, ended = _ended(k, form, total, cast(count, r.scalar))
    if base is not None:
        done += f" b is {_source(r, base)}."
    return value, done + ended


def _source(r: Rows, base: Var) -> str:
    """What a number is called in the signature: an array of one for each row, or itself."""
    array = next((p for p in r.k.params if p.name in _BASES), None)
    return f"{array.name} of the row" if array is not None else base.name


_BASES = ("row_means", "targets", "centers")


def _base(r: Rows, form: str) -> Var | None:
    """What is subtracted from each entry: one number, or one of each row, or none."""
    how = r.k.draw.shape.weighted({"none": 3, "scalar": 2, "row": 3})
    if how == "none" and form != "sum":
        return None
    if how == "scalar":
        return r.k.scalar("margin center threshold", r.scalar, -0.5, 0.5)
    if how == "none":
        return None
    means = r.k.array(_BASES, r.scalar, r.site.dims, low=-0.5, high=0.5)
    return r.k.let("base mu target", means[r.site.at])


def _extreme(r: Rows, level: int) -> tuple[Expr, str]:
    """The largest or smallest of a row and its column, or the distance between both."""
    k, shape = r.k, r.k.draw.shape
    how = shape.choice(("largest", "smallest", "span"))
    size = how == "largest" and shape.chance(0.5)
    j0 = k.lift(0, INT32)
    first = fn("abs", r.at(j0)) if size else r.at(j0)
    best = k.let("low least" if how == "smallest" else "best peak", first)
    if how == "span":
        low = k.let("low least", r.at(j0))
        with k.for_((r.loop(),), r.width, start=1) as j:
            k.assign(best, fn("max", best, r.at(j)))
            k.assign(low, fn("min", low, r.at(j)))
        return best - low, f"For each row of {r.x.name}, the largest entry less the smallest."
    text = f"For each row of {r.x.name}, find the {how} {'|v|' if size else 'v'} of its entries v"
    placed = level >= 2 or shape.chance(0.5)
    if not placed:
        with k.for_((r.loop(),), r.width, start=1) as j:
            entry = fn("abs", r.at(j)) if size else r.at(j)
            k.assign(best, fn("min" if how == "smallest" else "max", best, entry))
        return best, f"{text}."
    place = k.let("where_best best_col", k.lift(0, INT32))
    with k.for_((r.loop(),), r.width, start=1) as j:
        value = k.let("value v xj", fn("abs", r.at(j)) if size else r.at(j))
        with k.if_(value < best if how == "smallest" else value > best):
            k.assign(best, value)
            k.assign(place, j)
    out = k.out("positions argbest columns", INT32, r.site.dims)
    k.store(out, r.site.at, place)
    return best, f"{text}. {out.name} gets its column (the first one)."


def _logsumexp(r: Rows, level: int) -> tuple[Expr, str]:
    """The logarithm of summed exponentials, by the row's largest entry."""
    k = r.k
    heat = k.scalar("beta inv_temp", r.scalar, 0.5, 1.5) if k.draw.shape.chance(0.5) else None
    top = k.let("top row_max", r.at(k.lift(0, INT32)))
    name = r.loop()
    with k.for_((name,), r.width, start=1) as j:
        k.assign(top, fn("max", top, r.at(j)))
    k.used.discard(name)
    total = k.let("total acc", zero(r.scalar))
    with k.for_((name,), r.width) as j:
        shifted = r.at(j) - top
        k.augment(total, "add", fn("exp", shifted if heat is None else heat * shifted))
    value = fn("log", total)
    text = f"For each row of {r.x.name} with the largest entry m, take m + "
    if heat is None:
        return top + value, f"{text}log(sum of exp(v - m)) over its entries v."
    return (
        top + value / heat,
        f"{text}log(sum of exp({heat.name} * (v - m))) / {heat.name}, v in it.",
    )


@idiom
def row_reduce(k: KernelBuilder, level: int) -> Title:
    """One number a row: a sum, a norm, an extreme, a log of summed exponentials."""
    form = k.draw.shape.choice((*sorted(_TERMS), "extreme", "logsumexp"))
    r = Rows(k, "x table samples logits", 1.5)
    if form == "extreme":
        value, done = _extreme(r, level)
    elif form == "logsumexp":
        value, done = _logsumexp(r, level)
    else:
        value, done = _summed(r, level, form)
    if level >= 4:
        low, high = (-2.0, 2.0) if form == "sum" else (0.0, 1.5)
        names = ("baseline", "previous", "reference")
        base = k.array(names, r.scalar, r.site.dims, low=low, high=high)
        value = value - base[r.site.at]
        done += f" Subtract {base.name}."
    done += write(k, level, r.site, "out row_stats reduced", value)
    names = (f"row_{form}", "reduce_rows", f"{form}_per_row")
    return Title(k.name(*names), done)
