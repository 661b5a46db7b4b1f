"""Constraints of position-based dynamics: distance, bending, volume, with or without compliance."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, most, sqrt
from generators.kit.sources import zero
from generators.kit.text import written
from generators.program.dtypes import INT32, Vec
from generators.program.expr import Expr, Operand, Var
from generators.vector.simulation.parts import Crowd, Points, crowd, index, named, others, points_of

_SIZES = {
    2: ("num_edges", "num_verts"),
    3: ("num_faces", "num_verts"),
    4: ("num_elements", "nodes"),
}
"""How many constraints of so many points there are, and points in all."""


@dataclass(frozen=True)
class _Bound:
    """A constraint of a thread: its points and their inverse masses."""

    c: Crowd
    p: Points
    ids: tuple[Var, ...]
    x: tuple[Expr, ...]
    w: tuple[Expr, ...] | None
    said: str

    def weighted(self, n: int, value: Expr) -> Expr:
        return value if self.w is None else self.w[n] * value

    @property
    def of_mass(self) -> str:
        return " times its inverse mass" if self.w is not None else ""


def _constraint(k: KernelBuilder, level: int, count: int, flat: float, what: str) -> _Bound:
    """Declare the constraints' points: columns of a table, arrays, or vectors of ids."""
    shape = k.draw.shape
    vec = Vec(2 if shape.chance(flat) else 3, k.draw.wide_float_type())
    many, verts = _SIZES[count]
    k.size(many, 44, 60)
    k.size(verts, 12, 16)
    at = k.thread(many, names=(k.name("tid e"),))
    c = Crowd(k, level, vec, (many,), at)
    names = k.draw.word.choice(("ijkl", "abcd"))[:count]
    way = shape.choice(("table", "vector", "arrays") if count < 4 else ("table", "vector"))
    where: list[Expr] = []
    if way == "arrays":
        stems = ("first_ids second_ids third_ids", "v0_ids v1_ids v2_ids")
        stem = k.draw.word.choice(stems).split()[:count]
        where = [k.array(s, INT32, many, init=f"index_of:{verts}")[at] for s in stem]
        said = ", ".join(a.array.name for a in where if hasattr(a, "array"))
    elif way == "table":
        array = k.array(
            f"{what} ids vertex_ids", INT32, (many, str(count)), init=f"index_of:{verts}"
        )
        where, said = [array[index(*at, s)] for s in range(count)], array.name
    else:
        array = k.array(f"{what} ids vertex_ids", Vec(count, INT32), many, init=f"index_of:{verts}")
        row = k.let({2: "pair ends", 3: "tri corner"}.get(count, "tet corner"), array[at])
        where, said = [row[s] for s in range(count)], array.name
    ids = tuple(k.let(name, e) for name, e in zip(names, where, strict=True))
    p = points_of(k, vec, "positions pos x predicted", -1.5, 1.5, (verts,), level)
    x = tuple(k.let(f"x{name}", p.at(e)) for name, e in zip(names, ids, strict=True))
    w: tuple[Expr, ...] | None = None
    if shape.chance(0.7):
        inv = k.array("inv_mass inv_masses w", vec.scalar, verts, low=0.2, high=1.5)
        w = tuple(k.let(f"w{name}", inv[e]) for name, e in zip(names, ids, strict=True))
    return _Bound(c, p, ids, x, w, said)


def _outs(b: _Bound) -> tuple[list[tuple[Var, tuple[Operand, ...]]], str]:
    """Where what each point is moved by goes: rows of a table, or an array a point; and a text."""
    k, count = b.c.k, len(b.ids)
    if count > 2 or b.c.shape.chance(0.5):
        out = k.out("corrections deltas dx", b.c.vec, (*b.c.dims, str(count)))
        places = [(out, index(*b.c.at, n)) for n in range(count)]
        return places, f"A row of {out.name} gets the moves of its points"
    stem = k.draw.word.choice(("delta", "corr", "dx"))
    outs = [k.out(f"{stem}_{i.name}", b.c.vec, b.c.dims) for i in b.ids]
    named = " and ".join(o.name for o in outs)
    return [(o, index(*b.c.at)) for o in outs], f"Its points move by {named}"


