"""Products of small matrices: pairs, chains of links, block matrices; and their summaries."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, sqrt
from generators.kit.naming import applied
from generators.kit.sources import zero
from generators.matrix.parts import (
    Entry,
    Place,
    column,
    mat_of,
    place,
    row,
    rows_of,
    square_type,
    times_identity,
    transpose,
)
from generators.program.dtypes import INT32, Mat, Scalar, Vec
from generators.program.expr import Expr, Load, Var

_PRODUCTS: tuple[Callable[[Expr, Expr], Expr], ...] = (
    lambda a, b: a * b,
    lambda a, b: transpose(a) * b,
    lambda a, b: a * transpose(b),
    lambda a, b: a * b - b * a,
    lambda a, b: a * b + b * a,
    lambda a, b: a * b * transpose(a),
    lambda a, b: (a + transpose(a)) * b,
    lambda a, b: a * a * b,
    lambda a, b: fn("cw_mul", a, b) + a * b,
    lambda a, b: transpose(a * b),
    lambda a, b: (a - b) * (a + b),
)
"""The first three are defined for rectangular matrices too."""

COMMUTATOR = "* B - "


def _shapes(g: Place, form: int, scalar: Scalar) -> tuple[Mat, Mat]:
    """Shapes of both factors; rectangular where the form allows it."""
    if form > 2 or g.chance(0.5):
        mat = square_type(g.k, {2: 3, 3: 4, 4: 1}, scalar)
        return mat, mat
    outer, inner, other = (g.shape.choice((2, 3, 4)) for _ in range(3))
    left, right = ((outer, inner), (inner, outer), (outer, inner))[form], (inner, other)
    return Mat(*left, scalar), Mat(*(right[::-1] if form == 2 else right), scalar)


def _one_pair(g: Place, level: int, scalar: Scalar) -> tuple[Var, str]:
    """One of the products of two matrices, now and then in a helper."""
    form = g.shape.integer(0, len(_PRODUCTS) - 1)
    left, right = _shapes(g, form, scalar)
    a = g.let("a ai m0", g.read("a lhs left", left, -1.0, 1.0))
    second = g.given("b right_mat right", right, -1.0, 1.0)
    b = g.let("b bi m1", second) if isinstance(second, Load) else second
    value = _PRODUCTS[form](a, b)
    args = {"a": a, "b": b}
    made = applied(
        g.k, 0.4 * (level >= 3), "combine product_of", args, lambda _, x, y: _PRODUCTS[form](x, y)
    )
    text = f"C = {g.tell(value)} with {g.told(a, b)}"
    return g.let("c prod m", made), text


def _link_chain(g: Place, level: int, scalar: Scalar) -> tuple[Var, str]:
    """Links of an arm: from the root, every joint's matrix on the right, or on the left."""
    k, mat = g.k, square_type(g.k, {2: 1, 3: 3, 4: 1}, scalar)
    count = k.trip_count("num_links link_count", k.size("m", 3, 5))
    links = g.array("links joints local_mats", mat, -0.8, 0.8, more="m")
    c = g.let("c world chain", g.read("roots bases", mat, -1.0, 1.0))
    left = g.chance(0.4)
    out = k.out("link_world partial", mat, (*g.dims, "m")) if g.chance(0.5) else None
    with k.for_("link q", count) as q:
        k.assign(c, links[g.index(q)] * c if left else c * links[g.index(q)])
        if out is not None:
            k.store(out, g.index(q), c)
    form = f"C = {links.name} * C" if left else f"C = C * {links.name}"
    also = "" if out is None else f" (each stored in {out.name})"
    return c, f"from {g.told(c)}, one after the other {form}{also}"


def _block_row(g: Place, level: int, scalar: Scalar) -> tuple[Var, str]:
    """A block of a product of block matrices, or of a row of sparse blocks."""
    k, (i, j) = g.k, g.at
    size = g.shape.choice((2, 3))
    mat = Mat(size, size, scalar)
    count = k.trip_count("inner num_blocks", k.size("m", 3, 5))
    c = g.let("c acc block", zero(mat))
    first = g.array("a lhs_blocks", mat, -1.0, 1.0, axes=(0,), more="m")
    if g.chance(0.5):
        k.size("p", 6, 9)
        cols = g.array("columns col_ids", INT32, axes=(0,), more="m", init="index_of:p")
        dense = k.array("b rhs_blocks", mat, ("p", g.dims[-1]), low=-1.0, high=1.0)
        with k.for_("s nz slot", count) as s:
            col = k.let("col c_id", cols[i, s])
            k.augment(c, "add", first[i, s] * dense[col, j])
        term = f"{dense.name}[q, {g.tell(j)}], q = {cols.name}[{g.tell(i)}, s]"
    else:
        second = k.array("b rhs_blocks", mat, ("m", g.dims[-1]), low=-1.0, high=1.0)
        turned = g.chance(0.4)
        with k.for_("s inner_id", count) as s:
            right = transpose(second[s, j]) if turned else second[s, j]
            k.augment(c, "add", first[i, s] * right)
        term = f"{'the transpose of ' * turned}{second.name}[s, {g.tell(j)}]"
    return c, f"C = the sum over s of {first.name}[{g.tell(i)}, s] * {term}"


