"""Bodies in force fields: few attractors, charges in fields, vortices; integrators of any order."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import TWO_PI, dot, exp, sqrt
from generators.kit.naming import local, routine
from generators.kit.outputs import deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.program.dtypes import Vec
from generators.program.expr import Expr, Var
from generators.vector.shelf import VectorShelf
from generators.vector.tables import Table

_COMMON = {"shared": 3}
_SOURCES = {"each": 1, "first": 1, "shared": 3}

_PULLS = VectorShelf(scalars="m eps")
_VORTEX = VectorShelf(scalars="m eps", size=2)


@_PULLS.formula("gravity")
def gravity(body: BodyBuilder, r: Expr, m: Expr, eps: Expr) -> Expr:
    d2 = body.let("d2 r2", dot(r, r) + eps * eps)
    return m / (d2 * sqrt(d2)) * r


@_PULLS.formula("yukawa")
def yukawa(body: BodyBuilder, r: Expr, m: Expr, eps: Expr) -> Expr:
    dist = body.let("dist r_len", fn("length", r))
    return m * exp(-dist / eps) * (1.0 / dist + 1.0 / eps) / (dist * dist) * r


@_PULLS.formula("hernquist")
def hernquist(body: BodyBuilder, r: Expr, m: Expr, eps: Expr) -> Expr:
    reach = body.let("reach shifted", fn("length", r) + eps)
    return m / (reach * reach) * fn("normalize", r)


_PULLS.add("halo", "halo", lambda r, m, eps: m * r / (dot(r, r) + eps * eps))


@_VORTEX.formula("vortex")
def vortex(body: BodyBuilder, r: Expr, m: Expr, eps: Expr) -> Expr:
    """A regularised point vortex of the plane: its velocity is across the distance."""
    core = body.let("core d2", dot(r, r) + eps * eps)
    return m / (TWO_PI * core) * make(r.type, r[1], -r[0])


_LENGTHS = {
    "gravity": "softening softening_length",
    "yukawa": "screening_length debye_length",
    "hernquist": "scale_radius scale_length",
    "halo": "core_radius",
    "vortex": "core_radius core_size",
}
_SIZES = {"yukawa": "strength coupling", "halo": "strength v_sq"}
_TITLES = {"yukawa": "Source", "hernquist": "Galaxy Bulge", "halo": "Halo"}
_OUTS = {"yukawa": "pulls force_out"}
"""Names of the field, where it is no acceleration."""
_ARGS = {"yukawa": "length", "hernquist": "scale", "halo": "radius", "vortex": "radius"}
"""What a helper calls the length of each law, elsewhere eps."""
_TOLD = {
    "gravity": "the softened gravity of a point mass",
    "yukawa": "the screened (Yukawa) pull of a source",
    "hernquist": "the gravity of a Hernquist sphere",
    "halo": "the pull of an isothermal halo",
    "vortex": "the flow of a point vortex",
}
_MANY = {
    "gravity": "the softened gravity of a few point masses",
    "yukawa": "the screened (Yukawa) pull of a few sources",
    "hernquist": "the gravity of a few Hernquist spheres",
    "halo": "the pull of a few isothermal halos",
    "vortex": "the flow of a few point vortices",
}


class _Field:
    """The acceleration (or for vortices the velocity) at a point."""

    def __init__(self, k: KernelBuilder, level: int, site: Site, vec: Vec, swirls: bool) -> None:
        shape, scalar = k.draw.shape, vec.scalar
        # Spheres and halos of matter are bodies of space.
        flat = [card for card in _PULLS.cards if card.name in ("gravity", "yukawa")]
        pulls = _PULLS.cards if vec.size == 3 else flat
        law = shape.choice(_VORTEX.cards if swirls else pulls)
        self.k, self.name = k, law.name
        self.eps = given(site, _LENGTHS[law.name], scalar, 0.4, 1.2, forms=_COMMON)
        size = "strength circulation gamma" if swirls else _SIZES.get(law.name, "mass mu")
        parts = {
            "y": Part("center source_pos", vec, -1.5, 1.5),
            "m": Part(size, scalar, 0.4, 1.5),
        }
        titles = "Vortex Eddy" if swirls else _TITLES.get(law.name, "Star Attractor")
        self.table = self.one = None
        if level >= 3:
            self.table = Table(k, titles, parts, 0.8, (2, 4))
            source = f"y = {self.table.said('y')} and m = {self.table.said('m')}"
        else:
            self.one = record(site, titles, parts, 0.4, shared=True)
            source = f"y = {self.one.say('y')} and m = {self.one.say('m')}"
        formula = law.said({"r": "r", "m": "m", "eps": say(k, self.eps)})
        self.text = f"{'the sum over j of ' * (level >= 3)}{formula}, where r = y - x, {source}"
        self.told = _MANY[law.name] if level >= 3 else _TOLD[law.name]
        self.pull = routine(
            k,
            {1: 0.0, 2: 0.3}.get(level, 0.7),
            "vortex_flow vortex_vel" if swirls else f"{law.name}_pull {law.name}_accel",
            {"x": vec, "y": vec, "m": scalar, _ARGS.get(law.name, "eps"): scalar},
            lambda b, x, y, m, eps: law.build(b, b.let("r delta", y - x), m, eps),
        )

    def at(self, x: Expr, names: str) -> Var:
        if self.one is not None:
            value = self.pull(x, self.one["y"], self.one["m"], self.eps)
            return self.k.let(names, value)
        total = self.k.let(names, zero(x.type))
        assert self.table is not None
        with self.table.each("j s src_id") as (_, (y, m)):
            self.k.augment(total, "add", self.pull(x, y, m, self.eps))
        return total


_X, _V = "x_new x_next", "v_new v_next"


def _step(
    k: KernelBuilder, level: int, f: _Field, x: Var, v: Var, dt: Var
) -> tuple[Var, Var, str, str]:
    """New position and velocity by one of the usual integrators, its name and its rule."""
    forms = ("euler", "symplectic") if level == 2 else ("leapfrog", "verlet", "midpoint", "heun")
    form = k.draw.shape.choice(forms)

    a = f.at(x, "a acc")
    if form == "euler":
        text = "x' = x + h v, v' = v + h a(x)"
        return k.let(_X, x + dt * v), k.let(_V, v + dt * a), "Euler's method", text
    if form == "symplectic":
        v_new = k.let(_V, v + dt * a)
        text = "v' = v + h a(x), x' = x + h v'"
        return k.let(_X, x + dt * v_new), v_new, "the symplectic Euler method", text
    if form == "leapfrog":
        half = k.let("v_half v_mid", v + 0.5 * dt * a)
        x_new = k.let(_X, x + dt * half)
        v_new = k.let(_V, half + 0.5 * dt * f.at(x_new, "a2 acc_new"))
        text = "w = v + h/2 a(x), x' = x + h w, v' = w + h/2 a(x')"
        return x_new, v_new, "the leapfrog scheme", text
    if form == "verlet":
        x_new = k.let(_X, x + dt * v + 0.5 * dt * dt * a)
        v_new = k.let(_V, v + 0.5 * dt * (a + f.at(x_new, "a2 acc_new")))
        text = "x' = x + h v + h^2/2 a(x), v' = v + h/2 (a(x) + a(x'))"
        return x_new, v_new, "the velocity Verlet scheme", text
    if form == "midpoint":
        x_mid = k.let("x_mid x_half", x + 0.5 * dt * v)
        v_mid = k.let("v_mid v_half", v + 0.5 * dt * a)
        v_new = k.let(_V, v + dt * f.at(x_mid, "a_mid acc_mid"))
        text = "x' = x + h (v + h/2 a(x)), v' = v + h a(x + h/2 v)"
        return k.let(_X, x + dt * v_mid), v_new, "the midpoint rule", text
    x_try, v_try = k.let("x_try x_pred", x + dt * v), k.let("v_try v_pred", v + dt * a)
    x_new = k.let(_X, x + 0.5 * dt * (v + v_try))
    v_new = k.let(_V, v + 0.5 * dt * (a + f.at(x_try, "a_try acc_pred")))
    text = "x' = x + h/2 (v + v + h a(x)), v' = v + h/2 (a(x) + a(x + h v))"
    return x_new, v_new, "Heun's method", text


def _only_field(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[str, str]:
    """Level 1, and flows of vortices: the field at points, or one step along it."""
    swirls = level > 1 or (vec.size == 2 and k.draw.shape.chance(0.4))
    x = k.let(
        "x p", site.read("tracers markers" if level > 1 else "points positions", vec, -2.0, 2.0)
    )
    f = _Field(k, level, site, vec, swirls)
    u = f.at(x, "u total_u" if swirls else "a acc")
    if level == 1:
        done = f"Evaluate {f.told} at points. At x = {say(k, x)}, take {f.text}."
        outs = "flow velocity_out" if swirls else _OUTS.get(f.name, "accel accelerations")
        return f.name, done + deliver(site, level, outs, u)
    rule = "the midpoint rule" if level >= 3 else "Euler's method"
    done = f"Move tracers by {rule} with {f.told}. At x = {say(k, x)} let u(x) be {f.text}."
    dt = given(site, "dt time_step", vec.scalar, 0.1, 0.5, forms=_COMMON)
    if level >= 3:
        u = f.at(k.let("x_mid x_half", x + 0.5 * dt * u), "u_mid u_half")
    moved = "x + h u(x + h/2 u(x))" if level >= 3 else "x + h u(x)"
    done += f" Take {moved}, h = {say(k, dt)}."
    done += deliver(site, level, "moved advected new_points", x + dt * u)
    return f.name, done


def _orbit(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[str, str]:
    """One step of a body."""
    parts = {
        "x": Part("position pos", vec, -2.0, 2.0),
        "v": Part("velocity vel", vec, -1.0, 1.0),
    }
    state = record(site, "Body Tracer", parts, 0.5)
    x, v = k.let("x pos_i", state["x"]), k.let("v vel_i", state["v"])
    f = _Field(k, level, site, vec, False)
    step = given(site, "dt time_step", vec.scalar, 0.05, 0.3, forms=_COMMON)
    dt = local(k, "dt h", step)
    x_new, v_new, name, rule = _step(k, level, f, x, v, dt)
    done = f"Move bodies one step by {name} in {f.told}. For x = {state.say('x')} and v = "
    done += f"{state.say('v')}, with a(x) being {f.text}: {rule}, h = {say(k, step)}."
    if level >= 4 and k.draw.shape.chance(0.6):
        drag = given(
            site, "drag friction", vec.scalar, 0.1, 0.8, many="drags drag_rates", forms=_SOURCES
        )
        k.augment(v_new, "mul", exp(-drag * dt))
        done += f" v' is multiplied by exp(-{say(k, drag)} * h)."
    moved = site.put("new_positions pos_out", x_new)
    done += f" Store x' in {moved.name} and v' in {site.put('new_velocities vel_out', v_new).name}."
    if level < 5:
        return f.name, done
    if k.draw.shape.chance(0.5):
        out = site.put("kinetic energy_out", 0.5 * dot(v_new, v_new))
        return f.name, f"{done} {out.name} gets dot(v', v') / 2."
    plane = x_new[0] * v_new[1] - x_new[1] * v_new[0]
    value = fn("cross", x_new, v_new) if vec.size == 3 else plane
    text = "cross(x', v')" if vec.size == 3 else "x'x * v'y - x'y * v'x"
    return f.name, f"{done} {site.put('momenta spin_out', value).name} gets {text}."


@idiom(depth=4)
def orbit_step(k: KernelBuilder, level: int) -> Title:
    """Bodies pulled by a few attractors, and tracers in the flow of a few vortices."""
    site = launch(k, list=1)
    vec = Vec(k.draw.shape.weighted({3: 4, 2: 4}), k.draw.wide_float_type())
    flow = level == 1 or k.draw.shape.chance(0.25)
    if flow and level > 1:
        vec = Vec(2, vec.scalar)
    form, done = (_only_field if flow else _orbit)(k, level, site, vec)
    if level == 1:
        return Title(k.name(f"{form}_field {form}_at_points eval_{form}"), done)
    bodies = "advect_tracers" if flow else "advance_bodies"
    return Title(k.name(f"{form}_step step_{form} {bodies}"), done)
