"""Rows of an array, one a thread: reduced to a number, or put on a common scale."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula, formulas
from generators.kit.functions import exp, least, log, most, sqrt
from generators.kit.naming import held
from generators.kit.outputs import deliver
from generators.kit.sources import zero
from generators.matrix.parts import Place, place
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Operand, Var


@dataclass
class Rows:
    """A launch with one thread for each row, and what a thread knows of its row."""

    s: Place
    scalar: Scalar
    x: Var
    width: Expr
    name: str
    """The name of the index of all loops over the row."""

    @property
    def k(self) -> KernelBuilder:
        return self.s.k

    def at(self, j: Operand) -> Expr:
        return self.x[self.s.index(j)]

    @property
    def first(self) -> Expr:
        return self.at(self.k.lift(0, INT32))

    @contextmanager
    def loop(self, start: int = 0, count: Expr | None = None) -> Iterator[Var]:
        """A pass over the row."""
        self.k.used.discard(self.name)
        stop = self.width if count is None else count
        with self.k.for_(self.name, stop, start=start) as j:
            yield j

    def column(self, names: str, low: float, high: float) -> Var:
        """An array of one entry for each column."""
        return self.k.array(names, self.scalar, "width", low=low, high=high)


def _rows(k: KernelBuilder, names: str, span: float) -> Rows:
    s = place(k, "i tid idx", list=3, grid=2)
    k.size("width", 4, 7)
    scalar = k.draw.wide_float_type()
    x = s.array(names, scalar, -span, span, more="width")
    width = k.trip_count("width num_cols row_length", "width")
    return Rows(s, scalar, x, width, k.name("j c col"))


_TERMS = formulas(
    sum=lambda v: v,
    squares=lambda v: v * v,
    magnitudes=lambda v: abs(v),
    smooth_l1=lambda v: sqrt(v * v + 1.0) - 1.0,
    hinge=lambda v: most(v, 0.0),
)


def _ended(r: Rows, form: str, total: Var, divisor: Expr) -> tuple[Expr, str]:
    """What is done with a row's sum, and what it is called then."""
    ways = {"sum": 3, "mean": 4} | ({"norm": 3, "rms": 3} if form == "squares" else {})
    how = r.s.shape.weighted(ways)
    value = total / divisor if how in ("mean", "rms") else total
    text = " Divide by their number." if how in ("mean", "rms") else ""
    if how in ("norm", "rms"):
        return sqrt(value), f"{text} Take the square root."
    return value, text


def _summed(r: Rows, level: int, term: Formula) -> tuple[Expr, str]:
    """A sum of a term over the entries: all of them, or those before the row's length."""
    k, s = r.k, r.s
    how = s.shape.weighted({"none": 3, "shared": 2, "each": 3})
    base: Expr | None = None
    if how == "shared":
        base = k.scalar("margin center threshold", r.scalar, -0.5, 0.5)
    elif how == "each":
        base = k.let("base mu target", s.read("row_means targets centers", r.scalar, -0.5, 0.5))
    weights = None
    if level >= 2 and s.chance(0.6):
        weights = r.column("col_weights kernel w", 0.2, 1.0)
    count, limit = r.width, ""
    if level >= 3 and s.chance(0.5):
        lengths = s.read("lengths row_ends", INT32, 1, 8)
        count = k.let("length num_valid", least(lengths, r.width))
        limit = f" in the columns before {s.tell(lengths)} (at most all)"
    total = k.let("total acc s", zero(r.scalar))
    with r.loop(count=count) as j:
        value = k.let("value v xj", r.at(j)) if s.chance(0.6) else r.at(j)
        value = value if base is None else value - base
        value = held(k, "diff d centered", value) if term.reads("v") > 1 else value
        found = term.build(k, value)
        k.augment(total, "add", found if weights is None else weights[j] * found)
    shown = "v" if base is None else f"(v - {s.tell(base)})"
    done = f"For each row of {r.x.name}, sum {term.said({'v': shown})} over the entries v{limit}"
    done += "." if weights is None else f", each times {weights.name} of its column."
    value, ended = _ended(r, term.name, total, cast(count, r.scalar))
    return value, done + ended


def _extreme(r: Rows, level: int) -> tuple[Expr, str]:
    """The largest or smallest of a row and its column, or the distance between both."""
    k, s = r.k, r.s
    how = s.shape.choice(("largest", "smallest", "span"))
    size = how == "largest" and s.chance(0.5)

    def entry(value: Expr) -> Expr:
        return abs(value) if size else value

    best = k.let("low least" if how == "smallest" else "best peak", entry(r.first))
    if how == "span":
        low = k.let("low least", r.first)
        with r.loop(1) as j:
            k.assign(best, most(best, r.at(j)))
            k.assign(low, least(low, r.at(j)))
        return best - low, f"For each row of {r.x.name}, the largest entry less the smallest."
    text = f"For each row of {r.x.name}, find the {how} {'|v|' if size else 'v'} of its entries v."
    if level < 2 and not s.chance(0.5):
        with r.loop(1) as j:
            k.assign(best, fn("min" if how == "smallest" else "max", best, entry(r.at(j))))
        return best, text
    column = k.let("where_best best_col", k.lift(0, INT32))
    with r.loop(1) as j:
        value = k.let("value v xj", entry(r.at(j)))
        with k.if_(value < best if how == "smallest" else value > best):
            k.assign(best, value)
            k.assign(column, j)
    return best, text + s.gets("positions argbest columns", column, "its column (the first one)")


