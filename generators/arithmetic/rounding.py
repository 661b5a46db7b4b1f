"""Real numbers rounded, split and gated: snapping, saw teeth, dead zones, comparators."""

from __future__ import annotations

from generators.arithmetic.parts import (
    INT32,
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
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import Scalar
from generators.program.expr import Expr

_FORMS = {
    "snap": ("snap_to_grid", "round_to_step", "quantise_levels"),
    "sawtooth": ("sawtooth", "phase_wrap", "fraction_of_cycle"),
    "triangle": ("triangle_wave", "fold_phase"),
    "dead_zone": ("dead_zone", "soft_threshold", "shrink_toward_zero"),
    "comparator": ("comparator", "below_edge", "gate_below"),
    "active": ("active_part", "rectify_gate", "count_active"),
    "power": ("signed_power", "gamma_signed", "companding"),
}
_ROUNDINGS = ("round", "rint", "floor", "ceil", "trunc")


@idiom
def real_rounding(k: KernelBuilder, level: int) -> Title:
    """Rounding to steps, fractional parts, dead zones and gates of real numbers."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    g = grid(k, {1: 3, 2: 3, 3: 1})
    form = shape.choice(sorted(_FORMS))
    (x,) = elements(k, [(("x", "signal", "position"), type_, -4.0, 4.0)], g, ("Sample",), 0.0)
    width = coefficient(k, ("width", "edge", "spacing"), type_, 0.4, 1.6, g, "sec")
    out = k.out(("out", "shaped", "result"), type_, g.sizes)
    v = local(k, ("v", "value"), x.value)
    text = x.text
    if level >= 2 and shape.chance(0.6):
        origin = coefficient(k, ("origin", "offset", "phase0"), type_, -1.0, 1.0, g, "se")
        v, text = k.let(("shifted", "rel"), v - origin.value), f"({text} - {origin.text})"
    value, rule = _shaped(k, level, form, v, width, text, type_)
    done = f"{out.name} gets {rule}."
    if level >= 3:
        value, more = _weighted(k, level, value, v, text, g, type_)
        done += more
    if level >= 4:
        value = local(k, ("shaped_value", "final"), value)
        done += _parts(k, level, value, v, text, g, type_)
    if level >= 2 and shape.chance(0.45):
        test = condition(k, g)
        value = local(k, ("shaped_value", "final"), value)
        store_where(k, out, g, test.value, value, x.value)
        done += f" Where not {test.text}, {x.text} is kept."
    else:
        k.store(out, g.at, value)
    return Title(k.name(*_FORMS[form]), done)


def _shaped(
    k: KernelBuilder, level: int, form: str, v: Expr, width: Given, text: str, type_: Scalar
) -> tuple[Expr, str]:
    rounding = k.draw.shape.choice(_ROUNDINGS)

    def build(b: BodyBuilder, s: Expr, w: Expr) -> Expr:
        if form == "snap":
            return w * fn(rounding, s / w)
        if form == "sawtooth":
            return fn("frac", s / w)
        if form == "triangle":
            phase = named(b, ("phase", "cycle"), fn("abs", fn("frac", s / w)), 0.7)
            return 1.0 - fn("abs", 2.0 * phase - 1.0)
        if form == "dead_zone":
            return fn("copysign", fn("max", fn("abs", s) - w, 0.0), s)
        if form == "comparator":
            return fn("step", s - w) * s
        if form == "active":
            over = b.let(("over", "excess"), fn("max", s - w, 0.0))
            return fn("nonzero", over) * s
        return fn("copysign", fn("sqrt", fn("abs", s) + w), s)

    rule = {
        "snap": f"{width.text} * wp.{rounding}({text} / {width.text})",
        "sawtooth": f"wp.frac({text} / {width.text})",
        "triangle": f"1 - |2 * |wp.frac({text} / {width.text})| - 1|",
        "dead_zone": f"max(|{text}| - {width.text}, 0) with the sign of {text}",
        "comparator": f"{text} where it is below {width.text}, else zero",
        "active": f"{text} where it exceeds {width.text}, else zero",
        "power": f"the root of |{text}| + {width.text} with the sign of {text}",
    }[form]
    inputs = (("s", v), ("w", width.value))
    return step(k, _FORMS[form], inputs, build, 0.6 if level >= 3 else 0.15), rule


def _weighted(
    k: KernelBuilder, level: int, value: Expr, v: Expr, text: str, g: Grid, type_: Scalar
) -> tuple[Expr, str]:
    form = k.draw.shape.choice(("gain", "mix", "sum"))
    if form == "gain":
        gain = coefficient(k, ("gain", "weight"), type_, 0.5, 2.0, g, "se")
        return gain.value * value, f" It is multiplied by {gain.text}."
    if form == "mix":
        share = coefficient(k, ("share", "wet"), type_, 0.2, 0.8, g, "se")
        return fn("lerp", v, value, share.value), (
            f" It is blended from {text} to that by {share.text}."
        )
    m = k.size("m", 2, 5)
    bands = k.array(("bands", "steps", "octaves"), type_, m, low=0.6, high=1.8)
    count = k.trip_count(("m", "num_bands"), m)
    acc = k.let(("acc", "total"), value)
    with k.for_(("band", "q"), count) as q:
        k.augment(acc, "add", fn("frac", v * bands[q]))
    return acc, f" Add wp.frac({text} * {bands.name}[q]) for each q."


def _parts(
    k: KernelBuilder, level: int, value: Expr, v: Expr, text: str, g: Grid, type_: Scalar
) -> str:
    """The whole part as an integer; at level 5 also the sign of what is left."""
    cells = k.out(("cells", "turns"), INT32, g.sizes)
    rounding = k.draw.shape.choice(_ROUNDINGS)
    whole = k.let(("whole", "nearest"), fn(rounding, v))
    k.store(cells, g.at, cast(whole, INT32))
    done = f" {cells.name} gets wp.{rounding}({text})."
    if level == 5:
        rest = k.out(("sides", "signed_rest"), type_, g.sizes)
        size = coefficient(k, ("magnitude", "amplitude"), type_, 0.5, 1.5, g, "e")
        k.store(rest, g.at, fn("copysign", size.value, v - 0.5 * whole))
        done += f" {rest.name} gets {size.text} with the sign of {text} - half of that."
    return done
