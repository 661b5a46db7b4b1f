"""Vectors: particles, rays, rotations, neighbourhoods and feature vectors."""

from __future__ import annotations

from generators._vector_features import compare_features
from generators._vector_pairs import PAIR_TERMS, RESPONSES, ROTATIONS, balls, sphere_hit
from generators._vector_particles import particle_step, particle_structs
from generators._vector_parts import constant, extra_output, float_vec, helper, thread, zero
from generators.build import KernelBuilder, fn
from generators.dtypes import INT32, Type, Vec
from generators.expr import Expr, Var, op
from generators.registry import Category, Title

CATEGORY = Category("vector", "vectors, rotations and structs: particles, rays, geometry")


@CATEGORY.idiom
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
        count = k.size_param(("plane_count", "num_planes", "walls"), planes)
        with k.for_(("w", "plane", "j"), count) as w:
            apply(w, inward)
    else:
        apply(i, inward)
    k.store(out, i, d)
    done = f"Each direction is {text}."
    if inward:
        each = "For each plane in turn, where" if several else "Where"
        done = f"{each} the direction's dot product with the normal is negative, it is {text}."
    if level >= 3:
        other = k.scalar(("light", "view", "heading"), vec, -1.0, 1.0)
        outs, facing = ("intensities", "alignment", "shade"), fn("dot", d, other)
        what = f"the dot product of the result with {other.name}"
        done += extra_output(k, level - 1, outs, (n, i), facing, what)
    return Title(k.name(f"{form}_directions", f"{form}_rays", f"{form}_at_surface"), done)


@CATEGORY.idiom
def ray_sphere(k: KernelBuilder, level: int) -> Title:
    """Distance along rays to one sphere, or to the nearest of several."""
    shape = k.draw.shape
    vec = float_vec(k, {3: 4, 2: 1})
    ball = "sphere" if vec.size == 3 else "circle"
    n = k.size("n", 64, 80)
    origins = k.array(("origins", "ray_origins", "starts"), vec, n, low=-2.0, high=2.0)
    dirs = k.array(("directions", "ray_dirs", "dirs"), vec, n, init="unit")
    several = level >= 4 or (level == 3 and shape.chance(0.4))
    source = balls(k, vec, ball, several, level >= 2 and shape.chance(0.5))
    i = thread(k, n, "i", "tid", "r")
    o, d = k.let(("o", "origin", "start"), origins[i]), k.let(("d", "ray", "u"), dirs[i])
    called = ""
    if level >= 2 and shape.chance(0.5):
        kinds: list[tuple[str, Type]] = [("origin", vec), ("direction", vec), ("center", vec)]
        kinds.append(("radius", vec.scalar))
        doc = f"Distance along the ray to the {ball}, negative for a miss."
        names = (f"intersect_{ball}", f"hit_{ball}", f"ray_{ball}")
        called = helper(k, names, kinds, sphere_hit, doc)

    def distance(s: Expr | None) -> Var:
        if not called:
            return sphere_hit(k, o, d, *source(s))
        return k.let(("t", "t_first", "dist"), k.call(called, o, d, *source(s)))

    done = (
        f"Distance along each ray to the {ball}: the near intersection, or the far one where "
        "the near one is negative; -1 where the line misses."
    )
    far = k.draw.value.choice((5.0, 10.0, 20.0))
    if several:
        count = k.size_param((f"{ball}_count", f"num_{ball}s"), "m")
        t = k.let(("nearest", "best", "t_min"), k.lift(far, vec.scalar))
        with k.for_(("s", "j", "b"), count) as s:
            found = distance(s)
            with k.if_(op("and", found > 0.0, found < t)):
                k.assign(t, found)
        done = f"Distance along each ray to the nearest {ball} surface ahead; {far} if none is."
    else:
        t = distance(None)
    k.store(k.out(("distances", "hits", "t_hit"), vec.scalar, n), i, t)
    if level >= 2 and shape.chance(0.6):
        done += _hit_points(k, (n, i), o + t * d, o, t < far if several else t > 0.0)
    if level >= 3:
        other = k.scalar(("light", "view", "up"), vec, -1.0, 1.0)
        outs, value = ("shading", "brightness", "glow"), fn("dot", d, other) / (1.0 + t * t)
        what = f"dot(direction, {other.name}) / (1 + distance^2)"
        done += extra_output(k, level - 1, outs, (n, i), value, what, 0.5)
    names = (f"ray_{ball}_distance", f"trace_{ball}s", f"cast_rays_at_{ball}")
    return Title(k.name(*names), done)


def _hit_points(
    k: KernelBuilder, place: tuple[str, Var], point: Expr, origin: Expr, hit: Expr
) -> str:
    """The point that each ray hits, as one more output."""
    points = k.out(("hit_points", "contacts", "landing"), point.type, place[0])
    with k.if_(hit):
        k.store(points, place[1], point)
    with k.else_():
        k.store(points, place[1], origin)
    return f" {points.name} gets the point hit, or the ray's origin."