def _logsumexp(r: Rows, level: int) -> tuple[Expr, str]:
    """The logarithm of summed exponentials, by the row's largest entry."""
    k = r.k
    heat = k.scalar("beta inv_temp", r.scalar, 0.5, 1.5) if r.s.chance(0.5) else None
    top = k.let("top row_max", r.first)
    with r.loop(1) as j:
        k.assign(top, most(top, r.at(j)))
    total = k.let("total acc", zero(r.scalar))
    with r.loop() as j:
        shifted = r.at(j) - top
        k.augment(total, "add", exp(shifted if heat is None else heat * shifted))
    text = f"For each row of {r.x.name} with the largest entry m, take m +"
    if heat is None:
        return top + log(total), f"{text} log(sum of exp(v - m)) over its entries v."
    text += f" log(sum of exp({heat.name} * (v - m))) / {heat.name}, v in it."
    return top + log(total) / heat, text


@idiom(depth=3)
def row_reduce(k: KernelBuilder, level: int) -> Title:
    """One number a row: a sum, a norm, an extreme, a log of summed exponentials."""
    terms = {term.name: term for term in _TERMS}
    form = k.draw.shape.choice((*sorted(terms), "extreme", "logsumexp"))
    r = _rows(k, "x table samples logits", 1.5)
    if form in terms:
        value, done = _summed(r, level, terms[form])
    else:
        value, done = (_extreme if form == "extreme" else _logsumexp)(r, level)
    if level >= 4:
        low, high = (-2.0, 2.0) if form == "sum" else (0.0, 1.5)
        base = r.s.read("baseline previous reference", r.scalar, low, high)
        value = value - base
        done += f" Subtract {r.s.tell(base)}."
    done += deliver(r.s, level, "out row_stats reduced", value)
    return Title(k.name(f"row_{form} reduce_rows {form}_per_row"), done)


class Normal(NamedTuple):
    """The common scale: what becomes of an entry, the text, and the statistics of the row."""

    of: Callable[[Expr], Expr]
    text: str
    stats: tuple[tuple[str, Expr, str], ...]
    kept: bool = False
    """Whether the output holds a first result of each entry."""


@idiom(depth=3)
def row_normalize(k: KernelBuilder, level: int) -> Title:
    """Softmax, layer norm, or division by a norm: passes over a row by one thread."""
    shape = k.draw.shape
    form = shape.choice(sorted(_NORMALS))
    r = _rows(k, "x logits scores inputs", 2.0)
    out = k.out("out normalized y", r.scalar, (*r.s.dims, "width"))
    normal = _NORMALS[form](r, out)
    finish, told = (_unchanged, "") if "softmax" in form else _affine(r, level)
    with r.loop() as j:
        at = r.s.index(j)
        k.store(out, at, finish(at, normal.of(out[at] if normal.kept else r.at(j))))
    done = f"{normal.text}{told} {out.name} gets it."
    if level >= 3:
        count = 1 if level < 5 else len(normal.stats)
        for names, value, what in shape.sample(normal.stats, count):
            done += r.s.gets(names, value, f"the {what}")
    return Title(k.name(f"{form}_rows row_{form} normalize_rows"), done)


Finish = Callable[[tuple[Operand, ...], Expr], Expr]


def _unchanged(_at: tuple[Operand, ...], value: Expr) -> Expr:
    return value


def _affine(r: Rows, level: int) -> tuple[Finish, str]:
    """A gain and a bias of each column or a gain for all, a residual; and what they do."""
    k, s = r.k, r.s
    how = s.shape.choice(("none" if level == 1 else "column", "scalar", "column"))
    gain = bias = skip = None
    told = ""
    if how == "scalar":
        gain = k.scalar("gain alpha", r.scalar, 0.5, 1.5)
        told = f" Multiply by {gain.name}."
    if how == "column":
        gain = r.column("gains gamma", 0.5, 1.5)
        told = f" Multiply by {gain.name} of the column."
    if s.chance(0.3 if level == 1 else 0.5):
        bias = r.column("bias beta", -0.5, 0.5)
        told += f" Add {bias.name} of the column."
    if level >= 2 and s.chance(0.4):
        skip = s.array("residual skip", r.scalar, -1.0, 1.0, more="width")
        told += f" Add {skip.name}."

    def finish(at: tuple[Operand, ...], value: Expr) -> Expr:
        if gain is not None:
            value = (gain if how == "scalar" else gain[at[-1]]) * value
        if bias is not None:
            value = value + bias[at[-1]]
        return value if skip is None else skip[at] + value

    return finish, told


