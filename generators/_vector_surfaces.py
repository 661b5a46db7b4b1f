"""Directions at surfaces: projected, reflected, bounced, refracted or bent toward the normal."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.dtypes import Type
from generators.expr import Expr, Var
from generators.pieces import Pairwise, extra_output, fine, float_vec, helper, thread
from generators.registry import Title


def _tangent(k: KernelBuilder) -> tuple[Pairwise, str]:
    form = k.draw.shape.choice(("damped", "lifted", "partial"))
    if form == "damped":
        keep = fine(k, 0.3, 0.99)
        text = f"projected onto the plane of the normal and multiplied by {keep}"
        return lambda _, d, n: keep * (d - fn("dot", d, n) * n), text
    if form == "lifted":
        lift = fine(k, 0.02, 0.4)
        text = f"projected onto the plane of the normal n and moved by {lift} n"
        return lambda _, d, n: d - (fn("dot", d, n) - lift) * n, text
    share = fine(k, 0.5, 0.98)
    text = f"reduced by {share} times its projection on the normal"
    return lambda _, d, n: d - share * fn("dot", d, n) * n, text


def _mirror(k: KernelBuilder) -> tuple[Pairwise, str]:
    form = k.draw.shape.choice(("restitution", "dimmed", "faded"))
    if form == "restitution":
        factor = fine(k, 1.1, 1.95)
        text = f"mirrored incompletely at the normal n, to d - {factor} * dot(d, n) * n"
        return lambda _, d, n: d - factor * fn("dot", d, n) * n, text
    if form == "dimmed":
        gain = fine(k, 0.2, 0.99)
        text = f"reflected at the normal and multiplied by {gain}"
        return lambda _, d, n: gain * (d - 2.0 * fn("dot", d, n) * n), text
    fade = fine(k, 0.1, 0.6)

    def respond(body: BodyBuilder, d: Expr, n: Expr) -> Expr:
        along = body.let(("facing", "d_dot_n"), fn("dot", d, n))
        return (d - 2.0 * along * n) / (1.0 + fade * along * along)

    text = "reflected at the normal n and divided by 1 + "
    return respond, f"{text}{fade} * dot(d, n)^2 (d being the direction before)"


def _damped_bounce(k: KernelBuilder) -> tuple[Pairwise, str]:
    slip, bounce = fine(k, 0.5, 0.95), fine(k, 0.3, 0.9)

    def respond(body: BodyBuilder, d: Expr, n: Expr) -> Expr:
        across = body.let(("across", "v_normal"), fn("dot", d, n) * n)
        along = body.let(("along", "v_tangent"), d - across)
        return slip * along - bounce * across

    text = f"bounced: its part along the normal times -{bounce}, the rest times {slip}"
    return respond, text


def _bend(k: KernelBuilder) -> tuple[Pairwise, str]:
    eta = fine(k, 0.5, 0.9)
    dispersed = k.draw.shape.chance(0.4)
    gain = fine(k, 0.4, 0.98) if dispersed else 1.0

    def respond(body: BodyBuilder, d: Expr, n: Expr) -> Expr:
        ray = body.let(("ray", "unit_dir"), fn("normalize", d))
        cosine = body.let(("cosine", "cos_in"), -fn("dot", ray, n))
        inside = body.let(("k2", "cos2"), 1.0 - eta * eta * (1.0 - cosine * cosine))
        bent = eta * ray + (eta * cosine - fn("sqrt", inside)) * n
        return gain * bent if dispersed else bent

    text = f"normalised and refracted by Snell's law with index ratio {eta}"
    return respond, f"{text}, then multiplied by {gain}" if dispersed else text


def _tilt(k: KernelBuilder) -> tuple[Pairwise, str]:
    amount = fine(k, 0.1, 0.8)
    if k.draw.shape.chance(0.5):
        text = f"blended with the normal n as (1 - {amount}) * d + {amount} * n"
        return lambda _, d, n: fn("lerp", d, n, amount), text
    return lambda _, d, n: d + amount * n, f"increased by {amount} times the normal"


RESPONSES = {
    "slide": _tangent,
    "reflect": _mirror,
    "bounce": _damped_bounce,
    "refract": _bend,
    "tilt": _tilt,
}


def surface_response(k: KernelBuilder, level: int) -> Title:
    """Directions projected onto, reflected by or refracted at surfaces with unit normals."""
    shape = k.draw.shape
    vec = float_vec(k, {3: 6, 2: 3, 4: 1})
    n = k.size("n", 48, 72)
    form = shape.choice(sorted(RESPONSES))
    incoming = k.array(("incoming", "rays", "directions"), vec, n, low=-1.5, high=1.5)
    several = level >= 3 and form != "refract" and shape.chance(0.6)
    planes = k.size("m", 3, 6) if several else n
    normals = k.array(("normals", "surface_normals"), vec, planes, init="unit")
    out = k.out(("outgoing", "responses", "result"), vec, n)
    i = thread(k, n, "i", "tid")
    d = k.let(("d", "direction", "ray_dir"), incoming[i])
    respond, text = RESPONSES[form](k)
    called = ""
    if level >= 2 and shape.chance(0.5):
        kinds: list[tuple[str, Type]] = [("v", vec), ("nrm", vec)]
        called = helper(k, (form, f"{form}_at", f"{form}_off"), kinds, respond)

    def apply(at: Var, only_inward: bool) -> None:
        normal = k.let(("normal", "nrm"), normals[at])
        if only_inward:
            with k.if_(fn("dot", d, normal) < 0.0):
                k.assign(d, k.call(called, d, normal) if called else respond(k, d, normal))
        else:
            k.assign(d, k.call(called, d, normal) if called else respond(k, d, normal))

    inward = several or level >= 4 or (level >= 2 and form in ("slide", "bounce"))
    if several:
        count = k.trip_count(("plane_count", "num_planes", "walls"), planes)
        with k.for_(("w", "plane", "j"), count) as w:
            apply(w, inward)
    else:
        apply(i, inward)
    k.store(out, i, d)
    done = f"Each direction d is {text}."
    if inward:
        each = "For each plane in turn, where" if several else "Where"
        done = f"{each} the direction d has a negative dot product with the normal, it is {text}."
    if level >= 3:
        other = k.scalar(("light", "view", "heading"), vec, -1.0, 1.0)
        outs, facing = ("intensities", "alignment", "shade"), fn("dot", d, other)
        what = f"the dot product of the result with {other.name}"
        done += extra_output(k, level - 1, outs, (n, i), facing, what, 1.0)
    return Title(k.name(f"{form}_directions", f"{form}_rays", f"{form}_at_surface"), done)
