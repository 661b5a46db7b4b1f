"""Vectors: particles, rays, rotations, neighbourhoods, grid cells and feature vectors."""

from __future__ import annotations

from generators._vector_pairs import MEASURES, PAIR_TERMS, RESPONSES, ROTATIONS, balls, sphere_hit
from generators._vector_parts import Motion, constant, extra_output, helper, sub_stepped, zero
from generators.build import KernelBuilder, cast, field, fn, make
from generators.dtypes import INT32, Scalar, Vec
from generators.expr import Expr, Var, op
from generators.ir import FieldInit
from generators.registry import Category, Title

CATEGORY = Category("vector", "vectors, rotations and structs: particles, rays, geometry")

_STEP_NAMES = ("integrate_particles", "euler_step", "advance_particles", "move_particles")


def _vec(k: KernelBuilder, sizes: dict[int, int]) -> Vec:
    return Vec(k.draw.shape.weighted(sizes), k.draw.wide_float_type())


def _thread(k: KernelBuilder, n: str, *names: str) -> Var:
    (thread,) = k.thread(n, names=(k.name(*names),))
    return thread


@CATEGORY.idiom
def particle_step(k: KernelBuilder, level: int) -> Title:
    """Semi-implicit Euler for positions and velocities, with drag, springs, limits and walls."""
    vec = _vec(k, {3: 3, 2: 2})
    n = k.size("n", 48, 96)
    xs = k.array(("positions", "pos", "points"), vec, n, low=-2.0, high=2.0)
    vs = k.array(("velocities", "vel", "speeds"), vec, n, low=-2.0, high=2.0)
    source = k.draw.shape.choice(("gravity", "force", "force over mass"))
    if source == "gravity":
        push = k.scalar(("gravity", "g", "wind"), vec, -3.0, 3.0)
    else:
        push = k.array(("forces", "loads"), vec, n, low=-3.0, high=3.0)
    masses = push
    if source == "force over mass":
        masses = k.array(("masses", "mass"), vec.scalar, n, low=0.5, high=2.0)
    dt = k.scalar(("dt", "time_step", "h"), vec.scalar, 0.05, 0.2)
    x_out = k.out(("new_positions", "pos_out", "x_next"), vec, n)
    v_out = k.out(("new_velocities", "vel_out", "v_next"), vec, n)
    i = _thread(k, n, "i", "tid", "p")
    x, v = k.let(("x", "xi", "here"), xs[i]), k.let(("v", "vi", "velocity"), vs[i])
    acceleration: Expr = push if source == "gravity" else push[i]
    if source == "force over mass":
        acceleration = acceleration / masses[i]
    done = sub_stepped(k, level, Motion(x, v, dt), acceleration)
    done += f". The acceleration is {push.name}{f' / {masses.name}' if masses is not push else ''}."
    k.store(x_out, i, x)
    k.store(v_out, i, v)
    if level >= 3 and k.draw.shape.chance(0.7):
        names = ("energies", "kinetic", "energy_out")
        energy = 0.5 * fn("dot", v, v)
        done += extra_output(k, level - 1, names, (n, i), energy, "half the new squared speed")
    return Title(k.name(*_STEP_NAMES), done)


@CATEGORY.idiom
def particle_structs(k: KernelBuilder, level: int) -> Title:
    """The same for an array of structs, which the kernel reads and writes whole."""
    vec = _vec(k, {3: 3, 2: 1})
    n = k.size("n", 48, 96)
    names = k.draw.word.choice((("position", "velocity", "mass"), ("pos", "vel", "mass")))
    types = (vec, vec, vec.scalar)
    struct = k.struct(k.name("Particle", "Body", "Droplet"), *zip(names, types, strict=True))
    ranges = (("-2.0", "2.0"), ("-2.0", "2.0"), ("0.5", "2.0"))
    fields = [
        FieldInit(name, type_, "uniform", *bounds)
        for name, type_, bounds in zip(names, types, ranges, strict=True)
    ]
    bodies = k.array(("particles", "bodies", "state"), struct, n, fields=fields)
    forces = k.array(("forces", "loads", "pushes"), vec, n, low=-3.0, high=3.0)
    dt = k.scalar(("dt", "time_step", "h"), vec.scalar, 0.05, 0.2)
    moved = k.out(("moved", "next_state", "advanced"), struct, n)
    i = _thread(k, n, "i", "tid", "p")
    body = k.let(("body", "particle", "item"), bodies[i])
    x = k.let(("x", "here", "place"), field(body, names[0]))
    v = k.let(("v", "vi", "u"), field(body, names[1]))
    acceleration: Expr = forces[i] / field(body, "mass")
    if level >= 3 and k.draw.shape.chance(0.5):
        push = helper(
            k,
            ("acceleration_of", "response_to"),
            (("particle", struct), ("force", vec)),
            lambda _, particle, force: force / field(particle, "mass"),
        )
        acceleration = k.call(push, body, forces[i])
    done = sub_stepped(k, level, Motion(x, v, dt), acceleration)
    done += ". The acceleration is force over mass; masses are copied."
    if k.draw.shape.chance(0.5):
        k.store(moved, i, make(struct, x, v, field(body, "mass")))
    else:
        k.set_field(body, names[0], x)
        k.set_field(body, names[1], v)
        k.store(moved, i, body)
    if level >= 4:
        momentum = field(body, "mass") * fn("length", v)
        outs = ("momenta", "momentum_out", "momentum_norms")
        done += extra_output(k, level - 2, outs, (n, i), momentum, "mass times the new speed")
    return Title(k.name(*_STEP_NAMES, "step_bodies"), done)


