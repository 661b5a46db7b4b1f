"""Instances of a shape, seen: normals, light, and which points count."""

from __future__ import annotations

from generators.build import fn
from generators.program.dtypes import BOOL, INT32
from generators.program.expr import Expr, Var
from generators.vector.rigid.instance import Instance
from generators.vector.rigid.parts import SETTING, Rig, is_set, mask, told


def oriented(r: Rig, level: int, instance: Instance) -> str:
    """Normals turn with the instance, divided by its scale along each axis; and light on them."""
    k, shape = r.k, r.k.draw.shape
    if level == 3 and shape.chance(0.4):
        return ""
    one = len(r.dims) == 1
    normals = r.given(("normals",), (), r.vec, init="unit",
                      forms={"each": 1} if one else {"last": 1})  # fmt: skip
    n: Expr = normals
    text = told(normals)
    if instance.scaling == "three":
        assert instance.scale is not None
        n = k.let(("stretched", "unscaled"), fn("normalize", fn("cw_div", n, instance.scale)))
        text = f"normalize({text} / scale, by components)"
    turned = k.let(("n", "normal"), fn("quat_rotate", instance.rotation, n))
    done = f" n is {text}, rotated by the instance."
    if level == 3 or shape.chance(0.5):
        done += f" {r.store(('world_normals', 'normals_out'), turned).name} gets n."
        if level < 5:
            return done
    return done + _lit(r, turned)


def _lit(r: Rig, n: Var) -> str:
    """Light from one direction, and the colour of the instance."""
    k, shape = r.k, r.k.draw.shape
    light = k.scalar(("light", "sun"), r.vec, init="unit")
    ambient = r.given((), ("ambient", "base_light"), r.scalar, 0.1, 0.4, forms=SETTING)
    form = shape.choice(("lambert", "half", "two_sided"))
    facing = fn("dot", n, light)
    if form == "lambert":
        facing, text = fn("max", facing, 0.0), f"max(dot(n, {light.name}), 0)"
    elif form == "half":
        facing, text = 0.5 * facing + 0.5, f"(0.5 * dot(n, {light.name}) + 0.5)"
    else:
        facing, text = fn("abs", facing), f"|dot(n, {light.name})|"
    shade = k.let(("shade", "diffuse", "lit"), ambient + (1.0 - ambient) * facing)
    text = f"{told(ambient)} + (1 - {told(ambient)}) * {text}"
    if shape.chance(0.7):
        tint = r.given(("tints", "colors"), ("tint", "color"), r.vec, 0.1, 1.0,
                       forms={"first": 3, "shared": 1})  # fmt: skip
        out = r.store(("shaded", "rgb", "vertex_colors"), shade * tint)
        return f" {out.name} gets {told(tint)} * ({text})."
    return f" {r.store(('shades', 'brightness'), shade).name} gets {text}."


def culled(r: Rig, level: int, world: Var) -> str:
    """Which points lie within a radius, or before a plane."""
    k, shape = r.k, r.k.draw.shape
    inside: Expr
    near = shape.chance(0.5)
    if near:
        eye = r.given((), ("eye", "camera", "center"), r.vec, -1.0, 1.0, forms={"shared": 1})
        reach = r.given(("ranges",), ("reach", "max_dist"), r.scalar, 2.2, 3.0, forms={"fixed": 1})
        inside = fn("length", world - eye) < reach
        text = f"|w - {told(eye)}| < {told(reach)}"
    else:
        normal = r.given((), ("plane_n", "clip_n"), r.vec, init="unit", forms=SETTING)
        inside = fn("dot", normal, world) > 0.0
        text = f"dot({told(normal)}, w) > 0"
    if level >= 5 and not near and shape.chance(0.6):
        shown = mask(r, ("visible", "enabled"), ("visible",))
        inside, text = fn("and", shown, inside), f"{is_set(shown)} and {text}"
    if shape.chance(0.5):
        out = r.store(("kept", "inside", "flags"), inside)
        assert out.type.element == BOOL  # type: ignore[union-attr]
        return f" {out.name} gets whether {text}."
    one, nought = k.lift(1, INT32), k.lift(0, INT32)
    out = r.store(("codes", "marks", "flags"), fn("where", inside, one, nought))
    return f" {out.name} gets 1 where {text}, else 0."
