"""Marched rays and random walks, which end early."""

from __future__ import annotations

from generators._control_flow_kit import also, either, shown
from generators.build import KernelBuilder, fn
from generators.dtypes import FLOAT32, INT32, Vec
from generators.expr import Expr, Operand, Var
from generators.registry import Title


def sphere_tracing(k: KernelBuilder, level: int) -> Title:
    """Rays marched through a distance field until they are near a surface or have gone too far."""
    shape = k.draw.shape
    s = k.draw.wide_float_type()
    vec = Vec(3, s)
    n = k.size("num_rays", 48, 72)
    origin = k.array(("origins", "ray_o"), vec, n, low=-0.4, high=0.4)
    direction = k.array(("directions", "ray_d"), vec, n, init="unit")
    field = shape.choice(("sphere", "slab", "two", "rounded"))
    radius = either(k, ("radius", "size"), s, 1.2, 1.6)
    steps = k.draw.value.integer(3, 6)
    out = k.out(("depth", "distance", "t_hit"), s, n)
    count_out = also(k, 0.0 if level < 2 else 0.6, ("steps", "iterations"), INT32, n)
    relax = round(k.draw.value.integer(5, 9) / 10, 1) if level >= 2 else 1.0
    limit = either(k, ("max_dist", "t_max"), s, 0.9, 1.2) if level >= 3 else None
    stop = shape.choice((0.1, 0.2, 0.3))
    (i,) = k.thread(n, names=(k.name("i", "tid", "ray"),))
    o, d = k.let(("o", "ro"), origin[i]), k.let(("d", "rd"), direction[i])
    t = k.let(("t", "travel"), k.lift(0.0, s))
    used = k.let(("used", "count"), k.lift(0, INT32)) if count_out is not None else None
    with k.for_(("it", "step"), steps):
        p = k.let(("p", "pos"), o + t * d)
        h = k.let(("h", "dist"), _field(field, p, radius))
        with k.if_(h < stop):
            k.break_()
        k.augment(t, "add", relax * h if relax != 1.0 else h)
        if limit is not None:
            with k.if_(t > limit):
                k.assign(t, k.lift(limit, s))
                k.break_()
        if used is not None:
            k.augment(used, "add", 1)
    k.store(out, i, t)
    texts = {
        "sphere": "{r} - |p|",
        "slab": "{r} - |p.y|",
        "two": "min({r} - |p|, |p - (0.5, 0, 0)| + 0.2)",
        "rounded": "{r} - max(|p.x|, max(|p.y|, |p.z|))",
    }
    done = (
        "March each ray p = o + t * d from t = 0 for at "
        f"most {steps} steps of {relax} * h with h = "
    )
    done += texts[field].format(r=shown(radius)) + f", ending where h < {stop}"
    done += (
        f" or t would exceed {shown(limit)}, where it is set to that" if limit is not None else ""
    )
    done += f"; t goes to {out.name}"
    if count_out is not None and used is not None:
        k.store(count_out, i, used)
        done += f", the number of full steps to {count_out.name}"
    return Title(k.name("sphere_trace", "march_rays", "raymarch"), f"{done}.")


def _field(field: str, p: Expr, radius: Operand) -> Expr:
    if field == "sphere":
        return radius - fn("length", p)
    if field == "slab":
        return radius - fn("abs", p[1])
    if field == "two":
        return fn("min", radius - fn("length", p), fn("abs", p[0] - 0.5) + 0.2)
    return radius - fn("max", fn("abs", p[0]), fn("max", fn("abs", p[1]), fn("abs", p[2])))


def random_walks(k: KernelBuilder, level: int) -> Title:
    """Random walks of each thread until they leave a band, meet a wall or run out of steps."""
    shape = k.draw.shape
    n = k.size("num_walkers", 56, 80)
    seed = k.scalar(("seed", "rng_seed"), INT32, 1, 9999)
    form = shape.choice(("lattice", "uniform", "normal", "dice"))
    whole = form in ("lattice", "dice")
    type_ = INT32 if whole else FLOAT32
    steps = k.draw.value.integer(6, 14)
    out = k.out(("final", "position", "end"), type_, n)
    band = either(k, ("band", "barrier"), type_, *((3, 5) if whole else (1.5, 2.5)))
    start = k.array(("start", "origin"), type_, n, low=-1, high=1) if shape.chance(0.5) else None
    rule = shape.choice(("absorb", "reflect", "reset") if level >= 2 else ("absorb", "reset"))
    absorbs = rule == "absorb"
    taken = also(k, 0.7 if absorbs else 0.0, ("steps_taken", "lifetime"), INT32, n)
    drift = (
        either(k, ("drift", "bias"), type_, *((1, 2) if whole else (0.05, 0.2)))
        if level >= 3 and not whole and shape.chance(0.6)
        else None
    )
    (i,) = k.thread(n, names=(k.name("i", "tid"),))
    state = k.random_state(("state", "rng"), seed, i)
    x = k.let(("x", "pos"), start[i] if start is not None else k.lift(0, type_))
    used = k.let(("used", "count"), k.lift(0, INT32)) if taken is not None else None
    with k.for_(("t", "step"), steps):
        k.augment(x, "add", _move(k, form, state))
        if drift is not None:
            k.augment(x, "add", drift)
        if used is not None:
            k.augment(used, "add", 1)
        with k.if_(fn("abs", x) > band):
            if rule == "absorb":
                k.break_()
            elif rule == "reset":
                k.assign(x, k.lift(0, type_))
            elif whole:
                k.assign(x, -x)
            else:
                k.assign(x, 0.5 * x)
    k.store(out, i, x)
    moves = {
        "lattice": "-1 or 1 (randi(0, 2) * 2 - 1)",
        "dice": "randi(-2, 3)",
        "uniform": "randf(-1, 1)",
        "normal": "0.5 * randn",
    }
    ends = {
        "absorb": "ends the walk",
        "reset": "sets it to 0",
        "reflect": "changes its sign" if whole else "halves it",
    }
    done = f"Walker i, seeded by {seed.name} and i, makes up to {steps} moves of {moves[form]}"
    done += f" plus {shown(drift)}" if drift is not None else ""
    done += (
        f" from {start.name if start is not None else 0}; "
        f"a place beyond +-{shown(band)} {ends[rule]}. "
    )
    done += f"The last place goes to {out.name}"
    if taken is not None and used is not None:
        k.store(taken, i, used)
        done += f", the number of moves to {taken.name}"
    return Title(k.name("random_walk", "walk_in_band", "first_passage"), f"{done}.")


def _move(k: KernelBuilder, form: str, state: Var) -> Expr:
    if form == "lattice":
        return k.sample(("coin", "b"), "randi", state, 0, 2) * 2 - 1
    if form == "dice":
        return k.sample(("jump", "move"), "randi", state, -2, 3)
    if form == "uniform":
        return k.sample(("dx", "move"), "randf", state, -1.0, 1.0)
    return 0.5 * k.sample(("g", "kick"), "randn", state)
