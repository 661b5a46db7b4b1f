"""Particles: one step of their motion, from separate arrays or an array of structs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from generators.build import KernelBuilder, field, fn, make
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula
from generators.kit.functions import cos, dot, exp, least, most, sin
from generators.kit.naming import applied
from generators.kit.records import Part, Record, record
from generators.kit.sites import Site, launch
from generators.kit.sources import setting, zero
from generators.kit.words import listed, say
from generators.program.dtypes import Vec
from generators.program.expr import Expr, Var
from generators.vector.shelf import VectorShelf, further, read


@dataclass(frozen=True)
class Motion:
    """A particle on its way through one step: its locals, and the step's length with its name.

    Descriptions call the position x, the velocity v and the acceleration a.
    """

    k: KernelBuilder
    position: Var
    velocity: Var
    dt: Expr
    step: str
    extra: str = ""
    """The term that the acceleration has besides its law."""
    charge: Expr | None = None
    """Charge over mass, where the particle has one; a magnetic field turns it by that."""

    massive: bool = False
    """Whether the particles differ in mass, so that no one frequency turns them all."""

    @property
    def changes(self) -> list[Change]:
        """What may change the velocity besides the acceleration."""
        return [c for c in VELOCITY_CHANGES if not (self.massive and c is swirl)]

    @property
    def vec(self) -> Vec:
        assert isinstance(self.velocity.type, Vec)
        return self.velocity.type

    def tuned(self, names: str, low: float, high: float) -> tuple[Expr, str]:
        """A number that is a parameter or a literal, and its text."""
        value = setting(self.k, names, self.vec.scalar, low, high, 0.9)
        return value, say(self.k, value)


def drag(m: Motion) -> str:
    rate, name = m.tuned("damping drag_rate", 0.2, 0.9)
    if m.k.draw.shape.chance(0.5):
        m.k.augment(m.velocity, "mul", 1.0 - rate * m.dt)
        return f"is multiplied by 1 - {name} * {m.step}"
    m.k.augment(m.velocity, "mul", exp(-rate * m.dt))
    return f"is multiplied by exp(-{name} * {m.step})"


def speed_limit(m: Motion) -> str:
    limit, name = m.tuned("max_speed speed_limit v_max", 1.0, 1.6)
    speed = m.k.let("speed v_norm", fn("length", m.velocity))
    with m.k.if_(speed > limit):
        m.k.augment(m.velocity, "mul", limit / speed)
    return f"is shortened to length {name} where it is longer"


def anchor_pull(m: Motion) -> str:
    stiffness, name = m.tuned("omega_sq trap_k", 0.5, 2.0)
    anchor = m.k.scalar("anchor target origin center", m.vec, -1.0, 1.0)
    m.k.augment(m.velocity, "add", stiffness * (anchor - m.position) * m.dt)
    return f"gains {m.step} * {name} * ({anchor.name} - x)"


def swirl(m: Motion) -> str:
    """The turn of a charge in a magnetic field, which keeps its speed."""
    k, v = m.k, m.velocity
    names = "omega_c gyro_freq" if m.charge is None else "b_field mag_field"
    kind, low = (m.vec, -1.0) if m.vec.size == 3 else (m.vec.scalar, 0.4)
    field = k.scalar(names, kind, low, 1.5 if low > 0.0 else 1.0)
    rate: Expr = field if m.charge is None else m.charge * field
    text = field.name if m.charge is None else f"{say(k, m.charge)} * {field.name}"
    if m.vec.size == 3:
        half = k.let("half_turn t_rot", 0.5 * m.dt * rate)
        mid = k.let("v_prime v_rot", v + fn("cross", v, half))
        k.augment(v, "add", 2.0 / (1.0 + dot(half, half)) * fn("cross", mid, half))
        text = f"is turned by Boris' rotation with u = {m.step} / 2 * {text} (w = v + cross(v, u), "
        return f"{text}then v gains 2 / (1 + |u|^2) * cross(w, u))"
    angle = k.let("angle turn", m.dt * rate)
    c, s = k.let("c cos_a", cos(angle)), k.let("s sin_a", sin(angle))
    k.assign(v, make(m.vec, c * v[0] + s * v[1], c * v[1] - s * v[0]))
    return f"is turned clockwise by the angle {m.step} * {text}"


def floor_bounce(m: Motion) -> str:
    k, x, v = m.k, m.position, m.velocity
    bounce, name = m.tuned("restitution bounce elasticity", 0.3, 0.9)
    mirrored = k.draw.shape.chance(0.5)
    axes = range(m.vec.size)
    with k.if_(x[1] < 0.0):
        up = -x[1] if mirrored else zero(m.vec.scalar)
        k.assign(x, make(m.vec, *(up if c == 1 else x[c] for c in axes)))
        k.assign(v, make(m.vec, *(-bounce * v[c] if c == 1 else v[c] for c in axes)))
    where = "is mirrored at" if mirrored else "is put back on"
    return f"{where} the floor y = 0 (vy becomes -{name} * vy)"


def box_walls(m: Motion) -> str:
    """Componentwise walls of a cube around the origin."""
    k, x, v = m.k, m.position, m.velocity
    half, name = m.tuned("half_width box extent", 1.0, 1.5)
    parts = [fn("where", abs(x[c]) > half, -v[c], v[c]) for c in range(m.vec.size)]
    k.assign(v, make(m.vec, *parts))
    corner = k.let("corner wall", make(m.vec, half))
    k.assign(x, least(most(x, -corner), corner))
    return f"is clamped to +-{name} along each axis (negating v's component where it acts)"


Change = Callable[[Motion], str]
VELOCITY_CHANGES: tuple[Change, ...] = (anchor_pull, drag, speed_limit, swirl)
POSITION_CHANGES = (box_walls, floor_bounce)
_LIKE = {"drag": drag, "quadratic": drag, "spring": anchor_pull}
"""Terms of the acceleration, and the changes that do the same."""
_CHANGES_AT = {1: (0, 0), 2: (1, 1), 3: (1, 1), 4: (2, 3), 5: (3, 4)}


def advance(level: int, m: Motion, acceleration: Expr) -> str:
    """Statements of one Euler step with extras; says what they do."""
    k, shape, h = m.k, m.k.draw.shape, m.step
    count = shape.integer(*_CHANGES_AT[level])
    after = 1 if level >= 2 and count and shape.chance(0.5) else 0
    # Nobody slows or pulls a particle twice.
    early = shape.sample(
        [c for c in m.changes if c is not _LIKE.get(m.extra)],
        min(count - after, len(m.changes) - 1),
    )
    forms = {"velocity": 6 if level > 2 else 4, "position": 2, "half": 2 if level <= 2 else 0}
    form = shape.weighted(forms)
    moves = f"x gains {h} * v"
    step = m.velocity * m.dt
    if form == "half":
        acceleration = k.let("accel acc", acceleration)
        step, moves = step + 0.5 * m.dt * m.dt * acceleration, f"{moves} + {h}^2 / 2 * a"
    if form != "velocity":
        k.augment(m.position, "add", step)
    k.augment(m.velocity, "add", acceleration * m.dt)
    changes = listed([change(m) for change in early])
    if form == "velocity":
        k.augment(m.position, "add", step)
    gains = f"v gains {h} * a{', then ' if changes else ''}{changes}"
    text = "; then ".join((gains, moves) if form == "velocity" else (moves, gains))
    late = listed([change(m) for change in shape.sample(POSITION_CHANGES, after)])
    return f"{text}; then x {late}" if late else text


def _sub_stepped(level: int, m: Motion, acceleration: Expr, x: str, v: str) -> str:
    """:func:`advance`, at high levels sometimes in a loop over shorter steps."""
    k, done = m.k, f"Advance each particle's position x in {x} and velocity v in {v}"
    if level < 4 or k.draw.shape.chance(0.5):
        return f"{done}: {advance(level, m, acceleration)}"
    steps = k.draw.value.integer(2, 4)
    short = k.let("sub_dt h_sub dt_small", m.dt / float(steps))
    with k.for_("sub step s", steps):
        text = advance(level, replace(m, dt=short, step="s"), acceleration)
    return f"{done} by {steps} sub-steps of s = {m.step} / {steps}: in each, {text}"


_LAWS = VectorShelf(scalars="mass inv_mass charge")
_LAWS.add("gravity", "pulls", lambda g: g)
_LAWS.add("accel", "pushes", lambda u: u)
_LAWS.add("mass", "pushes", lambda f, mass: f / mass)
_LAWS.add("inv_mass", "pushes", lambda f, inv_mass: inv_mass * f)
_LAWS.add("charge", "pushes", lambda e, charge: charge * e)

_TERMS = VectorShelf(scalars="c")
_TERMS.add("drag", "slowed", lambda a, v, c: a - c * v)
_TERMS.add("spring", "sprung", lambda a, x, c: a - c * x)
_TERMS.add("quadratic", "slowed", lambda a, v, c: a - c * fn("length", v) * v)
_TERMS.add("falling", "fallen", lambda a, down: a + down)
_RANGES = {
    "drag": ("drag_rate damping_rate", 0.1, 0.99),
    "spring": ("omega_sq trap_omega_sq", 0.2, 2.5),
    "quadratic": ("quad_drag drag_per_length", 0.05, 0.5),
}
"""What sets the size of a term; ``spring`` pulls to the origin."""


def _with_extra(m: Motion, a: Expr, text: str, law: str) -> tuple[Expr, str, str]:
    """An acceleration with one more term, its text and name; no second gravity."""
    k = m.k
    values: dict[str, Expr] = {"a": a, "v": m.velocity, "x": m.position}
    cards = [c for c in _TERMS.cards if law != "gravity" or c.name != "falling"]
    formula = k.draw.shape.choice(cards)
    if "c" in formula.keys:
        names, low, high = _RANGES[formula.name]
        values["c"] = k.scalar(names, m.vec.scalar, low, high)
    else:
        values["down"] = k.scalar("gravity g", m.vec, -3.0, 3.0)
    texts = {key: say(k, value) for key, value in values.items()}
    said = formula.said(texts | {"a": text, "v": "v", "x": "x"})
    return formula.of(k, values), said, formula.name


def _parts(vec: Vec, shared: bool) -> dict[str, Part]:
    """What a particle has, and what acts on it, by the names that formulas read."""
    scalar, ways = vec.scalar, {"shared": 1} if shared else {"each": 1}
    return {
        "x": Part("position pos", vec, -2.0, 2.0),
        "v": Part("velocity vel", vec, -2.0, 2.0),
        "g": Part("gravity g", vec, -3.0, 3.0, forms={"shared": 1}),
        "u": Part("accel ext_accel", vec, -3.0, 3.0, forms=ways),
        "f": Part("force ext_force", vec, -3.0, 3.0, forms=ways),
        "e": Part("e_field electric", vec, -3.0, 3.0, forms=ways, many="e_field e_at_particles"),
        "mass": Part("mass", scalar, 0.5, 2.0),
        "inv_mass": Part("inv_mass", scalar, 0.5, 2.0),
        "charge": Part("q_over_m", scalar, -1.0, 2.0, many="charge_to_mass q_over_m"),
    }


def _integrated(k: KernelBuilder, level: int, structs: bool) -> str:
    """One step of particles that are structs, or a value in each of several arrays."""
    shape = k.draw.shape
    vec = Vec(shape.weighted({3: 3, 2: 2}), k.draw.wide_float_type())
    site = launch(k, list=5, batch=3 + level // 3)
    law = shape.choice([card for card in _LAWS.cards if len(card.keys) == 2 or not structs])
    parts = _parts(vec, shape.chance(0.3))
    own = law.keys[1:] if structs else law.keys
    chosen = {key: parts[key] for key in ("x", "v", *own)}
    r = record(site, "Particle Body Droplet", chosen, 2.0 * structs)
    values = r.values | {key: read(site, parts[key]) for key in law.keys if key not in own}
    texts = {key: say(k, values[key]) for key in law.keys}
    dt = k.scalar("dt time_step h", vec.scalar, 0.05, 0.2)
    m = Motion(k, k.let("x xi here", r["x"]), k.let("v vi velocity_i", r["v"]), dt, dt.name)
    m = replace(m, charge=values.get("charge"), massive=law.name in ("mass", "inv_mass"))
    acceleration, text = _acceleration(k, level, r, law, values), law.said(texts)
    if level < 3 or shape.chance(0.5):
        acceleration, text, extra = _with_extra(m, acceleration, text, law.name)
        m = replace(m, extra=extra)
    done = _sub_stepped(level, m, acceleration, r.say("x"), r.say("v"))
    done += f". Here a = {text}."
    after = {"x": m.position, "v": m.velocity}
    if r.struct is not None:
        done += r.write(after, {}, "moved next_state advanced")
    else:
        new_x = site.put("new_positions pos_out x_next", m.position)
        new_v = site.put("new_velocities vel_out v_next", m.velocity)
        done += f" Store the new x in {new_x.name} and the new v in {new_v.name}."
    if level >= 3 and shape.chance(0.4):
        mass = {"third": r["mass"]} if structs and "mass" in own else {}
        done += _balance(site, level, after | mass)
    return done


def _acceleration(
    k: KernelBuilder, level: int, r: Record, law: Formula, values: dict[str, Expr]
) -> Expr:
    """The acceleration of a particle by a force, of a struct now and then in a helper."""
    if r.whole is None:
        return law.of(k, values)
    push, third = law.keys
    return applied(
        k,
        0.5 if level >= 3 else 0.0,
        "acceleration_of response_to",
        {"particle": r.whole, "push": values[push]},
        lambda b, whole, force: law.build(b, force, field(whole, r.fields[third].name)),
    )


_NAMES = "integrate_particles euler_step advance_particles move_particles"


@idiom(depth=3)
def particle_step(k: KernelBuilder, level: int) -> Title:
    """Euler's method for positions and velocities, with drag, springs, limits and walls."""
    done = _integrated(k, level, structs=False)
    return Title(k.name(_NAMES), done)


