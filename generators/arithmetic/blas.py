"""Updates of vectors and grids as linear algebra libraries have them."""

from __future__ import annotations

from generators.arithmetic.common import DATA, OWN, alike, stored
from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula, formulas
from generators.kit.functions import clamp, most, where
from generators.kit.naming import evaluated, held, maybe
from generators.kit.records import record
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import Scalar
from generators.program.expr import Expr

_UPDATES = formulas(
    axpy=("axpy scaled_add add_scaled", lambda a, x, y: a * x + y),
    axpby=("axpby scale_and_add linear_combination", lambda a, x, b, y: a * x + b * y),
    residual=(
        "scaled_residual weighted_defect residual_update",
        lambda a, x, b, y: a * (x - b * y),
    ),
    triad=("stream_triad triad waxpby", lambda b, y, a, x: b * y + a * x),
    product=("multiply_add hadamard_axpy elementwise_fma", lambda a, x, y, b: a * (x * y) + b),
    momentum=("momentum_update sgd_momentum heavy_ball", lambda a, x, b, y: a * x - b * y),
    richardson=(
        "richardson_step jacobi_update damped_jacobi",
        lambda x, a, y, b: x + a * (y - b * x),
    ),
    extrapolate=("extrapolate anderson_mix over_relax", lambda x, a, y: x + a * (x - y)),
)
_LOSSES = formulas(square=lambda d: d * d, absolute=lambda d: abs(d))
_HUBER = Formula(
    "huber_loss", "loss", lambda d, limit: where(d < limit, 0.5 * d * d, limit * (d - 0.5 * limit))
)


@idiom(depth=1)
def vector_update(k: KernelBuilder, level: int) -> Title:
    """A linear update of vectors or grids by scalars: axpby and its relatives."""
    shape = k.draw.shape
    f = k.draw.float_type() if level < 3 else k.draw.wide_float_type()
    s = launch(k, list=3, grid=2, cube=1)
    update = shape.choice(_UPDATES)
    parts = alike(f, -2.0, 2.0, x="x u p", y="y v r")
    values = dict(record(s, "Pair Entry Sample", parts, 0.1 if level < 3 else 0.2).values)
    ways = {"shared": 1, "each": 1, "axis": 1, "literal": 1} if level < 3 else OWN | {"shared": 1}
    values["a"] = given(s, "alpha a omega", f, 0.4, 1.6, forms=ways)
    if "b" in update.keys:
        values["b"] = given(s, "beta b gamma", f, 0.2, 1.8, forms=ways)
    text = update.said({key: say(k, value) for key, value in values.items()})
    before = values["x"]
    if level >= 3 or shape.chance(0.4):
        values["x"] = held(k, "xi current", values["x"])
        values["y"] = maybe(k, "yi other", values["y"])
    value = update.of(k, values)
    if level >= 3:
        value, text = _with_directions(s, value, text)
    value, limits = _bounded(s, level, value)
    done = f"Compute {text} at every element{limits}."
    if level >= 2:
        value = held(k, "updated next_value", value)
    if level >= 4:
        done += _judged(s, level, value)
    done += stored(s, "out w result", value, before, 0.06 if level >= 3 else 0.0)
    return Title(k.name(update.outs), done)


def _with_directions(s: Site, value: Expr, text: str) -> tuple[Expr, str]:
    """Plus a combination of several stored vectors, as Krylov and quasi-Newton methods have it."""
    k = s.k
    m = k.size("m", 2, 4)
    basis = k.array("basis directions history", value.type, (m, *s.dims), low=-1.0, high=1.0)
    weights = k.array("coeffs weights h", value.type, m, low=-0.9, high=0.9)
    count = k.trip_count("m num_vectors", m)
    sign, op = k.draw.shape.weighted({("-", "sub"): 2, ("+", "add"): 3})
    acc = k.let("acc total update", value)
    with k.for_("s v_index q", count) as q:
        k.augment(acc, op, maybe(k, "term part", weights[q] * basis[(q,) + s.at], 0.3))
    return acc, f"{text} {sign} the sum over s of {weights.name}[s] * {basis.name}[s]"


def _bounded(s: Site, level: int, value: Expr) -> tuple[Expr, str]:
    """A limit on the result, that some updates have."""
    form = s.k.draw.shape.choice(("", "", "clamp", "relu"))
    if level < 2 or not form:
        return value, ""
    if form == "relu":
        return most(value, 0.0), ", negative results set to zero"
    bound = s.k.scalar("bound max_abs", value.type, 1.0, 1.6)
    return clamp(value, -bound, bound), f", clamped to [-{bound.name}, {bound.name}]"


def _judged(s: Site, level: int, value: Expr) -> str:
    """A second output: how far the result is from a target."""
    k, f = s.k, value.type
    assert isinstance(f, Scalar)
    target = s.read("target reference rhs", f, -2.0, 2.0)
    gap = k.let("gap diff", target - value)
    what = f"{say(k, target)} - u"
    if level < 5:
        loss = k.draw.shape.choice(_LOSSES)
        size, text = loss.build(k, gap), loss.said({"d": what})
    else:
        delta = k.scalar("delta huber_delta", f, 0.8, 1.2)
        size = held(k, "distance abs_gap", abs(gap))
        size = evaluated(k, 0.6, _HUBER, {"d": size, "limit": delta})
        rule = _HUBER.said({"d": "d", "limit": delta.name})
        text = f"the Huber loss of d = |{what}|, {rule}"
    if k.draw.shape.chance(0.5):
        weight = given(s, "weight inv_diag", f, 0.5, 2.0, forms=DATA)
        size, text = weight * size, f"{say(k, weight)} times {text}"
    return f" With u this value, {s.put('error defect loss', size).name} gets {text}."
