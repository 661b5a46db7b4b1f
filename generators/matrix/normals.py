"""Rows of an array put on a common scale: softmax, layer norm, other norms."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import zero
from generators.matrix.rows import Rows
from generators.program.dtypes import INT32
from generators.program.expr import Expr, Var


class Normal(NamedTuple):
    """The common scale: what becomes of an entry, the text, and the statistics of the row."""

    of: Callable[[Expr], Expr]
    text: str
    stats: tuple[tuple[str, Expr, str], ...]
    held: Var | None = None
    """An output that holds a first result of each entry, if any."""


@idiom
def row_normalize(k: KernelBuilder, level: int) -> Title:
    """Softmax, layer norm, or division by a norm: passes over a row by one thread."""
    shape = k.draw.shape
    form = shape.choice(sorted(_NORMALS))
    r = Rows(k, "x logits scores inputs", 2.0)
    out = k.out("out normalized y", r.scalar, r.dims)
    name = r.loop()
    normal = _NORMALS[form](r, name, out)
    done = normal.text
    finish, told = _affine(r, level)
    done += f"{told} {out.name} gets it."
    k.used.discard(name)
    with k.for_((name,), r.width) as c:
        at = (*r.site.at, c)
        value = normal.of(out[at] if normal.held is not None else r.at(c))
        k.store(out, at, finish(at, value))
    if level >= 3:
        for names, stat, what in shape.sample(normal.stats, 1 if level < 5 else len(normal.stats)):
            saved = k.out(names.split(), r.scalar, r.site.dims)
            k.store(saved, r.site.at, stat)
            done += f" {saved.name} gets the {what}."
    return Title(k.name(f"{form}_rows row_{form} normalize_rows"), done)


Finish = Callable[[tuple[Expr, ...], Expr], Expr]


def _affine(r: Rows, level: int) -> tuple[Finish, str]:
    """A gain and a bias of each column or a gain for all, a residual; and what they do."""
    k, shape = r.k, r.k.draw.shape
    gain = bias = skip = None
    told = ""
    how = shape.choice(
        ("none", "scalar", "column") if level == 1 else ("scalar", "column", "column")
    )
    if how == "scalar":
        gain = k.scalar("gain alpha", r.scalar, 0.5, 1.5)
        told += f" Multiply by {gain.name}."
    if how == "column":
        gain = r.column("gains gamma", 0.5, 1.5)
        told += f" Multiply by {gain.name} of the column."
    if shape.chance(0.3 if level == 1 else 0.5):
        bias = r.column("bias beta", -0.5, 0.5)
        told += f" Add {bias.name} of the column."
    if level >= 2 and shape.chance(0.4):
        skip = k.array("residual skip", r.scalar, r.dims, low=-1.0, high=1.0)
        told += f" Add {skip.name}."

    def finish(at: tuple[Expr, ...], value: Expr) -> Expr:
        if gain is not None:
            value = (gain if how == "scalar" else gain[at[-1]]) * value
        if bias is not None:
            value = value + bias[at[-1]]
        return value if skip is None else skip[at] + value

    return finish, told


def _again(r: Rows, name: str) -> tuple[str]:
    """The loop's name for one more pass."""
    r.k.used.discard(name)
    return (name,)


def _softmax(r: Rows, name: str, out: Var) -> Normal:
    k, shape = r.k, r.k.draw.shape
    heat = k.scalar("temperature tau", r.scalar, 0.5, 2.0) if shape.chance(0.5) else None
    peak = k.let("peak row_max top", r.at(k.lift(0, INT32)))
    with k.for_(_again(r, name), r.width, start=1) as j:
        k.assign(peak, fn("max", peak, r.at(j)))
    total = k.let("total denom mass", zero(r.scalar))

    def term(x: Expr) -> Expr:
        return fn("exp", x - peak if heat is None else (x - peak) / heat)

    log, keeps = shape.chance(0.35), shape.chance(0.5)
    with k.for_(_again(r, name), r.width) as p:
        if log or not keeps:
            k.augment(total, "add", term(r.at(p)))
        else:
            e = k.let("e numer", term(r.at(p)))
            k.store(out, (*r.site.at, p), e)
            k.augment(total, "add", e)
    over = f" / {heat.name}" if heat is not None else ""
    text = f"of each row of {r.x.name}{over}, stable by subtracting the row's maximum."
    stats = (("row_maxima peaks", peak, "row's maximum"), ("denoms sums", total, "sum of exp"))
    if log:
        offset = k.let("log_total lse", fn("log", total))
        shifted = (lambda x: x - peak) if heat is None else (lambda x: (x - peak) / heat)
        return Normal(lambda x: shifted(x) - offset, f"Log-softmax {text}", stats)
    if keeps:
        return Normal(lambda e: e / total, f"Softmax {text}", stats, out)
    return Normal(lambda x: term(x) / total, f"Softmax {text}", stats)


