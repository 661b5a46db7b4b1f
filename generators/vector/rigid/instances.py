"""Copies of a shape: its points placed by the pose and scale of each instance."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.program.expr import Expr, Var
from generators.vector.rigid.instance import Instance
from generators.vector.rigid.parts import (
    PROPERTY,
    Rig,
    rig,
    told,
)
from generators.vector.rigid.shade import culled, oriented

Placed = tuple[Var, Expr | None, str]


@idiom
def instanced_points(k: KernelBuilder, level: int) -> Title:
    """Points of a shape, scaled, rotated and moved for each of its instances."""
    shape = k.draw.shape
    r = rig(k, ("v", "p", "j"), ("inst", "i", "copy_id"), grids={1: 1, 2: 6, 3: 1})
    one = len(r.dims) == 1
    points = r.given(("points", "vertices", "template"), (), r.vec, -1.0, 1.0,
                     forms={"each": 1} if one else {"last": 1})  # fmt: skip
    instance = Instance(r, level)
    p: Expr = points
    if level > 1 or shape.chance(0.6):
        p = k.let(("p", "local_p", "corner"), points)
    done = f"For each instance ({instance.text}) and point p in {told(points)}"
    if level >= 3 and not instance.split and (level == 5 or shape.chance(0.6)):
        parent_text = instance.attach()
    else:
        parent_text = ""
    if level >= 3 and isinstance(p, Var):
        done += _deformed(r, p)
    world = k.let(("world", "x", "placed_p"), instance.place(level, p))
    scale = f" scaled by {instance.fields.told('scale')}" if instance.scale is not None else ""
    done += f": w = p{scale}, then rotated, then moved by the instance.{parent_text}"
    if level >= 2:
        forms = shape.sample(("wind", "view", "ground"), 2 if level >= 4 else 1)
        done += "".join(_after(r, form, world) for form in forms)
    done += f" {r.store(('world_points', 'placed', 'points_out'), world).name} gets w."
    if level >= 3:
        done += oriented(r, level, instance)
    if level >= 4:
        done += culled(r, level, world)
    names = ("place_instances", "instance_points", "expand_instances", "stamp_shape")
    return Title(k.name(*names), done)


def _deformed(r: Rig, p: Var) -> str:
    """A bend or taper of the shape before it is placed."""
    k, form = r.k, r.k.draw.shape.choice(("taper", "bend", "flip"))
    rate = r.given((f"{form}s",), (form, f"{form}_rate"), r.scalar, 0.2, 0.7,
                   forms={"first": 2, "shared": 2, "fixed": 1})  # fmt: skip
    up = k.draw.shape.integer(0, 2)
    if form == "taper":
        k.augment(p, "mul", 1.0 - rate * p[up])
        return f", p first multiplied by 1 - {told(rate)} * p[{up}]"
    if form == "bend":
        side = (up + 1) % 3
        k.set(p, side, p[side] + rate * p[up] * p[up])
        return f", {told(rate)} * p[{up}]^2 first added to p[{side}]"
    with k.if_(p[up] < 0.0):
        k.augment(p, "mul", rate)
    return f", p first multiplied by {told(rate)} where p[{up}] < 0"


def _after(r: Rig, form: str, world: Var) -> str:
    k = r.k
    if form == "wind":
        wind = r.given(("winds", "offsets"), ("wind", "offset"), r.vec, -0.5, 0.5, forms=PROPERTY)
        k.augment(world, "add", wind)
        return f" {told(wind)} is added."
    if form == "view":
        view = k.scalar(("view", "world_to_cam"), r.pose, -1.0, 1.0, init="unit")
        k.assign(world, fn("transform_point", view, world))
        return f" Then w goes through the transform {view.name}."
    level_ = r.given((), ("ground", "floor_z"), r.scalar, -0.6, -0.1, forms={"shared": 1})
    up = k.draw.shape.integer(0, 2)
    k.set(world, up, fn("max", world[up], level_))
    return f" w[{up}] is raised to {told(level_)} where it is lower."
