"""Rows of an array, one a thread: reduced to a number, or put on a common scale."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import NamedTuple

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, least, log, most, sqrt
from generators.kit.sources import zero
from generators.kit.text import written
from generators.matrix.parts import Place
from generators.program.dtypes import BOOL, INT32, Scalar
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
        return self.k.array(names, self.scalar, "features", low=low, high=high)


def _rows(k: KernelBuilder, names: str, span: float) -> Rows:
    """Rows of a matrix; heads or items of a batch before them now and then."""
    lead = [k.size("heads", 3, 4)] if k.draw.shape.chance(0.25) else []
    dims = (*lead, k.size("rows", 4, 6) if lead else k.size("rows", 14, 18))
    k.size("features", 4, 7)
    at = k.thread(*dims, names=[k.name("h head")] * (len(dims) - 1) + [k.name("row i")])
    s = Place(k, "list" if len(dims) == 1 else "grid", dims, at)
    scalar = k.draw.wide_float_type()
    x = s.array(names, scalar, -span, span, more="features")
    width = k.size_param("num_cols row_length", "features")
    return Rows(s, scalar, x, width, k.name("j c col"))


def _summed(r: Rows, level: int, form: str) -> tuple[Expr, str, str]:
    """A sum over a row, a mean, or a root of either; weighted, masked or about the row's mean."""
    k, s = r.k, r.s
    weights = mask = None
    if form in ("weighted_sum", "weighted_mean"):
        weights = r.column("weights col_weights", 0.2, 1.0)
    elif level >= 2 and form != "variance" and s.chance(0.4):
        mask = s.array("mask valid", BOOL, more="features")
    mean = _mean(r) if form == "variance" else None
    size: Expr = cast(r.width, r.scalar)
    total = k.let(_SUM_NAMES.get(form, "total acc"), zero(r.scalar))
    count = None
    if form == "weighted_mean":
        count = k.let("weight_sum w_total", zero(r.scalar))
    elif mask is not None and form in ("mean", "rms"):
        count = k.let("num_valid count", zero(r.scalar))
    with r.loop() as j, nullcontext() if mask is None else k.if_(mask[s.index(j)]):
        v = r.at(j)
        if form in ("sum_of_squares", "norm", "rms", "variance"):
            v = k.let("v x_j" if mean is None else "centered diff", v if mean is None else v - mean)
            v = v * v
        elif form == "abs_sum":
            v = abs(v)
        k.augment(total, "add", v if weights is None else weights[j] * v)
        if count is not None:
            k.augment(count, "add", weights[j] if weights is not None else 1.0)
    value: Expr = total
    if form in ("mean", "rms", "variance", "weighted_mean"):
        value = total / (size if count is None else count if mask is None else most(count, 1.0))
    if form in ("norm", "rms"):
        value = sqrt(value)
    what = _SUMS[form].format(w=weights.name if weights is not None else "")
    only = f" over the entries with {mask.name} set" if mask is not None else ""
    none = ", dividing by at least 1" if mask is not None and count is not None else ""
    return value, f"{what} of each row of {r.x.name}{only}{none}", f"row_{form}"


_SUMS = {
    "sum": "Sum",
    "mean": "Mean",
    "abs_sum": "Sum of absolute values (L1 norm)",
    "sum_of_squares": "Sum of squares",
    "norm": "Euclidean norm",
    "rms": "Root mean square",
    "variance": "Variance (over all entries, about the row's mean)",
    "weighted_sum": "Sum weighted by {w} of the column",
    "weighted_mean": "Mean weighted by {w} of the column",
}
_SUM_NAMES = {
    **dict.fromkeys(("sum_of_squares", "norm", "rms"), "sum_sq squares"),
    "variance": "sq_dev var_sum",
    "abs_sum": "abs_sum l1",
}


