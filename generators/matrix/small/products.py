"""Products of small matrices: pairs, chains of links, block matrices; and their summaries."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper, times_identity, zero
from generators.matrix.small.extras import Extra, extras, flagged
from generators.matrix.small.factors import block_row, link_chain, one_pair
from generators.matrix.small.grid import Grid, Names, column, grid, row, say
from generators.program.dtypes import Mat, Vec
from generators.program.expr import Expr, Var


def _menu(k: KernelBuilder, g: Grid, c: Var) -> dict[str, Extra]:
    mat = c.type
    assert isinstance(mat, Mat)

    def loss() -> Expr:
        goals = g.array(("targets", "goals"), mat, -1.0, 1.0)
        d = k.let(("d", "diff"), c - goals[g.index])
        return 0.5 * fn("ddot", d, d)

    def applied() -> Expr:
        return c * g.array(("vectors", "points"), Vec(mat.cols, mat.scalar), -1.0, 1.0)[g.index]

    menu = {
        "norm": Extra(("norms_sq", "energies"), lambda: fn("ddot", c, c), "ddot(c, c)"),
        "loss": Extra(("losses", "misfits"), loss, "half of ddot(d, d), d = c - its target"),
        "column": Extra(("first_columns", "x_axes"), lambda: column(c, 0), "column 0 of c"),
        "row": Extra(
            ("last_rows", "bottom"), lambda: row(c, mat.rows - 1), f"row {mat.rows - 1} of c"
        ),
        "applied": Extra(("moved", "transformed"), applied, "c times its vector"),
        "corner": Extra(("corners", "c01"), lambda: c[0, 1] - c[1, 0], "c[0, 1] - c[1, 0]"),
    }
    if mat.rows == mat.cols:
        menu["trace"] = Extra(("traces", "tr_out"), lambda: fn("trace", c), "trace(c)")
        menu["diag"] = Extra(
            ("diagonals", "diag_out"), lambda: fn("get_diag", c), "the diagonal of c"
        )
        menu["det"] = Extra(("dets", "volumes"), lambda: fn("determinant", c), "determinant(c)")
    return menu


def _updated(k: KernelBuilder, g: Grid, c: Var, level: int) -> str:
    """What a general product of matrices adds: alpha, beta times what was there, a shift."""
    mat = c.type
    assert isinstance(mat, Mat)
    way = k.draw.shape.choice(
        ("beta", "alpha", "bias", "clip") + (("shift",) if mat.rows == mat.cols else ())
    )
    if way == "clip":
        there, text = flagged(g, ("active", "used"), off=True)
        with k.if_(there):
            k.assign(c, zero(mat))
        return f" c is zero unless {text}."
    if way == "bias":
        bias = g.supply(("bias", "offset_m"), ("biases", "offsets"), mat, -0.5, 0.5)
        k.augment(c, "add", bias)
        return f" Add {say(bias)}."
    alpha = g.supply(("alpha", "scale"), ("alphas", "scales"), mat.scalar, 0.3, 1.8)
    if way == "shift":
        k.augment(c, "sub", times_identity(mat, alpha))
        return f" Subtract {say(alpha)} * I."
    if way == "alpha":
        k.augment(c, "mul", alpha)
        return f" Multiply by {say(alpha)}."
    old = g.array(("previous", "c_in", "state"), mat, -1.0, 1.0)
    beta = g.supply(("beta", "momentum"), ("betas", "decays"), mat.scalar, 0.2, 0.95)
    k.assign(c, alpha * c + beta * old[g.index])
    return f" Then c = {say(alpha)} * c + {say(beta)} * {old.name}."


@idiom
def small_product(k: KernelBuilder, level: int) -> Title:
    """Products of small matrices, one result a thread."""
    shape = k.draw.shape
    way = shape.weighted(
        {"pair": 6 if level < 4 else 3, "chain": 0 if level < 3 else 4, "blocks": 2}
    )
    g = grid(k, {2: 1} if way == "blocks" else None, "i", "tid", "e")
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
    target = g.write(("products", "out", "result"), c)
    done += f" {target.name} gets c."
    menu = _menu(k, g, c)
    if "a * b - b * a" in pair.text:
        menu.pop("trace", None)
    if mat.rows == mat.cols == 4:
        menu.pop("det", None)
    done += extras(g, menu, (shape.integer(0, 1), 1, 2, 2, 3)[level - 1])
    names: dict[str, Names] = {"pair": ("multiply_pairs", "small_matmul", "pair_products")}
    names |= {"chain": ("chain_links", "forward_links"), "blocks": ("block_matmul", "bsr_product")}
    return Title(k.name(*names[way]), done)


def _symmetric(k: KernelBuilder, g: Grid, c: Var) -> str:
    """Its symmetric or skew part, taken for the results that are flagged so."""
    skew = k.draw.shape.chance(0.4)
    there, text = flagged(g, ("symmetric", "is_sym") if not skew else ("skew", "is_skew"))
    turned = fn("transpose", c)
    with k.if_(there):
        k.assign(c, 0.5 * (c - turned if skew else c + turned))
    return f" Where {text}, c is replaced by its {'skew' if skew else 'symmetric'} part."


def _scaled(k: KernelBuilder, g: Grid, c: Var) -> str:
    """Brought to a size, or its rows scaled."""
    mat = c.type
    assert isinstance(mat, Mat)

    def build(body: BodyBuilder, m: Expr) -> Expr:
        size = body.let(("size", "norm"), fn("sqrt", fn("ddot", m, m) + 0.01))
        return m / size

    if k.draw.shape.chance(0.5):
        gains = g.supply(
            ("row_gain", "left_scale"), ("row_gains",), Vec(mat.rows, mat.scalar), 0.5, 1.5
        )
        k.assign(c, fn("diag", gains) * c)
        return f" Then c = diag({say(gains)}) * c."
    limit = g.supply(("max_norm", "radius"), ("max_norms",), mat.scalar, 0.8, 1.6)
    made = helper(k, ("unit_norm", "normalized"), (("m", mat),), build)
    k.assign(c, limit * k.call(made, c))
    return f" Then c = {say(limit)} * c / sqrt(ddot(c, c) + 0.01)."


def _compared(k: KernelBuilder, g: Grid, c: Var) -> str:
    """Every vector of a few through the matrix: what comes out, and how far from its goal."""
    mat = c.type
    assert isinstance(mat, Mat)
    k.size("t", 2, 4)
    count = k.trip_count(("num_vectors", "vector_count"), "t")
    source, goal = Vec(mat.cols, mat.scalar), Vec(mat.rows, mat.scalar)
    shared = k.draw.shape.chance(0.5)
    vectors = k.array(
        ("inputs_v", "corners"), source, "t" if shared else (*g.dims, "t"), low=-1.0, high=1.0
    )
    aims = k.array(("aims", "wanted"), goal, (*g.dims, "t"), low=-1.0, high=1.0)
    out = k.out(("mapped", "moved_v"), goal, (*g.dims, "t")) if k.draw.shape.chance(0.6) else None
    cost = k.let(("cost", "error_sum"), zero(mat.scalar))
    with k.for_(("v_id", "t"), count) as t:
        y = k.let(("y", "image"), c * (vectors[t] if shared else vectors[g.at(t)]))
        if out is not None:
            k.store(out, g.at(t), y)
        e = k.let(("e_v", "off"), y - aims[g.at(t)])
        k.augment(cost, "add", fn("dot", e, e))
    total = g.write(("costs", "alignment"), cost)
    text = f" For each of {vectors.name} let y = c * it; {total.name} gets the sum of squared"
    text += f" distances of y from {aims.name}"
    return f"{text}." if out is None else f"{text}, {out.name} gets y."
