"""Rotation matrices from angles and axes, reflections, and frames by Gram and Schmidt."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import zero
from generators.matrix.small.extras import Extra, extras
from generators.matrix.small.grid import Grid, column, grid, identity, say
from generators.matrix.small.turns import MAKERS
from generators.program.dtypes import FLOAT32, Mat, Vec
from generators.program.expr import Expr


def _used(k: KernelBuilder, g: Grid, rot: Expr, level: int) -> str:
    """What the matrix turns: a vector, a few points about a pivot, a tensor, another frame."""
    mat = rot.type
    assert isinstance(mat, Mat)
    vec = Vec(mat.rows, mat.scalar)
    ways = (
        ("point", "matrix", "tensor", "pivot")
        if level < 3
        else ("points", "points", "tensor", "chain")
    )
    way = k.draw.shape.choice(ways)
    if way == "matrix" and level == 1:
        way = "pivot"
    if way == "matrix":
        target = g.write(("rotations", "frames_out"), rot)
        return f" {target.name} gets R."
    if way == "tensor":
        source = g.array(("tensors", "inertias"), mat, -1.0, 1.0)
        t = k.let(("t", "local_t"), source[g.index])
        back = k.draw.shape.chance(0.4)
        rt = fn("transpose", rot)
        target = g.write(("turned", "world"), rt * t * rot if back else rot * t * rt)
        text = "transpose(R) * t * R" if back else "R * t * transpose(R)"
        return f" {target.name} gets {text}, t of {source.name}."
    if way == "chain":
        source = g.array(("parents", "frames"), mat, -1.0, 1.0)
        total = k.let(("total", "chained"), source[g.index] * rot)
        target = g.write(("chained_out", "world_frames"), total)
        tip = g.supply(("tip", "lever"), ("tips", "levers"), vec, -1.0, 1.0)
        ends = g.write(("ends", "tips_out"), total * tip)
        return f" {target.name} gets {source.name} * R, {ends.name} that times {say(tip)}."
    if way == "points":
        return _several(k, g, rot, vec)
    points = g.array(("points", "vectors", "offsets"), vec, -2.0, 2.0)
    p = points[g.index]
    if way == "point":
        back = k.draw.shape.chance(0.3)
        target = g.write(("rotated", "turned"), (fn("transpose", rot) if back else rot) * p)
        return f" {target.name} gets {'transpose(R)' if back else 'R'} * {points.name}."
    pivot = g.supply(("pivot", "center"), ("pivots", "centers"), vec, -1.0, 1.0)
    target = g.write(("rotated", "turned"), rot * (p - pivot) + pivot)
    return f" {target.name} gets {say(pivot)} + R * ({points.name} - {say(pivot)})."


def _several(k: KernelBuilder, g: Grid, rot: Expr, vec: Vec) -> str:
    k.size("m", 3, 5)
    count = k.trip_count(("num_points", "vertex_count"), "m")
    shared = k.draw.shape.chance(0.5)
    dims = ("m",) if shared else (*g.dims, "m")
    points = k.array(("shape_points", "vertices", "body_points"), vec, dims, low=-1.0, high=1.0)
    origin = g.array(("origins", "positions"), vec, -2.0, 2.0)
    o = k.let(("o", "at"), origin[g.index])
    each = k.draw.shape.chance(0.6)
    target = k.out(("world_points", "placed"), vec, (*g.dims, "m")) if each else None
    lowest = None if each else k.let(("moment", "spread_sq"), zero(vec))
    with k.for_(("v", "q"), count) as v:
        local = points[v] if shared else points[g.at(v)]
        world = k.let(("world", "corner"), o + rot * local)
        if target is not None:
            k.store(target, g.at(v), world)
        if lowest is not None:
            k.augment(lowest, "add", fn("cw_mul", world, world))
    formula = f"{origin.name} + R * {points.name}"
    if target is not None:
        return f" {target.name} gets {formula} for every point."
    assert lowest is not None
    out = g.write(("moments", "second_moments"), lowest)
    return f" {out.name} gets the componentwise sum of squares of {formula} over the points."


@idiom
def rotation_matrix(k: KernelBuilder, level: int) -> Title:
    """Matrices that turn and mirror: made from angles, axes and hints, then applied."""
    shape = k.draw.shape
    g = grid(k, None, "i", "tid", "joint")
    way = shape.weighted(
        {"composed": 4, "rodrigues": 2, "plane": 2, "householder": 2, "schmidt": 3}
    )
    plain = way != "composed" or shape.chance(0.15)
    scalar = k.draw.wide_float_type() if plain else FLOAT32
    rot, text = MAKERS[way](k, g, level, scalar)
    mat = rot.type
    assert isinstance(mat, Mat)
    if level >= 3 and shape.chance(0.4):
        gain = g.supply(("scale", "zoom"), ("scales", "zooms"), Vec(mat.rows, mat.scalar), 0.4, 2.0)
        rot = k.let(("scaled", "model"), rot * fn("diag", gain))
        text += f", times diag({say(gain)})"
    done = f"Let {text}.{_used(k, g, rot, level)}"
    menu = {
        "trace": Extra(("traces", "turns_out"), lambda: fn("trace", rot), "trace(R)"),
        "column": Extra(("first_axes", "x_axes"), lambda: column(rot, 0), "column 0 of R"),
        "diag": Extra(("diagonals", "diag_out"), lambda: fn("get_diag", rot), "the diagonal of R"),
        "corner": Extra(("corners", "r01"), lambda: rot[0, 1], "R[0, 1]"),
        "skew": Extra(("skews", "twists"), lambda: rot[1, 0] - rot[0, 1], "R[1, 0] - R[0, 1]"),
        "square": Extra(("squares", "twice"), lambda: rot * rot, "R * R"),
    }
    if way == "householder" or mat.rows == 2:
        del menu["skew"], menu["square"], menu["trace"]
    if mat.rows == 2 or len(text) < 60:
        menu.pop("column"), menu.pop("corner")
    if way == "composed" and "R = R" in text and text.count(" * ") < 2:
        menu.pop("diag")
    count = (0, shape.integer(0, 1), 1, 2, 3)[level - 1]
    done += extras(g, menu, count)
    if level >= 4:
        done += _chained(k, g, rot, level)
    return Title(
        k.name(f"{way}_rotation", "rotation_matrix", "turn_frames", "apply_rotation"), done
    )


def _chained(k: KernelBuilder, g: Grid, rot: Expr, level: int) -> str:
    """How far the matrix is from a target, and a step of blending toward it, made orthogonal."""
    mat = rot.type
    assert isinstance(mat, Mat)
    goals = g.array(("targets", "goal_frames"), mat, -1.0, 1.0)
    goal = k.let(("goal", "wanted"), goals[g.index])
    error = k.let(("error", "delta"), rot - goal)
    loss = g.write(("losses", "misfits"), 0.5 * fn("ddot", error, error))
    text = f" {loss.name} gets half of ddot(R - G, R - G), G of {goals.name}."
    if level < 5:
        return text
    rate = g.supply(("rate", "blend"), ("rates", "blends"), mat.scalar, 0.1, 0.4)
    mixed = k.let(("mixed", "step"), rot - rate * error)
    k.note("one Newton step back toward an orthogonal matrix")
    square = k.let(("square_m", "mtm"), fn("transpose", mixed) * mixed)
    three = 3.0 * identity(k, mat)
    target = g.write(("blended", "orthogonalized"), 0.5 * mixed * (three - square))
    return (
        f"{text} With B = R - {say(rate)} * (R - G), {target.name} gets"
        " 0.5 * B * (3 * I - transpose(B) * B)."
    )
