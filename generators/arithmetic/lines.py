"""Along one axis of a grid: derivatives by finite differences, and filters of a few taps."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

from generators.arithmetic.common import DATA
from generators.arithmetic.types import INT16
from generators.build import BodyBuilder, KernelBuilder, cast, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, least, most, where
from generators.kit.masks import condition
from generators.kit.naming import applied, held, helper, maybe
from generators.kit.outputs import choose
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var, literal

_EDGES = {
    "clamp": "Indices beyond the ends are clamped",
    "periodic": "The axis is periodic",
    "interior": "Points too close to an end get",
    "halo": "{} is longer by {} at its start and {} at its end",
    "reflect": "Indices beyond an end are reflected at the end point",
    "zero": "Points beyond the ends count as zero",
}


Reach = tuple[int, int]
"""How many points before and after are needed."""


class Line:
    """The line of a grid through a thread's point, and what happens beyond its ends."""

    def __init__(
        self, s: Site, names: str, types: tuple[Scalar, Scalar], axis: int, edge: str, reach: Reach
    ) -> None:
        self.s, self.k, self.axis, self.edge = s, s.k, axis, edge
        self.type, (self.before, self.after) = types[1], reach
        self.middle: Expr | None = None
        self.moved: Expr | None = None
        k, symbol, dims = s.k, s.dims[axis], list(s.dims)
        if edge == "halo":
            dims[axis] = f"{symbol}+{sum(reach)}"
        high = 2.0 if types[0].is_float else 900
        self.u = k.array(names, types[0], dims, low=-high, high=high)
        name = say(k, s.at[axis])
        if edge == "reflect":
            k.sizes[symbol] = replace(k.sizes[symbol], min=max(reach) + 1)
        if edge != "halo":
            by_shape = k.draw.shape.chance(0.35)
            param = f"n{name} num_{name} points"
            self.size = extent(self.u, axis) if by_shape else k.size_param(param, symbol)
        self.said = _EDGES[edge].format(self.u.name, *reach)

    def at(self, offset: int) -> Expr:
        """The value some points along."""
        here = self._here()
        index = here + offset if offset > 0 else here - (-offset) if offset < 0 else here
        if self.edge not in ("halo", "interior") and offset:
            return self._beyond(index, offset < 0, offset > 0, offset)
        return self._load(self.k.let(self._name(offset), index) if offset else index)

    def _here(self) -> Expr:
        """The index of the point itself, which a halo moves."""
        at = self.s.at[self.axis]
        if self.edge == "halo" and self.before and self.moved is None:
            self.moved = self.k.let(f"{say(self.k, at)}0 center mid", at + self.before)
        return at if self.moved is None else self.moved

    def under(self, tap: Expr) -> Expr:
        """The value under a tap that is counted in a loop, from the first on."""
        here = self.s.at[self.axis]
        if self.edge == "halo":
            return self._load(here + tap)
        return self._beyond(here + tap - self.before, True, True)

    def inside(self) -> Expr:
        """Whether all neighbours that are needed are there."""
        here, tests = self.s.at[self.axis], []
        if self.before:
            tests.append(here >= self.before if self.before > 1 else here > 0)
        if self.after:
            tests.append(here < self.size - self.after)
        return tests[0] if len(tests) == 1 else fn("and", *tests)

    def centre(self) -> Expr:
        return self.at(0) if self.middle is None else self.middle

    def _name(self, offset: int) -> str:
        name = say(self.k, self.s.at[self.axis]).replace("tid", "i")
        word = "next" if offset > 0 else "prev"
        far = str(abs(offset)) if abs(offset) > 1 else ""
        return f"{name}_{word}{far}"

    def _beyond(self, index: Expr, before: bool, after: bool, offset: int = 0) -> Expr:
        """The value at an index that may lie before the first or after the last point."""
        last = self.size - 1
        names = self._name(offset) if offset else "at src_i q"
        if self.edge == "periodic":
            whole = self.size if self.before == 1 else self.before * self.size
            turned = index + whole if before else index
            return self._load(self.k.let(names, turned % self.size))
        if self.edge == "reflect":
            index = abs(index) if before else index
            index = last - abs(last - index) if after else index
            return self._load(self.k.let(names, index))
        if self.edge == "zero":
            index = self.k.let(names, index)
        safe: Expr = most(index, 0) if before else least(index, last)
        safe = clamp(index, 0, last) if before and after else safe
        if self.edge == "clamp":
            return self._load(self.k.let(names, safe))
        inside: Expr = index >= 0 if before else index < self.size
        if before and after:
            inside = fn("and", inside, index < self.size)
        return where(inside, self._load(safe), literal(0, self.type))

    def _load(self, index: Expr) -> Expr:
        at = self.s.at
        return cast(self.u[at[: self.axis] + (index,) + at[self.axis + 1 :]], self.type)