@CATEGORY.idiom
def surface_response(k: KernelBuilder, level: int) -> Title:
    """Directions projected onto, reflected by or refracted at surfaces with unit normals."""
    shape = k.draw.shape
    vec = _vec(k, {3: 6, 2: 3, 4: 1})
    n = k.size("n", 48, 96)
    form = shape.choice(sorted(RESPONSES))
    incoming = k.array(("incoming", "rays", "directions"), vec, n, low=-1.5, high=1.5)
    several = level >= 3 and form != "refract" and shape.chance(0.6)
    planes = k.size("m", 3, 6) if several else n
    normals = k.array(("normals", "surface_normals"), vec, planes, init="unit")
    out = k.out(("outgoing", "responses", "result"), vec, n)
    count = k.size_param(("plane_count", "num_planes", "walls"), planes) if several else None
    i = _thread(k, n, "i", "tid")
    d = k.let(("d", "direction", "ray_dir"), incoming[i])
    respond, text = RESPONSES[form](k)
    name = ""
    if level >= 2 and shape.chance(0.5):
        name = helper(k, (form, f"{form}_at", f"{form}_off"), (("v", vec), ("nrm", vec)), respond)

    def apply(normal: Expr) -> None:
        k.assign(d, k.call(name, d, normal) if name else respond(k, d, normal))

    done = f"Each direction is {text}"
    if count is not None:
        with k.for_(("w", "plane", "j"), count) as w:
            normal = k.let(("normal", "nrm"), normals[w])
            with k.if_(fn("dot", d, normal) < 0.0):
                apply(normal)
        done = f"For every plane in turn that it points into (negative dot product), {done.lower()}"
    elif level >= 2 and form in ("slide", "bounce") or level >= 4:
        normal = k.let(("normal", "nrm"), normals[i])
        with k.if_(fn("dot", d, normal) < 0.0):
            apply(normal)
        done += ", where it points into the surface (negative dot product)"
    else:
        normal = k.let(("normal", "nrm"), normals[i])
        apply(normal)
    k.store(out, i, d)
    done += "."
    if level >= 3:
        other = k.scalar(("light", "view", "heading"), vec, -1.0, 1.0)
        outs = ("intensities", "alignment", "shade")
        facing = fn("dot", d, other)
        what = f"the dot product of the result with {other.name}"
        done += extra_output(k, level - 1, outs, (n, i), facing, what)
    return Title(k.name(f"{form}_directions", f"{form}_rays", f"{form}_at_surface"), done)


