"""Fields of vectors on grids: divergence, curl, gradients, Laplacians and what flows do."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial, reduce

from generators.build import KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, exp, least, most
from generators.kit.naming import BY_LEVEL
from generators.kit.outputs import deliver
from generators.kit.records import Part
from generators.kit.sites import Site, launch, over
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.program.dtypes import Type, Vec
from generators.program.expr import Expr, Var, op
from generators.vector.shelf import VectorShelf, summed, worked_out

_COMMON = {"shared": 4}
_BORDERS = {
    "clamp": "indices beyond the border being clamped",
    "wrap": "the grid being periodic",
    "zero": "border cells get zero",
}


class Grid:
    """A field on the grid of the launch, read at neighbours by one rule for its border."""

    def __init__(self, site: Site, vec: Vec) -> None:
        self.k, self.site, self.vec = site.k, site, vec
        self.field = site.array("field velocity flow u_in", vec, -1.0, 1.0)
        self.border = self.k.draw.shape.choice(sorted(_BORDERS))
        self.open = self.border in ("clamp", "wrap")
        sizes = zip(("depth nz", "rows ny", "cols nx")[-site.rank :], site.dims, strict=True)
        self.sizes = [self.k.size_param(names, dim) for names, dim in sizes]

    @property
    def here(self) -> Expr:
        return self.field[self.site.at]

    def near(self, axis: int, step: int) -> Expr:
        """The field one step along an axis of the launch."""
        i, size = self.site.at[axis], self.sizes[axis]
        if self.border == "clamp":
            moved: Expr = least(i + 1, size - 1) if step > 0 else most(i - 1, 0)
        elif self.border == "wrap":
            moved = (i + 1) % size if step > 0 else (i + size - 1) % size
        else:
            moved = i + 1 if step > 0 else i - 1
        return self.field[tuple(moved if a == axis else x for a, x in enumerate(self.site.at))]

    def on_border(self) -> Expr:
        pairs = list(zip(self.site.at, self.sizes, strict=True))
        ends = [fn("eq", i, end) for i, size in pairs for end in (0, size - 1)]
        return reduce(partial(op, "or"), ends)

    def slopes(self, half: Expr) -> list[Var]:
        """Central differences along each axis of the launch, the last index being x."""
        style = self.k.draw.word.choice(("du_d{}", "d_{}", "slope_{}"))
        axes = enumerate(reversed(range(self.site.rank)))
        return [
            self.k.let(style.format("xyz"[c]), half * (self.near(axis, 1) - self.near(axis, -1)))
            for c, axis in axes
        ]


def _derived(g: Grid, half: Expr, form: str) -> tuple[Expr, str]:
    """A first derivative of the field by central differences."""
    slopes = g.slopes(half)
    letters = "xyz"[: len(slopes)]
    names = reversed([say(g.k, index) for index in g.site.at])
    pairs = [(a, name) for a, name in zip(letters, names, strict=True) if a != name]
    axes = "".join(f", {a} along {name}" for a, name in pairs)
    text = (
        f"with D_a f = {say(g.k, half)} * (f[next along a] - f[previous along a]){axes}, take the "
    )
    if form == "divergence":
        return summed(slope[c] for c, slope in enumerate(slopes)), f"{text}divergence"
    if form == "curl" and len(slopes) == 2:
        return slopes[0][1] - slopes[1][0], f"{text}curl D_x u_y - D_y u_x"
    if form == "curl":
        dx, dy, dz = slopes
        parts = (dy[2] - dz[1], dz[0] - dx[2], dx[1] - dy[0])
        return make(g.vec, *parts), f"{text}curl (D_y u_z - D_z u_y and so on)"
    if form == "gradient_sq":
        value = summed(fn("length_sq", slope) for slope in slopes)
        return value, f"{text}squared Frobenius norm of the gradient, all (D_a u_b)^2 added up"
    here = g.k.let("u vel", g.here)
    sums = " + ".join(f"u_{a} * D_{a} u" for a in letters)
    return summed(here[c] * slope for c, slope in enumerate(slopes)), f"{text}advection {sums}"


def _laplacian(g: Grid, scale: Expr) -> tuple[Expr, str]:
    here = g.k.let("u center", g.here)
    count = 2 * g.site.rank
    near = summed(g.near(axis, step) for axis in range(g.site.rank) for step in (-1, 1))
    around = g.k.let("around nb_sum", near)
    text = f"take {say(g.k, scale)} * (sum of neighbours - {count} * u)"
    return scale * (around - float(count) * here), text


_FOLLOWED = VectorShelf(scalars="r b")
_FOLLOWED.add("diffuse", "u", lambda u, d, r: u + r * d)
_FOLLOWED.add("implicit_drag", "u", lambda u, d, r, b: (u + r * d) / (1.0 + r * b))
_FOLLOWED.add("decay", "u", lambda u, d, r, b: exp(-r * b) * (u + r * d))


def _stepped(level: int, g: Grid, deriv: Expr) -> tuple[Expr, str]:
    """The field after a step with the derivative, maybe in a helper."""
    k = g.k
    u = k.let("here u_old", g.here)
    formula = k.draw.shape.choice(_FOLLOWED.cards if level >= 4 else _FOLLOWED.cards[:1])
    ways = {"shared": 4, "each": 1}
    parts = {
        "r": Part("dt time_step", g.vec.scalar, 0.05, 0.3, forms={"shared": 1}),
        "b": Part("drag damping", g.vec.scalar, 0.2, 0.9, forms=ways),
    }
    known = {"u": u, "d": deriv}
    value, text = worked_out(g.site, BY_LEVEL[level], formula, known, parts, {"d": "D"})
    return k.let("u_new next_u", value), f". With that as D, take {text}"


_LOCALS = {
    "divergence": "div div_u",
    "curl": "curl vorticity",
    "gradient_sq": "grad_sq",
    "laplacian": "lap lap_u",
    "advection": "conv convective",
}
_TASKS = {
    "divergence": "Compute the divergence of a vector field by central differences.",
    "curl": "Compute the curl of a vector field by central differences.",
    "gradient_sq": "Measure how fast a vector field changes in space.",
    "laplacian": "Compute the Laplacian of a vector field.",
    "advection": "Compute the convective term of a velocity field, its change along itself.",
}


class Operator:
    """The derivative that a kernel takes, and the step that may follow."""

    def __init__(self, level: int, g: Grid) -> None:
        forms = ["divergence", "curl", "gradient_sq", "laplacian"]
        forms += ["advection"] if level > 1 else []
        self.level, self.g, self.form = level, g, g.k.draw.shape.choice(forms)
        names = "inv_h2 inv_dx_sq" if self.form == "laplacian" else "inv_2h half_inv_dx"
        self.scale = given(g.site, names, g.vec.scalar, 0.5, 2.0, forms=_COMMON)
        flat = self.form == "curl" and g.site.rank == 2
        whole = self.form in ("laplacian", "advection", "curl") and not flat
        self.type: Type = g.vec if whole else g.vec.scalar

    def value(self) -> tuple[Expr, str]:
        if self.form == "laplacian":
            value, text = _laplacian(self.g, self.scale)
        else:
            value, text = _derived(self.g, self.scale, self.form)
        if self.level >= 2:
            value = self.g.k.let(_LOCALS[self.form], value)
        if self.level >= 3 and self.form == "laplacian":
            value, more = _stepped(self.level, self.g, value)
            text += more
        return value, text


def _cube(k: KernelBuilder) -> Site:
    """A grid of space, whose axes are z, y and x: none of them numbers fields of a batch."""
    dims = k.draw.word.choice(("nz ny nx", "depth height width"))
    names = k.draw.word.choice(("iz iy ix", "k j i"))
    return over(k, dims, names, ((4, 6), (4, 6), (4, 6)), form="cube")


@idiom(depth=2)
def vector_fields(k: KernelBuilder, level: int) -> Title:
    """Derivatives of vector fields on two- and three-dimensional grids, and steps with them."""
    shape = k.draw.shape
    site = launch(k, grid=1) if shape.chance(0.6) else _cube(k)
    scalar = k.draw.wide_float_type()
    g = Grid(site, Vec(2 if site.form == "grid" and shape.chance(0.7) else 3, scalar))
    operator = Operator(level, g)
    form = operator.form
    names, outs = f"field_{form} {form}_stencil compute_{form}", f"{form}_out {form}"
    if not g.open:
        return Title(k.name(names), f"{_TASKS[form]} {_bordered(k, g, operator, outs)}")
    value, text = operator.value()
    done = f"{_TASKS[form]} For u = {g.field.name} {text}, {_BORDERS[g.border]}."
    done += deliver(site, level, outs, value)
    return Title(k.name(names), done + (_more(level, g, value) if level >= 4 else ""))


def _bordered(k: KernelBuilder, g: Grid, operator: Operator, outs: str) -> str:
    """The border is left by an early return, or the inside is a branch."""
    out = g.site.out(outs, operator.type)
    edge = zero(operator.type)
    early = k.draw.shape.chance(0.6)
    with k.if_(g.on_border()):
        k.store(out, g.site.at, edge)
        if early:
            k.return_()
    with nullcontext() if early else k.else_():
        value, text = operator.value()
        k.store(out, g.site.at, value)
    return f"For u = {g.field.name} {text}; {_BORDERS[g.border]}. {out.name} gets it."


def _more(level: int, g: Grid, value: Expr) -> str:
    """More outputs: the energy, the work of the result, an upwind difference."""
    k, site, done = g.k, g.site, ""
    u = k.let("u_c mid", g.here)
    forms = ["energy", "upwind"] + (["helicity"] if value.type == u.type else [])
    for form in k.draw.shape.sample(forms, 2 if level >= 5 else 1):
        if form == "energy":
            done += f" {site.put('energy kinetic', 0.5 * dot(u, u)).name} gets dot(u, u) / 2."
        elif form == "helicity":
            out = site.put("helicity work", dot(u, value))
            done += f" {out.name} gets the dot product of u and the value (before masks)."
        else:
            axis = site.rank - 1
            slope = k.let("slope du", u - g.near(axis, -1))
            with k.if_(u[0] < 0.0):
                k.assign(slope, g.near(axis, 1) - u)
            out = site.put("upwind transport", u[0] * slope)
            done += f" {out.name} gets u_x times the upwind difference of u along the last index "
            done += "(u minus the previous value, or the next minus u where u_x < 0)."
    return done