@idiom
def xpbd_distance(k: KernelBuilder, level: int) -> Title:
    """A distance constraint of PBD or XPBD: the multiplier's change, and what moves both ends."""
    b = _constraint(k, level, 2, 0.35, "edges links")
    c, (i, j) = b.c, b.x
    rest = k.array("rest_lengths rest l0", c.scalar, c.dims, low=0.4, high=1.2)
    d = k.let("d delta", i - j)
    outs, done = _outs(b)
    normal, length, none = _along(b, d, outs)
    stretch = k.let("stretch c_val gap", length - rest[c.at])
    weight: Expr = k.let("w_sum", b.w[0] + b.w[1]) if b.w else k.lift(2.0, c.scalar)
    weighed = "the sum of their inverse masses (positive)" if b.w else "2, the masses being equal"
    compliant = c.chance(0.65, 2)
    text = f"Project distance constraints by {'XPBD' if compliant else 'PBD'}. For each pair of "
    text += f"points in {b.said}, C is their distance in {b.p.name} less {rest.name}, W is "
    text += f"{weighed}, n the unit vector from the second to the first and "
    if compliant:
        share, told = _compliant(c, stretch, weight)
    else:
        stiff = c.number("stiffness relaxation", 0.3, 0.95)
        share = k.let("s scale", -(stiff * stretch) / weight)
        told = f"s = -{written(stiff)} * C / W."
    step = k.let("corr move", share * normal)
    for (out, at), move in zip(outs, [b.weighted(0, step), -b.weighted(1, step)], strict=True):
        k.store(out, at, move)
    text += f"{told} {done}: s * n{b.of_mass} for the first, -s * n{b.of_mass} for the second. "
    names = "xpbd_distance xpbd_stretch solve_distance_xpbd"
    if not compliant:
        names = "pbd_distance pbd_stretch solve_distance_pbd"
    return Title(k.name(names), text + none)


def _along(b: _Bound, d: Var, outs: list[tuple[Var, tuple[Operand, ...]]]) -> tuple[Expr, Var, str]:
    """The unit vector of an edge, its length, and what becomes of an edge without a direction."""
    c, k = b.c, b.c.k
    squared = k.let("d2 dist_sq", dot(d, d))
    if c.shape.chance(0.4):
        length = k.let("dist length", sqrt(most(squared, 1.0e-12)))
        return k.let("n dir", d / length), length, "Distances count as 1e-6 at least."
    with k.if_(squared < 1.0e-12):
        for out, at in outs:
            k.store(out, at, zero(c.vec))
        k.return_()
    length = k.let("dist length", sqrt(squared))
    return k.let("n dir", d / length), length, "Points nearer than 1e-6 are not moved."


def _compliant(c: Crowd, stretch: Var, weight: Expr) -> tuple[Var, str]:
    """The change of a constraint's multiplier, which is added to it, and its text."""
    k, scalar = c.k, c.scalar
    if c.shape.chance(0.4):
        soft: Expr = c.array("compliances compliance", scalar, 0.05, 0.5)[c.at]
    else:
        soft = k.scalar("compliance alpha", scalar, 0.05, 0.5)
    dt = k.scalar("dt h", scalar, 0.4, 0.9)
    tilde = k.let("alpha_t alpha_tilde", soft / (dt * dt))
    lam = k.array("lambdas multipliers", scalar, c.dims, role="inout", low=-0.3, high=0.3)
    share = k.let("dlam d_lambda", (-stretch - tilde * lam[c.at]) / (weight + tilde))
    k.store(lam, c.at, share, op="add")
    told = f"s = (-C - a * {lam.name}) / (W + a) with a = {named(soft)} / {dt.name}^2; {lam.name} "
    return share, f"{told}grows by s."


@idiom
def distance_sweep(k: KernelBuilder, level: int) -> Title:
    """A Jacobi sweep of distance constraints: each point gathers the moves of all its links."""
    c = crowd(k, level, flat=0.4, called=k.draw.word.choice(("n", "count", "num")))
    p = c.points("positions pos x", -1.0, 1.0)
    rest = k.scalar("rest_length rest l0", c.scalar, 0.5, 1.0)
    inv = c.array("inv_mass w", c.scalar, 0.2, 1.5) if c.shape.chance(0.6) else None
    mine = k.let("xi pos_i own_pos", p.at(*c.at))
    move = k.let("move corr dx", zero(c.vec))
    count = k.let("links num_links", k.lift(0.0, c.scalar))
    wi = k.let("wi own_w", inv[c.at]) if inv is not None else None
    with others(c, p, True, {"rows": 1}) as j:
        d = k.let("d delta edge", p.at(*c.place(j)) - mine)
        length = k.let("length dist l", fn("length", d))
        share: Expr = c.maybe("gap err", length - rest)
        if inv is None or wi is None:
            share = 0.5 * share
        else:
            share = c.maybe("share part", wi / (wi + inv[c.place(j)])) * share
        k.augment(move, "add", share * fn("normalize", d))
        k.augment(count, "add", 1.0)
    said = (
        "half"
        if inv is None
        else f"the share wi / (wi + wj), these being positive inverse masses in {inv.name},"
    )
    text = (
        f"Do one Jacobi sweep of distance constraints: each point of {p.name} "
        f"averages over its links the move towards the other end by "
        f"{said} of (distance - {rest.name}). It is linked to {c.told[0]}, itself left out. "
    )
    text += _swept(c, mine, move, count)
    return Title(k.name("distance_sweep jacobi_distance solve_links_jacobi"), text)