def _mean(r: Rows, name: str) -> Var:
    k = r.k
    mean = k.let("mean mu", zero(r.scalar))
    with k.for_(_again(r, name), r.width) as j:
        k.augment(mean, "add", r.at(j))
    k.augment(mean, "div", cast(r.width, r.scalar))
    return mean


def _eps(k: KernelBuilder) -> float:
    return k.draw.value.choice((1.0e-5, 1.0e-3, 1.0e-2, 1.0e-4))


def _layer_norm(r: Rows, name: str, out: Var) -> Normal:
    k, eps = r.k, _eps(r.k)
    mean = _mean(r, name)
    spread = k.let("variance var", zero(r.scalar))
    with k.for_(_again(r, name), r.width) as p:
        centered = k.let("centered diff", r.at(p) - mean)
        k.augment(spread, "add", centered * centered)
    inverse = k.draw.shape.chance(0.5)
    root = fn("sqrt", spread / cast(r.width, r.scalar) + eps)
    scale = k.let("rstd inv_std" if inverse else "std sigma", 1.0 / root if inverse else root)
    text = f"Layer norm of each row of {r.x.name}: (x - mean) / sqrt(variance + {eps})."
    what = "reciprocal of that root" if inverse else "root"
    names = "rstd_out rstds" if inverse else "std_out row_stds"
    stats = (("mean_out row_means", mean, "row's mean"), (names, scale, what))
    return Normal(lambda x: (x - mean) * scale if inverse else (x - mean) / scale, text, stats)


def _centered(r: Rows, name: str, out: Var) -> Normal:
    mean = _mean(r, name)
    text = f"Subtract from each row of {r.x.name} its mean."
    return Normal(lambda x: x - mean, text, (("mean_out row_means", mean, "row's mean"),))


def _l2_norm(r: Rows, name: str, out: Var) -> Normal:
    k, eps, mean = r.k, _eps(r.k), r.k.draw.shape.chance(0.5)
    total = k.let("total sum_sq ss", zero(r.scalar))
    with k.for_(_again(r, name), r.width) as j:
        entry = k.let("v xj", r.at(j)) if k.draw.shape.chance(0.5) else r.at(j)
        k.augment(total, "add", entry * entry)
    square = total / cast(r.width, r.scalar) if mean else total
    norm = k.let("norm scale", fn("sqrt", square + eps))
    text = f"Divide each row of {r.x.name} by sqrt({'mean' if mean else 'sum'} of squares + {eps})."
    return Normal(lambda x: x / norm, text, (("norms row_scales", norm, "row's divisor"),))


def _l1_norm(r: Rows, name: str, out: Var) -> Normal:
    k, largest, eps = r.k, r.k.draw.shape.chance(0.4), _eps(r.k)
    names = ("peak", "max_abs") if largest else ("total", "sum_abs")
    total = k.let(names, zero(r.scalar))
    with k.for_(_again(r, name), r.width) as j:
        size = fn("abs", r.at(j))
        if largest:
            k.assign(total, fn("max", total, size))
        else:
            k.augment(total, "add", size)
    norm = k.let("norm scale", total + eps)
    text = (
        f"Divide each row of {r.x.name} by {eps} plus the {'largest' if largest else 'sum of'} |x|."
    )
    return Normal(lambda x: x / norm, text, (("norms row_scales", norm, "row's divisor"),))


def _min_max(r: Rows, name: str, out: Var) -> Normal:
    k, eps, j0 = r.k, _eps(r.k), r.k.lift(0, INT32)
    low, high = k.let("low lowest", r.at(j0)), k.let("high highest", r.at(j0))
    with k.for_(_again(r, name), r.width, start=1) as j:
        k.assign(low, fn("min", low, r.at(j)))
        k.assign(high, fn("max", high, r.at(j)))
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
