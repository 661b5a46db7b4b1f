"""Forces of springs, and steps of ropes and cloths."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial, reduce

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import dot
from generators.kit.masks import flag
from generators.kit.naming import BY_LEVEL, local, routine
from generators.kit.outputs import choose, deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch, over
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.program.dtypes import Vec
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
        rest = given(site, "rest_length l_rest", scalar, 0.6, 1.1, forms=ways)
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
    damped = level >= 2 and shape.chance(0.5)
    spring = Spring(site, vec, 0.0 if damped else BY_LEVEL[level], _SOURCES)
    names = (("head heads", "tail tails"), ("xa xa", "xb xb"), ("end_a ends_a", "end_b ends_b"))
    first, second = (pair.split() for pair in k.draw.word.choice(names))
    ends = {
        "x": Part(first[0], vec, -2.0, 2.0, many=first[1]),
        "y": Part(second[0], vec, -2.0, 2.0, many=second[1]),
    }
    r = record(site, "Edge Spring Link", ends, 0.4)
    stems = k.draw.word.choice(("p q", "pa pb", "x0 x1")).split()
    p, q = k.let(stems[0], r["x"]), k.let(stems[1], r["y"])
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


_ROPES = ((3, 5), (14, 18))
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
    shape, flat = k.draw.shape, site.form == "grid"
    kinds = ("structural", "shear") if flat else ("rope", "bending")
    links = _LINKS[shape.choice(kinds)]
    names = f"positions nodes {'cloth' if flat else 'rope'}_nodes"
    places = site.array(names, vec, -2.0, 2.0)
    spring = Spring(site, vec, 1.0, _COMMON)
    counts = ("num_rows height", "num_cols width") if flat else ("num_nodes node_count",)
    lead, own = site.at[: -len(counts)], site.at[-len(counts) :]
    dims = zip(counts, site.dims[-len(counts) :], strict=True)
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
            at = (*lead, *map(_around, own, shift, sizes))
        else:
            at = (*lead, *map(_beside, own, shift))
        with nullcontext() if wrapped else k.if_(_inside(own, shift, sizes)):
            span = round(sum(step * step for step in shift) ** 0.5, 6)
            k.augment(total, "add", spring.force(x, places[at], span))
    shifts = ", ".join(str(shift if flat else shift[0]) for shift in links)
    what = "a cloth" if flat else "several ropes, a row each"
    done = f"Sum the spring forces on each node of {what}: {weight}{spring.text} over e = "
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
    ropes = level > 2 and k.draw.shape.chance(0.5)
    if ropes:
        site = over(k, "ropes nodes", k.draw.word.choice(("r i", "rope node")), _ROPES)
    else:
        site = launch(k, forms={"list" if level <= 2 else "grid": 1})
    size = 3 if site.form == "grid" else k.draw.shape.weighted({3: 4, 2: 3})
    vec = Vec(size, k.draw.wide_float_type())
    done = (_edges if level <= 2 else _net)(k, level, site, vec)
    names = "spring_forces edge_forces"
    if level > 2:
        what = "rope" if ropes else "cloth"
        names = f"{what}_forces {what}_spring_forces" if level == 3 else f"{what}_step step_{what}"
    return Title(k.name(names), done)
