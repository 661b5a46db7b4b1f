"""Real numbers rounded, split and gated: snapping, saw teeth, dead zones, comparators."""

from __future__ import annotations

from generators.arithmetic.common import DATA, OWN, stored
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Build, Shelf
from generators.kit.functions import most, sqrt
from generators.kit.naming import evaluated, held, maybe
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import INT32, scalar_of
from generators.program.expr import Expr

_ROUNDINGS = ("round", "rint", "floor", "ceil", "trunc")


def _with_sign(size: Expr, x: Expr) -> Expr:
    return fn("copysign", size, x)


def _snap(rounding: str) -> Build:
    return lambda x, w: w * fn(rounding, x / w)


_SHAPES = Shelf()
for _rounding in _ROUNDINGS:
    _SHAPES.add(
        f"{_rounding}_to_step", "snap_to_grid quantise_levels step_levels", _snap(_rounding)
    )
_SHAPES.add("saw_tooth", "sawtooth phase_wrap fraction_of_cycle", lambda x, w: fn("frac", x / w))
_SHAPES.add(
    "shrink",
    "dead_zone soft_threshold shrink_toward_zero",
    lambda x, w: _with_sign(most(abs(x) - w, 0.0), x),
)
_SHAPES.add(
    "part_below",
    "comparator below_edge gate_below",
    lambda x, w: fn("step", x - w) * x,
    "{x} where it is below {w}, else zero",
)
_SHAPES.add(
    "signed_power",
    "signed_power gamma_signed companding",
    lambda x, w: _with_sign(sqrt(abs(x) + w), x),
)


@_SHAPES.formula("triangle_wave fold_phase")
def triangle_of(body: BodyBuilder, x: Expr, w: Expr) -> Expr:
    phase = maybe(body, "phase cycle", abs(fn("frac", x / w)), 0.7)
    return 1.0 - abs(2.0 * phase - 1.0)


@_SHAPES.formula("keep_active rectify_gate", "{x} where it exceeds {w}, else zero")
def active_part(body: BodyBuilder, x: Expr, w: Expr) -> Expr:
    over = body.let("over excess", most(x - w, 0.0))
    return fn("nonzero", over) * x


@idiom(depth=1)
def real_rounding(k: KernelBuilder, level: int) -> Title:
    """Rounding to steps, fractional parts, dead zones and gates of real numbers."""
    shape, f = k.draw.shape, k.draw.wide_float_type()
    s = launch(k, list=3, grid=3, cube=1)
    card = shape.weighted({c.name: 1 if c.name.endswith("_to_step") else 4 for c in _SHAPES.cards})
    formula = _SHAPES.card(card)
    x = s.read("x signal position", f, -4.0, 4.0)
    width = given(s, "width edge spacing", f, 0.4, 1.6, shared=1, each=1, axis=1, literal=1)
    text, v = say(k, x), held(k, "v value", x)
    if level >= 2 and shape.chance(0.6):
        origin = given(s, "origin offset start_phase", f, -1.0, 1.0, forms=DATA)
        v, text = k.let("shifted rel", v - origin), f"{text} - {say(k, origin)}"
    chance = 0.6 if level >= 3 else 0.15
    width = held(k, "w step_width", width) if formula.reads("w") > 1 else width
    value = evaluated(k, chance, formula, {"x": v, "w": width})
    done = f"Compute {formula.said({'x': text, 'w': say(k, width)})}."
    if level >= 3:
        value, more = _weighted(s, value, v, text)
        done += more
    if level >= 4 and shape.chance(0.3):
        value = held(k, "shaped_value final", value)
        done += _parts(s, level, v, text)
    done += stored(s, "out shaped result", value, x, 0.06 if level >= 2 else 0.0)
    return Title(k.name(formula.outs), done)


def _weighted(s: Site, value: Expr, v: Expr, text: str) -> tuple[Expr, str]:
    """The result times a factor, mixed with the number, or with fractions added to it."""
    k, f = s.k, scalar_of(value.type)
    form = k.draw.shape.choice(("gain", "mix", "sum"))
    if form == "gain":
        gain = given(s, "gain weight", f, 0.5, 2.0, forms=DATA)
        return gain * value, f" It is multiplied by {say(k, gain)}."
    if form == "mix":
        share = given(s, "share wet_share", f, 0.2, 0.8, forms=DATA)
        return fn("lerp", v, value, share), f" Blend from {text} to that by {say(k, share)}."
    m = k.size("m", 2, 5)
    bands = k.array("bands steps octaves", f, m, low=0.6, high=1.8)
    count = k.trip_count("m num_bands", m)
    acc = k.let("acc total", value)
    with k.for_("band q", count) as q:
        k.augment(acc, "add", fn("frac", v * bands[q]))
    operand = f"({text})" if " " in text else text
    return acc, f" Add frac({operand} * {bands.name}[q]) for each q."


def _parts(s: Site, level: int, v: Expr, text: str) -> str:
    """The whole part as an integer; at level 5 also the sign of what is left."""
    k = s.k
    rounding = k.draw.shape.choice(_ROUNDINGS)
    whole = k.let("whole nearest", fn(rounding, v))
    done = f" {s.put('cells turns', cast(whole, INT32)).name} gets {rounding}({text})."
    if level == 5:
        size = given(s, "magnitude amplitude", scalar_of(v.type), 0.5, 1.5, forms=OWN)
        rest = s.put("sides signed_rest", _with_sign(size, v - 0.5 * whole))
        done += f" {rest.name} gets {say(k, size)} with the sign of {text} - half of that."
    return done
