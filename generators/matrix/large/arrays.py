"""Products of arrays of scalars, an output element a thread: scaled, biased, activated."""

from __future__ import annotations

from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.kit.pieces import zero
from generators.matrix.large.core import cells
from generators.matrix.large.finish import finish

_LAYOUTS = {
    "a * b": ("i", "k", "k", "j"),
    "a * transpose(b)": ("i", "k", "j", "k"),
    "transpose(a) * b": ("k", "i", "k", "j"),
    "transpose(a) * transpose(b)": ("k", "i", "j", "k"),
}


@idiom
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
    a = k.array("a lhs weights", scalar, a_shape, low=-1.0, high=1.0)
    b = k.array("b rhs x", scalar, b_shape[:1] if vector else b_shape, low=-1.0, high=1.0)
    weights = None
    if shape.chance(0.35):
        weights = k.array("spectrum diagonal w", scalar, inner, low=0.3, high=1.5)
    depth = k.trip_count("depth inner k_size", inner)
    dims = (m,) if vector else (m, n)
    c = cells(k, scalar, dims, *((("i",), ("row",)) if vector else (("i", "j"), ("row", "col"))))
    row, col = c.at[0], c.at[-1]
    total = k.let("total acc s", zero(scalar))
    with k.for_("kk p t", depth) as p:
        by = {"i": row, "j": col, "k": p}
        left = a[by[axes[0]], by[axes[1]]]
        right = b[p] if vector else b[by[axes[2]], by[axes[3]]]
        term = left * right if weights is None else weights[p] * left * right
        k.augment(total, "add", term)
    c.channel = len(dims) - 1
    first = f"the transpose of {a.name}" if axes[0] == "k" else a.name
    second = f"the transpose of {b.name}" if axes[2] == "j" else b.name
    c.say(f"Multiply {first} by {'the vector ' if vector else ''}{second}.")
    if weights is not None:
        c.say(f"Each product of index {p.name} is weighted by {weights.name}[{p.name}].")
    finish(c, level, total, "c out result")
    titles = ("matvec", "dense_vector") if vector else ("matmul", "dense_layer", "gemm_like")
    return Title(k.name(*titles), c.text)
