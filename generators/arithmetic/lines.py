"""Along one axis of a grid: its points beyond the ends, derivatives by finite differences."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

from generators.arithmetic.common import solid
from generators.build import BodyBuilder, KernelBuilder, cast, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, least, most, where
from generators.kit.naming import applied
from generators.kit.sites import Site, launch
from generators.kit.words import say
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, literal

_EDGES = {
    "clamp": "Indices beyond the ends are clamped",
    "periodic": "The axis is periodic",
    "interior": "Points too close to an end for that get 0",
    "halo": "{} holds {} more at its start and {} more at its end",
    "reflect": "Indices beyond an end are reflected at the end point",
    "zero": "Points beyond the ends count as zero",
}


Reach = tuple[int, int]
"""How many points before and after are needed."""


_LENGTHS = {
    "rows": "num_rows",
    "cols": "num_cols",
    "h": "height",
    "w": "width",
    "nx": "nx",
    "ny": "ny",
    "nz": "nz",
    "n": "n num_samples",
    "count": "count num_samples",
}
"""What the length of an axis of a symbol is called as a parameter."""


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
            by_shape = k.draw.shape.chance(0.5)
            param = _LENGTHS.get(symbol, f"n{name} num_points" if s.rank == 1 else f"n{name}")
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
    "forward": ((0, 1), "forward_difference", "forward difference (next - here) / {h}"),
    "backward": ((1, 0), "backward_difference", "backward difference (here - previous) / {h}"),
    "central": (
        (1, 1),
        "central_difference central_slope",
        "central difference (next - previous) / (2 * {h})",
    ),
    "second": (
        (1, 1),
        "second_derivative curvature",
        "second difference (next - 2 * here + previous) / {h}^2",
    ),
    "fourth": (
        (2, 2),
        "fourth_order_derivative derivative_order4",
        "fourth-order central difference (8 * (u[+1] - u[-1]) - u[+2] + u[-2]) / (12 * {h})",
    ),
    "second4": (
        (2, 2),
        "second_derivative_order4 fourth_order_curvature",
        "fourth-order second difference (16 * (u[+1] + u[-1]) - 30 * u[0] - u[+2] - u[-2]) / "
        "(12 * {h}^2)",
    ),
    "minmod": (
        (1, 1),
        "minmod_slope limited_slope",
        "minmod slope: 0 where backward and forward difference differ in sign, else the smaller",
    ),
    "third": (
        (2, 1),
        "upwind_biased_derivative third_order_derivative",
        "third-order upwind-biased difference (2 * u[+1] + 3 * u[0] - 6 * u[-1] + u[-2]) / "
        "(6 * {h})",
    ),
    "backward2": (
        (2, 0),
        "bdf2_derivative second_order_backward",
        "second-order backward difference (3 * u[0] - 4 * u[-1] + u[-2]) / (2 * {h})",
    ),
    "upwind": (
        (1, 1),
        "upwind_derivative",
        "upwind difference: backward where {speed} is positive, else forward",
    ),
}
"""How far a scheme reaches to either side, names of kernels, and what it is."""


@idiom(depth=2)
def finite_difference(k: KernelBuilder, level: int) -> Title:
    """A derivative along one axis of a grid of one to three dimensions."""
    shape, f = k.draw.shape, k.draw.wide_float_type()
    s = solid(k) if shape.chance(0.12) else launch(k, list=2, grid=8)
    schemes = tuple(_SCHEMES)[:6] if level == 1 else tuple(_SCHEMES)[2:]
    scheme = shape.choice(schemes)
    reach, names, about = _SCHEMES[scheme]
    axis, edge = shape.integer(0, s.rank - 1), shape.choice(("clamp", "periodic", "halo", "zero"))
    edge = "interior" if edge == "zero" else edge
    line = Line(s, "u field profile", (f, f), axis, edge, reach)
    h = k.scalar("dx spacing h", f, 0.5, 2.0)
    twice = scheme in ("second", "second4")
    out = s.out("curvature d2u" if twice else "derivative derivatives", f)
    what = "Second derivative" if twice else "Derivative"
    where_ = f" along axis {axis}" if s.rank > 1 else ""
    if edge == "interior":
        nested = shape.chance(0.5)
        if not nested:
            with k.if_(fn("not", line.inside())):
                k.store(out, s.at, 0.0)
                k.return_()
        with k.if_(line.inside()) if nested else nullcontext():
            value, speed = _difference(line, scheme, h)
            k.store(out, s.at, value)
        if nested:
            with k.else_():
                k.store(out, s.at, 0.0)
    else:
        value, speed = _difference(line, scheme, h)
        k.store(out, s.at, value)
    rule = about.format(h=h.name, speed=speed)
    done = f"{what} of {line.u.name}{where_} with points {say(k, h)} apart, by the {rule}. Store "
    return Title(k.name(names), f"{done}it in {out.name}. {line.said}.")


def _difference(line: Line, scheme: str, h: Expr) -> tuple[Expr, str]:
    """The difference over the spacing, and what says which side is upwind."""
    k, at = line.k, line.at
    inverse = k.draw.shape.chance(0.3)
    step = k.let("inv_h inv_dx", 1.0 / h) if inverse else h

    def over(value: Expr) -> Expr:
        return value * step if inverse else value / step

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
    if scheme == "backward2":
        return over(0.5 * (3.0 * at(0) - 4.0 * at(-1) + at(-2))), ""
    here = k.let("here uc", at(0))
    if scheme in ("second", "second4"):
        if scheme == "second4":
            near, far = k.let("near inner", at(1) + at(-1)), k.let("far outer", at(2) + at(-2))
            gap = (16.0 * near - 30.0 * here - far) / 12.0
        else:
            gap = at(1) - 2.0 * here + at(-1)
        return over(over(gap)) if inverse else gap / (h * h), ""
    back = k.let("back left_slope", over(here - at(-1)))
    ahead = k.let("ahead right_slope", over(at(1) - here))
    if scheme == "minmod":
        return applied(k, 0.7, "minmod limit_slopes", {"p": back, "q": ahead}, _minmod), ""
    speed = line.s.read("speed velocity", line.type, -1.5, 1.5)
    return where(speed > 0.0, back, ahead), say(k, speed)


def _minmod(b: BodyBuilder, p: Expr, q: Expr) -> Expr:
    return where(p * q > 0.0, where(abs(p) < abs(q), p, q), 0.0)
