"""What small matrices are multiplied: pairs, chains of links, blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, fn
from generators.kit.pieces import helper, zero
from generators.matrix.small.grid import Grid, kept, say
from generators.program.dtypes import INT32, Mat, Scalar
from generators.program.expr import Expr, Var

Product = Callable[[Expr, Expr], Expr]


SQUARE: dict[str, Product] = {
    "a * b - b * a": lambda a, b: a * b - b * a,
    "a * b + b * a": lambda a, b: a * b + b * a,
    "a * b * transpose(a)": lambda a, b: a * b * fn("transpose", a),
    "(a + transpose(a)) * b": lambda a, b: (a + fn("transpose", a)) * b,
    "a * a * b": lambda a, b: a * a * b,
    "cw_mul(a, b) + a * b": lambda a, b: fn("cw_mul", a, b) + a * b,
    "transpose(a * b)": lambda a, b: fn("transpose", a * b),
    "(a - b) * (a + b)": lambda a, b: (a - b) * (a + b),
}


MIXED: dict[str, Product] = {
    "a * b": lambda a, b: a * b,
    "transpose(a) * b": lambda a, b: fn("transpose", a) * b,
    "a * transpose(b)": lambda a, b: a * fn("transpose", b),
}


@dataclass
class Pair:
    """Two matrices, their product, and the text."""

    c: Expr
    text: str


def _shapes(k: KernelBuilder, form: str, scalar: Scalar) -> tuple[Mat, Mat]:
    """Shapes of both factors; rectangular where the form allows it."""
    if form not in MIXED or k.draw.shape.chance(0.5):
        size = k.draw.shape.weighted({2: 3, 3: 4, 4: 1})
        return Mat(size, size, scalar), Mat(size, size, scalar)
    outer, inner, other = (k.draw.shape.choice((2, 3, 4)) for _ in range(3))
    if form.startswith("transpose"):
        return Mat(inner, outer, scalar), Mat(inner, other, scalar)
    if form.endswith(")"):
        return Mat(outer, inner, scalar), Mat(other, inner, scalar)
    return Mat(outer, inner, scalar), Mat(inner, other, scalar)


def one_pair(k: KernelBuilder, g: Grid, level: int, scalar: Scalar) -> Pair:
    forms = {**MIXED, **SQUARE}
    form = k.draw.shape.choice(sorted(forms))
    left, right = _shapes(k, form, scalar)
    first = g.array(("a", "lhs", "left"), left, -1.0, 1.0)
    a = k.let(("ai", "m0"), first[g.index])
    second = g.supply(("b", "rhs", "right"), ("b", "rhs", "rights"), right, -1.0, 1.0)
    b: Expr = second if isinstance(second, Var) else kept(k, ("bi", "m1"), second, 1.0)
    text = f"c = {form} with a = {first.name} and b = {say(second)}"
    if level >= 3 and k.draw.shape.chance(0.4):
        made = helper(
            k,
            ("combine", "product_of"),
            (("a", left), ("b", right)),
            lambda _, x, y: forms[form](x, y),
        )
        return Pair(k.let(("prod", "c", "m"), k.call(made, a, b)), text)
    return Pair(k.let(("prod", "c", "m"), forms[form](a, b)), text)


def link_chain(k: KernelBuilder, g: Grid, level: int, scalar: Scalar) -> Pair:
    """Links of an arm: from the root, every joint's matrix on the right, or on the left."""
    size = k.draw.shape.weighted({2: 1, 3: 3, 4: 1})
    mat = Mat(size, size, scalar)
    k.size("m", 3, 5)
    count = k.trip_count(("num_links", "link_count"), "m")
    links = k.array(("links", "joints", "local_mats"), mat, (*g.dims, "m"), low=-0.8, high=0.8)
    start = g.array(("roots", "bases"), mat, -1.0, 1.0)
    total = k.let(("world", "prod", "chain"), start[g.index])
    left = k.draw.shape.chance(0.4)
    out = None
    if k.draw.shape.chance(0.5):
        out = k.out(("link_world", "partial"), mat, (*g.dims, "m"))
    with k.for_(("link", "q"), count) as q:
        k.assign(total, links[g.at(q)] * total if left else total * links[g.at(q)])
        if out is not None:
            k.store(out, g.at(q), total)
    form = f"c = {links.name} * c" if left else f"c = c * {links.name}"
    also = "" if out is None else f" (each stored in {out.name})"
    return Pair(total, f"from c = {start.name}, one after the other {form}{also}")


def block_row(k: KernelBuilder, g: Grid, level: int, scalar: Scalar) -> Pair:
    """A block of a product of block matrices, or of a row of sparse blocks."""
    size = k.draw.shape.choice((2, 3))
    mat = Mat(size, size, scalar)
    k.size("m", 3, 5)
    count = k.trip_count(("inner", "num_blocks"), "m")
    total = k.let(("acc", "block", "c"), zero(mat))
    first = k.array(("a", "lhs_blocks"), mat, (g.dims[0], "m"), low=-1.0, high=1.0)
    sparse = k.draw.shape.chance(0.5)
    last = g.index[-1]
    if sparse:
        k.size("p", 6, 9)
        cols = k.array(("columns", "col_ids"), INT32, (g.dims[0], "m"), init="index_of:p")
        dense = k.array(("b", "rhs_blocks"), mat, ("p", g.dims[-1]), low=-1.0, high=1.0)
        with k.for_(("nz", "slot"), count) as nz:
            col = k.let(("col", "c_id"), cols[g.index[0], nz])
            k.augment(total, "add", first[g.index[0], nz] * dense[col, last])
        at = g.index[0].name
        text = f"c = the sum over s of {first.name}[{at}, s] * {dense.name}[j, {last.name}]"
        return Pair(total, f"{text}, j = {cols.name}[{at}, s]")
    second = k.array(("b", "rhs_blocks"), mat, ("m", g.dims[-1]), low=-1.0, high=1.0)
    turned = k.draw.shape.chance(0.4)
    with k.for_(("s", "inner_id"), count) as s:
        right = second[s, last]
        k.augment(
            total, "add", first[g.index[0], s] * (fn("transpose", right) if turned else right)
        )
    name = (
        f"transpose({second.name}[s, {last.name}])" if turned else f"{second.name}[s, {last.name}]"
    )
    return Pair(total, f"c = the sum over s of {first.name}[{g.index[0].name}, s] * {name}")
