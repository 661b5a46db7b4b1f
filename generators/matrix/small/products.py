"""Products of small matrices: pairs, chains of links, block matrices; and their summaries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.masks import flag
from generators.kit.naming import helper, maybe
from generators.kit.outputs import Extra, extras
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.matrix.large.core import Names
from generators.matrix.small.parts import column, gets, row, times_identity
from generators.program.dtypes import INT32, Mat, Scalar, Vec
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


def one_pair(k: KernelBuilder, g: Site, level: int, scalar: Scalar) -> Pair:
    forms = {**MIXED, **SQUARE}
    form = k.draw.shape.choice(sorted(forms))
    left, right = _shapes(k, form, scalar)
    first = g.array("a lhs left", left, -1.0, 1.0)
    a = k.let("ai m0", first[g.at])
    second = given(g, "b rhs right", right, -1.0, 1.0)
    b: Expr = second if isinstance(second, Var) else maybe(k, "bi m1", second, 1.0)
    text = f"c = {form} with a = {first.name} and b = {say(k, second)}"
    if level >= 3 and k.draw.shape.chance(0.4):
        made = helper(
            k, "combine product_of", (("a", left), ("b", right)), lambda _, x, y: forms[form](x, y)
        )
        return Pair(k.let("prod c m", k.call(made, a, b)), text)
    return Pair(k.let("prod c m", forms[form](a, b)), text)


def link_chain(k: KernelBuilder, g: Site, level: int, scalar: Scalar) -> Pair:
    """Links of an arm: from the root, every joint's matrix on the right, or on the left."""
    size = k.draw.shape.weighted({2: 1, 3: 3, 4: 1})
    mat = Mat(size, size, scalar)
    k.size("m", 3, 5)
    count = k.trip_count("num_links link_count", "m")
    links = k.array("links joints local_mats", mat, (*g.dims, "m"), low=-0.8, high=0.8)
    start = g.array("roots bases", mat, -1.0, 1.0)
    total = k.let("world prod chain", start[g.at])
    left = k.draw.shape.chance(0.4)
    out = None
    if k.draw.shape.chance(0.5):
        out = k.out("link_world partial", mat, (*g.dims, "m"))
    with k.for_("link q", count) as q:
        k.assign(total, links[g.index(q)] * total if left else total * links[g.index(q)])
        if out is not None:
            k.store(out, g.index(q), total)
    form = f"c = {links.name} * c" if left else f"c = c * {links.name}"
    also = "" if out is None else f" (each stored in {out.name})"
    return Pair(total, f"from c = {start.name}, one after the other {form}{also}")


def block_row(k: KernelBuilder, g: Site, level: int, scalar: Scalar) -> Pair:
    """A block of a product of block matrices, or of a row of sparse blocks."""
    size = k.draw.shape.choice((2, 3))
    mat = Mat(size, size, scalar)
    k.size("m", 3, 5)
    count = k.trip_count("inner num_blocks", "m")
    total = k.let("acc block c", zero(mat))
    first = k.array("a lhs_blocks", mat, (g.dims[0], "m"), low=-1.0, high=1.0)
    sparse = k.draw.shape.chance(0.5)
    last = g.at[-1]
    if sparse:
        k.size("p", 6, 9)
        cols = k.array("columns col_ids", INT32, (g.dims[0], "m"), init="index_of:p")
        dense = k.array("b rhs_blocks", mat, ("p", g.dims[-1]), low=-1.0, high=1.0)
        with k.for_("nz slot", count) as nz:
            col = k.let("col c_id", cols[g.at[0], nz])
            k.augment(total, "add", first[g.at[0], nz] * dense[col, last])
        at = g.at[0].name
        text = f"c = the sum over s of {first.name}[{at}, s] * {dense.name}[j, {last.name}]"
        return Pair(total, f"{text}, j = {cols.name}[{at}, s]")
    second = k.array("b rhs_blocks", mat, ("m", g.dims[-1]), low=-1.0, high=1.0)
    turned = k.draw.shape.chance(0.4)
    with k.for_("s inner_id", count) as s:
        right = second[s, last]
        k.augment(total, "add", first[g.at[0], s] * (fn("transpose", right) if turned else right))
    name = (
        f"transpose({second.name}[s, {last.name}])" if turned else f"{second.name}[s, {last.name}]"
    )
    return Pair(total, f"c = the sum over s of {first.name}[{g.at[0].name}, s] * {name}")


