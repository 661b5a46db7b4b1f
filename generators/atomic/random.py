"""Random numbers drawn by each thread and tallied: areas, dice, integrals, walks, photons."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from operator import add

from generators.atomic.tally import UINT32, Tally, threads
from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, exp, log, most, sin, sqrt, where
from generators.kit.sites import Site
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Const, Expr, Operand, Var


class _Draws(Tally):
    """Threads that draw random numbers, from level 2 on several times."""

    def __init__(self, level: int, s: Site) -> None:
        super().__init__(level, s)
        seed = self.k.scalar("seed rng_seed", INT32, 1, 9999)
        self.state = self.k.random_state("state rng", seed, s.at[0])
        self.count: Expr | None = None

    def draw(self, names: str, sampler: str, *bounds: Operand) -> Var:
        """A random number of a kind."""
        return self.k.sample(names.split(), sampler, self.state, *bounds)

    @contextmanager
    def each(self, names: str = "num_samples samples_per_thread") -> Iterator[None]:
        """What is done for each draw of a thread."""
        if self.level == 1:
            yield
            return
        if self.chance(0.6):
            self.count = self.k.scalar(names, INT32, 2, 5)
        else:
            self.count = self.k.lift(self.k.draw.value.choice((2, 4)), INT32)
        with self.k.for_("s sample", self.count):
            yield

    @property
    def each_one(self) -> str:
        """What a thread drew, as a description goes on about it."""
        return "it" if self.count is None else "each"

    def said(self, one: str, many: str) -> str:
        """How many of them a thread draws."""
        if self.count is None:
            return f"each thread draws {one}"
        number = self.count.value if isinstance(self.count, Const) else self.say(self.count)
        return f"each thread draws {number} {many}"


@idiom(depth=4)
def random_tally(k: KernelBuilder, level: int) -> Title:
    """Random numbers drawn by each thread, tallied: areas, dice, integrals, walks, photons."""
    t = _Draws(level, threads(k, "num_threads", 64, 90))
    simple = (_area, _dice, _mean, _sectors, _normal)
    ways = {3: (_walk, _mean, _area), 4: (_walk, _photon, _photon)}.get(level, simple)
    names, text = k.draw.shape.choice(ways)(t)
    closing = " The state of a thread is rand_init(seed, thread)."
    return Title(k.name(names), text + closing.replace("seed,", f"{_seed(k)},"))


def _seed(k: KernelBuilder) -> str:
    return next(p.name for p in k.params if p.name in ("seed", "rng_seed"))


def _area(t: _Draws) -> tuple[str, str]:
    k = t.k
    hits = k.accumulator("inside hits", INT32, "1")
    ball = t.chance(0.4, 2)
    axes = "xyz" if ball else "xy"
    low, high = (-1.0, 1.0) if t.chance(0.5) else (0.0, 1.0)
    found = k.let("found num_inside", k.lift(0, INT32)) if t.level > 1 else None
    with t.each():
        drawn = [t.draw(axis, "randf", low, high) for axis in axes]
        inside = reduce(add, [p * p for p in drawn]) < 1.0
        with k.if_(inside):
            if found is None:
                k.atomic("add", hits, 0, 1)
            else:
                k.augment(found, "add", 1)
    if found is not None:
        k.atomic("add", hits, 0, found)
    what = "pi by points in the unit ball" if ball else "pi by points in the unit disk"
    side = "[-1, 1)" if low else "[0, 1)"
    text = f"Monte Carlo estimate of {what}: {t.said('a point', 'points')} of {side}^{len(axes)} "
    text += f"and adds to {hits.name}[0] how many have {' + '.join(f'{a}^2' for a in axes)} < 1."
    return "monte_carlo_pi estimate_pi", text


def _dice(t: _Draws) -> tuple[str, str]:
    k, bins = t.k, t.k.size("sides", 5, 8)
    sides = k.size_param("num_sides num_faces", bins)
    hist = k.accumulator("hist rolls tally", INT32, bins)
    unsigned, highest = t.chance(0.25), t.level > 1 and t.chance(0.5)
    best = k.let("best highest", k.lift(0, INT32)) if highest else None
    with t.each("num_dice num_rolls"):
        if unsigned:
            bits = t.draw("bits word", "randu")
            face = k.let("face", cast(bits % cast(sides, UINT32), INT32))
        else:
            face = t.draw("face roll", "randi", 0, sides)
        if best is None:
            k.atomic("add", hist, face, 1)
        else:
            k.assign(best, most(best, face))
    how = f"of {sides.name} faces, numbered from 0"
    how += f", each a random word modulo {sides.name}" if unsigned else ""
    many = t.said("a die", "dice").replace("draws", "rolls")
    if best is None:
        faces = "the face" if t.count is None else "every face"
        text = f"Histogram of dice: {many} {how}, and counts {faces} in {hist.name}."
        return "roll_dice tally_rolls dice_histogram", text
    k.atomic("add", hist, best, 1)
    text = (
        f"Histogram of the highest of several dice: {many} {how}, and counts the highest face in "
    )
    return "highest_roll roll_highest", f"{text}{hist.name}."


_INTEGRANDS: tuple[Callable[[Expr], Expr], ...] = (
    lambda x: x * x,
    lambda x: exp(-x),
    lambda x: sin(x),
    lambda x: sqrt(x),
    lambda x: x * exp(-x),
    lambda x: 1.0 / (1.0 + x * x),
    lambda x: log(1.0 + x),
)


def _mean(t: _Draws) -> tuple[str, str]:
    k = t.k
    total = k.accumulator("integral_sum total", FLOAT32, "1")
    low, high = k.scalar("lower a", FLOAT32, 0.1, 0.5), k.scalar("upper b", FLOAT32, 1.5, 2.5)
    code = k.draw.shape.choice(_INTEGRANDS)
    part = k.let("acc f_sum", k.lift(0.0, FLOAT32)) if t.level > 1 else None
    with t.each():
        x = t.draw("x", "randf", low, high)
        value = code(x)
        if part is not None:
            k.augment(part, "add", value)
    mean = k.let("f_x fx", value) if part is None else part / cast(_count(t), FLOAT32)
    k.atomic("add", total, 0, (high - low) * mean)
    what = f"{t.say(value)} over [{low.name}, {high.name}]"
    text = f"Monte Carlo integral of {what}: {t.said('x', 'numbers x')} in this range and adds "
    text += f"({high.name} - {low.name}) times "
    text += "the integrand" if part is None else "the mean of the integrand"
    text += f" to {total.name}[0], whose mean over the threads is the estimate."
    return "monte_carlo_integral integrate_random", text


def _count(t: _Draws) -> Expr:
    assert t.count is not None
    return t.count


_FLAT = ("sample_unit_disk", "sample_unit_square", "sample_unit_ring")
_SOLID = ("sample_unit_sphere", "sample_unit_cube", "sample_unit_sphere_surface")


def _sectors(t: _Draws) -> tuple[str, str]:
    k = t.k
    sampler = k.draw.shape.choice(_FLAT + _SOLID)
    axes = 3 if sampler in _SOLID else 2
    what = "octant" if axes == 3 else "quadrant"
    counts = k.accumulator(f"{what}s {what}_counts", INT32, str(2**axes))
    with t.each():
        p = t.draw("p point", sampler)
        bits = [where(p[a] > 0.0, 1 << a, k.lift(0, INT32)) for a in range(axes)]
        k.atomic("add", counts, k.let(what, reduce(add, bits)), 1)
    text = (
        f"Check a sampler by {what}s: {t.said('a point p', 'points p')} with {sampler} and counts "
    )
    text += f"{t.each_one} in {counts.name} by its {what}, of which bit a says whether p[a] > 0."
    return f"count_{what}s tally_{what}s", text


def _normal(t: _Draws) -> tuple[str, str]:
    k, size = t.k, t.k.size("bins", 5, 8)
    bins = k.size_param("num_bins n_bins", size)
    hist = k.accumulator("hist histogram", INT32, size)
    width = k.scalar("bin_width", FLOAT32, 0.5, 1.2)
    with t.each():
        z = t.draw("z", "randn")
        slot = k.let("b slot", cast(fn("floor", z / width), INT32) + bins // 2)
        k.atomic("add", hist, clamp(slot, 0, bins - 1), 1)
    text = (
        f"Histogram of normal random numbers: {t.said('a number z', 'numbers z')} and counts "
        f"{t.each_one} "
    )
    text += f"in {hist.name}, whose bins of {width.name} are centred on zero: bin floor(z / "
    text += f"{width.name}) + {bins.name} // 2. What lies outside goes to the first or last bin."
    return "normal_histogram bin_normals", text


def _walk(t: _Draws) -> tuple[str, str]:
    """Random walks: where they end, or when they first leave an interval."""
    k, size = t.k, t.k.size("bins", 5, 8)
    bins = k.size_param("num_bins n_bins", size)
    ends = t.chance(0.5)
    hist = k.accumulator("hist end_counts" if ends else "hist passage_counts", INT32, size)
    steps = k.scalar("num_steps max_steps", INT32, 5, 9)
    sigma = k.scalar("sigma step_std", FLOAT32, 0.4, 0.9)
    x = k.let("x position", k.lift(0.0, FLOAT32))
    if ends:
        with k.for_("step s", steps):
            k.augment(x, "add", sigma * t.draw("z kick", "randn"))
        width = k.scalar("bin_width", FLOAT32, 0.5, 1.2)
        slot = k.let("b slot", cast(fn("floor", x / width), INT32) + bins // 2)
        k.atomic("add", hist, clamp(slot, 0, bins - 1), 1)
        text = (
            f"Where random walks end: each thread takes {steps.name} steps of {sigma.name} times a "
        )
        text += f"normal number from 0 on, and counts its end x in {hist.name} at floor(x / "
        text += f"{width.name}) + {bins.name} // 2, clamped to the bins."
        return "random_walk_ends walk_histogram", text
    barrier = k.scalar("barrier limit", FLOAT32, 0.8, 1.4)
    taken = k.let("taken num_taken", k.lift(0, INT32))
    with k.while_(fn("and", abs(x) < barrier, taken < bins - 1)):
        k.augment(x, "add", sigma * t.draw("z kick", "randn"))
        k.augment(taken, "add", 1)
    k.atomic("add", hist, taken, 1)
    k.params = [p for p in k.params if p.name != steps.name]
    text = f"First passage of random walks: each thread takes steps of {sigma.name} times a normal "
    text += (
        f"number from 0 on until |x| reaches {barrier.name} or {bins.name} - 1 steps are taken, "
    )
    return "first_passage_times passage_histogram", f"{text}and counts its steps in {hist.name}."


def _photon(t: _Draws) -> tuple[str, str]:
    """Photons in a slab that absorbs and scatters (isotropically, by weights)."""
    k, size = t.k, t.k.size("bins", 4, 6)
    layers = k.size_param("num_layers", size)
    absorbed = k.accumulator("absorbed deposited", FLOAT32, size)
    thickness = k.scalar("thickness slab_depth", FLOAT32, 1.5, 2.5)
    mu = k.scalar("extinction mu_t", FLOAT32, 0.8, 1.4)
    albedo = k.scalar("albedo", FLOAT32, 0.6, 0.9)
    most_ = k.scalar("max_scatters max_events", INT32, 4, 8)
    z, mu_z = k.let("z depth", k.lift(0.0, FLOAT32)), k.let("cos_z uz", k.lift(1.0, FLOAT32))
    weight = k.let("weight w", k.lift(1.0, FLOAT32))
    outs = None
    if t.chance(0.6):
        outs = tuple(k.accumulator(n, FLOAT32, "1") for n in ("reflected", "transmitted"))
    with k.for_("event n", most_):
        u = t.draw("u", "randf")
        k.augment(z, "sub", mu_z * log(1.0 - u) / mu)
        for side, test in enumerate((z < 0.0, z >= thickness)):
            with k.if_(test):
                if outs is not None:
                    k.atomic("add", outs[side], 0, weight)
                k.break_()
        layer = k.let("layer", cast(z / thickness * cast(layers, FLOAT32), INT32))
        k.atomic("add", absorbed, fn("min", layer, layers - 1), (1.0 - albedo) * weight)
        k.augment(weight, "mul", albedo)
        turn = t.draw("v", "randf")
        k.assign(mu_z, 2.0 * turn - 1.0)
    text = "Photon transport in a slab: each thread follows a photon of weight 1 from the top "
    text += (
        f"straight down for up to {most_.name} events. It flies -log(1 - u) / {mu.name} along its "
    )
    text += "direction; beyond a face it is lost"
    text += ", its weight going to reflected[0] (top) or transmitted[0]" if outs else ""
    text += (
        f"; inside, 1 - {albedo.name} of its weight goes to the layer of {absorbed.name} at its "
    )
    text += f"depth and {albedo.name} of it goes on in a direction of uniform cosine 2 v - 1."
    return "photon_slab trace_photons slab_transport", text