@idiom(depth=1)
def particle_structs(k: KernelBuilder, level: int) -> Title:
    """The same for an array of structs, which the kernel reads and writes whole."""
    done = _integrated(k, level, structs=True)
    return Title(k.name(f"{_NAMES} step_bodies"), done)


_BALANCE = VectorShelf(scalars="third")
_BALANCE.add("kinetic", "kinetic_out kinetic_log", lambda v: 0.5 * dot(v, v))
_BALANCE.add("weighted", "energy_out energy_log", lambda v, third: third * (0.5 * dot(v, v)))
_BALANCE.add("momentum", "momentum_out momentum_log", lambda v, third: third * v)
_BALANCE.add("angular", "angular_out angular_log", lambda x, v: fn("cross", x, v))


def _balance(site: Site, level: int, values: dict[str, Expr]) -> str:
    """What a simulation records beside the state, of the new position and velocity."""
    k, vec = site.k, values["v"].type
    assert isinstance(vec, Vec)
    unusable = {"kinetic"} if "third" in values else {"weighted", "momentum"}
    unusable |= {"angular"} if vec.size == 2 else set()
    forms = [card for card in _BALANCE.cards if card.name not in unusable]
    names = {"third": say(k, values["third"])} if "third" in values else {}
    return further(site, forms, 1, values, {}, names, ", x and v being the final ones")