@CATEGORY.idiom
def ray_sphere(k: KernelBuilder, level: int) -> Title:
    """Distance along rays to one sphere, or to the nearest of several."""
    vec = _vec(k, {3: 4, 2: 1})
    ball = "sphere" if vec.size == 3 else "circle"
    n = k.size("n", 64, 96)
    origins = k.array(("origins", "ray_origins", "starts"), vec, n, low=-2.0, high=2.0)
    dirs = k.array(("directions", "ray_dirs", "dirs"), vec, n, init="unit")
    several = level >= 4 or (level == 3 and k.draw.shape.chance(0.4))
    source = balls(k, vec, ball, several, level >= 2 and k.draw.shape.chance(0.5))
    i = _thread(k, n, "i", "tid", "r")
    o, d = k.let(("o", "origin", "start"), origins[i]), k.let(("d", "ray", "u"), dirs[i])
    hit = ""
    if level >= 2 and k.draw.shape.chance(0.5):
        kinds = [("origin", vec), ("direction", vec), ("center", vec), ("radius", vec.scalar)]
        doc = f"Distance along the ray to the {ball}, negative for a miss."
        names = (f"intersect_{ball}", f"hit_{ball}", f"ray_{ball}")
        hit = helper(k, names, kinds, sphere_hit, doc)

    def distance(s: Expr | None) -> Var:
        if not hit:
            return sphere_hit(k, o, d, *source(s))
        return k.let(("t", "t_first", "dist"), k.call(hit, o, d, *source(s)))

    if several:
        far = k.draw.value.choice((10.0, 20.0, 50.0))
        count = k.size_param((f"{ball}_count", f"num_{ball}s"), "m")
        t = k.let(("nearest", "best", "t_min"), k.lift(far, vec.scalar))
        with k.for_(("s", "j", "b"), count) as s:
            found = distance(s)
            with k.if_(op("and", found > 0.0, found < t)):
                k.assign(t, found)
        done = f"Distance along each ray to the nearest {ball} ahead of it, {far} if there is none."
    else:
        t = distance(None)
        done = (
            f"Distance along each ray to the {ball}: the near intersection, or the far one where "
            "the near one is negative; -1 where the line misses."
        )
    k.store(k.out(("distances", "hits", "t_hit"), vec.scalar, n), i, t)
    if level >= 2 and k.draw.shape.chance(0.6):
        points = k.out(("hit_points", "contacts", "landing"), vec, n)
        with k.if_(t > (0.0 if not several else 1.0)):
            k.store(points, i, o + t * d)
        with k.else_():
            k.store(points, i, o)
        done += f" {points.name} is the point at a distance beyond {1 if several else 0}, "
        done += "otherwise the origin."
    if level >= 3:
        other = k.scalar(("light", "view", "up"), vec, -1.0, 1.0)
        outs = ("shading", "brightness", "glow")
        value = fn("dot", d, other) / (1.0 + t * t)
        what = f"dot(direction, {other.name}) / (1 + distance^2)"
        done += extra_output(k, level - 1, outs, (n, i), value, what, 0.5)
    names = (f"ray_{ball}_distance", f"trace_{ball}s", f"cast_rays_at_{ball}")
    return Title(k.name(*names), done)


@CATEGORY.idiom
def rigid_motion(k: KernelBuilder, level: int) -> Title:
    """Rotate and move points by quaternions, transforms, an axis and angle, or in the plane."""
    shape = k.draw.shape
    scalar = k.draw.wide_float_type()
    n = k.size("n", 48, 96)
    form = shape.choice(sorted(ROTATIONS))
    vec = Vec(2 if form == "plane" else 3, scalar)
    points = k.array(("points", "positions", "vertices"), vec, n, low=-2.0, high=2.0)
    move, text = ROTATIONS[form](k, n, scalar)
    out = k.out(("moved", "rotated", "points_out"), vec, n)
    i = _thread(k, n, "i", "tid", "v")
    p = k.let(("p", "point", "x"), points[i])
    turn = move(i)
    done = f"Each point is {text}"
    pivot = k.scalar(("pivot", "center", "origin"), vec, -1.0, 1.0) if level >= 2 else None
    if pivot is not None:
        k.assign(p, p - pivot)
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
        k.assign(p, p + pivot)
        done += f" {pivot.name} is added back in the end."
    k.store(out, i, p)
    return Title(k.name("rotate_points", "move_points", "apply_motion", f"{form}_motion"), done)


@CATEGORY.idiom
def neighbour_forces(k: KernelBuilder, level: int) -> Title:
    """Sum over the listed neighbours of each point: springs, repulsion, smoothing."""
    shape = k.draw.shape
    vec = _vec(k, {3: 3, 2: 2})
    n, degree = k.size("n", 48, 96), k.size("k", 3, 6)
    form = shape.choice(sorted(PAIR_TERMS))
    points = k.array(("positions", "points", "nodes"), vec, n, low=-1.0, high=1.0)
    links = k.array(("neighbors", "links", "adjacency"), INT32, (n, degree), init="index_of:n")
    term, text = PAIR_TERMS[form](k)
    weighted = level >= 2 and shape.chance(0.5)
    weights = links
    if weighted:
        weights = k.array(("weights", "strengths"), vec.scalar, (n, degree), low=0.3, high=1.5)
    out = k.out(("forces", "pulls", "result"), vec, n)
    count = k.size_param(("degree", "neighbor_count", "num_links"), degree)
    i = _thread(k, n, "i", "tid", "node")
    xi = k.let(("xi", "here", "p"), points[i])
    total = k.let(("total", "force", "acc"), zero(vec))
    used = k.let(("used", "near", "hits"), zero(vec.scalar)) if level >= 3 else None
    name = ""
    if level >= 2 and shape.chance(0.5):
        kinds = (("a", vec), ("b", vec))
        name = helper(k, (f"{form}_term", f"pair_{form}", f"{form}_between"), kinds, term)
    with k.for_(("s", "slot", "a"), count) as s:
        j = k.let(("j", "other", "nb"), links[i, s])
        if level >= 4 and shape.chance(0.6):
            with k.if_(fn("eq", j, i)):
                k.continue_()
            text += ", skipping the point itself"
        xj = k.let(("xj", "there", "q"), points[j])
        value = k.call(name, xi, xj) if name else term(k, xi, xj)
        if weighted:
            value = weights[i, s] * value
            text += f", times its entry of {weights.name}"
        if used is None:
            k.augment(total, "add", value)
        else:
            radius = constant(k, 0.8, 1.4)
            with k.if_(fn("length_sq", xj - xi) < radius * radius):
                k.augment(total, "add", value)
                k.augment(used, "add", 1.0)
            text += f", for neighbours within {radius}"
    done = f"Sum over the neighbours j listed for each point i of {text}."
    if used is not None:
        k.assign(total, total / (1.0 + used))
        done += " The sum is divided by one plus the number of neighbours in it."
    k.store(out, i, total)
    if level >= 3:
        work = fn("dot", total, xi)
        outs = ("power", "virial", "alignment")
        what = "the dot product of the result and the point"
        done += extra_output(k, level - 1, outs, (n, i), work, what, 0.5)
    return Title(k.name(f"{form}_sum", f"neighbor_{form}", f"gather_{form}"), done)


