"""Derivatives by finite differences along one axis of a grid, with every kind of boundary."""

from __future__ import annotations

from dataclasses import dataclass

from generators.arithmetic.parts import Given, Grid, coefficient, grid, local, step
from generators.build import BodyBuilder, KernelBuilder, extent, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Var


@dataclass(frozen=True)
class Line:
    """The line of a grid through a thread's point, and what happens beyond its ends."""

    k: KernelBuilder
    u: Var
    g: Grid
    axis: int
    size: Expr
    edge: str

    def at(self, offset: int) -> Expr:
        """The value ``offset`` points along."""
        here = self.g.at[self.axis]
        if offset == 0:
            return self.u[self.g.at]
        moved = here + offset if offset > 0 else here - (-offset)
        if self.edge == "clamp":
            index = fn("min", moved, self.size - 1) if offset > 0 else fn("max", moved, 0)
        elif self.edge == "periodic":
            turn = moved % self.size if offset > 0 else (moved + (-offset) * self.size) % self.size
            index = turn
        else:
            index = moved
        word = ("next" if offset > 0 else "prev") + (str(abs(offset)) if abs(offset) > 1 else "")
        index = self.k.let((word, f"{here.name}_{word}"), index)
        place = self.g.at[: self.axis] + (index,) + self.g.at[self.axis + 1 :]
        return self.u[place]


_EDGES = {
    "clamp": "Indices beyond the ends are clamped",
    "periodic": "The axis is periodic",
    "interior": "Points too close to an end get {0}",
    "halo": "{0} has {1} more points before and {2} after",
}


def line_through(
    k: KernelBuilder, g: Grid, axis: int, edge: str, before: int, after: int, type_: Scalar
) -> tuple[Line, str]:
    names = "u field profile signal"
    sizes = list(g.sizes)
    if edge == "halo":
        sizes[axis] = f"{sizes[axis]}+{before + after}"
    u = k.array(names, type_, sizes, low=-2.0, high=2.0)
    at = g.at[axis]
    size: Expr = at
    if edge in ("clamp", "periodic", "interior"):
        if k.draw.shape.chance(0.35):
            size = extent(u, axis)
            if k.draw.shape.chance(0.5):
                size = k.let(f"n{at.name} length", size)
        else:
            size = k.size_param(f"n{at.name} num_{at.name} points", sizes[axis])
    said = _EDGES[edge]
    if edge == "halo":
        said = said.format(u.name, before, after)
        shifted = k.let(f"{at.name}0 center mid", at + before) if before else at
        g = Grid(g.sizes, g.at[:axis] + (shifted,) + g.at[axis + 1 :])
    return Line(k, u, g, axis, size, edge), said


def inside_of(k: KernelBuilder, g: Grid, axis: int, size: Expr, before: int, after: int) -> Expr:
    at = g.at[axis]
    tests = []
    if before:
        tests.append(at >= before if before > 1 else at > 0)
    if after:
        tests.append(at < size - after)
    return tests[0] if len(tests) == 1 else fn("and", *tests)


_SCHEMES = {
    "forward": ("forward_difference", "forward_slope"),
    "backward": ("backward_difference", "running_difference"),
    "central": ("central_difference", "derivative", "slope_along_axis"),
    "second": ("second_derivative", "curvature", "laplacian_1d"),
    "fourth": ("fourth_order_derivative", "high_order_slope"),
    "upwind": ("upwind_derivative", "upwind_flux"),
    "minmod": ("minmod_slope", "limited_slope"),
    "third": ("biased_upwind", "quick_derivative"),
}


_REACH = {
    "forward": (0, 1),
    "backward": (1, 0),
    "central": (1, 1),
    "second": (1, 1),
    "fourth": (2, 2),
    "upwind": (1, 1),
    "minmod": (1, 1),
    "third": (2, 1),
}


