"""Integer division with every way of rounding, alignment and wrapping."""

from __future__ import annotations

from generators.arithmetic.parts import (
    INT16,
    INT32,
    INT64,
    UINT16,
    UINT32,
    Given,
    Grid,
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
from generators.program.dtypes import BOOL, Scalar
from generators.program.expr import Expr, literal

_DIVISIONS = {
    "ceil": ("ceil_div", "num_blocks", "chunks_needed"),
    "round": ("round_div", "round_half_up", "nearest_multiple"),
    "align": ("align_up", "round_up_to", "padded_size"),
    "even": ("round_half_even", "bankers_rounding"),
    "wrap": ("wrap_index", "cyclic_offset", "modulo_wrap"),
    "split": ("divmod_parts", "split_units", "mixed_radix"),
    "gcd_step": ("euclid_steps", "reduce_fraction"),
}


@idiom
def rounding_division(k: KernelBuilder, level: int) -> Title:
    """Integer division rounded up, to nearest, to even; alignment, wrapping, mixed radix."""
    shape = k.draw.shape
    type_ = shape.choice((INT32, INT32, INT64, UINT32, INT16, UINT16))
    g = grid(k, {1: 3, 2: 3, 3: 1})
    forms = [f for f in sorted(_DIVISIONS) if level >= 3 or f not in ("gcd_step", "even")]
    form = shape.choice(forms)
    top = 900 if type_.bits > 16 else 200
    (n,) = elements(k, [("counts sizes amounts ticks", type_, 1, top)], g, "Job", 0.0)
    d = _divisor(k, g, type_)
    out = k.out("out quotients result", type_, g.sizes)
    x = local(k, "value amount v", n.value)
    div = local(k, "div unit_size q", d.value)
    if level >= 2 and shape.chance(0.5):
        extra = k.scalar("extra header slack", type_, 1, 15)
        x = k.let("padded total", x + extra)
        n = Given(x, f"({n.text} + {extra.name})")
    value, text = _divided(k, level, form, x, div, n.text, d.text)
    done = f"{out.name} gets {text}."
    if level >= 4:
        value = local(k, "whole units", value)
        done += _leftover(k, level, x, div, n.text, d.text, g, type_)
    if level >= 3 and shape.chance(0.5):
        test = condition(k, g)
        store_where(k, out, g, test.value, value, 0)
        done += f" Where not {test.text}, it gets 0."
    else:
        k.store(out, g.at, value)
    return Title(k.name(*_DIVISIONS[form]), done)


def _divisor(k: KernelBuilder, g: Grid, type_: Scalar) -> Given:
    form = k.draw.shape.choice(("literal", "scalar", "array", "row"))
    if form == "literal":
        number = k.draw.value.choice((3, 4, 6, 8, 10, 12, 16))
        return Given(literal(number, type_), str(number))
    names = "block divisor unit tile"
    if form == "scalar":
        var = k.scalar(names, type_, 3, 24)
        return Given(var, var.name)
    axis = k.draw.shape.integer(0, g.ndim - 1) if form == "row" else -1
    shape = g.sizes if axis < 0 else (g.sizes[axis],)
    var = k.array(names, type_, shape, low=2, high=24)
    return Given(var[g.at if axis < 0 else g.at[axis]], var.name)


def _divided(
    k: KernelBuilder, level: int, form: str, x: Expr, d: Expr, n: str, by: str
) -> tuple[Expr, str]:
    def build(b: BodyBuilder, v: Expr, unit: Expr) -> Expr:
        if form == "round":
            return (v + unit // 2) // unit
        if form == "even":
            q = b.let("q quotient", v // unit)
            twice = b.let("twice r2", 2 * (v - q * unit))
            up = fn("and", fn("eq", twice, unit), fn("eq", q % 2, 1))
            with b.if_(fn("or", twice > unit, up)):
                b.augment(q, "add", 1)
            return q
        if form == "gcd_step":
            a, c = b.let("a g", v), b.let("c rest", unit)
            with b.while_(fn("ne", c, 0)):
                r = b.let("r t", a % c)
                b.assign(a, c)
                b.assign(c, r)
            return v // a
        ceil = (v + unit - 1) // unit
        return ceil * unit if form == "align" else ceil

    if form == "wrap":
        back = k.draw.value.integer(1, 3)
        return (x + d * back - back) % d, f"({n} + {back} * {by} - {back}) % {by}"
    if form == "split":
        q = named(k, "major outer", x // d)
        scale = k.draw.value.choice((100, 64, 32))
        return q * scale + x % d, f"{n} / {by} * {scale} + {n} % {by}"
    text = {
        "ceil": f"{n} / {by} rounded up",
        "round": f"({n} + {by} / 2) / {by}",
        "align": f"{n} rounded up to a multiple of {by}",
        "even": f"{n} / {by} rounded to nearest, halves to even",
        "gcd_step": f"{n} over the greatest common divisor of it and {by} (Euclid's algorithm)",
    }[form]
    return step(k, _DIVISIONS[form], (("v", x), ("unit", d)), build, 0.15 * level), text


def _leftover(
    k: KernelBuilder, level: int, x: Expr, d: Expr, n: str, by: str, g: Grid, type_: Scalar
) -> str:
    rest = k.out("remainder leftover", type_, g.sizes)
    r = k.let("r tail", x % d)
    if level == 4:
        k.store(rest, g.at, r)
        return f" {rest.name} gets {n} % {by}."
    full = k.out("is_full exact", BOOL, g.sizes)
    with k.if_(r > d // 2):
        k.store(rest, g.at, d - r)
    with k.else_():
        k.store(rest, g.at, r)
    k.store(full, g.at, r < 2)
    return (
        f" With r = {n} % {by}, {rest.name} gets r, or {by} - r where r > {by} / 2; {full.name}"
        " says whether r < 2."
    )
