"""Updates of vectors and grids as linear algebra libraries have them, and weighted means."""

from __future__ import annotations

from generators.arithmetic.parts import (
    Given,
    Grid,
    coefficient,
    condition,
    elements,
    grid,
    local,
    named,
    step,
    store_where,
)
from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import Scalar
from generators.program.expr import Expr

_KERNELS = {
    "axpy": ("axpy", "scaled_add", "add_scaled"),
    "axpby": ("axpby", "scale_and_add", "linear_combination"),
    "residual": ("scaled_residual", "weighted_defect", "residual_update"),
    "triad": ("stream_triad", "triad", "waxpby"),
    "product": ("multiply_add", "hadamard_axpy", "elementwise_fma"),
    "momentum": ("momentum_update", "sgd_momentum", "heavy_ball"),
    "richardson": ("richardson_step", "jacobi_update", "damped_jacobi"),
    "extrapolate": ("extrapolate", "anderson_mix", "over_relax"),
}


def _formula(form: str, a: Given, b: Given, x: Given, y: Given) -> tuple[Expr, str]:
    """The update and its text; ``a`` and ``b`` are coefficients, ``x`` and ``y`` elements."""
    if form == "axpy":
        return a.value * x.value + y.value, f"{a.text} * {x.text} + {y.text}"
    if form in ("axpby", "triad"):
        text = f"{a.text} * {x.text} + {b.text} * {y.text}"
        return a.value * x.value + b.value * y.value, text
    if form == "residual":
        text = f"{a.text} * ({x.text} - {b.text} * {y.text})"
        return a.value * (x.value - b.value * y.value), text
    if form == "product":
        return a.value * (x.value * y.value) + b.value, f"{a.text} * {x.text} * {y.text} + {b.text}"
    if form == "momentum":
        text = f"{a.text} * {x.text} - {b.text} * {y.text}"
        return a.value * x.value - b.value * y.value, text
    if form == "richardson":
        text = f"{x.text} + {a.text} * ({y.text} - {b.text} * {x.text})"
        return x.value + a.value * (y.value - b.value * x.value), text
    text = f"{x.text} + {a.text} * ({x.text} - {y.text})"
    return x.value + a.value * (x.value - y.value), text


@idiom
def vector_update(k: KernelBuilder, level: int) -> Title:
    """A linear update of vectors or grids by scalars: axpby and its relatives."""
    shape = k.draw.shape
    type_ = k.draw.float_type() if level < 3 else k.draw.wide_float_type()
    g = grid(k, {1: 3, 2: 2, 3: 1})
    form = shape.choice(sorted(_KERNELS))
    wanted = [(n, type_, -2.0, 2.0) for n in (("x", "u", "p"), ("y", "v", "r"))]
    x, y = elements(k, wanted, g, ("Pair", "Entry", "Sample"), 0.1 if level < 3 else 0.2)
    kinds = "sec" if level < 3 else "see"
    a = coefficient(k, ("alpha", "a", "omega"), type_, 0.4, 1.6, g, kinds)
    one_only = form in ("axpy", "extrapolate")
    b = a if one_only else coefficient(k, ("beta", "b", "gamma"), type_, 0.2, 1.8, g, kinds)
    out = k.out(("out", "w", "result"), type_, g.sizes)
    if level >= 3 or shape.chance(0.4):
        x = Given(local(k, ("xi", "current"), x.value), x.text)
        y = Given(named(k, ("yi", "other"), y.value), y.text)
    value, text = _formula(form, a, b, x, y)
    if level >= 3:
        value, text = _with_directions(k, value, text, g, type_)
    value, limits = _bounded(k, level, value, type_)
    done = f"Compute {out.name} = {text} at every element{limits}."
    if level >= 2:
        value = local(k, ("updated", "next_value"), value)
    if level >= 4:
        done += _judged(k, level, value, g, type_)
    if level >= 2 and shape.chance(0.6):
        test = condition(k, g)
        store_where(k, out, g, test.value, value, x.value)
        done += f" It is stored only where {test.text}; elsewhere {out.name} is {x.text}."
    else:
        k.store(out, g.at, value)
    return Title(k.name(*_KERNELS[form]), done)


def _with_directions(
    k: KernelBuilder, value: Expr, text: str, g: Grid, type_: Scalar
) -> tuple[Expr, str]:
    """Plus a combination of several stored vectors, as Krylov and quasi-Newton methods have it."""
    m = k.size("m", 2, 4)
    basis = k.array(("basis", "directions", "history"), type_, (m, *g.sizes), low=-1.0, high=1.0)
    weights = k.array(("coeffs", "weights", "h"), type_, m, low=-0.9, high=0.9)
    count = k.trip_count(("m", "num_vectors"), m)
    minus = k.draw.shape.chance(0.4)
    acc = k.let(("acc", "total", "update"), value)
    with k.for_(("s", "v_index", "q"), count) as s:
        place = (s, *g.at)
        term = weights[s] * basis[place]
        k.augment(acc, "sub" if minus else "add", named(k, ("term", "part"), term, 0.3))
    sign = "-" if minus else "+"
    return acc, f"{text} {sign} the sum over s of {weights.name}[s] * {basis.name}[s]"


def _bounded(k: KernelBuilder, level: int, value: Expr, type_: Scalar) -> tuple[Expr, str]:
    """A limit on the result, that some updates have."""
    form = k.draw.shape.choice(("", "", "clamp", "relu"))
    if level < 2 or not form:
        return value, ""
    if form == "relu":
        return fn("max", value, 0.0), ", negative results set to zero"
    bound = k.scalar(("bound", "max_abs"), type_, 1.0, 1.6)
    return fn("clamp", value, -bound, bound), f", clamped to [-{bound.name}, {bound.name}]"


def _judged(k: KernelBuilder, level: int, value: Expr, g: Grid, type_: Scalar) -> str:
    """A second output: how far the result is from a target."""
    target = k.array(("target", "reference", "rhs"), type_, g.sizes, low=-2.0, high=2.0)
    error = k.out(("error", "defect", "loss"), type_, g.sizes)
    gap = k.let(("gap", "diff"), target[g.at] - value)
    form = k.draw.shape.choice(("square", "absolute")) if level < 5 else "huber"
    text = f"({target.name} - u)^2" if form == "square" else f"|{target.name} - u|"
    size: Expr = gap * gap if form == "square" else fn("abs", gap)
    if form == "huber":
        size, text = _huber(k, gap, size, f"{target.name} - u", type_)
    if k.draw.shape.chance(0.5):
        weight = coefficient(k, ("weight", "inv_diag"), type_, 0.5, 2.0, g, "se")
        size, text = weight.value * size, f"{weight.text} * ({text})"
    k.store(error, g.at, size)
    return f" With u this value, {error.name} gets {text}."


def _huber(k: KernelBuilder, gap: Expr, size: Expr, what: str, type_: Scalar) -> tuple[Expr, str]:
    delta = k.scalar(("delta", "huber_delta"), type_, 0.8, 1.2)

    def build(body: BodyBuilder, d: Expr, limit: Expr) -> Expr:
        return fn("where", d < limit, 0.5 * d * d, limit * (d - 0.5 * limit))

    loss = step(k, ("huber", "huber_loss"), (("d", size), ("limit", delta)), build, 0.6)
    return (
        loss,
        f"the Huber loss of {what} (0.5 * d^2 for d = |{what}| below {delta.name}, else "
        f"{delta.name} * (d - 0.5 * {delta.name}))",
    )