@CATEGORY.idiom
def rigid_motion(k: KernelBuilder, level: int) -> Title:
    """Rotate and move points by quaternions, transforms, an axis and angle, or in the plane."""
    shape = k.draw.shape
    scalar = k.draw.wide_float_type()
    n = k.size("n", 48, 72)
    form = shape.choice(sorted(ROTATIONS))
    vec = Vec(2 if form == "plane" else 3, scalar)
    points = k.array(("points", "positions", "vertices"), vec, n, low=-2.0, high=2.0)
    move, text = ROTATIONS[form](k, n, scalar)
    out = k.out(("moved", "rotated", "points_out"), vec, n)
    i = thread(k, n, "i", "tid", "v")
    p = k.let(("p", "point", "x"), points[i])
    turn = move(i)
    done = f"Each point is {text}"
    pivot = k.scalar(("pivot", "center", "origin"), vec, -1.0, 1.0) if level >= 2 else None
    if pivot is not None:
        k.augment(p, "sub", pivot)
        done = f"Relative to {pivot.name}, {done.lower()}"
    if level >= 3 and shape.chance(0.6):
        stretch = k.scalar(("stretch", "scaling", "sizes"), vec, 0.5, 1.5)
        k.assign(p, fn("cw_mul", stretch, p))
        done += f" after scaling by {stretch.name} along each axis"
    if level >= 4 or (level == 3 and shape.chance(0.5)):
        turns = k.draw.value.integer(2, 4)
        path = k.let(("path", "travelled", "arc"), zero(scalar))
        with k.for_(("turn", "step", "r"), turns):
            q = k.let(("q", "next_point", "moved_point"), turn(p))
            k.augment(path, "add", fn("length", q - p))
            k.assign(p, q)
        done += f", {turns} times in a row."
        outs = ("path_lengths", "arc_out", "travel")
        what = "the summed length of these moves"
        done += extra_output(k, level - 2, outs, (n, i), path, what, 4.0)
    else:
        k.assign(p, turn(p))
        done += "."
    if level >= 4 and shape.chance(0.6):
        with k.if_(p[1] < 0.0):
            k.set(p, 1, -p[1])
        done += " A negative y is mirrored."
    if pivot is not None:
        k.augment(p, "add", pivot)
        done += f" {pivot.name} is added back in the end."
    k.store(out, i, p)
    return Title(k.name("rotate_points", "move_points", "apply_motion", f"{form}_motion"), done)


@CATEGORY.idiom
def neighbour_forces(k: KernelBuilder, level: int) -> Title:
    """Sum over the listed neighbours of each point: springs, repulsion, smoothing."""
    shape = k.draw.shape
    vec = float_vec(k, {3: 3, 2: 2})
    n, degree = k.size("n", 48, 72), k.size("k", 3, 6)
    form = shape.choice(sorted(PAIR_TERMS))
    points = k.array(("positions", "points", "nodes"), vec, n, low=-1.0, high=1.0)
    links = k.array(("neighbors", "links", "adjacency"), INT32, (n, degree), init="index_of:n")
    term, text = PAIR_TERMS[form](k)
    weights = None
    if level >= 2 and shape.chance(0.5):
        weights = k.array(("weights", "strengths"), vec.scalar, (n, degree), low=0.3, high=1.5)
        text = f"the link's entry of {weights.name} times {text}"
    out = k.out(("forces", "pulls", "result"), vec, n)
    count = k.size_param(("degree", "neighbor_count", "num_links"), degree)
    i = thread(k, n, "i", "tid", "node")
    xi = k.let(("xi", "here", "p"), points[i])
    total = k.let(("total", "force", "acc"), zero(vec))
    used = k.let(("used", "near", "hits"), zero(vec.scalar)) if level >= 3 else None
    called = ""
    if level >= 3 or (level == 2 and shape.chance(0.5)):
        kinds: list[tuple[str, Type]] = [("a", vec), ("b", vec)]
        called = helper(k, (f"{form}_term", f"pair_{form}", f"{form}_between"), kinds, term)
    with k.for_(("s", "slot", "e"), count) as s:
        j = k.let(("j", "other", "nb"), links[i, s])
        if level >= 4 and shape.chance(0.5):
            with k.if_(fn("eq", j, i)):
                k.continue_()
            text += ", skipping j = i"
        xj = k.let(("xj", "there", "q"), points[j])
        value: Expr = k.call(called, xi, xj) if called else term(k, xi, xj)
        if weights is not None:
            value = weights[i, s] * value
        if used is None:
            k.augment(total, "add", value)
        else:
            reach = constant(k, 0.7, 1.6)
            with k.if_(fn("length_sq", xj - xi) < reach):
                k.augment(total, "add", value)
                k.augment(used, "add", 1.0)
            text += f", where |xj - xi|^2 < {reach}"
    done = f"Sum over the neighbours j listed for each point i of {text}."
    if used is not None:
        k.augment(total, "div", 1.0 + used)
        done += " The sum is divided by one plus the number of its terms."
    k.store(out, i, total)
    if level >= 3:
        work, what = fn("dot", total, xi), "the dot product of the result and the point"
        done += extra_output(
            k, level - 1, ("power", "virial", "alignment"), (n, i), work, what, 0.5
        )
    return Title(k.name(f"{form}_sum", f"neighbor_{form}", f"gather_{form}"), done)


for _idiom in (particle_step, particle_structs, compare_features):
    CATEGORY.idiom(_idiom)
