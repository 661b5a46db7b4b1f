"""Random numbers drawn by each thread and tallied."""

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
from generators.program.expr import Expr, Operand, Var


class _Draws(Tally):
    """Threads that draw random numbers, from level 2 on several times."""

    def __init__(self, level: int, s: Site) -> None:
        super().__init__(level, s)
        seed = self.k.scalar("seed rng_seed", INT32, 1, 9999)
        offset = s.at[0]
        if self.chance(0.4, 2):
            stream = self.k.scalar("stream_id frame", INT32, 0, 50)
            offset = offset + 97 * stream if self.chance(0.5) else offset * 31 + stream
        self.state = self.k.random_state("state rng", seed, offset)
        self.count = 1 if level == 1 else self.k.draw.value.integer(2, 5)

    def draw(self, names: str, sampler: str, *bounds: Operand) -> Var:
        """A random number of a kind."""
        return self.k.sample(names.split(), sampler, self.state, *bounds)

    @contextmanager
    def each(self) -> Iterator[None]:
        """What is done for each draw of a thread."""
        if self.count == 1:
            yield
        else:
            with self.k.for_("s sample throw", self.count):
                yield


_TIMES = ("Once", "Twice", "Three times", "Four times", "Five times")


@idiom(depth=2)
def random_tally(k: KernelBuilder, level: int) -> Title:
    """Random numbers drawn by each thread, tallied: areas, dice, walks and means."""
    t = _Draws(level, threads(k, "num_threads", 64, 90))
    names, text = k.draw.shape.choice((_area, _dice, _mean, _sectors, _normal))(t)
    return Title(k.name(names), f"{_TIMES[t.count - 1]}, each thread draws {text}.")


def _area(t: _Draws) -> tuple[str, str]:
    k = t.k
    hits = k.accumulator("inside hits", INT32, "1")
    radius = k.scalar("radius", FLOAT32, 0.5, 0.9) if t.chance(0.5) else None
    bounds = (-1.0, 1.0) if t.chance(0.5) else ()
    axes = "xyz" if t.chance(0.4, 2) else "xy"
    found = k.let("local found", k.lift(0, INT32)) if t.count > 1 else None
    with t.each():
        drawn = [t.draw(axis, "randf", *bounds) for axis in axes]
        limit = k.lift(1.0, FLOAT32) if radius is None else radius * radius
        inside = reduce(add, [p * p for p in drawn]) < limit
        with k.if_(inside):
            if found is None:
                k.atomic("add", hits, 0, 1)
            else:
                k.augment(found, "add", 1)
    if found is not None:
        k.atomic("add", hits, 0, found)
    text = f"a point ({', '.join(axes)}) of {'[-1, 1)' if bounds else '[0, 1)'}^{len(axes)}"
    text += f"; it adds to {hits.name}[0] how many have {t.say(inside)}"
    return "monte_carlo_pi count_inside estimate_area", text


def _dice(t: _Draws) -> tuple[str, str]:
    k, bins = t.k, t.k.size("sides", 5, 8)
    sides = k.size_param("num_sides faces", bins)
    hist = k.accumulator("hist rolls tally", INT32, bins)
    unsigned = t.chance(0.3)
    best = None
    if t.count > 1 and t.chance(0.5):
        best = k.let("best highest", k.lift(0, INT32))
    with t.each():
        if unsigned:
            bits = t.draw("bits word", "randu")
            face = k.let("face b", cast(bits % cast(sides, UINT32), INT32))
        else:
            face = t.draw("face b roll", "randi", 0, sides)
        if best is None:
            k.atomic("add", hist, face, 1)
        else:
            k.assign(best, most(best, face))
    text = f"a number in [0, {sides.name})"
    if unsigned:
        text = f"a random word, of which it takes the remainder by {sides.name}"
    if best is None:
        return "roll_dice random_histogram tally_rolls", f"{text} and counts it in {hist.name}"
    k.atomic("add", hist, best, 1)
    return "highest_roll roll_dice", f"{text}; it counts the largest in {hist.name}"


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
    total = k.accumulator("integral total", FLOAT32, "1")
    low, high = k.scalar("lower a", FLOAT32, 0.1, 0.5), k.scalar("upper b", FLOAT32, 1.5, 2.5)
    code = k.draw.shape.choice(_INTEGRANDS)
    part = k.let("acc part", k.lift(0.0, FLOAT32)) if t.count > 1 else None
    with t.each():
        value = code(t.draw("x", "randf", low, high))
        if part is not None:
            k.augment(part, "add", value)
    mean = value if part is None else part / float(t.count)
    k.atomic("add", total, 0, (high - low) * mean)
    text = f"x in [{low.name}, {high.name}); it adds to {total.name}[0] the mean of "
    text += f"{t.say(value)}, times {high.name} - {low.name}"
    return "monte_carlo_integral sample_mean integrate_random", text


_FLAT = ("sample_unit_disk", "sample_unit_square", "sample_triangle", "sample_unit_ring")
_SOLID = tuple(
    f"sample_unit_{name}"
    for name in ("sphere", "cube", "hemisphere", "sphere_surface", "hemisphere_surface")
)


def _sectors(t: _Draws) -> tuple[str, str]:
    k = t.k
    sampler = k.draw.shape.choice(_FLAT + _SOLID)
    axes = 3 if sampler in _SOLID else 2
    names = f"{'octants' if axes == 3 else 'quadrants'} sectors"
    counts = k.accumulator(names, INT32, str(2**axes))
    reach = k.scalar("cutoff radius", FLOAT32, 0.4, 0.8) if t.chance(0.5, 2) else None
    with t.each():
        p = t.draw("p point d", sampler)
        bits = [where(p[a] > 0.1, 1 << a, k.lift(0, INT32)) for a in range(axes)]
        code = k.let("code sector", reduce(add, bits))
        if reach is None:
            k.atomic("add", counts, code, 1)
        else:
            with k.if_(abs(p[0]) < reach):
                k.atomic("add", counts, code, 1)
    text = f"a point p with {sampler} and counts it in {counts.name} at the sum of 2^a over "
    text += "the axes a where p[a] > 0.1"
    text += f", only where |p[0]| < {reach.name}" if reach is not None else ""
    return "count_sectors tally_directions sample_sectors", text


def _normal(t: _Draws) -> tuple[str, str]:
    k, size = t.k, t.k.size("bins", 5, 8)
    bins = k.size_param("num_bins bin_count", size)
    hist = k.accumulator("hist density_bins", INT32, size)
    width = k.draw.value.choice((0.5, 0.75, 1.25))
    sigma = k.scalar("sigma spread", FLOAT32, 0.6, 1.4) if t.chance(0.5) else None
    with t.each():
        z = t.draw("z", "randn")
        value = z if sigma is None else sigma * z
        slot = t.let("b slot", cast(fn("floor", value / width), INT32) + bins // 2)
        at = clamp(slot, 0, bins - 1)
        text = t.say(at)
        k.atomic("add", hist, at, 1)
    return (
        "normal_histogram bin_normals tally_normals",
        f"a standard normal z and counts it in {hist.name} at {text}",
    )
