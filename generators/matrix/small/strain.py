"""Deformation gradients, and the measures of strain that continuum mechanics takes of them."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.naming import applied, maybe
from generators.matrix.parts import (
    Place,
    from_columns,
    identity,
    mat_of,
    place,
    rows_of,
    square_type,
    symmetric,
    times_identity,
    transpose,
    voigt,
)
from generators.program.dtypes import INT32, Mat
from generators.program.expr import Expr, Var

_INIT = "well_conditioned"


def gradient(g: Place, mat: Mat, level: int, invertible: bool = False) -> tuple[Var, str]:
    """The deformation gradient: given, from a displacement gradient, from edges or nodes."""
    ways = {"given": 3, "displacement": 2, "product": 2 if level >= 2 else 0}
    ways |= {"nodes": 4 if level >= 3 else 0, "mesh": 12 if level >= 4 else 0}
    way = "given" if invertible else g.shape.weighted(ways)
    bound = round(1.0 / mat.rows, 2)
    if way in ("nodes", "mesh"):
        return (_from_mesh if way == "mesh" else _from_nodes)(g, mat)
    value: Expr
    if way == "given":
        value = g.read("gradients def_grads deformation", mat, -bound, bound, init=_INIT)
    elif way == "displacement":
        value = g.read("grad_u displacement_grads", mat, -0.4, 0.4) + identity(g.k, mat)
    else:
        shapes = g.read("edges deformed_edges ds", mat, -bound, bound, init=_INIT)
        rest = g.read("rest_inv dm_inv inv_rest_shape", mat, -bound, bound, init=_INIT)
        value = shapes * rest
    f = g.let("f def_grad F", value)
    return f, f"for {g.told(f)}"


def _from_nodes(g: Place, mat: Mat) -> tuple[Var, str]:
    """I plus the gradients of the shape functions by the nodes' displacements."""
    k, vec = g.k, rows_of(mat)
    count = k.size_param("node_count num_nodes", k.size("elem_nodes", mat.rows, mat.rows + 1))
    moves = g.array("displacements u node_u", vec, -0.5, 0.5, more="elem_nodes")
    shared = g.chance(0.5)
    dims = ("elem_nodes",) if shared else (*g.dims, "elem_nodes")
    grads = k.array("shape_grads dndx grad_n", vec, dims, low=-0.6, high=0.6)
    f = g.let("f def_grad F", identity(k, mat))
    with k.for_("node a q", count) as a:
        grad = grads[a] if shared else grads[g.index(a)]
        k.augment(f, "add", fn("outer", moves[g.index(a)], grad))
    return f, f"for F = I plus the sum of outer({moves.name}, {grads.name}) over an element's nodes"


def _from_mesh(g: Place, mat: Mat) -> tuple[Var, str]:
    """Corners of a triangle or tetrahedron are gathered, their edges are columns."""
    k, size = g.k, mat.rows
    k.size("p", 20, 30)
    corners = g.array("corners elements conn", INT32, init="index_of:p", more=str(size + 1))
    points = k.array("positions x points", rows_of(mat), "p", low=-1.0, high=1.0)
    x0 = k.let("x0 origin", points[corners[g.index(0)]])
    stem = k.draw.word.choice(("edge", "e", "d"))
    edges = [k.let(f"{stem}{c}", points[corners[g.index(c)]] - x0) for c in range(1, size + 1)]
    shape = k.let("ds shape", from_columns(k, mat, edges))
    rest = g.read("rest_inv dm_inv inv_rest_shape", mat, -0.3, 0.3, init=_INIT)
    f = g.let("f def_grad F", shape * rest)
    text = f"for F = D * {g.tell(rest)}, column c of D being {points.name} at corner c + 1 less"
    return f, f"{text} corner 0 of {corners.name}"


def _green(body: BodyBuilder, f: Expr) -> Expr:
    c = maybe(body, "c right_cauchy", transpose(f) * f)
    return 0.5 * (c - identity(body, mat_of(f)))


def _almansi(body: BodyBuilder, f: Expr) -> Expr:
    if body.draw.shape.chance(0.5):
        f_inv = body.let("f_inv inv_f", fn("inverse", f))
        return 0.5 * (identity(body, mat_of(f)) - transpose(f_inv) * f_inv)
    b = body.let("b left_cauchy", f * transpose(f))
    return 0.5 * (identity(body, mat_of(f)) - fn("inverse", b))


