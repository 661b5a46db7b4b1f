"""Charged particles in fields: Boris' push, from values of the particle or of a grid's cells."""

from __future__ import annotations

from contextlib import nullcontext

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, sqrt
from generators.program.dtypes import FLOAT32, INT32, Vec
from generators.program.expr import Expr, Var
from generators.vector.simulation.parts import Crowd, crowd, index, points_of

VEC3 = Vec(3, FLOAT32)


def _fields(c: Crowd, x: Expr | None) -> tuple[Expr, Expr, str]:
    """Electric and magnetic field at a particle: its own, its cell's, or the same for all."""
    k = c.k
    names = ("e_field electric", "b_field magnetic")
    if x is not None:
        cells = k.size("cells", 6, 6, minimum=6)
        dims = (cells, cells)
        e, b = (k.array(n, VEC3, dims, low=-1.0, high=1.0) for n in names)
        i, j = k.let("ci ix", cast(x[0], INT32)), k.let("cj iy", cast(x[1], INT32))
        text = f"{e.name} and {b.name} of its cell (int(x), int(y)), which lies in the grid"
        return e[index(i, j)], b[index(i, j)], text
    if c.shape.chance(0.6):
        e, b = (k.array(n, VEC3, c.dims, low=-1.0, high=1.0) for n in names)
        return e[c.at], b[c.at], f"{e.name} and {b.name}"
    e, b = (k.scalar(n, VEC3, -1.0, 1.0) for n in names)
    return e, b, f"{e.name} and {b.name}"


@idiom
def boris_push(k: KernelBuilder, level: int) -> Title:
    """Boris' step: half the electric kick, a turn about the magnetic field, the other half."""
    c = crowd(k, level, space=3, sizes=(36, 60), member="p i tid")
    c.vec = VEC3
    grid = c.chance(0.4, 2)
    moves = grid or c.shape.chance(0.5)
    ends = (1.0, 5.0) if grid else (-1.0, 1.0)
    xs = points_of(k, VEC3, "positions pos x", *ends, c.dims, level) if moves else None
    fast = moves and not grid and c.shape.chance(0.3)
    named = "proper_vel u_in" if fast else "velocities vel v"
    vs = points_of(k, VEC3, named, -1.0, 1.0, c.dims, level)
    x = k.let("xi here", xs.at(*c.at)) if xs is not None else None
    e, b, fields = _fields(c, x if grid else None)
    dt = k.scalar("dt time_step", FLOAT32, 0.1, 0.5)
    ratio, told = _charge(c)
    half = k.let("h half_qm", 0.5 * dt * ratio)
    # In steps of its own a particle would meet other cells.
    several = c.chance(0.35, 3) and not fast and not grid
    steps = k.scalar("substeps num_steps", INT32, 2, 4) if several else None
    v = k.let("ui" if fast else "vi", vs.at(*c.at))
    letter = "u" if fast else "v"
    kick = k.let("kick e_half", half * e)
    if not fast:
        t, s = _turning(k, half * b)
    with nullcontext() if steps is None else k.for_("n sub", steps):
        minus = k.let(f"{letter}_minus", v + kick)
        if fast:
            gamma = k.let("gamma_minus lorentz", sqrt(1.0 + dot(minus, minus)))
            t, s = _turning(k, half / gamma * b)
        prime = k.let(f"{letter}_prime", minus + fn("cross", minus, t))
        k.assign(v, minus + fn("cross", prime, s) + kick)
        if several and x is not None:
            k.augment(x, "add", dt * v)
    text = _boris_rule(vs.name, f"{dt.name} / 2 * {told}", fields, steps, fast)
    text += f"{c.put(_NEW[letter], v)} gets the new {letter}."
    if xs is not None and x is not None:
        text += _arrived(c, x, dt) if several else _moved(c, x, v, dt, xs.name, fast)
    if c.chance(0.3, 2) and not fast:
        text += f" {c.put('energies kinetic', 0.5 * dot(v, v))} gets |v|^2 / 2."
    return Title(k.name("boris_push push_particles boris_step"), text)


_NEW = {"u": "new_proper_vel u_out", "v": "new_velocities vel_out v_out"}


def _boris_rule(name: str, half: str, fields: str, steps: Var | None, fast: bool) -> str:
    """What is said of the step, for velocities or for those times gamma."""
    v, extra = ("u", ", gamma = sqrt(1 + |u-|^2)") if fast else ("v", "")
    many = f", {steps.name} times" if steps is not None else ""
    text = f"Push {'fast ' * fast}charged particles by Boris' method{many}"
    text += f", {name} being u = gamma * v with c = 1" if fast else ""
    text += f": with h = {half}, E and B from {fields}, {v}- = {v} + h E{extra}, t = h B"
    text += f"{' / gamma' * fast} and s = 2 t / (1 + |t|^2), {v}' = {v}- + cross({v}-, t), the new "
    return f"{text}{v} = {v}- + cross({v}', s) + h E, {v} being in {name}. "


def _charge(c: Crowd) -> tuple[Expr, str]:
    """Charge over mass: of each particle, or of all."""
    if c.shape.chance(0.4):
        q, m = c.array("charges q", FLOAT32, -1.0, 1.0), c.array("masses m", FLOAT32, 0.5, 2.0)
        return q[c.at] / m[c.at], f"{q.name} / {m.name}"
    given = c.k.scalar("q_over_m charge_to_mass", FLOAT32, 0.5, 2.0)
    return given, given.name


def _turning(k: KernelBuilder, turn: Expr) -> tuple[Var, Var]:
    """The vectors t and s of Boris' rotation."""
    t = k.let("t t_vec", turn)
    return t, k.let("s s_vec", 2.0 * t / (1.0 + dot(t, t)))


def _arrived(c: Crowd, x: Var, dt: Var) -> str:
    """The position that moved in each of several steps."""
    out = c.put("new_positions pos_out x_out", x)
    return f" {out} gets the position, moved by {dt.name} * v with the new v in each step."


def _moved(c: Crowd, x: Expr, v: Var, dt: Var, name: str, fast: bool) -> str:
    """The position after the step."""
    k = c.k
    if fast:
        g = k.let("gamma gamma_new", sqrt(1.0 + dot(v, v)))
        out = c.put("new_positions pos_out x_out", x + dt / g * v)
        return f" {out} gets {name} + {dt.name} * u / sqrt(1 + |u|^2) with the new u."
    out = c.put("new_positions pos_out x_out", x + dt * v)
    return f" {out} gets {name} + {dt.name} * v with the new v."
