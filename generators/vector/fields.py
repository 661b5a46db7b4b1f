"""Fields of vectors on grids: divergence, curl, gradients, Laplacians and what flows do."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, exp, least, most
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.outputs import deliver
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import Scalar, Type, Vec
from generators.program.expr import Expr, Var, op


class Grid:
    """A field on the grid of the launch, read at neighbours by one rule for its border."""

    def __init__(self, k: KernelBuilder, site: Site, field: Var, border: str) -> None:
        self.k, self.site, self.field, self.border = k, site, field, border
        words = (("depth", "nz"), ("rows", "ny"), ("cols", "nx"))[-len(site.dims) :]
        pairs = zip(words, site.dims, strict=True)
        self.sizes = [k.size_param(w, d) for w, d in pairs]

    def at(self, axis: int, step: int) -> tuple[Expr, ...]:
        """The indices one step along an axis of the launch."""
        i, size = self.site.at[axis], self.sizes[axis]
        if self.border == "clamp":
            moved: Expr = least(i + 1, size - 1) if step > 0 else most(i - 1, 0)
        elif self.border == "wrap":
            moved = (i + 1) % size if step > 0 else (i + size - 1) % size
        else:
            moved = i + 1 if step > 0 else i - 1
        return tuple(moved if a == axis else x for a, x in enumerate(self.site.at))

    def near(self, axis: int, step: int) -> Expr:
        return self.field[self.at(axis, step)]

    def on_border(self) -> Expr:
        tests: list[Expr] = []
        for i, size in zip(self.site.at, self.sizes, strict=True):
            tests += [fn("eq", i, 0), fn("eq", i, size - 1)]
        test = tests[0]
        for other in tests[1:]:
            test = op("or", test, other)
        return test

    @property
    def text(self) -> str:
        return {
            "clamp": "indices beyond the border being clamped",
            "wrap": "the grid being periodic",
            "skip": "border cells keep the field's own value",
            "zero": "border cells get zero",
        }[self.border]


_COMMON = {"shared": 4, "literal": 2}
_BORDERS = ("clamp", "wrap", "skip", "zero")


def _slopes(g: Grid, half: Expr, names: str) -> list[Var]:
    """Central differences along each axis of the launch, the last index being x."""
    ndim = len(g.site.dims)
    found = []
    style = g.k.draw.word.choice((f"{names}{{}}", "d_{}", "slope_{}"))
    for c in range(ndim):
        axis = ndim - 1 - c
        diff = g.near(axis, 1) - g.near(axis, -1)
        found.append(g.k.let(style.format("xyz"[c]), half * diff))
    return found


def _derived(g: Grid, half: Expr, form: str) -> tuple[Expr, str]:
    """A first derivative of the field by central differences."""
    vec = g.field.type.element  # type: ignore[union-attr]
    slopes = _slopes(g, half, "du_d")
    by = say(g.k, half)
    letters = "xyz"[: len(slopes)]
    pairs = zip(letters, reversed(g.site.at), strict=True)
    axes = ", ".join(f"{letter} along {index.name}" for letter, index in pairs)
    text = f"with D_a f = {by} * (f[next along a] - f[previous]), {axes}, "
    if form == "divergence":
        total: Expr = slopes[0][0]
        for c in range(1, len(slopes)):
            total = total + slopes[c][c]
        return total, f"{text}take the divergence"
    if form == "curl" and len(slopes) == 2:
        return slopes[0][1] - slopes[1][0], f"{text}take the curl D_x u_y - D_y u_x"
    if form == "curl":
        dx, dy, dz = slopes
        parts = (dy[2] - dz[1], dz[0] - dx[2], dx[1] - dy[0])
        return make(vec, *parts), f"{text}take the curl (D_y u_z - D_z u_y and so on)"
    if form == "strain":
        total = fn("length_sq", slopes[0])
        for s in slopes[1:]:
            total = total + fn("length_sq", s)
        return total, f"{text}take the sum of the squares of all D_a u_b"
    here = g.k.let("u vel", g.field[g.site.at])
    moved: Expr = here[0] * slopes[0]
    for c in range(1, len(slopes)):
        moved = moved + here[c] * slopes[c]
    sums = " + ".join(f"u_{a} * D_{a} u" for a in letters)
    return moved, f"{text}take the advection {sums}"


def _laplacian(g: Grid, scale: Expr) -> tuple[Expr, str]:
    ndim = len(g.site.dims)
    here = g.k.let("u center", g.field[g.site.at])
    total: Expr | None = None
    for axis in range(ndim):
        for step in (-1, 1):
            near = g.near(axis, step)
            total = near if total is None else total + near
    assert total is not None
    around = g.k.let("around nb_sum", total)
    return scale * (around - 2.0 * ndim * here), (
        f"take {say(g.k, scale)} * (sum of neighbours - {2 * ndim} * u)"
    )


def _form(k: KernelBuilder, level: int, border: str) -> str:
    forms = ["divergence", "curl", "strain", "laplacian"]
    forms += ["advection"] if level > 1 else []
    if border == "skip":
        forms = [f for f in forms if f in ("laplacian", "advection")] or ["laplacian"]
    return k.draw.shape.choice(forms)


def _operator(k: KernelBuilder, level: int, g: Grid, vec: Vec) -> tuple[str, str, Expr]:
    """The derivative that the kernel takes; its name, text and value."""
    form = _form(k, level, g.border)
    names = ("inv_h2", "inv_dx_sq") if form == "laplacian" else ("inv_2h", "half_inv_dx")
    scale = given(g.site, names, vec.scalar, 0.5, 2.0, forms=_COMMON)
    build = _laplacian if form == "laplacian" else lambda a, b: _derived(a, b, form)
    value, text = build(g, scale)
    return form, f"For u = {g.field.name} {text}, {g.text}.", value


_FOLLOWED: dict[str, Callable[[BodyBuilder, Expr, Expr, Expr], Expr]] = {
    "diffuse": lambda b, u, d, r: u + r * d,
    "dragged": lambda b, u, d, r: (u + d) / (1.0 + r),
    "decay": lambda b, u, d, r: exp(-r) * (u + d),
    "limited": lambda b, u, d, r: u + r * d / (1.0 + fn("length", d)),
}
_FOLLOWED_TEXT = {
    "diffuse": "u + r * D",
    "dragged": "(u + D) / (1 + r)",
    "decay": "exp(-r) * (u + D)",
    "limited": "u + r * D / (1 + |D|)",
}


def _stepped(k: KernelBuilder, level: int, g: Grid, vec: Vec, value: Expr) -> tuple[Expr, str]:
    """The field after a step with the derivative, maybe in a helper."""
    u = k.let("here u_old", g.field[g.site.at])
    names = sorted(_FOLLOWED) if g.border in ("skip", "zero") else ["diffuse", "dragged", "decay"]
    names = [n for n in names if n != "limited" or level >= 4]
    form = k.draw.shape.choice(names)
    rate = given(
        g.site, "rate nu_dt viscosity", vec.scalar, 0.05, 0.3, forms={**_COMMON, "each": 1}
    )
    kinds: list[tuple[str, Type]] = [("u", vec), ("d", vec), ("r", vec.scalar)]
    use = routine(k, BY_LEVEL[level], (form, f"{form}_step"), kinds, _FOLLOWED[form])
    text = f" With that as D and r = {say(k, rate)}, take {_FOLLOWED_TEXT[form]}."
    return k.let("u_new next_u", use(u, value, rate)), text


@idiom
def vector_fields(k: KernelBuilder, level: int) -> Title:
    """Derivatives of vector fields on two- and three-dimensional grids, and steps with them."""
    shape = k.draw.shape
    site = launch(k, grid=3, cube=2)
    scalar: Scalar = k.draw.wide_float_type()
    vec = Vec(2 if site.form == "grid" and shape.chance(0.7) else 3, scalar)
    field = site.array("field velocity flow u_in", vec, -1.0, 1.0)
    border = shape.choice(_BORDERS[: {1: 4, 5: 2}.get(level, 4)])
    g = Grid(k, site, field, border)
    if border == "skip" or border == "zero":
        return _bordered(k, level, g, vec)
    form, done, value = _operator(k, level, g, vec)
    name = k.name(f"field_{form} {form}_stencil compute_{form}")
    if level >= 3 and isinstance(value.type, Vec) and value.type == vec:
        value, text = _stepped(k, level, g, vec, k.let("deriv rhs", value))
        done += text
    elif level >= 3:
        value = k.let("deriv amount", value)
    done += deliver(site, level, f"{form}_out result out", value)
    if level >= 4:
        done += _more(k, level, g, vec, value)
    return Title(name, done)


def _bordered(k: KernelBuilder, level: int, g: Grid, vec: Vec) -> Title:
    """The border is left by an early return, or the inside is a branch."""
    form = _form(k, level, g.border)
    names = ("inv_h2", "inv_dx_sq") if form == "laplacian" else ("inv_2h", "half_inv_dx")
    scale = given(g.site, names, vec.scalar, 0.5, 2.0, forms=_COMMON)
    out_type: Type = vec
    if form in ("divergence", "strain") or (form == "curl" and len(g.site.dims) == 2):
        out_type = vec.scalar
    out = g.site.out(f"{form}_out result out", out_type)
    edge_value = g.field[g.site.at] if g.border == "skip" else _nothing(k, out_type)
    early = k.draw.shape.chance(0.6)
    border = g.on_border()
    text = ""

    def inside() -> None:
        nonlocal text
        build = _laplacian if form == "laplacian" else lambda a, b: _derived(a, b, form)
        value, text = build(g, scale)
        if level >= 3 and out_type == vec:
            value, more = _stepped(k, level, g, vec, k.let("deriv rhs", value))
            text += f".{more[:-1]}"
        elif level >= 2:
            value = k.let("deriv amount", value)
        k.store(out, g.site.at, value)

    if early:
        with k.if_(border):
            k.store(out, g.site.at, edge_value)
            k.return_()
        inside()
    else:
        with k.if_(border):
            k.store(out, g.site.at, edge_value)
        with k.else_():
            inside()
    done = f"For u = {g.field.name} {text}; {g.text}. {out.name} gets it."
    return Title(k.name(f"field_{form} {form}_stencil interior_{form}"), done)


def _nothing(k: KernelBuilder, type_: Type) -> Expr:
    nought = k.lift(0.0, type_)
    return nought if isinstance(type_, Scalar) else make(type_, nought)


def _more(k: KernelBuilder, level: int, g: Grid, vec: Vec, value: Expr) -> str:
    """More outputs: the energy, the size of the result, an upwind difference."""
    u = k.let("u_c mid", g.field[g.site.at])
    forms = ["energy", "upwind"] + (["helicity"] if isinstance(value.type, Vec) else [])
    picks = k.draw.shape.sample(forms, 2 if level >= 5 else 1)
    done = ""
    for form in picks:
        if form == "energy":
            out = g.site.put("energy kinetic", 0.5 * dot(u, u))
            done += f" {out.name} gets dot(u, u) / 2."
        elif form == "helicity" and value.type == u.type:
            out = g.site.put("helicity work", dot(u, value))
            done += f" {out.name} gets the dot product of u and the value (before masks)."
        elif form == "upwind":
            axis = len(g.site.dims) - 1
            slope = k.let("slope du", u - g.near(axis, -1))
            with k.if_(u[0] < 0.0):
                k.assign(slope, g.near(axis, 1) - u)
            out = g.site.put("upwind transport", u[0] * slope)
            done += f" {out.name} gets u_x times the upwind difference of u along the last index "
            done += "(u minus the previous value, or the next minus u where u_x < 0)."
    return done