def _small(body: BodyBuilder, f: Expr) -> Expr:
    if body.draw.shape.chance(0.5):
        return symmetric(body.let("h grad_u", f - identity(body, mat_of(f))))
    return symmetric(f) - identity(body, mat_of(f))


def _biot(body: BodyBuilder, f: Expr) -> Expr:
    """A first-order stand-in for the root of C, which needs no eigenvalues."""
    c = body.let("c stretch_sq", transpose(f) * f)
    d = body.let("d excess", c - identity(body, mat_of(f)))
    return 0.5 * d - 0.125 * (d * d)


_MEASURES: dict[str, tuple[Callable[[BodyBuilder, Expr], Expr], str]] = {
    "green": (_green, "Green-Lagrange strain e = 0.5 * (transpose(F) * F - I)"),
    "almansi": (_almansi, "Euler-Almansi strain e = 0.5 * (I - inverse(F * transpose(F)))"),
    "small": (_small, "small strain e = 0.5 * (F + transpose(F)) - I"),
    "cauchy_right": (
        lambda _, f: transpose(f) * f,
        "right Cauchy-Green tensor C = transpose(F) * F",
    ),
    "cauchy_left": (lambda _, f: f * transpose(f), "left Cauchy-Green tensor B = F * transpose(F)"),
    "biot": (
        _biot,
        "second-order Biot strain e = d / 2 - d * d / 8, d = transpose(F) * F - I",
    ),
}


def _read_off(g: Place, e: Var, count: int) -> str:
    """What else is wanted of a strain."""
    mat = mat_of(e)
    shear = g.shape.choice((1.0, 2.0))
    times = "" if shear == 1.0 else " doubled"
    upper = "entry (0, 1)" if mat.rows == 2 else "entries (1, 2), (0, 2) and (0, 1)"
    return g.offer(
        count,
        trace=("volumetric dilatation", lambda: fn("trace", e)),
        voigt=(
            "voigt packed engineering",
            lambda: voigt(e, shear),
            f"the diagonal of {g.tell(e)} and then its {upper}{times}",
        ),
        deviator=("deviators distortion", lambda: deviator(g, e)),
    )


def deviator(g: Place, e: Expr, named: bool = False) -> Expr:
    """A tensor without its mean, which may be named."""
    mean = fn("trace", e) / float(mat_of(e).rows)
    return e - times_identity(mat_of(e), g.part("mean hydro", mean) if named else mean)


def _relieved(g: Place, e: Var) -> str:
    """Take away the strain that causes no stress: of heat, of growth, or a given one."""
    k, mat = g.k, mat_of(e)
    way = g.shape.choice(("heat", "given"))
    if way == "heat":
        alpha = g.one("alpha expansion_coeff", mat.scalar, 0.05, 0.3)
        warm = g.read("delta_t heating temperature_rise", mat.scalar, -1.0, 1.0)
        rest: Expr = times_identity(mat, alpha * warm)
    else:
        rest = g.read("plastic_strains eigenstrains", mat, -0.3, 0.3)
    k.augment(e, "sub", rest)
    return f" Subtract {'the thermal strain ' * (way == 'heat')}{g.tell(rest)} from e."


@idiom(depth=2)
def deformation_strain(k: KernelBuilder, level: int) -> Title:
    """A strain measure of each deformation gradient, and what is read off it."""
    shape, mat = k.draw.shape, square_type(k, {2: 1, 3: 1}, k.draw.wide_float_type())
    g = place(k, "elem e tid i")
    key = shape.choice(sorted(_MEASURES))
    measure, formula = _MEASURES[key]
    done = ""
    f, source = gradient(g, mat, level, key == "almansi")
    value = applied(k, 0.6 * (level >= 3), "strain_of measure_strain", {"grad": f}, measure)
    symbol = {"cauchy_right": "C", "cauchy_left": "B"}.get(key, "e")
    named = {"C": "c right_cauchy", "B": "b left_cauchy"}.get(symbol, "e strain eps")
    e = g.let(named, value, symbol)
    text = f"Compute the {formula}, {source}."
    if key == "small" and shape.chance(0.4):
        done = _relieved(g, e)
    whole = "cauchy" in key or shape.chance(0.75)
    if whole:
        done += g.gets("cauchy_green cg_out" if "cauchy" in key else "strains strain_out", e)
    done += _read_off(g, e, 0 if whole else 1)
    names = {"cauchy_right": "right_cauchy_green", "cauchy_left": "left_cauchy_green"}.get(
        key, f"{key}_strain"
    )
    return Title(k.name(names), f"{text}{done}")
