"""Products of two small matrices a thread, and scalars that sum a matrix up."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.dtypes import Mat
from generators.expr import Expr
from generators.pieces import (
    constant,
    extra_output,
    fine,
    shown,
    thread,
    times_identity,
    tuned,
)
from generators.registry import Title


def square(k: KernelBuilder) -> Mat:
    """A square matrix type of two to four rows."""
    size = k.draw.shape.weighted({2: 3, 3: 4, 4: 1})
    return Mat(size, size, k.draw.wide_float_type())


_PRODUCTS = {
    "a * b": lambda a, b: a * b,
    "transpose(a) * b": lambda a, b: fn("transpose", a) * b,
    "a * transpose(b)": lambda a, b: a * fn("transpose", b),
    "(a * b - b * a)": lambda a, b: a * b - b * a,
    "(a * b + b * a)": lambda a, b: a * b + b * a,
    "(a + b) * transpose(a)": lambda a, b: (a + b) * fn("transpose", a),
    "cw_mul(a, b)": lambda a, b: fn("cw_mul", a, b),
    "(a + transpose(a)) * b": lambda a, b: (a + fn("transpose", a)) * b,
}
SUMMARIES = {
    "trace": (("traces", "tr_out"), lambda m: fn("trace", m)),
    "determinant": (("dets", "determinants"), lambda m: fn("determinant", m)),
    "Frobenius norm squared": (("norms_sq", "energies"), lambda m: fn("ddot", m, m)),
    "corner difference": (
        ("skewness", "gaps"),
        lambda m: m[0, 1] - m[1, 0],
    ),
}


def _combined(k: KernelBuilder, form: str, a: Expr, b: Expr) -> tuple[Expr, str]:
    """A product with a factor, with a share of a factor, or shifted by a multiple of identity."""
    assert isinstance(a.type, Mat)
    product = _PRODUCTS[form](a, b)
    how = k.draw.shape.choice(("scaled", "plus a", "minus b", "shifted", "axpby"))
    c = fine(k, 0.2, 0.98)
    if how == "scaled":
        return c * product, f"{c} * {form}"
    if how == "plus a":
        return product + c * a, f"{form} + {c} * a"
    if how == "minus b":
        return product - c * b, f"{form} - {c} * b"
    if how == "shifted":
        return product - times_identity(a.type, c), f"{form} - {c} * identity"
    rest = fine(k, 0.2, 0.98)
    return c * product + rest * a, f"{c} * {form} + {rest} * a"


def small_product(k: KernelBuilder, level: int) -> Title:
    """A product of two small matrices a thread, its powers, and scalar summaries of it."""
    shape = k.draw.shape
    mat = square(k)
    n = k.size("n", 48, 80)
    left = k.array(("a", "lhs", "left"), mat, n, low=-1.0, high=1.0)
    right = k.array(("b", "rhs", "right"), mat, n, low=-1.0, high=1.0)
    out = k.out(("products", "out", "c"), mat, n)
    i = thread(k, n, "i", "tid", "e")
    a, b = k.let(("ai", "m0"), left[i]), k.let(("bi", "m1"), right[i])
    value, form = _combined(k, shape.choice(sorted(_PRODUCTS)), a, b)
    c = k.let(("prod", "ci", "m"), value)
    done = f"For matrices a = {left.name}[i] and b = {right.name}[i], compute c = {form}"
    if level >= 2:
        beta = tuned(k, ("beta", "shift", "mu"), mat.scalar, 0.2, 1.2)
        turned = shape.chance(0.3)
        k.augment(c, "add", beta * (fn("transpose", b) if turned else b))
        done += f", plus {shown(beta)} * {'transpose(b)' if turned else 'b'}"
    if level >= 3 and shape.chance(0.7):
        turned = shape.chance(0.5)
        with k.if_(fn("trace", c) < 0.0):
            k.assign(c, 0.5 * fn("transpose", c) if turned else -c)
        done += f"; {'transpose and halve' if turned else 'negate'} c where its trace is negative"
    if level >= 4:
        rounds, keep = k.draw.value.integer(2, 3), constant(k, 0.3, 0.6)
        with k.for_(("r", "step", "power"), rounds):
            k.assign(c, keep * (c * b) + a)
        done += f"; then {rounds} times replace c by {keep} * c * b + a"
    k.store(out, i, c)
    done += "."
    chosen = shape.sample(sorted(SUMMARIES), 0 if level < 2 else 1 if level < 5 else 2)
    for what in chosen:
        names, summary = SUMMARIES[what]
        text = "c[0, 1] - c[1, 0]" if what == "corner difference" else f"the {what} of c"
        stages = level - len(chosen)
        done += extra_output(k, stages, names, (n, i), summary(c), text)
    return Title(k.name("multiply_pairs", "matrix_products", "small_matmul"), done)
