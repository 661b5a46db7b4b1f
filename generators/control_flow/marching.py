"""Marched rays and random walks, which end early."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import STOP, Also, Step, branch, minus, take
from generators.control_flow.params import with_struct
from generators.kit.functions import least, most, sqrt, square, where
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.sites import over
from generators.kit.sources import given, setting, zero
from generators.kit.text import written
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32, Vec
from generators.program.expr import Expr, Var, literal

_FIELDS: dict[str, Callable[[Expr, Expr], Expr]] = {
    "sphere": lambda p, r: r - fn("length", p),
    "slab": lambda p, r: r - abs(p[1]),
    "pillar": lambda p, r: sqrt(p[0] * p[0] + square(p[2] - 1.0)) - 0.5 * r,
    "tube": lambda p, r: r - sqrt(p[0] * p[0] + p[2] * p[2]),
    "room": lambda p, r: r - most(abs(p[0]), abs(p[1]), abs(p[2])),
    "bowl": lambda p, r: least(r - fn("length", p), p[1] + 0.8),
}
"""Distances from a point p to a surface of radius r."""

_OPEN = frozenset({"slab", "pillar", "tube"})
"""Fields that some rays never meet."""


@idiom
@with_struct
def sphere_tracing(k: KernelBuilder, level: int) -> Title:
    """Rays marched through a distance field until they are near a surface or have gone too far."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    vec, form = Vec(3, type_), shape.choice(sorted(_FIELDS))
    s = over(k, "num_rays", (k.draw.word.choice(("i", "tid", "ray")),), ((48, 72),))
    origin = s.read("origins ray_o", vec, -0.4, 0.4)
    direction = s.read("directions ray_d", vec, init="unit")
    radius = setting(k, "radius size", type_, 1.2, 1.6)
    stop, steps = setting(k, "eps hit_distance", type_, 0.1, 0.3), k.draw.value.integer(5, 8)
    begin = setting(k, "t_min near", type_, 0.05, 0.2, 1.0) if shape.chance(0.35) else zero(type_)
    relax = round(k.draw.value.integer(7, 9) / 10, 1) if level >= 2 and shape.chance(0.7) else 1.0
    out = s.out("depth distance t_hit", type_)
    used = Also(s, 0.0 if level < 2 else 0.6, "steps iterations")
    hit = Also(s, 0.5 if form in _OPEN else 0.0, "hit reached")
    moved = f"{relax} * h" if relax != 1.0 else "h"
    done = f"March each ray p = o + t * d, with o of {say(k, origin)} and d of "
    done += f"{say(k, direction)}, from t = {say(k, begin)} for at most {steps} steps of {moved} "
    done += (
        f"with h = {written(_FIELDS[form](Var('p', vec), radius))}, ending where h < {say(k, stop)}"
    )
    o, d = k.let("o ro", origin), k.let("d rd", direction)
    names, params = f"{form}_distance scene_distance sdf", {"p": vec, "r": type_}
    field_at = routine(k, BY_LEVEL[level], names, params, lambda _, p, r: _FIELDS[form](p, r))
    t = k.let("t travel", begin)
    hit.start("found inside")
    used.start("used count")
    with k.for_("it step", steps):
        h = k.let("h dist", field_at(k.let("p pos", o + t * d), radius))
        branch(k, (h < stop, (hit, 1), STOP))
        k.augment(t, "add", relax * h if relax != 1.0 else h)
        if level >= 3:
            far = (1.8, 2.3) if form in _OPEN else (1.1, 1.4)
            limit = setting(k, "max_dist t_max", type_, *far)
            branch(k, (t > limit, (t, limit), STOP))
            done += f" or t would exceed {say(k, limit)}, where it is set to that"
        used.add()
    k.store(out, s.at, t)
    done += f"; t goes to {out.name}." + used.told("the number of full steps")
    done += hit.told(f"1 where h fell below {say(k, stop)}, else 0")
    return Title(k.name("sphere_trace march_rays raymarch"), done)


_MOVES: dict[str, tuple[str, Callable[[KernelBuilder, Var], Expr]]] = {
    "lattice": (
        "-1 or 1 (randi(0, 2) * 2 - 1)",
        lambda k, state: k.sample("coin b", "randi", state, 0, 2) * 2 - 1,
    ),
    "dice": ("randi(-2, 3)", lambda k, state: k.sample("jump hop", "randi", state, -2, 3)),
    "uniform": ("randf(-1, 1)", lambda k, state: k.sample("dx hop", "randf", state, -1.0, 1.0)),
    "normal": ("0.5 * randn", lambda k, state: 0.5 * k.sample("g kick", "randn", state)),
}


@idiom
@with_struct
def random_walks(k: KernelBuilder, level: int) -> Title:
    """Random walks of each thread until they leave a band, meet a wall or run out of steps."""
    shape = k.draw.shape
    form = shape.choice(sorted(_MOVES))
    whole = form in ("lattice", "dice")
    type_, steps = INT32 if whole else FLOAT32, k.draw.value.integer(6, 14)
    s = over(k, "num_walkers", (k.draw.word.choice(("i", "tid")),), ((56, 80),))
    seed = k.scalar("seed rng_seed", INT32, 1, 9999)
    start: Expr = zero(type_)
    if shape.chance(0.5):
        start = given(s, "start origin", type_, -1, 1, each=1, many="starts origins")
    band = setting(k, "band barrier", type_, *((3, 5) if whole else (1.5, 2.5)))
    rule = shape.choice(("absorb", "reset", "reflect", "pin")[: 4 if level >= 2 else 2])
    drifts = level >= 3 and not whole and shape.chance(0.6)
    drift = setting(k, "drift bias", type_, 0.05, 0.2) if drifts else None
    out = s.out("final position end", type_)
    taken = Also(s, 0.7 if rule == "absorb" else 0.0, "steps_taken lifetime")
    done = f"Walker {s.where}, seeded by {seed.name} and {s.where}, makes up to {steps} moves of "
    done += f"{_MOVES[form][0]}{f' plus {say(k, drift)}' if drift is not None else ''} from "
    done += f"{say(k, start)}; a place beyond +-{say(k, band)} "
    state = k.random_state("state rng", seed, s.at[0])
    x = k.let("x pos", start)
    taken.start("used count")
    ends: dict[str, tuple[str, Step]] = {
        "absorb": ("ends the walk", STOP),
        "reset": ("sets it to 0", (x, literal(0, type_))),
        "pin": ("is moved back to that", (x, where(x > 0, band, minus(band)))),
        "reflect": ("changes its sign", (x, -x)) if whole else ("halves it", (x, 0.5 * x)),
    }
    with k.for_("t step", steps):
        k.augment(x, "add", _MOVES[form][1](k, state))
        if drift is not None:
            k.augment(x, "add", drift)
        take(k, (taken, 1), [(abs(x) > band, ends[rule][1])])
    k.store(out, s.at, x)
    done += f"{ends[rule][0]}. The last place goes to {out.name}."
    done += taken.told("the number of moves")
    return Title(k.name("random_walk walk_in_band first_passage"), done)
