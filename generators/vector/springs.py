"""Forces between points: springs of ropes and cloths, and sums over listed neighbours."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from functools import partial, reduce

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, exp, most, sqrt
from generators.kit.masks import flag
from generators.kit.naming import BY_LEVEL, local, routine
from generators.kit.outputs import choose, deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.program.dtypes import INT32, Vec, scalar_of
from generators.program.expr import Expr, Var, op
from generators.vector.shelf import VectorShelf

_SOURCES = {"each": 2, "shared": 3}
_COMMON = {"shared": 3}

_LAWS = VectorShelf(scalars="ks rest")
"""The force of a spring on its first end, by one of the usual laws for the edge e to the other."""

_LAWS.add("energy", "pull", lambda e, ks, rest: ks * (fn("length_sq", e) - rest * rest) * e)


@_LAWS.formula("pull")
def hooke(body: BodyBuilder, e: Expr, ks: Expr, rest: Expr) -> Expr:
    dist = body.let("dist cur_len", fn("length", e))
    return ks * (dist - rest) * fn("normalize", e)


@_LAWS.formula("pull")
def strain(body: BodyBuilder, e: Expr, ks: Expr, rest: Expr) -> Expr:
    dist = body.let("dist cur_len", fn("length", e))
    return ks * (dist / rest - 1.0) * fn("normalize", e)


class Spring:
    """The law of a kernel's springs, their stiffness and length at rest."""

    def __init__(self, site: Site, vec: Vec, chance: float, ways: dict[str, int]) -> None:
        k, scalar = site.k, vec.scalar
        self.law = k.draw.shape.choice(_LAWS.cards)
        stiff = given(
            site, "stiffness ks spring_k", scalar, 0.8, 4.0, many="spring_ks ks stiff", forms=ways
        )
        rest = given(site, "rest_length l_rest spacing", scalar, 0.6, 1.1, forms=ways)
        self.given = (stiff, rest)
        self.text = self.law.said({"e": "e", "ks": say(k, stiff), "rest": say(k, rest)})
        self.use = routine(
            k,
            chance,
            "spring_force edge_force link_force",
            {"x": vec, "y": vec, "ks": scalar, "rest": scalar},
            lambda b, x, y, ks, rest: self.law.build(b, b.let("edge delta dx", y - x), ks, rest),
        )

    def force(self, x: Expr, y: Expr, span: float = 1.0) -> Expr:
        """The force on ``x``, of a spring whose rest length is multiplied by ``span``."""
        stiff, rest = self.given
        return self.use(x, y, stiff, rest if span == 1.0 else span * rest)


def _edges(k: KernelBuilder, level: int, site: Site, vec: Vec) -> str:
    """The force of one spring for each thread: its ends are given or looked up."""
    shape = k.draw.shape
    spring = Spring(site, vec, BY_LEVEL[level], _SOURCES)
    names = (("head heads", "tail tails"), ("xa xa", "xb xb"), ("end_a ends_a", "end_b ends_b"))
    first, second = (pair.split() for pair in k.draw.word.choice(names))
    ends = {
        "x": Part(first[0], vec, -2.0, 2.0, many=first[1]),
        "y": Part(second[0], vec, -2.0, 2.0, many=second[1]),
    }
    r = record(site, "Edge Spring Link", ends, 0.4)
    stems = k.draw.word.choice(("p q", "pa pb", "x0 x1")).split()
    p, q = k.let(stems[0], r["x"]), k.let(stems[1], r["y"])
    damped = level >= 2 and shape.chance(0.5)
    edge = k.let("edge delta dx", q - p) if damped else None
    total = spring.force(p, q) if edge is None else spring.law.build(k, edge, *spring.given)
    done = f"Compute the force of each spring on its first end. With e = {r.say('y')} - "
    done += f"{r.say('x')}, take {spring.text}"
    if edge is not None:
        speeds = {"v": Part("va", vec, -1.0, 1.0), "w": Part("vb", vec, -1.0, 1.0)}
        rates = record(site, "Rates Velocities", speeds, 0.3)
        damp = given(
            site, "damping kd", vec.scalar, 0.1, 0.9, many="damping_coeffs kds", forms=_SOURCES
        )
        done += f", plus {say(k, damp)} * dot({rates.say('w')} - {rates.say('v')}, u) * u, u = e / "
        done += "|e|"
        axis = k.let("axis dir", fn("normalize", edge))
        total = k.let("pulled f_spring", total)
        total = total + damp * dot(rates["w"] - rates["v"], axis) * axis
    return f"{done}." + deliver(site, level, "forces pulls edge_forces", total)