_SCHEMES: dict[str, tuple[Reach, str, str]] = {
    "forward": ((0, 1), "forward_difference forward_slope", "forward difference (next - here)"),
    "backward": ((1, 0), "backward_difference step_back", "backward difference (here - previous)"),
    "central": ((1, 1), "central_difference slope", "central difference (next - previous) / 2"),
    "second": (
        (1, 1),
        "second_derivative curvature laplacian_1d",
        "second difference next - 2 * here + previous (over the spacing twice)",
    ),
    "fourth": (
        (2, 2),
        "fourth_order_derivative high_order_slope",
        "fourth-order central difference (8 * (u[+1] - u[-1]) - u[+2] + u[-2]) / 12",
    ),
    "minmod": (
        (1, 1),
        "minmod_slope limited_slope",
        "minmod slope (zero where backward and forward differ in sign, else the smaller)",
    ),
    "third": (
        (2, 1),
        "biased_upwind quick_derivative",
        "third-order upwind-biased difference (2 * u[+1] + 3 * u[0] - 6 * u[-1] + u[-2]) / 6",
    ),
    "upwind": (
        (1, 1),
        "upwind_derivative upwind_flux",
        "upwind difference (backward where the speed is positive, else forward)",
    ),
}
"""How far a scheme reaches to either side, names of kernels, and what it is."""


@idiom(depth=2)
def finite_difference(k: KernelBuilder, level: int) -> Title:
    """A derivative along one axis of a grid of one to three dimensions."""
    shape, f = k.draw.shape, k.draw.wide_float_type()
    s = launch(k, list=3, grid=3, cube=2)
    known = {1: ("forward", "backward", "central", "second"), 2: tuple(_SCHEMES)[1:5]}
    scheme = shape.choice(known.get(level, tuple(_SCHEMES)))
    reach, names, about = _SCHEMES[scheme]
    axis, edges = shape.integer(0, s.rank - 1), ("clamp", "periodic", "halo", "interior")
    edge = shape.choice(edges[: 4 if level < 4 else 3])
    line = Line(s, "u field profile signal", (f, f), axis, edge, reach)
    h = k.scalar("dx step_size h", f, 0.5, 2.0)
    along = f"along {say(k, s.at[axis])} at steps of {say(k, h)}"
    done = f"Compute the {about} of {line.u.name} {along}"
    out, said = s.out("slope derivative out", f), line.said
    interior, nested, zero = edge == "interior", shape.chance(0.5), shape.chance(0.5)
    fill = literal(0.0, f) if zero else line.u[s.at]
    said += (" zero" if zero else f" {line.u.name} itself") if interior else ""
    if interior and not nested:
        with k.if_(fn("not", line.inside())):
            k.store(out, s.at, fill)
            k.return_()
    with k.if_(line.inside()) if interior and nested else nullcontext():
        value, text = _derivative(line, level, scheme, h)
        k.store(out, s.at, value)
    if interior and nested:
        with k.else_():
            k.store(out, s.at, fill)
    return Title(k.name(names), f"{done}{text}. {out.name} gets it. {said}.")


def _derivative(line: Line, level: int, scheme: str, h: Expr) -> tuple[Expr, str]:
    """The derivative, at higher levels as a term of an equation, and a step of that."""
    k = line.k
    inverse = isinstance(h, Var) and k.draw.shape.chance(0.3)
    if inverse:
        h = k.let("inv_h rdx", 1.0 / h)
    value, text = _difference(line, scheme, h, inverse)
    if level >= 3:
        value, more = _combined(line, value)
        text += more
    if level >= 4:
        dt = k.scalar("dt time_step", line.type, 0.05, 0.2)
        value = line.at(0) - dt * held(k, "rate tendency", value)
        text += f"; take {line.u.name} - {dt.name} * that, an explicit Euler step"
    return value, text