def _extreme(r: Rows, level: int, form: str) -> tuple[Expr, str, str]:
    """The largest or smallest of a row and its column, or the distance between both."""
    k, s = r.k, r.s
    if form == "range":
        best, low = k.let("highest", r.first), k.let("lowest", r.first)
        with r.loop(1) as j:
            k.assign(best, most(best, r.at(j)))
            k.assign(low, least(low, r.at(j)))
        return best - low, f"Largest less smallest entry of each row of {r.x.name}", "row_range"
    small, size = form == "min", form == "max_abs"

    def entry(value: Expr) -> Expr:
        return abs(value) if size else value

    kind = {"min": "Smallest entry", "max": "Largest entry"}.get(form, "Largest absolute entry")
    best = k.let("lowest smallest" if small else "best largest", entry(r.first))
    if not s.chance(0.5):
        with r.loop(1) as j:
            k.assign(best, fn("min" if small else "max", best, entry(r.at(j))))
        return best, f"{kind} of each row of {r.x.name}", f"row_{form}"
    column = k.let("best_col arg", k.lift(0, INT32))
    with r.loop(1) as j:
        value = k.let("x_j v", entry(r.at(j)))
        with k.if_(value < best if small else value > best):
            k.assign(best, value)
            k.assign(column, j)
    where = s.put("positions argbest" if size else f"arg{form} positions", column)
    text = f"{kind} of each row of {r.x.name}; {where.name} gets the first column where it stands"
    return best, text, f"row_{form} row_arg{form}"


def _logsumexp(r: Rows, level: int, form: str) -> tuple[Expr, str, str]:
    """The logarithm of summed exponentials, by the row's largest entry; a cross-entropy with it."""
    k, s = r.k, r.s
    heat = k.scalar("inv_temperature beta", r.scalar, 0.5, 1.5) if s.chance(0.3) else None

    def scaled(v: Expr) -> Expr:
        return v if heat is None else heat * v

    top = k.let("row_max top", r.first)
    with r.loop(1) as j:
        k.assign(top, most(top, r.at(j)))
    total = k.let("denom total", zero(r.scalar))
    with r.loop() as j:
        k.augment(total, "add", exp(scaled(r.at(j) - top)))
    what = r.x.name if heat is None else f"{heat.name} * {r.x.name}"
    stable = "stable by subtracting the row's maximum first"
    if form == "logsumexp":
        text = f"Log of the sum of exponentials of each row of {what}, {stable}"
        return scaled(top) + log(total), text, "row_logsumexp logsumexp_rows"
    target = s.read("targets labels", INT32, init="index_of:features")
    value = log(total) - scaled(r.x[s.index(target)] - top)
    text = f"Cross-entropy of each row of {what} with its class in {s.tell(target)}: the log of the"
    text += f" sum of exponentials less the entry of the class, {stable}"
    return value, text, "cross_entropy softmax_cross_entropy"


_REDUCTIONS: dict[str, tuple[Callable[[Rows, int, str], tuple[Expr, str, str]], str]] = {
    **dict.fromkeys(_SUMS, (_summed, "x samples values")),
    **dict.fromkeys(("min", "max", "max_abs", "range"), (_extreme, "x scores values")),
    **dict.fromkeys(("logsumexp", "cross_entropy"), (_logsumexp, "logits scores")),
}


@idiom(depth=3)
def row_reduce(k: KernelBuilder, level: int) -> Title:
    """One number for each row: sums and norms, extremes, log-sum-exp, cross-entropy."""
    forms = sorted(_REDUCTIONS)
    if level >= 3:
        forms = [form for form in forms if form not in ("sum", "abs_sum", "sum_of_squares", "mean")]
    form = k.draw.shape.choice(forms)
    build, names = _REDUCTIONS[form]
    r = _rows(k, names, 2.0)
    value, text, titles = build(r, level, form)
    out = r.s.put({"cross_entropy": "losses"}.get(form, "out row_stats"), value)
    return Title(k.name(titles), f"{text}. {out.name} gets the result.")


class Normal(NamedTuple):
    """The common scale: what becomes of an entry, the text, and the statistics of the row."""

    of: Callable[[Expr], Expr]
    text: str
    names: str
    stats: tuple[tuple[str, Expr, str], ...]
    kept: bool = False
    """Whether the output holds a first result of each entry."""


