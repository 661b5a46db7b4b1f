"""Products of small matrices: pairs, chains of links, block matrices; and their summaries."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.kit.naming import applied
from generators.kit.sources import zero
from generators.matrix.parts import (
    Place,
    mat_of,
    place,
    square_type,
    transpose,
)
from generators.program.dtypes import INT32, Mat, Scalar
from generators.program.expr import Expr, Var

_PRODUCTS: tuple[Callable[[Expr, Expr], Expr], ...] = (
    lambda a, b: a * b,
    lambda a, b: transpose(a) * b,
    lambda a, b: a * transpose(b),
    lambda a, b: a * b - b * a,
    lambda a, b: a * b + b * a,
    lambda a, b: a * b * transpose(a),
    lambda a, b: transpose(a) * b * a,
)
_ABOUT = (
    "Product",
    "Product",
    "Product",
    "Commutator",
    "Anticommutator",
    "Congruence",
    "Congruence",
)
"""The first three are defined for rectangular matrices too."""


def _shapes(g: Place, form: int, scalar: Scalar) -> tuple[Mat, Mat]:
    """Shapes of both factors; rectangular where the form allows it."""
    if form > 2 or g.chance(0.5):
        mat = square_type(g.k, {2: 3, 3: 4, 4: 1}, scalar)
        return mat, mat
    outer, inner, other = g.shape.choice(((2, 3, 2), (2, 3, 3), (3, 2, 3), (3, 3, 2)))
    left, right = ((outer, inner), (inner, outer), (outer, inner))[form], (inner, other)
    return Mat(*left, scalar), Mat(*(right[::-1] if form == 2 else right), scalar)


def _one_pair(g: Place, level: int, scalar: Scalar) -> tuple[Var, str, bool]:
    """One of the products of two matrices, now and then in a helper."""
    form = g.shape.integer(0, len(_PRODUCTS) - 1)
    left, right = _shapes(g, form, scalar)
    names = g.k.draw.word.choice((("a", "b"), ("lhs", "rhs"), ("left", "right")))
    a = g.let("a m_a", g.read(f"{names[0]}_mats", left, -1.0, 1.0))
    if g.chance(0.7):
        b: Expr = g.let("b m_b", g.read(f"{names[1]}_mats", right, -1.0, 1.0))
    else:
        b = g.one(f"{names[1]}_mat", right, -1.0, 1.0)
    value = _PRODUCTS[form](a, b)
    args = {"a": a, "b": b}
    made = applied(
        g.k, 0.4 * (level >= 3), "combine product_of", args, lambda _, x, y: _PRODUCTS[form](x, y)
    )
    what = "each pair of small matrices"
    if not isinstance(b, Var) or b.name not in g.spoken:
        what = f"each of many small matrices with {g.tell(b)}"
    text = f"{_ABOUT[form]} of {what}: C = {g.tell(value)} with {g.told(a, b)}"
    return g.let("c prod m", made), text, form < 3


def _link_chain(g: Place, level: int, scalar: Scalar) -> tuple[Var, str, bool]:
    """Links of an arm: from the root, every joint's matrix on the right."""
    k, mat = g.k, square_type(g.k, {3: 2, 4: 3}, scalar)
    count = k.size_param("num_links link_count", k.size("links", 3, 5))
    links = g.array("link_mats local_mats", mat, -0.8, 0.8, more="links")
    c = g.let("c world chain", g.read("roots bases", mat, -1.0, 1.0))
    out = k.out("link_world partial", mat, (*g.dims, "links")) if g.chance(0.5) else None
    with k.for_("link q", count) as q:
        k.assign(c, c * links[g.index(q)])
        if out is not None:
            k.store(out, g.index(q), c)
    form = f"C = C * {links.name}"
    also = "" if out is None else f" (each stored in {out.name})"
    arm = "a planar arm's" if mat.rows == 3 else "an arm's"
    text = f"Chain the homogeneous transforms of {arm} links: from {g.told(c)}, for each link"
    return c, f"{text} {form}{also}", False


def _blocks_place(k: KernelBuilder) -> Place:
    """A thread for each block of the product."""
    dims = (k.size("block_rows", 7, 10), k.size("block_cols", 7, 10))
    at = k.thread(*dims, names=k.draw.word.choice((("i", "j"), ("row", "col"))))
    return Place(k, "grid", dims, at)


def _block_row(g: Place, level: int, scalar: Scalar) -> tuple[Var, str, bool]:
    """A block of the product of a block-sparse matrix and one of dense blocks."""
    k, (i, j) = g.k, g.at
    size = g.shape.choice((2, 3))
    mat = Mat(size, size, scalar)
    slots = k.size("degree", 3, 5)
    count = k.size_param("slots row_slots", slots)
    c = g.let("c acc block", zero(mat))
    first = g.array("a_blocks values", mat, -1.0, 1.0, axes=(0,), more=slots)
    k.size("p", 6, 9)
    cols = g.array("columns col_ids", INT32, axes=(0,), more=slots, init="index_of:p")
    turned = g.chance(0.3)
    dims = (g.dims[-1], "p") if turned else ("p", g.dims[-1])
    dense = k.array("b_blocks rhs_blocks", mat, dims, low=-1.0, high=1.0)
    with k.for_("s nz slot", count) as s:
        col = k.let("col c_id", cols[i, s])
        right = transpose(dense[j, col]) if turned else dense[col, j]
        k.augment(c, "add", first[i, s] * right)
    row, out = g.tell(i), g.tell(j)
    term = f"the transpose of {dense.name}[{out}, q]" if turned else f"{dense.name}[q, {out}]"
    return (
        c,
        f"Product of a block-sparse matrix in ELL form and a matrix of dense blocks: C is the sum "
        f"over the slots s of row {row} of {first.name}[{row}, s] * {term}, "
        f"q = {cols.name}[{row}, s]",
        True,
    )


def _updated(g: Place, c: Var) -> str:
    """What a general product of matrices adds: alpha, beta times what was there, a shift."""
    k, mat = g.k, mat_of(c)
    alpha = g.one("alpha", mat.scalar, 0.3, 1.8)
    if g.shape.chance(0.4):
        k.augment(c, "mul", alpha)
        return f" Multiply by {g.tell(alpha)}."
    old = g.read("c_in", mat, -1.0, 1.0)
    value = alpha * c + g.one("beta", mat.scalar, 0.2, 0.95) * old
    k.assign(c, value)
    return f" Then C = {g.tell(value)}."


@idiom(depth=1)
def small_product(k: KernelBuilder, level: int) -> Title:
    """Products of small matrices, one result a thread."""
    shape = k.draw.shape
    weights = {"pair": 5, "chain": 2, "blocks": 2}
    way = shape.weighted(weights)
    g = _blocks_place(k) if way == "blocks" else place(k, "i tid e")
    build, names = {
        "pair": (_one_pair, "multiply_pairs small_matmul pair_products"),
        "chain": (_link_chain, "chain_links forward_links"),
        "blocks": (_block_row, "block_ell_product sparse_block_product"),
    }[way]
    c, text, general = build(g, level, k.draw.wide_float_type())
    done = f"{text}."
    if general and shape.chance(0.35):
        done += _updated(g, c)
    done += g.gets("end_frames world_mats" if way == "chain" else "products out", c)
    return Title(k.name(names), done)
