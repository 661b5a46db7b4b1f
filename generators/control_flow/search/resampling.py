"""Particle filters: weights, how many particles count, and which of them survive.

R. Douc, O. Cappé, E. Moulines, ISPA 2005; L. Murray, A. Lee, P. Jacob, J. Comput. Graph. Stat. 25
(2016).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title
from generators.control_flow.kit import both
from generators.kit.sites import Site, over
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32, Vec
from generators.program.expr import Expr, Operand, Var

VEC2, VEC3 = Vec(2, FLOAT32), Vec(3, FLOAT32)
Place = Callable[[Operand], tuple[Operand, ...]]


def zero(k: KernelBuilder) -> Expr:
    return k.lift(0.0, FLOAT32)


@dataclass
class Cloud:
    """The particles of one filter, or of each of several."""

    k: KernelBuilder
    s: Site
    own: Expr
    """The particle, or the filter, of a thread."""
    lead: tuple[Expr, ...]
    dims: tuple[str, ...]
    first: bool = True
    """Whether filters are the first axis."""
    counted: Var | None = None

    def at(self, j: Operand) -> tuple[Operand, ...]:
        """Where particle j of the thread's filter stands."""
        return (*self.lead, j) if self.first else (j, *self.lead)

    def array(
        self, names: str, low: float, high: float, role: str = "in", init: str = "uniform"
    ) -> Var:
        how = {"role": role, "init": init}
        return self.k.array(names, FLOAT32, self.dims, low=low, high=high, **how)  # type: ignore[arg-type]

    def name(self) -> str:
        """The particle or filter as a description calls it."""
        assert isinstance(self.own, Var)
        return self.own.name

    def number(self) -> tuple[Expr, str]:
        """The number of a particle among those of all filters."""
        if not self.lead:
            return self.own, self.name()
        count, lead = self.count(), self.lead[0]
        assert isinstance(lead, Var)
        return lead * count + self.own, f"{lead.name} * {count.name} + {self.name()}"

    def count(self) -> Var:
        """How many particles a filter has."""
        if self.counted is None:
            self.counted = self.k.size_param("num_particles n_part", "particles")
        return self.counted

    @contextmanager
    def each(self, start: int = 0) -> Iterator[Var]:
        """Goes along the particles of a filter, by one name in all loops of a kernel."""
        count, before = self.count(), set(self.k.used)
        with self.k.for_("j p q i", count, start=start) as j:
            yield j
        self.k.again(before)


def cloud(k: KernelBuilder, filters: float = 0.4, rising: bool = False) -> Cloud:
    """A thread for each particle. What is to rise along particles has them as the last axis."""
    i = k.draw.word.choice(("i", "p", "n"))
    if k.draw.shape.chance(filters):
        if not rising and k.draw.shape.chance(0.3):
            s = over(k, "particles filters", (i, "f"), ((24, 32), (4, 6)))
            return Cloud(k, s, s.at[0], s.at[1:], ("particles", "filters"), False)
        s = over(k, "filters particles", ("f", i), ((4, 6), (24, 32)))
        return Cloud(k, s, s.at[1], s.at[:1], ("filters", "particles"))
    s = over(k, "particles", (i,), ((150, 190),))
    return Cloud(k, s, s.at[0], (), ("particles",))


def filters(k: KernelBuilder, number: tuple[int, int] = (28, 36)) -> Cloud:
    """A thread for each filter, whose particles it goes along."""
    f = k.draw.word.choice(("f", "b", "filt"))
    s = over(k, "filters", (f,), (number,))
    k.size("particles", 10, 14, minimum=2)
    first = k.draw.shape.chance(0.6)
    dims = ("filters", "particles") if first else ("particles", "filters")
    return Cloud(k, s, s.at[0], s.at, dims, first)


@dataclass
class Target:
    """Where in the running sums a new particle falls."""

    value: Expr
    said: str
    name: str


def target(c: Cloud, total: Expr, count: Expr) -> Target:
    """Positions that are evenly spaced, one in each part at random, or all at random."""
    k, shape = c.k, c.k.draw.shape
    way = shape.choice(("systematic", "systematic", "stratified", "multinomial"))
    number, own = cast(count, FLOAT32), cast(c.own, FLOAT32)
    name = c.name()
    if way == "systematic" and c.lead and shape.chance(0.6):
        shifts = k.array("offsets u0", FLOAT32, "filters", low=0.02, high=0.98)
        said = f"({name} + {shifts.name}[f]) / {say(k, count)}"
        return Target((own + shifts[c.lead]) / number * total, said, way)
    if way == "systematic":
        shift = k.scalar("offset u0", FLOAT32, 0.05, 0.95)
        said = f"({name} + {shift.name}) / {say(k, count)}"
        return Target((own + shift) / number * total, said, way)
    draw, told = _random(c)
    if way == "stratified":
        said = f"({name} + u) / {say(k, count)}, u being {told}"
        return Target((own + draw) / number * total, said, way)
    return Target(draw * total, told, way)