_LINKS = {
    "structural": ((-1, 0), (1, 0), (0, -1), (0, 1)),
    "shear": ((-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)),
    "rope": ((-1,), (1,)),
    "bending": ((-1,), (1,), (-2,), (2,)),
}


def _beside(i: Expr, step: int) -> Expr:
    return i if step == 0 else i + step if step > 0 else i - -step


def _around(i: Expr, step: int, size: Expr) -> Expr:
    """The index of a neighbour on a ring; a size of 1 is a ring as well."""
    if step == 0:
        return i
    return (i + step) % size if step > 0 else (i + -step * (size - 1)) % size


def _inside(at: tuple[Expr, ...], shift: tuple[int, ...], sizes: list[Expr]) -> Expr:
    """Whether the neighbour by ``shift`` exists."""
    tests = []
    for i, step, size in zip(at, shift, sizes, strict=True):
        if step < 0:
            tests.append(i >= -step if step < -1 else i > 0)
        elif step > 0:
            tests.append(i < size - step)
    return reduce(partial(op, "and"), tests)


def _net(k: KernelBuilder, level: int, site: Site, vec: Vec) -> str:
    """Springs to the neighbours of a rope's or cloth's points, and a step."""
    shape, flat = k.draw.shape, site.rank == 2
    kinds = ("structural", "shear") if flat else ("rope", "bending")
    links = _LINKS[shape.choice(kinds)]
    names = f"positions nodes {'cloth' if flat else 'rope'}_nodes"
    places = site.array(names, vec, -2.0, 2.0)
    spring = Spring(site, vec, 1.0, _COMMON)
    counts = ("num_rows height", "num_cols width") if flat else ("num_nodes node_count",)
    dims = zip(counts, site.dims, strict=False)
    sizes: list[Expr] = [k.size_param(names, dim) for names, dim in dims]
    x = k.let("x here p", places[site.at])
    start, weight = zero(vec), ""
    if shape.chance(0.4):
        start = k.scalar("weight gravity_force node_weight", vec, -1.0, 1.0)
        weight = f"{say(k, start)} plus "
    total = k.let("total force f", start)
    # A point that is its own neighbour on a ring has an edge of no length, which pulls nowhere.
    wrapped = level >= 4 and shape.chance(0.4)
    for shift in links:
        if wrapped:
            at = tuple(map(_around, site.at, shift, sizes))
        else:
            at = tuple(map(_beside, site.at, shift))
        with nullcontext() if wrapped else k.if_(_inside(site.at, shift, sizes)):
            span = round(sum(step * step for step in shift) ** 0.5, 6)
            k.augment(total, "add", spring.force(x, places[at], span))
    shifts = ", ".join(str(shift if flat else shift[0]) for shift in links)
    what = "cloth" if flat else "rope"
    done = f"Sum the spring forces on each node of a {what}: {weight}{spring.text} over e = "
    done += f"x[neighbour] - x, x = {places.name}, the neighbours being at the offsets {shifts}"
    done += " (around the border)" if wrapped else " that lie inside"
    far = "diagonal springs" if flat else "springs over two links"
    long = any(abs(step) == 2 for shift in links for step in shift) or len(links) == 8
    times = "sqrt(2)" if flat else "2"
    done += f"; {far} have {times} times the rest length." if long else "."
    if level == 3:
        return done + deliver(site, level, "forces net_force", total)
    return done + _step(k, level, site, vec, x, total)


def _step(k: KernelBuilder, level: int, site: Site, vec: Vec, x: Var, total: Var) -> str:
    """What the force does within one time step."""
    shape, scalar = k.draw.shape, vec.scalar
    step = given(site, "dt time_step", scalar, 0.02, 0.1, shared=1)
    dt = local(k, "dt h", step)
    mass = given(site, "mass node_mass", scalar, 0.5, 2.0, forms=_SOURCES)
    damp = given(site, "damping air_drag", scalar, 0.1, 0.8, forms=_COMMON)
    name, h, c = say(k, mass), say(k, step), say(k, damp)
    if shape.chance(0.5):
        old = site.read("previous old_positions", vec, -2.0, 2.0)
        moved = k.let("moved drift", (1.0 - damp * dt) * (x - old))
        x_new: Expr = x + moved + dt * dt / mass * total
        done = f" Verlet's step gives x' = x + (1 - {c} * {h}) * (x - {say(k, old)}) + {h}^2 / "
        done += f"{name} * sum."
    else:
        before = site.read("velocities vel", vec, -1.0, 1.0)
        v = k.let("v vel_i", before)
        speed = k.let("v_new v_next", v + dt * (total / mass - damp * v))
        x_new = x + dt * speed
        done = f" Euler's step gives v' = v + {h} * (sum / {name} - {c} * v) with v = "
        done += f"{say(k, before)}, and x' = x + {h} * v'."
        done += f" {site.put('new_velocities vel_out', speed).name} gets v'."
    if level >= 5:
        x_new, text = _constrained(k, site, vec, k.let("x_new x_next", x_new))
        done += text
    pinned = flag(site, "pinned fixed is_fixed")
    out = site.out("new_positions x_out next_nodes", vec)
    choose(site, out, pinned, x, x_new)
    return f"{done} {out.name} gets x where {pinned.on}, x' elsewhere."


