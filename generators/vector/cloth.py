"""Springs: ropes and cloths of points with springs to their neighbours, damped and stepped."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, sqrt
from generators.kit.masks import flag
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.outputs import deliver
from generators.kit.pieces import float_vec
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.program.dtypes import Scalar, Type, Vec
from generators.program.expr import Expr, Var, op

_SOURCES = {"each": 2, "first": 1, "shared": 3, "literal": 2}
_COMMON = {"shared": 3, "literal": 2}


def _spring(k: KernelBuilder, vec: Vec) -> tuple[Callable[..., Expr], str]:
    """The force of a spring on its first end, by one of the usual laws."""
    form = k.draw.shape.choice(("hooke", "strain", "soft", "energy"))

    def force(b: BodyBuilder, x: Expr, y: Expr, stiff: Expr, rest: Expr) -> Expr:
        edge = b.let("edge delta dx", y - x)
        if form == "energy":
            return stiff * (fn("length_sq", edge) - rest * rest) * edge
        if form == "soft":
            dist = b.let("dist len_soft", sqrt(dot(edge, edge) + 0.01))
        else:
            dist = b.let("dist cur_len", fn("length", edge))
        stretch = dist / rest - 1.0 if form == "strain" else dist - rest
        return stiff * stretch / dist * edge

    text = {
        "hooke": "{0} * (|e| - {1}) / |e| * e",
        "strain": "{0} * (|e| / {1} - 1) / |e| * e",
        "soft": "{0} * (d - {1}) / d * e, d = sqrt(|e|^2 + 0.01)",
        "energy": "{0} * (|e|^2 - {1}^2) * e",
    }
    return force, text[form]


def _damping(b: BodyBuilder, x: Expr, y: Expr, v: Expr, w: Expr, damp: Expr) -> Expr:
    axis = b.let("axis dir", fn("normalize", y - x))
    return damp * dot(w - v, axis) * axis


def _edges(k: KernelBuilder, level: int, site: Site, vec: Vec) -> str:
    """The force of one spring for each thread: its ends are given or looked up."""
    shape, scalar = k.draw.shape, vec.scalar
    stiff = given(site, "stiffness ks spring_k", scalar, 0.8, 5.0, forms=_SOURCES)
    rest = given(site, "rest_length l_rest", scalar, 0.6, 1.2, forms=_SOURCES)
    ends = [Part("head xa end_a", vec, -2.0, 2.0), Part("tail xb end_b", vec, -2.0, 2.0)]
    x, y = record(site, "Edge Spring Link", ends, 0.4)
    names = say(k, x), say(k, y)
    force, text = _spring(k, vec)
    kinds: list[tuple[str, Type]] = [("x", vec), ("y", vec), ("ks", scalar), ("rest", scalar)]
    pull = routine(k, BY_LEVEL[level], "spring_force edge_force", kinds, force)
    damped = level >= 2 and shape.chance(0.5)
    x, y = (k.let(n, e) for n, e in zip((("p", "pa"), ("q", "pb")), (x, y), strict=True))
    total = pull(x, y, stiff, rest)
    done = f"For the edge e = {names[1]} - {names[0]}, take "
    done += text.format(say(k, stiff), say(k, rest))
    if damped:
        speeds = [Part("speed_a va", vec, -1.0, 1.0), Part("speed_b vb", vec, -1.0, 1.0)]
        v, w = record(site, "Rates Velocities", speeds, 0.3)
        damp = given(site, "damping kd", scalar, 0.1, 0.9, forms=_SOURCES)
        done += f", plus {say(k, damp)} * dot({say(k, w)} - {say(k, v)}, u) * u with u = e / |e|"
        total = k.let("pulled f_spring", total) + _damping(k, x, y, v, w, damp)
    return done + "." + deliver(site, level, "forces pulls edge_forces", total)


_LINKS = {
    "structural": ((-1, 0), (1, 0), (0, -1), (0, 1)),
    "shear": ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    "ahead": ((0, 1), (1, 0)),
    "rope": ((-1,), (1,)),
    "bending": ((-1,), (1,), (-2,), (2,)),
}


def _beside(i: Expr, step: int) -> Expr:
    if step == 0:
        return i
    return i + step if step > 0 else i - -step


def _around(i: Expr, step: int, size: Expr) -> Expr:
    """The index of a neighbour on a ring; a size of 1 is a ring as well."""
    if step == 0:
        return i
    return (i + step) % size if step > 0 else (i + -step * (size - 1)) % size


def _inside(at: tuple[Var, ...], shift: tuple[int, ...], sizes: list[Expr]) -> Expr:
    """Whether the neighbour by ``shift`` exists."""
    tests: list[Expr] = []
    for i, step, size in zip(at, shift, sizes, strict=True):
        if step < 0:
            tests.append(i >= -step if step < -1 else i > 0)
        elif step > 0:
            tests.append(i < size - step)
    test = tests[0]
    for other in tests[1:]:
        test = op("and", test, other)
    return test


def _net(k: KernelBuilder, level: int, site: Site, vec: Vec) -> str:
    """Springs to the neighbours of a rope's or cloth's points, and a step."""
    shape, scalar = k.draw.shape, vec.scalar
    flat = site.form == "grid"
    kinds = ("structural", "ahead", "shear") if flat else ("rope", "bending")
    kind = shape.choice(kinds[: 2 if level == 3 and flat else None])
    links = _LINKS[kind]
    places = site.array("positions nodes cloth points", vec, -2.0, 2.0)
    stiff = given(site, "stiffness ks", scalar, 0.8, 4.0, forms=_COMMON)
    rest = given(site, "rest_length spacing", scalar, 0.5, 1.0, forms=_COMMON)
    sizes: list[Expr] = [
        k.size_param(n, d)
        for n, d in zip((("rows", "height"), ("cols", "width")), site.dims, strict=False)
    ]
    if not flat:
        sizes = sizes[:1]
    force, text = _spring(k, vec)
    params: list[tuple[str, Type]] = [("x", vec), ("y", vec), ("ks", scalar), ("rest", scalar)]
    pull = routine(k, 1.0, "spring_force link_force", params, force)
    x = k.let("x here p", places[site.at])
    down = k.draw.value.choice((9.81, 9.8, 1.0))
    start: Expr = zero(vec)
    weight = ""
    if shape.chance(0.5):
        start, weight = along(vec, 1, -down), f"({', '.join(map(str, _down(vec, down)))}) plus "
    total = k.let("total force f", start)
    wrapped = level >= 4 and "e|) /" not in text and "/ |e|" not in text and shape.chance(0.5)
    for shift in links:
        if wrapped:
            at = tuple(map(_around, site.at, shift, sizes))
            k.augment(total, "add", pull(x, places[at], stiff, rest))
        else:
            at = tuple(map(_beside, site.at, shift))
            with k.if_(_inside(site.at, shift, sizes)):
                k.augment(total, "add", pull(x, places[at], stiff, rest))
    done = f"Sum {weight}{text.format(say(k, stiff), say(k, rest))} over "
    done += f"e = x[neighbour] - x, x = {places.name}, the neighbours being at the offsets "
    done += f"{', '.join(map(str, links)) if flat else ', '.join(str(s[0]) for s in links)}"
    done += " (around the border)." if wrapped else " that lie inside."
    if level == 3:
        return done + deliver(site, level, "forces net_force", total)
    return done + _step(k, level, site, vec, x, total)


def _down(vec: Vec, down: float) -> list[float]:
    return [-down if c == 1 else 0.0 for c in range(vec.size)]


def _step(k: KernelBuilder, level: int, site: Site, vec: Vec, x: Var, total: Var) -> str:
    """What the force does within one time step."""
    shape, scalar = k.draw.shape, vec.scalar
    dt = given(site, "dt time_step h_step", scalar, 0.02, 0.1, shared=3, literal=1)
    dt = dt if isinstance(dt, Var) else k.let("dt h", dt)
    mass = given(site, "mass node_mass", scalar, 0.5, 2.0, forms=_SOURCES)
    damp = given(site, "damping air_drag", scalar, 0.1, 0.8, forms=_COMMON)
    name, h = say(k, mass), say(k, dt)
    if shape.chance(0.5):
        old = site.array("previous old_positions", vec, -2.0, 2.0)
        moved = k.let("moved drift", (1.0 - damp * dt) * (x - old[site.at]))
        x_new: Expr = x + moved + dt * dt / mass * total
        done = f" Verlet's step gives x' = x + (1 - {say(k, damp)} * {h}) * (x - {old.name}) + "
        done += f"{h}^2 / {name} * sum."
    else:
        v = k.let("v vel", given(site, "velocity", vec, -1.0, 1.0, each=1))
        speed = k.let("v_new v_next", v + dt * (total / mass - damp * v))
        x_new = x + dt * speed
        done = f" Euler's step gives v' = v + {h} * (sum / {name} - {say(k, damp)} * v) with v = "
        done += f"{say(k, v)}, and x' = x + {h} * v'."
        out = site.put("new_velocities vel_out", speed)
        done += f" {out.name} gets v'."
    if level >= 5:
        x_next = k.let("x_new x_next", x_new)
        done += _constrained(k, site, vec, x_next)
        x_new = x_next
    pinned, text = flag(k, site, "pinned fixed is_fixed")
    out = site.out("new_positions x_out next_nodes", vec)
    if shape.chance(0.5):
        k.store(out, site.at, fn("where", pinned, x, x_new))
    else:
        with k.if_(pinned):
            k.store(out, site.at, x)
        with k.else_():
            k.store(out, site.at, x_new)
    return done + f" {out.name} gets x where {text}, x' elsewhere."


def _constrained(k: KernelBuilder, site: Site, vec: Vec, x_new: Var) -> str:
    """Keep the new position out of a ball, or within a distance of an anchor."""
    scalar: Scalar = vec.scalar
    sources = {"shared": 3, "each": 1}
    inner = k.draw.shape.chance(0.5)
    names = ("ball_center", "obstacle") if inner else ("anchor", "hook")
    center = k.let("c mid", given(site, names, vec, -0.8, 0.8, forms=sources))
    radius = given(site, "radius reach", scalar, 1.2, 1.8, forms=_COMMON)
    away = k.let("away rel", x_new - center)
    dist = k.let("gap away_len", fn("length", away))
    with k.if_(dist < radius if inner else dist > radius):
        k.assign(x_new, center + radius / dist * away)
    side = "less" if inner else "more"
    ball = f"c = {say(k, center)}"
    return f" Where |x' - c| is {side} than r = {say(k, radius)}, {ball}, x' is put at distance r."


@idiom
def spring_network(k: KernelBuilder, level: int) -> Title:
    """Forces of springs, and steps of ropes and cloths."""
    forms = {"list": 3, "grid": 2} if level <= 2 else {"list": 2, "grid": 4}
    site = launch(k, forms)
    vec = float_vec(k, {3: 4, 2: 3})
    done = (_edges if level <= 2 else _net)(k, level, site, vec)
    names = ("spring_forces", "edge_forces") if level <= 2 else ("cloth_step", "step_springs")
    return Title(k.name(*names), done)