def _difference(line: Line, scheme: str, h: Expr, inverse: bool) -> tuple[Expr, str]:
    """The difference over the spacing, and what it is multiplied by."""
    k, at = line.k, line.at

    def over(value: Expr) -> Expr:
        return value * h if inverse else value / h

    if scheme == "forward":
        return over(at(1) - at(0)), ""
    if scheme == "backward":
        return over(at(0) - at(-1)), ""
    if scheme == "central":
        gap = at(1) - at(-1)
        return gap / (2.0 * h) if not inverse and k.draw.shape.chance(0.5) else over(0.5 * gap), ""
    if scheme == "fourth":
        near, far = k.let("near inner", at(1) - at(-1)), k.let("far outer", at(2) - at(-2))
        return over((8.0 * near - far) / 12.0), ""
    if scheme == "third":
        return over((2.0 * at(1) + 3.0 * at(0) - 6.0 * at(-1) + at(-2)) / 6.0), ""
    here = k.let("here uc", at(0))
    if scheme == "second":
        gap = at(1) - 2.0 * here + at(-1)
        return over(over(gap)) if inverse else gap / (h * h), ""
    back = k.let("back left_slope", over(here - at(-1)))
    ahead = k.let("ahead right_slope", over(at(1) - here))
    if scheme == "minmod":
        return applied(k, 0.7, "minmod limit_slopes", {"p": back, "q": ahead}, _minmod), ""
    speed = line.s.read("speed velocity c", line.type, -1.5, 1.5)
    c = k.let("cc wind", speed)
    if k.draw.shape.chance(0.5):
        return c * where(c > 0.0, back, ahead), f", times {say(k, speed)}"
    return most(c, 0.0) * back + least(c, 0.0) * ahead, f", times {say(k, speed)}"


def _minmod(b: BodyBuilder, p: Expr, q: Expr) -> Expr:
    return where(p * q > 0.0, where(abs(p) < abs(q), p, q), 0.0)


def _combined(line: Line, value: Expr) -> tuple[Expr, str]:
    """The derivative times a coefficient, plus a source or a sink."""
    s, k, f = line.s, line.k, line.type
    form = k.draw.shape.choice(("diffusivity", "source", "decay"))
    factor = given(s, "kappa weight mobility", f, 0.3, 1.5, forms=DATA)
    if form == "decay":
        here = held(k, "value_here u0", line.at(0))
        return value + factor * here, f", plus {say(k, factor)} * {line.u.name}"
    value, text = factor * value, f", times {say(k, factor)}"
    if form == "source":
        source = s.read("source forcing", f, -1.0, 1.0)
        return value - source, f"{text}, minus {say(k, source)}"
    return value, text


_TAPS = (
    (1, 2, 1),
    (1, 4, 6, 4, 1),
    (1, 1, 1),
    (-1, 6, -1),
    (-3, 12, 17, 12, -3),
    (-1, 0, 1),
    (1, 3, 4, 3, 1),
)