def _constrained(k: KernelBuilder, site: Site, vec: Vec, x_new: Var) -> tuple[Var, str]:
    """Keep the new position out of a ball, or within a distance of an anchor."""
    inner = k.draw.shape.chance(0.5)
    names = "ball_center obstacle" if inner else "anchor hook"
    center = given(site, names, vec, -0.8, 0.8, shared=3, each=1)
    c = k.let("c mid", center)
    radius = given(site, "radius reach", vec.scalar, 1.2, 1.8, forms=_COMMON)
    away = k.let("away rel", x_new - c)
    dist = k.let("gap away_len", fn("length", away))
    with k.if_(dist < radius if inner else dist > radius):
        k.assign(x_new, c + radius * fn("normalize", away))
    text = f" Where |x' - c| is {'less' if inner else 'more'} than r = {say(k, radius)}, c = "
    return x_new, f"{text}{say(k, center)}, x' is put at distance r."


@idiom(depth=3)
def spring_network(k: KernelBuilder, level: int) -> Title:
    """Forces of springs, and steps of ropes and cloths."""
    # A list is not to crowd the grid out: twelve of a list's draws count as one here.
    site = launch(k, forms={"list": 1} if level <= 2 else {"list": 1, "grid": 8})
    vec = Vec(k.draw.shape.weighted({3: 4, 2: 3}), k.draw.wide_float_type())
    done = (_edges if level <= 2 else _net)(k, level, site, vec)
    names = "spring_forces edge_forces"
    if level > 2:
        what = "cloth" if site.rank == 2 else "rope"
        names = f"{what}_forces {what}_spring_forces" if level == 3 else f"{what}_step step_{what}"
    return Title(k.name(names), done)


_TERMS = VectorShelf(scalars="a c")
"""What a neighbour xj adds to a point xi, by numbers that the caller sets."""

_TERMS.add("smoothing", "smoothed", lambda xi, xj, a: a * (xj - xi))


@_TERMS.formula("forces")
def spring(body: BodyBuilder, xi: Expr, xj: Expr, a: Expr, c: Expr) -> Expr:
    delta = body.let("delta edge", xj - xi)
    dist = body.let("dist len_ij", fn("length", delta))
    return a * (dist - c) / dist * delta


@_TERMS.formula("forces")
def repulsion(body: BodyBuilder, xi: Expr, xj: Expr, a: Expr, c: Expr) -> Expr:
    away = body.let("away delta", xi - xj)
    r2 = body.let("r2 dist_sq", dot(away, away) + c)
    return a * away / (r2 * sqrt(r2))


@_TERMS.formula("pulls")
def attraction(body: BodyBuilder, xi: Expr, xj: Expr, a: Expr) -> Expr:
    delta = body.let("delta to_other", xj - xi)
    return exp(-a * dot(delta, delta)) * delta


@_TERMS.formula("pulls")
def rational_pull(body: BodyBuilder, xi: Expr, xj: Expr, a: Expr) -> Expr:
    delta = body.let("delta to_other", xj - xi)
    return delta / (1.0 + a * dot(delta, delta))


_RANGES = {
    "smoothing": {"a": (0.05, 0.6)},
    "spring": {"a": (0.8, 6.0), "c": (0.2, 0.95)},
    "repulsion": {"a": (0.15, 0.99), "c": (0.1, 0.6)},
    "attraction": {"a": (0.3, 2.0)},
    "rational_pull": {"a": (0.3, 2.0)},
}


_NUMBERS = {
    "smoothing": {"a": "rate lam"},
    "spring": {"a": "stiffness ks", "c": "rest_length rest"},
    "repulsion": {"a": "strength k_rep", "c": "softening_sq eps_sq"},
    "attraction": {"a": "falloff inv_width_sq"},
    "rational_pull": {"a": "falloff inv_width_sq"},
}


def _with(use: Callable[..., Expr], numbers: tuple[Expr, ...], x: Expr, y: Expr) -> Expr:
    return use(x, y, *numbers)