@idiom
def finite_difference(k: KernelBuilder, level: int) -> Title:
    """A derivative along one axis of a grid of one to three dimensions."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    g = grid(k, {1: 3, 2: 3, 3: 2})
    schemes = {
        1: ("forward", "backward", "central", "second"),
        2: ("backward", "central", "second", "fourth"),
    }
    scheme = shape.choice(schemes.get(level, tuple(sorted(_SCHEMES))))
    axis = shape.integer(0, g.ndim - 1)
    edges = ("clamp", "periodic", "halo", "interior")
    edge = shape.choice(edges if level < 4 else edges[:3])
    before, after = _REACH[scheme]
    line, said = line_through(k, g, axis, edge, before, after, type_)
    spacing = coefficient(
        k, "dx spacing h", type_, 0.5, 2.0, Grid(g.sizes[:1], g.at[:1]), "sc" if level < 3 else "ss"
    )
    inverse = shape.chance(0.3) and isinstance(spacing.value, Var)
    out = k.out("slope derivative out", type_, g.sizes)
    place = f"along {g.at[axis].name}"
    if edge == "interior":
        fill: Expr = k.lift(0.0, type_) if shape.chance(0.5) else line.u[g.at]
        end = "zero" if fill != line.u[g.at] else f"{line.u.name} itself"
        said = said.format(end)
        inside = inside_of(k, g, axis, line.size, before, after)
        if shape.chance(0.5):
            with k.if_(fn("not", inside)):
                k.store(out, g.at, fill)
                k.return_()
            done = _stored(k, level, scheme, line, spacing, inverse, out, type_)
        else:
            with k.if_(inside):
                done = _stored(k, level, scheme, line, spacing, inverse, out, type_)
            with k.else_():
                k.store(out, g.at, fill)
    else:
        done = _stored(k, level, scheme, line, spacing, inverse, out, type_)
    return Title(k.name(*_SCHEMES[scheme]), f"{done.format(place)}. {said}.")


def _stored(
    k: KernelBuilder,
    level: int,
    scheme: str,
    line: Line,
    spacing: Given,
    inverse: bool,
    out: Var,
    type_: Scalar,
) -> str:
    """Compute the derivative and store it; what it is, with ``{}`` for where."""
    g_out = line.g if line.edge != "halo" else None
    h = spacing.value
    if inverse:
        h = k.let("inv_h rdx", 1.0 / h)
    value, text = _difference(k, level, scheme, line, h, inverse, type_)
    done = f"{out.name} gets the {_ABOUT[scheme]} of {line.u.name} {{}} with spacing {spacing.text}"
    done += text
    place = k.threads
    at = tuple(Var(name, line.g.at[0].type) for name in place) if g_out is None else line.g.at
    full = Grid(line.g.sizes, at)
    if level >= 3:
        value, more = _combined(k, level, scheme, value, line, full, type_)
        done += more
    if level >= 4:
        value = local(k, "rate tendency", value)
        second = k.out("next_u updated advanced", type_, full.sizes)
        dt = k.scalar("dt time_step", type_, 0.05, 0.2)
        k.store(second, at, line.at(0) - dt * value)
        done += f"; {second.name} gets {line.u.name} - {dt.name} * that"
    k.store(out, at, value)
    return done


_ABOUT = {
    "forward": "forward difference (next - here)",
    "backward": "backward difference (here - previous)",
    "central": "central difference (next - previous) / 2",
    "second": "second difference (next - 2 * here + previous), over the squared spacing,",
    "fourth": "fourth-order central difference (8 * (u[+1] - u[-1]) - u[+2] + u[-2]) / 12",
    "upwind": "upwind difference (backward where the speed is positive, else forward)",
    "minmod": "minmod slope (zero where backward and forward differ in sign, else the smaller)",
    "third": "third-order upwind-biased difference (2 * u[+1] + 3 * u[0] - 6 * u[-1] + u[-2]) / 6",
}


def _difference(
    k: KernelBuilder, level: int, scheme: str, line: Line, h: Expr, inverse: bool, type_: Scalar
) -> tuple[Expr, str]:
    def over(value: Expr, power: int = 1) -> Expr:
        for _ in range(power - 1):
            value = value * h if inverse else value / h
        return value * h if inverse else value / h

    if scheme == "forward":
        return over(line.at(1) - line.at(0)), ""
    if scheme == "backward":
        return over(line.at(0) - line.at(-1)), ""
    if scheme == "central":
        gap = line.at(1) - line.at(-1)
        if not inverse and k.draw.shape.chance(0.5):
            return gap / (2.0 * h), ""
        return over(0.5 * gap), ""
    if scheme == "second":
        here = k.let("here uc", line.at(0))
        gap = line.at(1) - 2.0 * here + line.at(-1)
        return (over(gap, 2) if inverse else gap / (h * h)), ""
    if scheme == "fourth":
        near = k.let("near inner", line.at(1) - line.at(-1))
        far = k.let("far outer", line.at(2) - line.at(-2))
        return over((8.0 * near - far) / 12.0), ""
    if scheme == "third":
        sides = 2.0 * line.at(1) + 3.0 * line.at(0) - 6.0 * line.at(-1) + line.at(-2)
        return over(sides / 6.0), ""
    here = k.let("here uc", line.at(0))
    back = k.let("back left_slope", over(here - line.at(-1)))
    ahead = k.let("ahead right_slope", over(line.at(1) - here))
    return _limited(k, scheme, line, back, ahead, type_)


def _limited(
    k: KernelBuilder, scheme: str, line: Line, back: Expr, ahead: Expr, type_: Scalar
) -> tuple[Expr, str]:
    if scheme == "upwind":
        at = tuple(Var(name, line.g.at[0].type) for name in k.threads)
        speed = k.array("speed velocity c", type_, line.g.sizes, low=-1.5, high=1.5)
        c = k.let("cc wind", speed[at])
        if k.draw.shape.chance(0.5):
            return c * fn("where", c > 0.0, back, ahead), f", times {speed.name}"
        positive = fn("max", c, 0.0) * back
        return positive + fn("min", c, 0.0) * ahead, f", times {speed.name}"

    def build(b: BodyBuilder, p: Expr, q: Expr) -> Expr:
        small = fn("where", fn("abs", p) < fn("abs", q), p, q)
        return fn("where", p * q > 0.0, small, 0.0)

    return step(k, "minmod limit_slopes", (("p", back), ("q", ahead)), build, 0.7), ""


def _combined(
    k: KernelBuilder, level: int, scheme: str, value: Expr, line: Line, full: Grid, type_: Scalar
) -> tuple[Expr, str]:
    """The derivative times a coefficient, plus a source or a sink."""
    form = k.draw.shape.choice(("diffusivity", "source", "decay", "flux"))
    factor = coefficient(k, "kappa weight mobility", type_, 0.3, 1.5, full, "se")
    if form == "diffusivity":
        return factor.value * value, f", times {factor.text}"
    if form == "source":
        source = k.array("source forcing", type_, full.sizes, low=-1.0, high=1.0)
        return factor.value * value - source[full.at], f", times {factor.text}, minus {source.name}"
    here = local(k, "value_here u0", line.at(0))
    if form == "decay":
        return value + factor.value * here, f", plus {factor.text} * {line.u.name}"
    bounded = fn("clamp", factor.value * value, -1.0, 1.0)
    return bounded, f", times {factor.text}, clamped to [-1, 1]"