def _softmax(r: Rows, out: Var) -> Normal:
    """The row's exponentials over their sum, or the logarithm of that."""
    k, s = r.k, r.s
    heat = k.scalar("temperature tau", r.scalar, 0.5, 2.0) if s.chance(0.5) else None
    peak = k.let("peak row_max top", r.first)
    with r.loop(1) as j:
        k.assign(peak, most(peak, r.at(j)))
    total = k.let("total denom mass", zero(r.scalar))

    def shifted(x: Expr) -> Expr:
        return x - peak if heat is None else (x - peak) / heat

    logs, keeps = s.chance(0.35), s.chance(0.5)
    with r.loop() as p:
        e = exp(shifted(r.at(p)))
        if keeps and not logs:
            e = k.let("e numer", e)
            k.store(out, s.index(p), e)
        k.augment(total, "add", e)
    over = f" / {heat.name}" if heat is not None else ""
    text = f"of each row of {r.x.name}{over}, stable by subtracting the row's maximum."
    stats = (("row_maxima peaks", peak, "row's maximum"), ("denoms sums", total, "sum of exp"))
    if logs:
        offset = k.let("log_total lse", log(total))
        return Normal(lambda x: shifted(x) - offset, f"Log-softmax {text}", stats)
    if keeps:
        return Normal(lambda e: e / total, f"Softmax {text}", stats, True)
    return Normal(lambda x: exp(shifted(x)) / total, f"Softmax {text}", stats)


def _mean(r: Rows) -> Var:
    mean = r.k.let("mean mu", zero(r.scalar))
    with r.loop() as j:
        r.k.augment(mean, "add", r.at(j))
    r.k.augment(mean, "div", cast(r.width, r.scalar))
    return mean


def _eps(r: Rows) -> float:
    return r.k.draw.value.choice((1.0e-5, 1.0e-3, 1.0e-2, 1.0e-4))


def _layer_norm(r: Rows, out: Var) -> Normal:
    """The row less its mean, over the root of its variance."""
    k, eps, mean = r.k, _eps(r), _mean(r)
    spread = k.let("variance var", zero(r.scalar))
    with r.loop() as p:
        centered = k.let("centered diff", r.at(p) - mean)
        k.augment(spread, "add", centered * centered)
    inverse = r.s.chance(0.5)
    root = sqrt(spread / cast(r.width, r.scalar) + eps)
    scale = k.let("rstd inv_std" if inverse else "std sigma", 1.0 / root if inverse else root)
    text = f"Layer norm of each row of {r.x.name}: (x - mean) / sqrt(variance + {eps})."
    what = f"{'reciprocal of ' * inverse}sqrt(variance + {eps})"
    names = "rstd_out rstds" if inverse else "std_out row_stds"
    stats = (("mean_out row_means", mean, "row's mean"), (names, scale, what))
    return Normal(lambda x: (x - mean) * scale if inverse else (x - mean) / scale, text, stats)


def _centered(r: Rows, out: Var) -> Normal:
    mean = _mean(r)
    text = f"Subtract from each row of {r.x.name} its mean."
    return Normal(lambda x: x - mean, text, (("mean_out row_means", mean, "row's mean"),))


def _divided(r: Rows, divisor: Expr, text: str) -> Normal:
    norm = r.k.let("norm scale", divisor)
    text = f"Divide each row of {r.x.name} by {text}."
    return Normal(lambda x: x / norm, text, (("norms row_scales", norm, "row's divisor"),))


def _l2_norm(r: Rows, out: Var) -> Normal:
    k, eps = r.k, _eps(r)
    total = k.let("total sum_sq ss", zero(r.scalar))
    with r.loop() as j:
        entry = k.let("v xj", r.at(j)) if r.s.chance(0.5) else r.at(j)
        k.augment(total, "add", entry * entry)
    return _divided(r, sqrt(total + eps), f"sqrt(sum of squares + {eps})")


def _l1_norm(r: Rows, out: Var) -> Normal:
    k, largest, eps = r.k, r.s.chance(0.4), _eps(r)
    total = k.let("peak max_abs" if largest else "total sum_abs", zero(r.scalar))
    with r.loop() as j:
        size = abs(r.at(j))
        if largest:
            k.assign(total, most(total, size))
        else:
            k.augment(total, "add", size)
    return _divided(r, total + eps, f"{eps} plus the {'largest' if largest else 'sum of'} |x|")


def _min_max(r: Rows, out: Var) -> Normal:
    k, eps = r.k, _eps(r)
    low, high = k.let("low lowest", r.first), k.let("high highest", r.first)
    with r.loop(1) as j:
        k.assign(low, least(low, r.at(j)))
        k.assign(high, most(high, r.at(j)))
    span = k.let("span extent", high - low + eps)
    text = f"Map each row of {r.x.name} by (x - min) / (max - min + {eps}) of its row."
    stats = (("lows minima", low, "row's minimum"), ("spans extents", span, "row's divisor"))
    return Normal(lambda x: (x - low) / span, text, stats)


_NORMALS = {
    "softmax": _softmax,
    "layer_norm": _layer_norm,
    "centered": _centered,
    "l2_norm": _l2_norm,
    "l1_norm": _l1_norm,
    "min_max": _min_max,
}