def _pair(k: KernelBuilder, level: int, vec: Vec) -> tuple[Callable[..., Expr], str, str]:
    """What each pair gives, in a helper or in place; its text and its name."""
    formula = k.draw.shape.choice(_TERMS.cards)
    ranges = _RANGES[formula.name]
    names = _NUMBERS.get(formula.name, {"a": "stiffness"})
    numbers = {key: k.scalar(names[key], vec.scalar, *bounds) for key, bounds in ranges.items()}
    texts = {key: say(k, number) for key, number in numbers.items()}
    use = routine(
        k,
        {1: 0.0, 2: 0.5}.get(level, 1.0),
        f"{formula.name}_term pair_{formula.name} {formula.name}_between",
        {"xi": vec, "xj": vec} | dict.fromkeys(ranges, vec.scalar),
        formula.build,
    )
    return (
        partial(_with, use, tuple(numbers.values())),
        formula.said({"xi": "xi", "xj": "xj"} | texts),
        formula.name,
    )


def _skipped(k: KernelBuilder, itself: Expr, form: str) -> str:
    """A point that is listed as its own neighbour is left out: always where that would be a spring
    without a direction, else for half of the draws."""
    if form != "spring" and not k.draw.shape.chance(0.5):
        return ""
    with k.if_(itself):
        k.continue_()
    return ", skipping j = i"


@idiom(depth=4)
def neighbour_forces(k: KernelBuilder, level: int) -> Title:
    """Sum over the listed neighbours of each point: springs, repulsion, smoothing."""
    vec = Vec(k.draw.shape.weighted({3: 3, 2: 2}), k.draw.wide_float_type())
    site, degree = launch(k, list=5, batch=3 + level // 3), k.size("k", 3, 6)
    points = site.array("positions points nodes", vec, -1.0, 1.0)
    near = f"index_of:{site.dims[-1]}"
    links = site.array("neighbors links adjacency", INT32, more=degree, init=near)
    use, text, form = _pair(k, level, vec)
    weights = None
    if level >= 2 and k.draw.shape.chance(0.5):
        weights = site.array("weights strengths", vec.scalar, 0.3, 1.5, more=degree)
        text = f"the link's entry of {weights.name} times {text}"
    count = k.trip_count("degree neighbor_count num_links", degree)
    pair = k.draw.word.choice(("xi xj", "p q")).split()
    xi = k.let(pair[0], points[site.at])
    total = k.let("total force acc", zero(vec))
    mean = level >= 3 and form == "smoothing"
    used = k.let("used near hits", zero(vec.scalar)) if mean else None
    with ExitStack() as blocks:
        slot = (*site.at, blocks.enter_context(k.for_("s slot e", count)))
        j = k.let("j other nb", links[slot])
        if level >= 4 or form == "spring":
            text += _skipped(k, fn("eq", j, site.at[-1]), form)
        there = (*site.at[:-1], j)
        xj = k.let(pair[1], points[there])
        if level >= 3 and form != "spring":
            reach = k.scalar("cutoff_sq reach_sq", vec.scalar, 0.6, 1.6)
            blocks.enter_context(k.if_(fn("length_sq", xj - xi) < reach))
            text += f", where |xj - xi|^2 < {reach.name}"
        value = use(xi, xj)
        if weights is not None:
            value = weights[slot] * value
        if used is not None:
            k.augment(used, "add", 1.0)
        k.augment(total, "add", value)
    done = f"{_TASKS[form][0]} Sum over the neighbours j in {links.name} of each point i, x = "
    done += f"{points.name}, {text}." + _summed(site, level, form, (xi, total, used))
    return Title(k.name(f"{form}_sum neighbor_{form} gather_{form}"), done)


def _summed(site: Site, level: int, form: str, sums: tuple[Var, Var, Var | None]) -> str:
    """The sum or, of smoothing, the mean: stored, or a step by it."""
    k, (xi, total, used) = site.k, sums
    done, what = "", "sum" if used is None else "mean"
    if used is not None:
        k.assign(total, total / most(used, 1.0))
        done = " Divide the sum by the number of its terms, if there is any."
    if level < 3 or k.draw.shape.chance(0.5):
        return f"{done} Store the {what} in {site.put(_TASKS[form][1], total).name}."
    dt = k.scalar("dt step_size", scalar_of(total.type), 0.05, 0.4)
    out = site.put("new_points moved_points", xi + dt * total)
    return f"{done} Store xi + {dt.name} * the {what} in {out.name}."


_TASKS = {
    "smoothing": ("Smooth points over their neighbours.", "shifts offsets_out"),
    "spring": ("Compute the spring forces on linked points.", "forces spring_forces_out"),
    "repulsion": ("Push points away from their neighbours.", "forces repulsions"),
    "attraction": ("Pull points to near neighbours by a Gaussian weight.", "pulls shifts"),
    "rational_pull": ("Pull points to near neighbours by a rational weight.", "pulls shifts"),
}
"""What the sum of each term is for, and names of it."""