def _random(c: Cloud) -> tuple[Expr, str]:
    """A number in [0, 1) of each particle: drawn before, or by a counter."""
    k = c.k
    if k.draw.shape.chance(0.5):
        us = k.array("uniforms u_draws", FLOAT32, c.s.dims, low=0.01, high=0.99)
        return us[c.s.at], us.name
    seed = k.scalar("seed", INT32, 1, 9999)
    where, said = c.number()
    state = k.random_state("state rng", seed, where)
    return k.sample("u draw", "randf", state), f"randf of rand_init({seed.name}, {said})"


def ancestor(c: Cloud, sums: Var, goal: Var, last: Expr) -> tuple[Var, str]:
    """The first particle whose running sum reaches a goal."""
    k = c.k
    ways = ("half", "ends", "steps")
    way = k.draw.shape.choice((*ways, "walk" if c.lead else "built in"))
    if way == "built in":
        return k.let("ancestor a", fn("lower_bound", sums, goal)), "a lower bound"
    if way == "walk":
        at = k.let("j a", k.lift(0, INT32))
        with k.while_(both(at < last, sums[c.at(at)] < goal)):
            k.augment(at, "add", 1)
        return at, "going through them one after the other"
    if way == "steps":
        return _by_steps(c, sums, goal, last), "bisection"
    ends = way == "ends"
    lo = k.let("lo left", k.lift(-1 if ends else 0, INT32))
    hi = k.let("hi right", last)
    with k.while_(hi - lo > 1 if ends else lo < hi):
        mid = k.let("mid m", (lo + hi) >> 1 if k.draw.shape.chance(0.3) else lo + (hi - lo) // 2)
        with k.if_(sums[c.at(mid)] < goal):
            k.assign(lo, mid if ends else mid + 1)
        with k.else_():
            k.assign(hi, mid)
    return (hi if ends else lo), "bisection"


def _by_steps(c: Cloud, sums: Var, goal: Var, last: Expr) -> Var:
    """The lower bound by a length that halves."""
    k = c.k
    first = k.let("first base", k.lift(0, INT32))
    length = k.let("length span", last)
    with k.while_(length > 0):
        half = k.let("half step", length // 2)
        with k.if_(sums[c.at(first + half)] < goal):
            k.assign(first, first + half + 1)
            k.assign(length, length - half - 1)
        with k.else_():
            k.assign(length, half)
    return first


def survivors(k: KernelBuilder, level: int) -> Title:
    """A new particle's ancestor by a search in running sums of weights; its state may be copied."""
    c = cloud(k, 0.0 if level < 3 else 0.6, rising=True)
    sums = c.array("cum_weights weight_cdf", 0.02, 1.0, init="sorted")
    count = c.count()
    last = k.let("last end", count - 1)
    total = k.let("total w_sum", sums[c.at(last)])
    t = target(c, total, count)
    goal = k.let("goal pos", t.value)
    found, how = ancestor(c, sums, goal, last)
    copies = Copies(c, level)
    copies.put(c.own, found)
    where = "" if not c.lead else " of its filter"
    text = f"{t.name.capitalize()} resampling of particles: the ancestor of a new particle is the "
    text += f"first whose running sum of weights in {sums.name}{where} is at least {t.said}, times "
    text += f"the last of the sums, found by {how}"
    return Title(
        k.name(f"{t.name}_resample resample_{t.name} {t.name}_ancestors"),
        f"{text}: {copies.said()}.",
    )


class Copies:
    """What new particles get of their ancestors: numbers, or states, as vectors or in parts."""

    def __init__(self, c: Cloud, level: int) -> None:
        self.c, k = c, c.k
        way = k.draw.shape.choice(
            ("index", "index", "vector", "arrays") if level > 1 else ("index",)
        )
        self.pairs: list[tuple[Var | None, Var]] = []
        if way == "index":
            self.pairs.append((None, k.out("ancestors parent_idx", INT32, c.dims)))
        elif way == "vector":
            kind = k.draw.shape.choice((VEC2, VEC3))
            states = k.array("states poses", kind, c.dims, low=-5.0, high=5.0)
            self.pairs.append((states, k.out("new_states new_poses", kind, c.dims)))
        else:
            for part in k.draw.shape.choice((("x", "y"), ("x", "y", "heading"), ("pos", "vel"))):
                data = c.array(f"{part}_old", -5.0, 5.0)
                self.pairs.append((data, k.out(f"{part}_new", FLOAT32, c.dims)))

    def put(self, new: Expr, found: Expr) -> None:
        for data, out in self.pairs:
            value = found if data is None else data[self.c.at(found)]
            self.c.k.store(out, self.c.at(new), value)

    def said(self) -> str:
        data, out = self.pairs[0]
        if data is None:
            return f"{out.name} gets its number"
        return "its state is copied, " + ", ".join(
            f"{new.name} from {old.name}" for old, new in self.pairs if old is not None
        )
