"""Products of arrays of scalars, an output element a thread: scaled, biased, activated."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from generators._matrix_activations import activated
from generators.build import KernelBuilder, fn
from generators.dtypes import Scalar
from generators.expr import Expr, Var
from generators.pieces import fine, shown, stored, tuned, zero
from generators.registry import Title
from generators.stages import refine

_VALUES = ("value", "v", "y")

_LAYOUTS = {
    "a * b": ("i", "k", "k", "j"),
    "a * transpose(b)": ("i", "k", "j", "k"),
    "transpose(a) * b": ("k", "i", "k", "j"),
    "transpose(a) * transpose(b)": ("k", "i", "j", "k"),
}


Pair = Callable[[Expr, Expr], Expr]


def _pair(k: KernelBuilder, level: int) -> tuple[Pair, str]:
    """What is summed for an entry p of a and q of b: mostly their product."""
    forms = {"product": 6, "shifted": 2, "centered": 2}
    if level == 1:
        forms |= {"square": 1, "gap": 1}
    form = k.draw.shape.weighted(forms)
    c = fine(k, 0.1, 0.9)
    if form == "product":
        return lambda p, q: p * q, "p * q"
    if form == "shifted":
        return lambda p, q: (p - c) * q, f"(p - {c}) * q"
    if form == "centered":
        return lambda p, q: p * (q + c), f"p * (q + {c})"
    if form == "square":
        return lambda p, q: (p - q) * (p - q), "(p - q)^2"
    return lambda p, q: fn("abs", p - q), "|p - q|"


def _ending(
    k: KernelBuilder, level: int, total: Var, out_shape: Sequence[str], at: tuple[Var, ...]
) -> str:
    """One step after the sum, with a constant: a factor, a blend with c, an offset, a limit."""
    forms = ("scale", "blend", "offset", *(("limit", "threshold") if level == 1 else ()))
    form = k.draw.shape.choice(forms)
    scalar = total.type
    assert isinstance(scalar, Scalar)
    if form == "scale":
        factor, offset = fine(k, 0.2, 0.98), fine(k, 0.1, 0.9)
        k.assign(total, factor * total - offset)
        return f" The sum s becomes {factor} * s - {offset}."
    if form == "blend":
        before = k.array(("c0", "prior", "skip"), scalar, out_shape, low=-1.0, high=1.0)
        factor, beta = fine(k, 0.2, 0.98), tuned(k, ("beta", "decay"), scalar, 0.3, 0.95)
        k.assign(total, factor * total + beta * before[at])
        return f" The sum s becomes {factor} * s + {shown(beta)} * {before.name}."
    if form == "offset":
        alpha, offset = k.scalar(("alpha", "scale"), scalar, 0.5, 1.5), fine(k, 0.1, 0.9)
        k.assign(total, alpha * total + offset)
        return f" The sum s becomes {alpha.name} * s + {offset}."
    if form == "limit":
        limit, factor = fine(k, 0.2, 0.7), fine(k, 0.3, 0.98)
        k.assign(total, fn("clamp", factor * total, -limit, limit))
        return f" The sum s becomes {factor} * s, clamped to [-{limit}, {limit}]."
    edge = fine(k, 0.1, 0.7)
    k.assign(total, fn("max", total - edge, 0.0))
    return f" The sum s becomes max(s - {edge}, 0)."


def array_product(k: KernelBuilder, level: int) -> Title:
    """Matrix times matrix or vector, an element a thread, with scale, bias and activation."""
    shape = k.draw.shape
    scalar = k.draw.float_type()
    vector = shape.chance(0.35)
    m, inner = k.size("m", 48, 80) if vector else k.size("m", 7, 10), k.size("k", 4, 8)
    n = "" if vector else k.size("n", 7, 10)
    layout = shape.choice(("a * b", "transpose(a) * b") if vector else sorted(_LAYOUTS)[:3])
    symbols = {"i": m, "j": n, "k": inner}
    axes = _LAYOUTS[layout]
    a_shape, b_shape = [symbols[x] for x in axes[:2]], [symbols[x] for x in axes[2:]]
    a = k.array(("a", "lhs", "weights"), scalar, a_shape, low=-1.0, high=1.0)
    b = k.array(("b", "rhs", "x"), scalar, b_shape[:1] if vector else b_shape, low=-1.0, high=1.0)
    out_shape = (m,) if vector else (m, n)
    out = k.out(("c", "out", "result"), scalar, out_shape)
    depth = k.trip_count(("depth", "inner", "k_size"), inner)
    names = k.draw.word.choice((("i", "j"), ("row", "col")))
    at = k.thread(m) if vector else k.thread(m, n, names=names)
    total = k.let(("total", "acc", "s"), zero(scalar))
    pair, text = _pair(k, level)
    with k.for_(("kk", "p", "t"), depth) as p:
        by = {"i": at[0], "j": at[-1], "k": p}
        left = a[by[axes[0]], by[axes[1]]]
        right = b[p] if vector else b[by[axes[2]], by[axes[3]]]
        k.augment(total, "add", pair(left, right))
    done = f"Multiply {layout} for a = {a.name} and {'the vector ' if vector else ''}b = {b.name}"
    done += "." if text == "p * q" else f", but sum {text} instead of each product p * q."
    if level <= 2 or shape.chance(0.5):
        done += _ending(k, level, total, out_shape, at)
    if level >= 3 or (level == 2 and shape.chance(0.5)):
        bias = k.array(("bias", "offsets"), scalar, m if vector else n, low=-0.5, high=0.5)
        k.augment(total, "add", bias[at[-1]])
        done += f" {bias.name} of the {'row' if vector else 'column'} is added."
    if level >= 2:
        done += activated(k, level, total)
    signal = refine(k, total, max(level - 1, 1), _VALUES)
    k.store(out, at, signal.value)
    titles = ("matvec", "dense_vector") if vector else ("matmul", "dense_layer", "gemm_like")
    return Title(k.name(*titles), done + stored(signal))
