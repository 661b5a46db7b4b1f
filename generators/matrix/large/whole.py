"""Matrix products of whole numbers with zero points and scales."""

from __future__ import annotations

from generators.build import KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.matrix.large.core import at, cells
from generators.matrix.large.finish import finish
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, literal

_NAMES = {
    2: (("i", "j"), ("row", "col"), ("r", "q")),
    3: (("b", "i", "j"), ("batch", "row", "col")),
}
_WHOLE = {"int8": (-20, 20), "uint8": (0, 30), "int16": (-30, 30)}


@idiom
def quantised_product(k: KernelBuilder, level: int) -> Title:
    """Whole-number matrix products with zero points and scales, back to floats."""
    shape = k.draw.shape
    lead = (k.size("b", 3, 4),) if shape.chance(0.3) else ()
    m, n, inner = k.size("m", 5, 8), k.size("n", 5, 8), k.size("k", 3, 5)
    first, second = (Scalar(shape.choice(tuple(_WHOLE))) for _ in range(2))
    flipped, shared = shape.chance(0.5), shape.chance(0.6)
    (low, high), (low2, high2) = _WHOLE[first.name], _WHOLE[second.name]
    a = k.array("a_q acts_q x_q", first, (*lead, m, inner), low=low, high=high)
    dims = (n, inner) if flipped else (inner, n)
    own = () if shared else lead
    b = k.array("b_q weights_q w_q", second, (*own, *dims), low=low2, high=high2)
    wide = Scalar(shape.weighted({"int32": 5, "int64": 2}))
    zeros = [z for z in (("a_zero", "x_zero"), ("b_zero", "w_zero")) if shape.chance(0.4)]
    points = {names[0][0]: k.scalar(names, wide, 1, 9) for names in zeros}
    depth = k.trip_count("depth inner", inner)
    scalar = k.draw.wide_float_type()
    c = cells(k, scalar, (*lead, m, n), *_NAMES[2 + len(lead)])
    head, (i, j) = c.at[:-2], c.at[-2:]
    total = k.let("total acc isum", literal(0, wide))
    with k.for_("p kk", depth) as p:
        left: Expr = cast(a[at(*head, i, p)], wide)
        right: Expr = cast(b[at(*(head if own else ()), *((j, p) if flipped else (p, j)))], wide)
        if "a" in points:
            left = left - points["a"]
        if "b" in points:
            right = right - points["b"]
        k.augment(total, "add", left * right)
    named = [v.name for v in points.values()]
    c.say(f"Multiply {a.name} by {'transpose of ' if flipped else ''}{b.name} in {wide},")
    c.say(f"with {' and '.join(named)} subtracted first." if named else "as they are.")
    if level >= 2 and shape.chance(0.5):
        bias = k.array("bias_q offset_q", wide, n, low=-90, high=90)
        k.augment(total, "add", bias[j])
        c.say(f"{bias.name} of the column is added.")
    step, text = c.factor("scale step", "scales steps", 0.002, 0.005)
    value = k.let("value real dequantised", step * cast(total, scalar))
    c.say(f"As a float, it is multiplied by {text}.")
    c.channel = len(c.dims) - 1
    finish(c, max(level - 1, 1), value, "out result real_out")
    return Title(k.name("quantised_product int_gemm dequant_matmul"), c.text)
