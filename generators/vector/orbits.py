"""Bodies in force fields: few attractors, charges in fields, vortices; integrators of any order."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, field, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, exp, sqrt
from generators.kit.naming import routine
from generators.kit.outputs import deliver
from generators.kit.pieces import float_vec
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.program.dtypes import Type, Vec
from generators.program.expr import Expr, Var

_COMMON = {"shared": 3, "literal": 1}
_SOURCES = {"each": 1, "first": 1, "shared": 3, "literal": 1}
Pull = Callable[[BodyBuilder, Expr, Expr, Expr, Expr], Expr]


def _newton(b: BodyBuilder, x: Expr, y: Expr, m: Expr, eps: Expr) -> Expr:
    r = b.let("r delta", y - x)
    d2 = b.let("d2 r2", dot(r, r) + eps * eps)
    return m / (d2 * sqrt(d2)) * r


def _yukawa(b: BodyBuilder, x: Expr, y: Expr, m: Expr, eps: Expr) -> Expr:
    r = b.let("r delta", y - x)
    dist = b.let("dist r_len", sqrt(dot(r, r) + 0.01))
    return m * exp(-dist / eps) / (dist * dist) * r


def _plummer(b: BodyBuilder, x: Expr, y: Expr, m: Expr, eps: Expr) -> Expr:
    r = b.let("r delta", y - x)
    core = b.let("core s2", fn("length_sq", r) / (eps * eps) + 1.0)
    return m / fn("pow", core, 1.5) * r


def _halo(b: BodyBuilder, x: Expr, y: Expr, m: Expr, eps: Expr) -> Expr:
    """The pull of a logarithmic potential, as of a halo of dark matter."""
    r = b.let("r delta", y - x)
    return m * r / (dot(r, r) + eps * eps)


def _hernquist(b: BodyBuilder, x: Expr, y: Expr, m: Expr, eps: Expr) -> Expr:
    r = b.let("r delta", y - x)
    dist = b.let("dist r_len", sqrt(dot(r, r) + 0.01))
    return m / (dist * (dist + eps) * (dist + eps)) * r


def _swirl(b: BodyBuilder, x: Expr, y: Expr, m: Expr, eps: Expr) -> Expr:
    """A regularised point vortex of the plane: its velocity is across the distance."""
    r = b.let("r delta", x - y)
    core = b.let("core d2", dot(r, r) + eps * eps)
    return m / (6.2832 * core) * make(x.type, -r[1], r[0])


_PULLS: dict[str, tuple[Pull, str]] = {
    "gravity": (_newton, "m / (dot(r, r) + E^2)^1.5 * r"),
    "yukawa": (_yukawa, "m * exp(-d / E) / d^2 * r, d = sqrt(dot(r, r) + 0.01)"),
    "plummer": (_plummer, "m / (dot(r, r) / E^2 + 1)^1.5 * r"),
    "halo": (_halo, "m * r / (dot(r, r) + E^2)"),
    "hernquist": (_hernquist, "m / (d * (d + E)^2) * r, d = sqrt(dot(r, r) + 0.01)"),
}
_VORTEX = "m / (6.2832 * (dot(r, r) + E^2)) * (ry, -rx)"


def _state(k: KernelBuilder, site: Site, vec: Vec) -> tuple[Var, Var, str]:
    parts = [Part("position pos place", vec, -2.0, 2.0), Part("velocity vel speed", vec, -1.0, 1.0)]
    as_struct = k.draw.shape.chance(0.5)
    x, v = record(site, "Body Planet Tracer", parts, as_struct)
    text = f"x = {say(k, x)} and v = {say(k, v)}"
    return k.let("x pos_i", x), k.let("v vel_i", v), text


class _Field:
    """The acceleration (or for vortices the velocity) at a point."""

    def __init__(self, k: KernelBuilder, level: int, site: Site, vec: Vec, vortex: bool) -> None:
        self.k = k
        shape, scalar = k.draw.shape, vec.scalar
        name = "vortex" if vortex else shape.choice(sorted(_PULLS))
        build, text = (_swirl, _VORTEX) if vortex else _PULLS[name]
        self.name = name
        self.eps = given(site, "softening core_radius", scalar, 0.4, 1.2, forms=_COMMON)
        self.text = text.replace("E", say(k, self.eps))
        kinds: list[tuple[str, Type]] = [("x", vec), ("y", vec), ("m", scalar), ("eps", scalar)]
        chance = {1: 0.0, 2: 0.3}.get(level, 0.7)
        self.one = routine(k, chance, f"{name}_pull {name}_accel", kinds, build)
        self.several = level >= 3
        titles = ("Vortex", "Eddy") if vortex else ("Sun", "Source", "Attractor")
        size = ("strength", "circulation", "gamma") if vortex else ("mass", "strength", "mu")
        parts = [Part("center position anchor", vec, -1.5, 1.5), Part(size, scalar, 0.4, 1.5)]
        if not self.several:
            by_struct = shape.chance(0.4)
            got = record(site, titles, parts, by_struct, 0.8)
            self.parts = got
            self.source = f"y = {say(k, got[0])} and m = {say(k, got[1])}"
            return
        k.size("m", 2, 4)
        struct, self.fields = struct_of(k, k.draw.word.choice(titles), parts)
        many = ("vortices", "eddies") if vortex else ("sources", "suns", "attractors")
        self.items = k.array(many, struct, "m", fields=self.fields)
        self.source = f"y, m the {self.fields[0].name} and {self.fields[1].name} of each of "
        self.source += self.items.name
        self.count = k.trip_count("source_count num_sources", "m")

    def at(self, x: Expr, names: tuple[str, ...]) -> Var:
        k = self.k
        if not self.several:
            return k.let(names, self.one(x, self.parts[0], self.parts[1], self.eps))
        total = k.let(names, zero(x.type))
        with k.for_("j s src_id", self.count) as j:
            item = k.let("src item", self.items[j])
            y, m = (field(item, f.name) for f in self.fields)
            k.augment(total, "add", self.one(x, y, m, self.eps))
        return total


def _step(
    k: KernelBuilder, level: int, f: _Field, x: Var, v: Var, dt: Expr
) -> tuple[Var, Var, str]:
    """New position and velocity by one of the usual integrators."""
    forms = ("euler", "symplectic") if level == 2 else ("leapfrog", "verlet", "midpoint", "heun")
    form = k.draw.shape.choice(forms)
    dt = dt if isinstance(dt, Var) else k.let("dt h", dt)
    a = f.at(x, ("a", "acc"))
    if form == "euler":
        x_new = k.let("x_new x_next", x + dt * v)
        v_new = k.let("v_new v_next", v + dt * a)
        return x_new, v_new, "x' = x + h v, v' = v + h a(x)"
    if form == "symplectic":
        v_new = k.let("v_new v_next", v + dt * a)
        x_new = k.let("x_new x_next", x + dt * v_new)
        return x_new, v_new, "v' = v + h a(x), x' = x + h v'"
    if form == "leapfrog":
        half = k.let("v_half v_mid", v + 0.5 * dt * a)
        x_new = k.let("x_new x_next", x + dt * half)
        v_new = k.let("v_new v_next", half + 0.5 * dt * f.at(x_new, ("a2", "acc_new")))
        return x_new, v_new, "w = v + h/2 a(x), x' = x + h w, v' = w + h/2 a(x')"
    if form == "verlet":
        x_new = k.let("x_new x_next", x + dt * v + 0.5 * dt * dt * a)
        v_new = k.let("v_new v_next", v + 0.5 * dt * (a + f.at(x_new, ("a2", "acc_new"))))
        return x_new, v_new, "x' = x + h v + h^2/2 a(x), v' = v + h/2 (a(x) + a(x'))"
    if form == "midpoint":
        x_mid = k.let("x_mid x_half", x + 0.5 * dt * v)
        v_mid = k.let("v_mid v_half", v + 0.5 * dt * a)
        v_new = k.let("v_new v_next", v + dt * f.at(x_mid, ("a_mid", "acc_mid")))
        x_new = k.let("x_new x_next", x + dt * v_mid)
        return x_new, v_new, "x' = x + h (v + h/2 a(x)), v' = v + h a(x + h/2 v)"
    x_try = k.let("x_try x_pred", x + dt * v)
    v_try = k.let("v_try v_pred", v + dt * a)
    x_new = k.let("x_new x_next", x + 0.5 * dt * (v + v_try))
    v_new = k.let("v_new v_next", v + 0.5 * dt * (a + f.at(x_try, ("a_try", "acc_pred"))))
    return x_new, v_new, "x' = x + h/2 (v + v + h a(x)), v' = v + h/2 (a(x) + a(x + h v))"


def _only_field(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[str, str]:
    """Level 1, and flows of vortices: the field at points, or one step along it."""
    vortex = level > 1 or (vec.size == 2 and k.draw.shape.chance(0.4))
    names = ("points", "tracers", "markers")
    points = site.array(names, vec, -2.0, 2.0)
    x = k.let("x p", points[site.at])
    f = _Field(k, level, site, vec, vortex)
    u = f.at(x, ("u", "total_u") if vortex else ("a", "acc"))
    side = "r = y - x"
    done = f"At x = {points.name}, {'sum' if f.several else 'take'} {f.text} with {side}, "
    done += f"{f.source}."
    if level == 1:
        outs = ("flow", "velocity_out") if vortex else ("field_out", "accel", "pull")
        return f.name, done + deliver(site, level, outs, u)
    dt = given(site, "dt time_step", vec.scalar, 0.1, 0.5, forms=_COMMON)
    if level >= 3:
        half = k.let("x_mid x_half", x + 0.5 * dt * u)
        u = f.at(half, ("u_mid", "u_half"))
        done += f" Call it u(x). Take x + h u(x + h/2 u(x)), h = {say(k, dt)}."
    else:
        done += f" Call it u(x). Take x + h u(x), h = {say(k, dt)}."
    done += deliver(site, level, "moved advected new_points", x + dt * u)
    if level >= 4:
        done += f" {site.put('speeds flow', fn('length_sq', u)).name} gets |u|^2 of the "
        done += "last u."
    return f.name, done


def _orbit(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[str, str]:
    """One step of a body."""
    x, v, text = _state(k, site, vec)
    f = _Field(k, level, site, vec, False)
    dt = given(site, "dt time_step h_step", vec.scalar, 0.05, 0.3, forms=_COMMON)
    x_new, v_new, rule = _step(k, level, f, x, v, dt)
    done = f"For {text}, with a(x) {'summing' if f.several else 'being'} {f.text}, r = y - x, "
    done += f"{f.source}: {rule}, h = {say(k, dt)}."
    if level >= 4 and k.draw.shape.chance(0.6):
        drag = given(site, "drag friction", vec.scalar, 0.1, 0.8, forms=_SOURCES)
        k.augment(v_new, "mul", exp(-drag * dt))
        done += f" v' is multiplied by exp(-{say(k, drag)} * h)."
    done += " Take x'." + deliver(site, level, "new_positions pos_out", x_new, otherwise=x)
    done += f" {site.put('new_velocities vel_out', v_new).name} gets v'."
    if level >= 5:
        done += _invariants(k, site, x_new, v_new)
    return f.name, done


def _invariants(k: KernelBuilder, site: Site, x: Var, v: Var) -> str:
    assert isinstance(x.type, Vec)
    if x.type.size == 3 and k.draw.shape.chance(0.5):
        out = site.put("momenta spin_out", fn("cross", x, v))
        return f" {out.name} gets cross(x', v')."
    if x.type.size == 2 and k.draw.shape.chance(0.5):
        out = site.put("momenta spin_out", x[0] * v[1] - x[1] * v[0])
        return f" {out.name} gets x'x * v'y - x'y * v'x."
    out = site.put("kinetic energy_out", 0.5 * dot(v, v))
    return f" {out.name} gets dot(v', v') / 2."


@idiom
def orbit_step(k: KernelBuilder, level: int) -> Title:
    """Bodies pulled by a few attractors, and tracers in the flow of a few vortices."""
    site = launch(k, list=5, batch=3 + level // 3)
    vec = float_vec(k, {3: 4, 2: 4})
    flow = level == 1 or k.draw.shape.chance(0.25)
    if flow and level > 1:
        vec = Vec(2, vec.scalar)
    form, done = (_only_field if flow else _orbit)(k, level, site, vec)
    if level == 1:
        return Title(k.name(f"{form}_field {form}_at_points eval_{form}"), done)
    bodies = "advect_tracers" if flow else "advance_bodies"
    return Title(k.name(f"{form}_step", f"step_{form}", bodies), done)