@CATEGORY.idiom
def compare_features(k: KernelBuilder, level: int) -> Title:
    """How alike two feature vectors are, or which of several prototypes is the closest."""
    shape = k.draw.shape
    whole = shape.chance(0.3)
    scalar = shape.weighted({INT32: 3, Scalar("int64"): 1}) if whole else k.draw.float_type()
    vec = Vec(shape.weighted({2: 2, 3: 4, 4: 4, 5: 2, 6: 1, 8: 1}), scalar)
    low, high = (-9, 9) if whole else (-1.0, 1.0)
    n = k.size("n", 48, 96)
    searching = level >= 3
    form = shape.choice([f for f in sorted(MEASURES) if not whole or f != "cosine"])
    left = k.array(("features", "queries", "samples"), vec, n, low=low, high=high)
    rows = k.size("m", 3, 7) if searching else n
    right = k.array(("prototypes", "centers", "codebook"), vec, rows, low=low, high=high)
    measure, text = MEASURES[form]
    i = _thread(k, n, "i", "tid", "q")
    a = k.let(("a", "feature", "query"), left[i])
    done = f"{text} of {left.name} and {right.name}"
    if level >= 2:
        scales = k.scalar(("scales", "emphasis", "weights"), vec, 1 if whole else 0.5, 3)
        k.assign(a, fn("cw_mul", scales, a))
        done += f", {left.name} being multiplied by {scales.name} first"
    name = ""
    if level >= 2 and shape.chance(0.5):
        kinds = (("u", vec), ("w", vec))
        name = helper(k, (form, f"{form}_score", f"{form}_of"), kinds, measure)

    def score(b: Expr) -> Var:
        value = k.call(name, a, b) if name else measure(k, a, b)
        return value if isinstance(value, Var) else k.let(("score", "s", "d"), value)

    outs = ("scores", "similarity", "best_scores")
    if not searching:
        value = score(right[i])
        k.store(k.out(outs, scalar, n), i, value)
        return Title(k.name(f"{form}_of_pairs", f"compare_{form}", f"{form}_rows"), f"{done}.")
    count = k.size_param(("num_prototypes", "prototype_count", "m"), rows)
    best = k.let(("best", "closest"), score(right[0]))
    winner = k.let(("winner", "label", "best_index"), k.lift(0, INT32))
    with k.for_(("c", "j", "candidate"), count, start=1) as c:
        value = score(right[c])
        with k.if_(value > best if form in ("dot", "cosine") else value < best):
            k.assign(best, value)
            k.assign(winner, c)
    labels = k.out(("labels", "assignment", "winners"), INT32, n)
    k.store(labels, i, winner)
    k.store(k.out(outs, scalar, n), i, best)
    side = "largest" if form in ("dot", "cosine") else "smallest"
    done = f"For each of {left.name}, find the {side} {done[0].lower()}{done[1:]}, and its index."
    if level >= 4:
        float_best = cast(best, Scalar("float32")) if whole else best
        value = float_best / (4.0 + fn("abs", float_best))
        what = "score / (4 + abs(score))"
        done += extra_output(k, level - 1, ("confidence", "rating"), (n, i), value, what, 0.5)
    return Title(k.name(f"nearest_by_{form}", f"best_{form}", "assign_prototypes"), done)
