"""Rows of a two-dimensional array put on a common scale: softmax, layer norm, other norms."""

from __future__ import annotations

from collections.abc import Callable

from generators._matrix_rows import VALUES, grid
from generators.build import KernelBuilder, cast, fn
from generators.dtypes import Scalar
from generators.expr import Expr, Var
from generators.pieces import constant, extra_output, stored, thread, zero
from generators.registry import Title
from generators.stages import Signal, refine


def row_normalize(k: KernelBuilder, level: int) -> Title:
    """Softmax, layer norm, or division by a norm: passes over a row by one thread."""
    shape = k.draw.shape
    scalar = k.draw.wide_float_type()
    rows, cols = grid(k)
    form = shape.choice(sorted(_NORMALS))
    x = k.array(("x", "logits", "scores", "inputs"), scalar, (rows, cols), low=-2.0, high=2.0)
    out = k.out(("out", "normalized", "y"), scalar, (rows, cols))
    width = k.trip_count(("width", "cols", "row_length"), cols)
    row = thread(k, rows, "row", "i", "r")
    normal, done, total = _NORMALS[form](k, x, row, width)
    finish, finish_text = _finish(k, level, form)
    done += finish_text
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
        value = finish(normal(c), x[row, c])
        if gain is not None:
            value = gain[c] * value
        if bias is not None:
            value = value + bias[c]
        if level >= 3:
            signal = refine(k, value, level - 1, VALUES, scale=0.6)
            value = signal.value
        k.store(out, (row, c), value)
    done += stored(signal)
    if level >= 4:
        names = ("row_scales", "totals", "spreads")
        done += extra_output(k, level - 2, names, (rows, row), total, "the row's divisor")
    return Title(k.name(f"{form}_rows", f"row_{form}", "normalize_rows"), done)


Finish = Callable[[Expr, Expr], Expr]


def _finish(k: KernelBuilder, level: int, normal: str) -> tuple[Finish, str]:
    """A last step with constants: a factor, a line, or a share of the entry itself."""
    form = k.draw.shape.choice(("factor", "line", "residual", "blend"))
    bare = normal in ("softmax", "layer_norm") and level == 2
    if level >= 2 and not bare and k.draw.shape.chance(0.5):
        return lambda y, _: y, ""
    gain, shift = constant(k, 0.3, 0.98), constant(k, 0.1, 0.9)
    if form == "factor":
        return lambda y, _: gain * y, f" Multiply by {gain}."
    if form == "line":
        return lambda y, _: gain * y + shift, f" Multiply by {gain} and add {shift}."
    if form == "residual":
        return lambda y, x: x + gain * y, f" Multiply by {gain} and add the entry itself."
    text = f" Move that by {shift} of the way to the entry itself."
    return lambda y, x: fn("lerp", y, x, shift), text


Normal = tuple[Callable[[Var], Expr], str, Var]


def _softmax(k: KernelBuilder, x: Var, row: Var, width: Expr) -> Normal:
    heat = constant(k, 0.4, 1.8) if k.draw.shape.chance(0.7) else 0.0
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


def _layer_norm(k: KernelBuilder, x: Var, row: Var, width: Expr) -> Normal:
    eps = k.draw.value.choice((0.01, 0.1, 0.001, 0.05, 0.0001))
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


def _l2_norm(k: KernelBuilder, x: Var, row: Var, width: Expr) -> Normal:
    eps, mean = constant(k, 0.01, 0.5), k.draw.shape.chance(0.4)
    scalar = x[row, 0].type
    assert isinstance(scalar, Scalar)
    total = k.let(("total", "sum_sq", "ss"), zero(scalar))
    with k.for_(("j", "k", "c"), width) as j:
        k.augment(total, "add", x[row, j] * x[row, j])
    square = total / cast(width, scalar) if mean else total
    norm = k.let(("norm", "scale"), fn("sqrt", square + eps))
    text = f"Divide each row of {x.name} by sqrt({'mean' if mean else 'sum'} of squares + {eps})."
    return lambda c: x[row, c] / norm, text, norm


def _l1_norm(k: KernelBuilder, x: Var, row: Var, width: Expr) -> Normal:
    eps, largest = constant(k, 0.05, 0.9), k.draw.shape.chance(0.4)
    total = k.let(("total", "sum_abs", "norm"), k.lift(eps, x[row, 0].type))
    with k.for_(("j", "k", "c"), width) as j:
        size = fn("abs", x[row, j])
        if largest:
            k.assign(total, fn("max", total, size))
        else:
            k.augment(total, "add", size)
    what = f"maximum of {eps} and all |x|" if largest else f"sum of its |x|, plus {eps}"
    return lambda c: x[row, c] / total, f"Divide each row of {x.name} by the {what}.", total


def _min_max(k: KernelBuilder, x: Var, row: Var, width: Expr) -> Normal:
    eps = constant(k, 0.05, 0.5)
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
    "l1_norm": _l1_norm,
    "min_max": _min_max,
}