def _menu(k: KernelBuilder, g: Site, c: Var) -> dict[str, Extra]:
    mat = c.type
    assert isinstance(mat, Mat)

    def loss() -> Expr:
        goals = g.array("targets goals", mat, -1.0, 1.0)
        d = k.let("d diff", c - goals[g.at])
        return 0.5 * fn("ddot", d, d)

    def applied() -> Expr:
        return c * g.array("vectors points", Vec(mat.cols, mat.scalar), -1.0, 1.0)[g.at]

    menu = {
        "norm": Extra("norms_sq energies", lambda: fn("ddot", c, c), "ddot(c, c)"),
        "loss": Extra("losses misfits", loss, "half of ddot(d, d), d = c - its target"),
        "column": Extra("first_columns x_axes", lambda: column(c, 0), "column 0 of c"),
        "row": Extra("last_rows bottom", lambda: row(c, mat.rows - 1), f"row {mat.rows - 1} of c"),
        "applied": Extra("moved transformed", applied, "c times its vector"),
        "corner": Extra("corners c01", lambda: c[0, 1] - c[1, 0], "c[0, 1] - c[1, 0]"),
    }
    if mat.rows == mat.cols:
        menu["trace"] = Extra("traces tr_out", lambda: fn("trace", c), "trace(c)")
        menu["diag"] = Extra("diagonals diag_out", lambda: fn("get_diag", c), "the diagonal of c")
        menu["det"] = Extra("dets volumes", lambda: fn("determinant", c), "determinant(c)")
    return menu


def _updated(k: KernelBuilder, g: Site, c: Var, level: int) -> str:
    """What a general product of matrices adds: alpha, beta times what was there, a shift."""
    mat = c.type
    assert isinstance(mat, Mat)
    way = k.draw.shape.choice(
        ("beta", "alpha", "bias", "clip") + (("shift",) if mat.rows == mat.cols else ())
    )
    if way == "clip":
        there = flag(g, "active used")
        with k.if_(there.unless):
            k.assign(c, zero(mat))
        return f" c is zero where {there.off}."
    if way == "bias":
        bias = given(g, "bias offset_m", mat, -0.5, 0.5)
        k.augment(c, "add", bias)
        return f" Add {say(k, bias)}."
    alpha = given(g, "alpha scale", mat.scalar, 0.3, 1.8)
    if way == "shift":
        k.augment(c, "sub", times_identity(mat, alpha))
        return f" Subtract {say(k, alpha)} * I."
    if way == "alpha":
        k.augment(c, "mul", alpha)
        return f" Multiply by {say(k, alpha)}."
    old = g.array("previous c_in state", mat, -1.0, 1.0)
    beta = given(g, "beta momentum", mat.scalar, 0.2, 0.95)
    k.assign(c, alpha * c + beta * old[g.at])
    return f" Then c = {say(k, alpha)} * c + {say(k, beta)} * {old.name}."


