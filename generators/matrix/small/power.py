"""The dominant axis of a symmetric matrix by repeated products."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper, times_identity, zero
from generators.matrix.small.extras import Extra, extras
from generators.matrix.small.grid import Grid, grid, rows_of, say, symmetric
from generators.program.dtypes import Mat, Vec
from generators.program.expr import Expr


@idiom
def power_iteration(k: KernelBuilder, level: int) -> Title:
    """The dominant axis of a symmetric matrix by a fixed number of products."""
    shape = k.draw.shape
    g = grid(k, None, "i", "tid", "cluster")
    scalar = k.draw.wide_float_type()
    size = shape.weighted({2: 2, 3: 4, 4: 1})
    mat, vec = Mat(size, size, scalar), Vec(size, scalar)
    a, text = _dominated(k, g, mat, level)
    start = g.supply(("start", "guess"), ("starts", "guesses"), vec, 0.3, 1.0)
    rounds = shape.integer(2, 4)
    shifted = level >= 2 and shape.chance(0.4)
    shift = (
        g.supply(("shift", "offset"), ("shifts", "offsets"), scalar, 0.2, 0.9) if shifted else None
    )
    how = shape.choice(("length", "late", "largest" if "symmetric part" in text else "late"))
    b = a if shift is None else k.let(("b", "shifted_m"), a + times_identity(mat, shift))

    def unit(body: BodyBuilder, v: Expr) -> Expr:
        if how == "largest":
            return v / body.let(("peak", "size"), fn("max_element", v))
        return v / fn("sqrt", fn("dot", v, v) + 0.0001)

    made = ""
    if level >= 3 and shape.chance(0.6):
        made = helper(k, ("unit_of", "rescaled"), (("v", vec),), unit)
    v = k.let(("v", "axis"), b * start)
    with k.for_(("it", "r"), rounds):
        if how != "late":
            k.assign(v, k.call(made, v) if made else unit(k, v))
        k.assign(v, b * v)
    k.assign(v, k.call(made, v) if made else unit(k, v))
    scaling = "sqrt(dot(v, v) + 0.0001)"
    if how == "largest":
        scaling = "its greatest component"
    name = "A" if shift is None else f"(A + {say(shift)} * I)"
    when = "in the end" if how == "late" else "before each of these products and in the end"
    done = f"With {text}, from v = {name} * {say(start)} {rounds} times v = {name} * v, v being"
    done += f" divided by {scaling} {when}."
    lam = None
    if level >= 2:
        av = k.let(("av", "image"), a * v)
        lam = k.let(("lam", "rayleigh"), fn("dot", v, av) / (fn("dot", v, v) + 0.0001))
        values = g.write(("eigenvalues", "rayleigh_out"), lam)
        done += f" {values.name} gets e = dot(v, A * v) / (dot(v, v) + 0.0001)."
    if level >= 4 and lam is not None:
        done += _deflated(k, g, a, v, lam, start)
    target = g.write(("axes", "vectors_out"), v)
    done += f" {target.name} gets v."
    goals = ("goals", "reference_axes")
    menu = {
        "spin": Extra(("first", "v0"), lambda: v[0], "v[0]"),
        "ratio": Extra(("heights", "tilt"), lambda: v[0] - v[1], "v[0] - v[1]"),
        "project": Extra(("projectors", "rank_one"), lambda: fn("outer", v, v), "outer(v, v)"),
        "error": Extra(
            ("alignments", "overlaps"),
            lambda: fn("dot", v, g.array(goals, vec, -1.0, 1.0)[g.index]),
            "dot(v, g) of its g",
        ),
        "longest": Extra(
            ("major", "main_index"),
            lambda: fn("argmax", fn("cw_mul", v, v)),
            "the index of the component of v largest in size",
        ),
        "trace": Extra(("traces", "scatter"), lambda: fn("trace", a), "trace(A)"),
    }
    done += extras(g, menu, (shape.integer(0, 1), 1, 1, 2, 3)[level - 1])
    return Title(k.name("power_iteration", "dominant_axis", "principal_axis"), done)


def _dominated(k: KernelBuilder, g: Grid, mat: Mat, level: int) -> tuple[Expr, str]:
    """A matrix of positive entries, a Gram matrix, or the scatter of a few points."""
    way = k.draw.shape.choice(
        ("positive", "gram", "scatter") if level >= 3 else ("positive", "gram")
    )
    if way == "positive":
        source = g.array(("affinity", "couplings"), mat, 0.1, 1.0)
        raw = k.let(("raw", "m"), source[g.index])
        return k.let(("a", "sym"), symmetric(raw)), f"A the symmetric part of {source.name}"
    if way == "gram":
        source = g.array(("frames", "factors"), mat, -0.2, 1.0)
        f = k.let(("f", "fac"), source[g.index])
        return k.let(
            ("a", "gram"), fn("transpose", f) * f
        ), f"A = transpose(F) * F, F = {source.name}"
    k.size("m", 3, 5)
    count = k.trip_count(("num_points", "point_count"), "m")
    points = k.array(("points", "normals_in"), rows_of(mat), (*g.dims, "m"), low=-0.3, high=1.0)
    a = k.let(("a", "scatter_m"), zero(mat))
    with k.for_(("s", "pt"), count) as s:
        p = k.let(("p", "q"), points[g.at(s)])
        k.augment(a, "add", fn("outer", p, p))
    return a, f"A the sum of outer(p, p) over p of {points.name}"


def _deflated(k: KernelBuilder, g: Grid, a: Expr, v: Expr, lam: Expr, start: Expr) -> str:
    """What is left without the axis, and one product with it toward the next one."""
    rest = k.let(("rest", "deflated"), a - lam * fn("outer", v, v))
    first = g.write(("deflated_out", "remainders"), rest)
    other = k.let(("second", "next_axis"), rest * start)
    second = g.write(("next_axes", "second_out"), other)
    return f" {first.name} gets B = A - e * outer(v, v), {second.name} B * {say(start)}."