@idiom(depth=3)
def row_normalize(k: KernelBuilder, level: int) -> Title:
    """Softmax, layer norm, or division by a norm: passes over a row by one thread."""
    shape = k.draw.shape
    form = shape.choice(sorted(_NORMALS))
    r = _rows(k, "logits scores" if form == "softmax" else "x inputs", 2.0)
    out = k.out("out normalized y", r.scalar, (*r.s.dims, "features"))
    normal = _NORMALS[form](r, out)
    affine = form in ("layer_norm", "rms_norm", "standardized")
    finish, told = _affine(r, form != "rms_norm") if affine else (None, "")
    with r.loop() as j:
        at = r.s.index(j)
        value = normal.of(out[at] if normal.kept else r.at(j))
        k.store(out, at, value if finish is None else finish(at, value))
    done = f"{normal.text}.{told} {out.name} gets the result."
    if level >= 2 and normal.stats and shape.chance(0.5):
        for names, value, what in normal.stats:
            done += r.s.gets(names, value, f"the {what}")
    return Title(k.name(normal.names), done)


Finish = Callable[[tuple[Operand, ...], Expr], Expr]


_AFFINE = (("gamma", "beta"), ("weight", "bias"), ("gain", "bias"))


def _affine(r: Rows, biased: bool) -> tuple[Finish | None, str]:
    """A gain and a bias of each column; and what they do."""
    s = r.s
    if s.chance(0.2):
        return None, ""
    first, second = r.k.draw.word.choice(_AFFINE)
    gain = r.column(first, 0.5, 1.5)
    bias = r.column(second, -0.5, 0.5) if biased and s.chance(0.7) else None
    told = f" Multiply by {gain.name} of the column"
    told += "." if bias is None else f" and add {bias.name} of it."

    def finish(at: tuple[Operand, ...], value: Expr) -> Expr:
        value = gain[at[-1]] * value
        return value if bias is None else value + bias[at[-1]]

    return finish, told


def _softmax(r: Rows, out: Var) -> Normal:
    """The row's exponentials over their sum, or the logarithm of that."""
    k, s = r.k, r.s
    heat = k.scalar("temperature", r.scalar, 0.5, 2.0) if s.chance(0.4) else None
    peak = k.let("row_max peak", r.first)
    with r.loop(1) as j:
        k.assign(peak, most(peak, r.at(j)))
    total = k.let("denom total", zero(r.scalar))

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
    text = f"of each row of {r.x.name}{over}, stable by subtracting the row's maximum"
    stats = (("row_maxima", peak, "row's maximum"), ("denoms", total, "sum of exponentials"))
    names = "log_softmax log_softmax_rows" if logs else "softmax softmax_rows"
    if logs:
        offset = k.let("log_denom log_total", log(total))
        return Normal(lambda x: shifted(x) - offset, f"Log-softmax {text}", names, stats)
    if keeps:
        return Normal(lambda e: e / total, f"Softmax {text}", names, stats, True)
    return Normal(lambda x: exp(shifted(x)) / total, f"Softmax {text}", names, stats)


def _mean(r: Rows) -> Var:
    mean = r.k.let("mean mu", zero(r.scalar))
    with r.loop() as j:
        r.k.augment(mean, "add", r.at(j))
    r.k.augment(mean, "div", cast(r.width, r.scalar))
    return mean


def _eps(r: Rows) -> Expr:
    if r.s.chance(0.5):
        return r.k.scalar("eps", r.scalar, 0.001, 0.01)
    return r.k.lift(r.k.draw.value.choice((1.0e-5, 1.0e-6)), r.scalar)


def _variance(r: Rows, mean: Var) -> Expr:
    k = r.k
    spread = k.let("sq_dev var_sum", zero(r.scalar))
    with r.loop() as p:
        centered = k.let("centered diff", r.at(p) - mean)
        k.augment(spread, "add", centered * centered)
    return spread / cast(r.width, r.scalar)


def _layer_norm(r: Rows, out: Var) -> Normal:
    """The row less its mean, over the root of its variance."""
    k, eps, mean = r.k, _eps(r), _mean(r)
    scale = k.let("rstd inv_std", 1.0 / sqrt(_variance(r, mean) + eps))
    text = f"Layer norm of each row of {r.x.name}: (x - mean) / sqrt(variance + {written(eps)})"
    what = f"reciprocal of sqrt(variance + {written(eps)})"
    stats = (("mean_out means", mean, "row's mean"), ("rstd_out rstds", scale, what))
    return Normal(lambda x: (x - mean) * scale, text, "layer_norm layer_norm_rows", stats)