@idiom
def small_product(k: KernelBuilder, level: int) -> Title:
    """Products of small matrices, one result a thread."""
    shape = k.draw.shape
    way = shape.weighted(
        {"pair": 6 if level < 4 else 3, "chain": 0 if level < 3 else 4, "blocks": 2}
    )
    g = launch(k, {"grid": 1} if way == "blocks" else POINTS, "i tid e")
    scalar = k.draw.wide_float_type()
    pair = {"pair": one_pair, "chain": link_chain, "blocks": block_row}[way](k, g, level, scalar)
    c = pair.c
    assert isinstance(c, Var)
    mat = c.type
    assert isinstance(mat, Mat)
    done = f"Compute {pair.text}."
    if level >= 2:
        done += _updated(k, g, c, level)
    if level >= 4:
        done += _compared(k, g, c)
    if level >= 4 and mat.rows == mat.cols and "b * a" not in pair.text:
        done += _symmetric(k, g, c)
    if level >= 5:
        done += _scaled(k, g, c)
    done += gets(g, "products out result", c, "c")
    menu = _menu(k, g, c)
    if "a * b - b * a" in pair.text:
        menu.pop("trace", None)
    if mat.rows == mat.cols == 4:
        menu.pop("det", None)
    done += extras(g, menu, (shape.integer(0, 1), 1, 2, 2, 3)[level - 1])
    names: dict[str, Names] = {"pair": "multiply_pairs small_matmul pair_products"}
    names |= {"chain": "chain_links forward_links", "blocks": "block_matmul bsr_product"}
    return Title(k.name(names[way]), done)


def _symmetric(k: KernelBuilder, g: Site, c: Var) -> str:
    """Its symmetric or skew part, taken for the results that are flagged so."""
    skew = k.draw.shape.chance(0.4)
    there = flag(g, "symmetric is_sym" if not skew else "skew is_skew")
    turned = fn("transpose", c)
    with k.if_(there.value):
        k.assign(c, 0.5 * (c - turned if skew else c + turned))
    return f" Where {there.on}, c is replaced by its {'skew' if skew else 'symmetric'} part."


def _scaled(k: KernelBuilder, g: Site, c: Var) -> str:
    """Brought to a size, or its rows scaled."""
    mat = c.type
    assert isinstance(mat, Mat)

    def build(body: BodyBuilder, m: Expr) -> Expr:
        size = body.let("size norm", fn("sqrt", fn("ddot", m, m) + 0.01))
        return m / size

    if k.draw.shape.chance(0.5):
        gains = given(g, "row_gain left_scale", Vec(mat.rows, mat.scalar), 0.5, 1.5)
        k.assign(c, fn("diag", gains) * c)
        return f" Then c = diag({say(k, gains)}) * c."
    limit = given(g, "max_norm radius", mat.scalar, 0.8, 1.6)
    made = helper(k, "unit_norm normalized", (("m", mat),), build)
    k.assign(c, limit * k.call(made, c))
    return f" Then c = {say(k, limit)} * c / sqrt(ddot(c, c) + 0.01)."


def _compared(k: KernelBuilder, g: Site, c: Var) -> str:
    """Every vector of a few through the matrix: what comes out, and how far from its goal."""
    mat = c.type
    assert isinstance(mat, Mat)
    k.size("t", 2, 4)
    count = k.trip_count("num_vectors vector_count", "t")
    source, goal = Vec(mat.cols, mat.scalar), Vec(mat.rows, mat.scalar)
    shared = k.draw.shape.chance(0.5)
    vectors = k.array(
        "inputs_v corners", source, "t" if shared else (*g.dims, "t"), low=-1.0, high=1.0
    )
    aims = k.array("aims wanted", goal, (*g.dims, "t"), low=-1.0, high=1.0)
    out = k.out("mapped moved_v", goal, (*g.dims, "t")) if k.draw.shape.chance(0.6) else None
    cost = k.let("cost error_sum", zero(mat.scalar))
    with k.for_("v_id t", count) as t:
        y = k.let("y image", c * (vectors[t] if shared else vectors[g.index(t)]))
        if out is not None:
            k.store(out, g.index(t), y)
        e = k.let("e_v off", y - aims[g.index(t)])
        k.augment(cost, "add", fn("dot", e, e))
    total = g.put("costs alignment", cost)
    text = f" For each of {vectors.name} let y = c * it; {total.name} gets the sum of squared"
    text += f" distances of y from {aims.name}"
    return f"{text}." if out is None else f"{text}, {out.name} gets y."