def _menu(g: Place, c: Var, text: str) -> dict[str, Entry]:
    """What is told of a product."""
    mat = mat_of(c)

    def loss() -> Expr:
        d = g.part("d diff", c - g.read("targets goals", mat, -1.0, 1.0))
        return 0.5 * fn("ddot", d, d)

    menu: dict[str, Entry] = {
        "norm": ("norms_sq energies", lambda: fn("ddot", c, c)),
        "loss": ("losses misfits", loss),
        "column": ("first_columns x_axes", lambda: column(c, 0)),
        "row": ("last_rows bottom", lambda: row(c, mat.rows - 1)),
        "applied": (
            "moved transformed",
            lambda: c * g.read("vectors points", Vec(mat.cols, mat.scalar), -1.0, 1.0),
        ),
        "corner": ("corners c01", lambda: c[0, 1] - c[1, 0]),
    }
    if mat.rows == mat.cols:
        menu["diag"] = ("diagonals diag_out", lambda: fn("get_diag", c))
        if COMMUTATOR not in text:
            menu["trace"] = ("traces tr_out", lambda: fn("trace", c))
        if mat.rows < 4:
            menu["det"] = ("dets volumes", lambda: fn("determinant", c))
    return menu


def _updated(g: Place, c: Var) -> str:
    """What a general product of matrices adds: alpha, beta times what was there, a shift."""
    k, mat = g.k, mat_of(c)
    ways = ("beta", "alpha", "bias") + (("shift",) if mat.rows == mat.cols else ())
    way = g.shape.choice(ways)
    if way == "bias":
        bias = g.given("bias offset_m", mat, -0.5, 0.5)
        k.augment(c, "add", bias)
        return f" Add {g.tell(bias)}."
    alpha = g.given("alpha scale", mat.scalar, 0.3, 1.8)
    if way == "shift":
        k.augment(c, "sub", times_identity(mat, alpha))
        return f" Subtract {g.tell(alpha)} * I."
    if way == "alpha":
        k.augment(c, "mul", alpha)
        return f" Multiply by {g.tell(alpha)}."
    old = g.read("previous c_in state", mat, -1.0, 1.0)
    value = alpha * c + g.given("beta momentum", mat.scalar, 0.2, 0.95) * old
    k.assign(c, value)
    return f" Then C = {g.tell(value)}."


@idiom(depth=1)
def small_product(k: KernelBuilder, level: int) -> Title:
    """Products of small matrices, one result a thread."""
    shape = k.draw.shape
    weights = {"pair": 6 if level < 4 else 3, "chain": 0 if level < 3 else 4, "blocks": 2}
    way = shape.weighted(weights)
    g = place(k, "i tid e", **({"grid": 1} if way == "blocks" else {}))
    build, names = {
        "pair": (_one_pair, "multiply_pairs small_matmul pair_products"),
        "chain": (_link_chain, "chain_links forward_links"),
        "blocks": (_block_row, "block_matmul bsr_product"),
    }[way]
    c, text = build(g, level, k.draw.wide_float_type())
    done = f"Compute {text}."
    if level >= 2:
        done += _updated(g, c)
    if level >= 4 and g.chance(0.5):
        done += _compared(g, c)
    elif level >= 4 and mat_of(c).rows == mat_of(c).cols and "B * A" not in text:
        done += _symmetric(g, c)
    if level >= 5:
        done += _scaled(g, c)
    done += g.gets("products out result", c)
    count = (shape.integer(0, 1), 1, 2, 2, 3)[level - 1]
    done += g.offer(count, **_menu(g, c, text))
    return Title(k.name(names), done)


def _symmetric(g: Place, c: Var) -> str:
    """Its symmetric or skew part."""
    skew = g.chance(0.4)
    turned = transpose(c)
    g.k.assign(c, 0.5 * (c - turned if skew else c + turned))
    return f" C is replaced by its {'skew' if skew else 'symmetric'} part."


def _scaled(g: Place, c: Var) -> str:
    """Brought to a size, or its rows scaled."""
    mat = mat_of(c)
    if g.chance(0.5):
        value = fn("diag", g.given("row_gain left_scale", rows_of(mat), 0.5, 1.5)) * c
        g.k.assign(c, value)
        return f" Then C = {g.tell(value)}."

    def build(body: BodyBuilder, m: Expr) -> Expr:
        return m / body.let("size norm", sqrt(fn("ddot", m, m) + 0.01))

    limit = g.given("max_norm radius", mat.scalar, 0.8, 1.6)
    g.k.assign(c, limit * applied(g.k, 1.0, "unit_norm normalized", {"m": c}, build))
    return f" Then C = {g.tell(limit)} * C / sqrt(ddot(C, C) + 0.01)."


def _compared(g: Place, c: Var) -> str:
    """Every vector of a few through the matrix: what comes out, and how far from its goal."""
    k, mat = g.k, mat_of(c)
    count = k.trip_count("num_vectors vector_count", k.size("t", 2, 4))
    source, goal = Vec(mat.cols, mat.scalar), rows_of(mat)
    shared = g.chance(0.5)
    axes = () if shared else range(g.rank)
    vectors = g.array("inputs_v corners", source, -1.0, 1.0, axes=axes, more="t")
    aims = g.array("aims wanted", goal, -1.0, 1.0, more="t")
    out = k.out("mapped moved_v", goal, (*g.dims, "t")) if g.chance(0.6) else None
    cost = k.let("cost error_sum", zero(mat.scalar))
    with k.for_("v_id t", count) as t:
        y = k.let("y image", c * (vectors[t] if shared else vectors[g.index(t)]))
        if out is not None:
            k.store(out, g.index(t), y)
        e = k.let("e_v off", y - aims[g.index(t)])
        k.augment(cost, "add", dot(e, e))
    total = g.put("costs alignment", cost)
    text = f" For each of {vectors.name} let y = C * it; {total.name} gets the sum of squared"
    text += f" distances of y from {aims.name}"
    return f"{text}." if out is None else f"{text}, {out.name} gets y."