def _rms_norm(r: Rows, out: Var) -> Normal:
    """The row over the root of the mean of its squares."""
    k, eps = r.k, _eps(r)
    squares = _squares(r) / cast(r.width, r.scalar)
    scale = k.let("rrms inv_rms", 1.0 / sqrt(squares + eps))
    text = f"RMS norm of each row of {r.x.name}: x / sqrt(mean of squares + {written(eps)})"
    stats = (("rrms_out inv_rms_out", scale, "reciprocal of that root"),)
    return Normal(lambda x: x * scale, text, "rms_norm rms_norm_rows", stats)


def _standardized(r: Rows, out: Var) -> Normal:
    """Z-scores: the row less its mean, over its standard deviation."""
    k, eps, mean = r.k, _eps(r), _mean(r)
    std = k.let("std sigma", sqrt(_variance(r, mean)) + eps)
    text = f"Z-scores of each row of {r.x.name}: (x - mean) / (standard deviation + {written(eps)})"
    stats = (("row_means", mean, "row's mean"), ("row_stds", std, "divisor"))
    return Normal(lambda x: (x - mean) / std, text, "standardize_rows zscore_rows", stats)


def _centered(r: Rows, out: Var) -> Normal:
    mean = _mean(r)
    text = f"Centre each row of {r.x.name} by subtracting its mean"
    stats = (("row_means", mean, "row's mean"),)
    return Normal(lambda x: x - mean, text, "center_rows subtract_row_means", stats)


def _squares(r: Rows) -> Var:
    total = r.k.let("sum_sq squares", zero(r.scalar))
    with r.loop() as j:
        entry = r.k.let("v x_j", r.at(j)) if r.s.chance(0.5) else r.at(j)
        r.k.augment(total, "add", entry * entry)
    return total


def _l2_norm(r: Rows, out: Var) -> Normal:
    eps = _eps(r)
    norm = r.k.let("norm length", sqrt(_squares(r)) + eps)
    text = f"Divide each row of {r.x.name} by its Euclidean norm plus {written(eps)}"
    stats = (("norms row_norms", norm, "divisor"),)
    return Normal(lambda x: x / norm, text, "l2_normalize_rows normalize_rows", stats)


def _l1_norm(r: Rows, out: Var) -> Normal:
    k, largest, eps = r.k, r.s.chance(0.4), _eps(r)
    total = k.let("max_abs peak" if largest else "abs_sum l1", zero(r.scalar))
    with r.loop() as j:
        size = abs(r.at(j))
        if largest:
            k.assign(total, most(total, size))
        else:
            k.augment(total, "add", size)
    norm = k.let("norm divisor", total + eps)
    kind = "largest absolute entry" if largest else "sum of absolute values"
    text = f"Divide each row of {r.x.name} by its {kind} plus {written(eps)}"
    names = "max_abs_scale_rows" if largest else "l1_normalize_rows"
    return Normal(lambda x: x / norm, text, names, (("norms row_norms", norm, "divisor"),))


def _min_max(r: Rows, out: Var) -> Normal:
    k, eps = r.k, _eps(r)
    low, high = k.let("lowest row_min", r.first), k.let("highest row_max", r.first)
    with r.loop(1) as j:
        k.assign(low, least(low, r.at(j)))
        k.assign(high, most(high, r.at(j)))
    span = k.let("span extent", high - low + eps)
    text = f"Min-max scaling of each row of {r.x.name}: (x - min) / (max - min + {written(eps)})"
    stats = (("row_minima", low, "row's minimum"), ("row_spans", span, "divisor"))
    return Normal(lambda x: (x - low) / span, text, "min_max_rows min_max_scale", stats)


_NORMALS = {
    "softmax": _softmax,
    "layer_norm": _layer_norm,
    "rms_norm": _rms_norm,
    "standardized": _standardized,
    "centered": _centered,
    "l2_norm": _l2_norm,
    "l1_norm": _l1_norm,
    "min_max": _min_max,
}
