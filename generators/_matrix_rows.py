"""Rows of a two-dimensional array, one a thread: reductions, softmax, layer norm."""

from __future__ import annotations

from collections.abc import Callable

from generators._vector_parts import constant, extra_output, stored, thread, zero
from generators.build import KernelBuilder, cast, fn
from generators.dtypes import INT32, Scalar
from generators.expr import Expr, Var
from generators.registry import Title
from generators.stages import Signal, refine

_VALUES = ("value", "v", "y")


def _grid(k: KernelBuilder) -> tuple[str, str]:
    return k.size("rows", 48, 64), k.size("cols", 4, 7)


def row_reduce(k: KernelBuilder, level: int) -> Title:
    """One number a row: a sum, a norm, an extreme, a log of summed exponentials."""
    shape = k.draw.shape
    scalar = k.draw.wide_float_type()
    rows, cols = _grid(k)
    x = k.array(("x", "table", "samples", "logits"), scalar, (rows, cols), low=-1.5, high=1.5)
    form = shape.choice(("sum", "squares", "magnitudes", "extreme", "logsumexp"))
    out = k.out(("out", "row_stats", "reduced"), scalar, rows)
    width = k.size_param(("width", "cols", "row_length"), cols)
    row = thread(k, rows, "row", "i", "r")
    weights = None
    if level >= 2 and form != "extreme" and shape.chance(0.6):
        weights = k.array(("weights", "mask_weights", "w"), scalar, cols, low=0.2, high=1.0)
    text = {
        "sum": "x",
        "squares": "x^2",
        "magnitudes": "|x|",
        "logsumexp": "exp(x)",
        "extreme": "x",
    }[form]
    skip = level >= 3 and form != "extreme" and shape.chance(0.6)
    biggest = form == "extreme" and shape.chance(0.5)
    if form == "extreme":
        total = k.let(("best", "peak"), x[row, 0])
    else:
        total = k.let(("total", "acc", "s"), zero(scalar))
    place = k.let(("where_best", "best_col"), k.lift(0, INT32)) if form == "extreme" else None
    with k.for_(("j", "c"), width, start=1 if form == "extreme" else 0) as j:
        value = k.let(("value", "v", "xj"), x[row, j])
        if place is not None:
            with k.if_(value > total if biggest else value < total):
                k.assign(total, value)
                k.assign(place, j)
        else:
            if skip:
                floor = constant(k, 0.4, 1.2)
                with k.if_(value < -floor):
                    k.continue_()
                text += f" over the entries not below -{floor}"
            term = _TERMS[form](value)
            k.augment(total, "add", term if weights is None else weights[j] * term)
    if place is None:
        done = f"For each row of {x.name}, sum {text}"
        done += f", weighted by {weights.name} of the column." if weights is not None else "."
    else:
        k.store(k.out(("positions", "argbest"), INT32, rows), row, place)
        side = "largest" if biggest else "smallest"
        done = f"For each row of {x.name}, find the {side} entry and its column (the first one)."
    if form in ("squares", "magnitudes"):
        k.augment(total, "div", cast(width, scalar))
        done += " Divide by the row's length."
    elif form == "logsumexp":
        k.assign(total, fn("log", total + 0.1))
        done += " Take the logarithm of the sum plus 0.1."
    if level >= 2:
        low, high = _LEVELS[form]
        base = k.array(("baseline", "targets", "reference"), scalar, rows, low=low, high=high)
        k.augment(total, "sub", base[row])
        done += f" {base.name} of the row is subtracted."
    signal = refine(k, total, level, _VALUES, scale=_SCALES[form])
    k.store(out, row, signal.value)
    names = (f"row_{form}", "reduce_rows", f"{form}_per_row")
    return Title(k.name(*names), done + stored(signal))


_LEVELS = {
    "sum": (-1.0, 1.0),
    "squares": (0.0, 1.0),
    "magnitudes": (0.0, 1.0),
    "extreme": (-1.5, 1.5),
    "logsumexp": (1.0, 3.0),
}
_SCALES = {"sum": 2.0, "squares": 0.5, "magnitudes": 0.4, "extreme": 1.5, "logsumexp": 0.8}
_TERMS: dict[str, Callable[[Expr], Expr]] = {
    "sum": lambda v: v,
    "squares": lambda v: v * v,
    "magnitudes": lambda v: fn("abs", v),
    "logsumexp": lambda v: fn("exp", v),
}