def _swept(c: Crowd, mine: Var, move: Var, count: Var) -> str:
    """The position after the moves, relaxed."""
    k = c.k
    relax = c.number("omega relaxation sor", 0.8, 1.5, 0.8)
    moved = k.let("x_new moved", mine)
    with k.if_(count > 0.0):
        k.augment(moved, "add", relax / count * move)
    out = c.put("new_positions pos_out x_out", moved)
    return f"{out} gets the position plus {written(relax)} times the average, if there is any."


@idiom
def volume_constraint(k: KernelBuilder, level: int) -> Title:
    """The volume of a tetrahedron, or the area of a triangle, brought back to rest."""
    flat = k.draw.shape.chance(0.35)
    b = _constraint(k, level, 3 if flat else 4, float(flat), "tris tri" if flat else "tets tet")
    c, x = b.c, b.x
    edges = [k.let(f"e{n}", x[n] - x[0]) for n in range(1, len(x))]
    if flat:
        u, v = edges
        size = k.let("area a2", 0.5 * (u[0] * v[1] - u[1] * v[0]))
        opposite = (x[2] - x[1], x[0] - x[2], x[1] - x[0])
        grads = [_turned(c, n, edge) for n, edge in enumerate(opposite)]
    else:
        size = k.let("volume vol", dot(fn("cross", edges[0], edges[1]), edges[2]) / 6.0)
        pairs = ((1, 2), (2, 0), (0, 1))
        grads = [fn("cross", edges[i], edges[j]) / 6.0 for i, j in pairs]
    slopes = [k.let(f"g{n + (not flat)}", g) for n, g in enumerate(grads)]
    if not flat:
        slopes.insert(0, k.let("g0", -(slopes[0] + slopes[1] + slopes[2])))
    norms = [b.weighted(n, dot(g, g)) for n, g in enumerate(slopes)]
    total = norms[0]
    for part in norms[1:]:
        total = total + part
    rest = c.array("rest_volumes rest_vol" if not flat else "rest_areas area0", c.scalar, 0.1, 0.5)
    bottom: Expr = k.let("denom w_sum", total)
    soft = c.number("alpha_t compliance_dt2", 0.2, 0.6, 1.0)
    stiff = k.scalar("relaxation jacobi_omega", c.scalar, 0.3, 1.0) if c.shape.chance(0.2) else None
    top = rest[c.at] - size if stiff is None else stiff * (rest[c.at] - size)
    s = k.let("s lam scale", top / (bottom + soft))
    outs, done = _outs(b)
    for n, (out, at) in enumerate(outs):
        k.store(out, at, b.weighted(n, s) * slopes[n])
    what = "signed area of each triangle" if flat else "signed volume of each tetrahedron"
    by = f"{stiff.name} * " if stiff is not None else ""
    w = " times inverse mass" if b.w else ""
    text = (
        f"Bring the {what} in {b.said} back to rest, its corners being in {b.p.name}: s = {by}"
        f"({rest.name} - C) / (the sum over its points of |grad C|^2{w} + {_above_zero(soft)}), C "
        f"being the {'area' if flat else 'volume'}. {done}: s times the gradient of C{b.of_mass}."
    )
    return Title(k.name("volume_constraint solve_volume" if not flat else "area_constraint"), text)


def _above_zero(soft: Expr) -> str:
    """What keeps a denominator from zero where no point can move, in words."""
    return f"{written(soft)} (> 0)" if isinstance(soft, Var) else written(soft)


def _turned(c: Crowd, n: int, edge: Expr) -> Expr:
    """The gradient of an area: half the opposite edge, turned by a quarter."""
    e = c.k.let(f"opp{n}", edge)
    return make(c.vec, -0.5 * e[1], 0.5 * e[0])