@idiom(depth=2)
def fir_filter(k: KernelBuilder, level: int) -> Title:
    """A short filter along the last axis: fixed taps, taps in an array, boxes; real or integer."""
    shape = k.draw.shape
    whole = level <= 3 and shape.chance(0.25)
    f = INT32 if whole else k.draw.wide_float_type()
    s = launch(k, list=3, grid=4, cube=1)
    fixed = level < 3 or whole or shape.chance(0.3)
    taps = shape.choice(_TAPS) if fixed else (1,) * shape.choice((3, 5))
    edges = ("halo", "clamp") if level == 1 else ("clamp", "halo", "periodic", "reflect", "zero")
    types, reach = (INT16 if whole else f, f), (len(taps) // 2,) * 2
    line = Line(s, "x samples signal", types, s.rank - 1, shape.choice(edges), reach)
    if fixed:
        value, text, signed = *_fixed(line, taps), True
    else:
        value, text, signed = _by_array(line, len(taps))
    done = f"Along the last axis of {line.u.name}, compute {text}. {line.said}."
    if level >= 3 and not whole:
        value, more = _mixed(line, signed, value)
        done += more
    if level >= 4:
        value = held(k, "result smoothed", value)
        done += _residual(line, level, value)
    names = "y filtered smooth"
    if level >= 2 and shape.chance(0.06):
        out, test = s.out(names, f), condition(s)
        choose(s, out, test, held(k, "result smoothed", value), line.centre(), last=True)
        done += f" {out.name} gets it, the sample itself where {test.off}."
    else:
        done += f" {s.put(names, value).name} gets it."
    return Title(k.name("fir_filter filter_samples convolve_line smooth_signal"), done)


def _fixed(line: Line, taps: tuple[int, ...]) -> tuple[Expr, str]:
    """Taps that are written out, as whole numbers over their sum."""
    k, f = line.k, line.type
    value: Expr | None = None
    for m, tap in enumerate(taps):
        if not tap:
            continue
        sample = maybe(k, f"s{m} x{m}", line.at(m - line.before))
        size = abs(tap) if f == INT32 else float(abs(tap))
        term = sample if abs(tap) == 1 else size * sample
        if value is None:
            value = -term if tap < 0 else term
        else:
            value = value - term if tap < 0 else value + term
    assert value is not None
    norm = sum(taps) or 2
    text = f"the sum of the samples with weights {', '.join(map(str, taps))}"
    if f == INT32:
        return value, text
    if k.draw.shape.chance(0.5):
        return value / float(norm), f"{text}, over {norm}"
    gain = k.scalar("gain inv_norm", f, 0.5 / norm, 2.0 / norm)
    return value * gain, f"{text}, times {gain.name}"


def _by_array(line: Line, count: int) -> tuple[Expr, str, bool]:
    """Taps from an array, gathered in a loop; with their norm, or the largest sample."""
    k, f = line.k, line.type
    form = k.draw.shape.choice(("weighted", "normalised", "largest", "deviation"))
    weights = k.array("taps weights kernel", f, str(count), low=0.2, high=1.5)
    acc = k.let("acc total response", literal(0.0, f))
    norm = k.let("norm weight_sum", literal(0.0, f)) if form == "normalised" else None
    if form == "deviation":
        line.middle = k.let("centre mid", line.centre())
    with k.for_("tap t m", count) as tap:
        w = k.let("w coef", weights[tap])
        sample = maybe(k, "s sample", line.under(tap), 0.6)
        if form == "largest":
            k.assign(acc, most(acc, w * sample))
        else:
            gap = sample if line.middle is None else abs(sample - line.middle)
            k.augment(acc, "add", w * gap)
        if norm is not None:
            k.augment(norm, "add", w)
    what = "|s[t] - middle sample|" if form == "deviation" else "s[t]"
    of = f"{weights.name}[t] * {what} over the {count} samples s around each"
    if norm is not None:
        return acc / norm, f"the sum of {of}, divided by the sum of {weights.name}", True
    start = "the largest of zero and" if form == "largest" else "the sum of"
    return acc, f"{start} {of}", form == "weighted"


def _shrink(b: BodyBuilder, v: Expr, limit: Expr) -> Expr:
    size = b.let("size mag", most(abs(v) - limit, 0.0))
    return where(v < 0.0, -size, size)


def _mixed(line: Line, signed: bool, value: Expr) -> tuple[Expr, str]:
    """The result blended with the sample, the sample sharpened by it, or the result shrunk."""
    k, f = line.k, line.type
    amount = given(line.s, "amount strength mix", f, 0.3, 0.9, forms=DATA)
    text = say(k, amount)
    form = k.draw.shape.choice(("blend", "unsharp", "soft")[: 3 if signed else 2])
    if form == "soft":
        names, params = "soft_threshold shrink", [("v", f), ("limit", f)]
        call = helper(k, names, params, _shrink)
        return k.call(call, value, amount), f" Then shrink its size by {text}, not below zero."
    here = line.middle = held(k, "here dry", line.centre())
    value = held(k, "wet response_value", value)
    if form == "blend":
        return fn("lerp", here, value, amount), f" Blend from the sample itself to that by {text}."
    sharper = here + amount * (here - value)
    return sharper, f" Take the sample plus {text} times (sample - that)."


def _residual(line: Line, level: int, value: Expr) -> str:
    """A second output: what the filter takes away, at level 5 its size on average."""
    s, k = line.s, line.k
    gap: Expr = line.centre() - value
    text = "the sample minus the result"
    if level == 5:
        old = s.read("previous noise_level", line.type, 0.2, 1.0)
        rate = k.scalar("rate smoothing", line.type, 0.1, 0.6)
        gap = old + rate * (abs(k.let("gap step", gap)) - old)
        name = say(k, old)
        text = f"{name} + {rate.name} * (|sample - result| - {name})"
    return f" {s.put('residual detail high_band', gap).name} gets {text}."