def row_normalize(k: KernelBuilder, level: int) -> Title:
    """Softmax, layer norm, or division by a norm: passes over a row by one thread."""
    shape = k.draw.shape
    scalar = k.draw.wide_float_type()
    rows, cols = _grid(k)
    form = shape.choice(("softmax", "layer_norm", "l2_norm", "min_max"))
    x = k.array(("x", "logits", "scores", "inputs"), scalar, (rows, cols), low=-2.0, high=2.0)
    out = k.out(("out", "normalized", "y"), scalar, (rows, cols))
    width = k.size_param(("width", "cols", "row_length"), cols)
    row = thread(k, rows, "row", "i", "r")
    normal, done, total = _NORMALS[form](k, x, row, width)
    gain = bias = None
    if level >= 2:
        gain = k.array(("gain", "gamma"), scalar, cols, low=0.5, high=1.5)
        done += f" Multiply by {gain.name} of the column"
    if level >= 2 and shape.chance(0.5):
        bias = k.array(("bias", "shift"), scalar, cols, low=-0.5, high=0.5)
        done += f", add {bias.name} of the column"
    done += "." if gain is not None else ""
    signal = Signal(total, 1.0)
    with k.for_(("c", "col", "q", "out_col"), width) as c:
        value: Expr = normal(c)
        if gain is not None:
            value = gain[c] * value
        if bias is not None:
            value = value + bias[c]
        if level >= 3:
            signal = refine(k, value, level - 1, _VALUES, scale=0.6)
            value = signal.value
        k.store(out, (row, c), value)
    done += stored(signal)
    if level >= 4:
        names = ("row_scales", "totals", "spreads")
        done += extra_output(k, level - 2, names, (rows, row), total, "the row's divisor")
    return Title(k.name(f"{form}_rows", f"row_{form}", "normalize_rows"), done)


Normal = tuple[Callable[[Var], Expr], str, Var]


def _softmax(k: KernelBuilder, x: Var, row: Var, width: Var) -> Normal:
    heat = constant(k, 0.5, 2.0) if k.draw.shape.chance(0.5) else 0.0
    peak = k.let(("peak", "row_max", "top"), x[row, 0])
    with k.for_(("j", "k", "c"), width, start=1) as j:
        k.assign(peak, fn("max", peak, x[row, j]))
    total = k.let(("total", "denom", "z"), zero(peak.type))

    def term(c: Var) -> Expr:
        return fn("exp", heat * (x[row, c] - peak) if heat else x[row, c] - peak)

    with k.for_(("p", "q", "col"), width) as p:
        k.augment(total, "add", term(p))
    times = f" {heat} times" if heat else ""
    text = f"Softmax of{times} each row of {x.name}, stable by subtracting the row's maximum."
    return lambda c: term(c) / total, text, total


def _layer_norm(k: KernelBuilder, x: Var, row: Var, width: Var) -> Normal:
    eps = k.draw.value.choice((0.01, 0.1, 0.001))
    mean = k.let(("mean", "mu"), zero(x[row, 0].type))
    scalar = mean.type
    assert isinstance(scalar, Scalar)
    with k.for_(("j", "k", "c"), width) as j:
        k.augment(mean, "add", x[row, j])
    count = k.let(("count", "n_cols"), cast(width, scalar))
    k.augment(mean, "div", count)
    spread = k.let(("variance", "var"), zero(scalar))
    with k.for_(("p", "q", "col"), width) as p:
        centered = k.let(("centered", "diff"), x[row, p] - mean)
        k.augment(spread, "add", centered * centered)
    scale = k.let(("std", "sigma"), fn("sqrt", spread / count + eps))
    text = f"Layer norm of each row of {x.name}: (x - mean) / sqrt(variance + {eps})."
    return lambda c: (x[row, c] - mean) / scale, text, scale


def _l2_norm(k: KernelBuilder, x: Var, row: Var, width: Var) -> Normal:
    eps = k.draw.value.choice((0.01, 0.1, 0.05))
    total = k.let(("total", "sum_sq", "ss"), zero(x[row, 0].type))
    with k.for_(("j", "k", "c"), width) as j:
        k.augment(total, "add", x[row, j] * x[row, j])
    norm = k.let(("norm", "scale"), fn("sqrt", total + eps))
    text = f"Divide each row of {x.name} by sqrt(sum of squares + {eps})."
    return lambda c: x[row, c] / norm, text, norm


def _min_max(k: KernelBuilder, x: Var, row: Var, width: Var) -> Normal:
    eps = k.draw.value.choice((0.1, 0.2, 0.5))
    low, high = k.let(("low", "lowest"), x[row, 0]), k.let(("high", "highest"), x[row, 0])
    with k.for_(("j", "k", "c"), width, start=1) as j:
        k.assign(low, fn("min", low, x[row, j]))
        k.assign(high, fn("max", high, x[row, j]))
    span = k.let(("span", "extent"), high - low + eps)
    text = f"Map each row of {x.name} by (x - min) / (max - min + {eps}) of its row."
    return lambda c: (x[row, c] - low) / span, text, span


_NORMALS = {
    "softmax": _softmax,
    "layer_norm": _layer_norm,
    "l2_norm": _l2_norm,
    "min_max": _min_max,
}
