"""Narrow integers: arithmetic that stops at the ends of their range, and fixed-point numbers."""

from __future__ import annotations

from dataclasses import dataclass

from generators.arithmetic.common import OWN, alike, stored
from generators.arithmetic.types import INT8, INT16, INT64, UINT8, UINT16
from generators.build import BodyBuilder, KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, least, most
from generators.kit.masks import early_out, flag
from generators.kit.naming import applied, held, helper, maybe
from generators.kit.records import record
from generators.kit.sites import Names, Site, launch
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar, scalar_of
from generators.program.expr import Expr, Var

_SATURATING = {
    "add": "saturating_add add_sat clamped_add",
    "sub": "saturating_sub sub_sat clamped_difference",
    "mul": "saturating_mul mul_sat scaled_product",
    "abs_diff": "absolute_difference abs_diff_bytes sad_terms",
    "average": "rounded_average halving_add average_bytes",
    "mac": "saturating_mac multiply_accumulate_sat",
}


@idiom(depth=1)
def saturating(k: KernelBuilder, level: int) -> Title:
    """Sums, differences and products of narrow integers that stop at the ends of their range."""
    shape = k.draw.shape
    type_ = shape.choice((INT8, INT16, UINT8, UINT16, INT8, UINT8))
    s = launch(k, list=3, grid=3, cube=1)
    form = shape.choice(sorted(_SATURATING))
    product = form in ("mul", "mac")
    low, high = type_.int_range
    reach = 20 if type_ == INT8 else 300
    bounds = (-reach, reach) if product and low < 0 else (low, high)
    parts = alike(type_, *bounds, a="a lhs", b="b rhs")
    r = record(s, "Pair Operands", parts, 0.15 if level < 3 else 0.35)
    wide = INT64 if type_ == UINT16 and product else INT32
    x = maybe(k, "wide_a wa", cast(r["a"], wide), 0.6)
    y = maybe(k, "wide_b wb", cast(r["b"], wide), 0.6)
    raw, text = _raw(s, level, form, x, y, type_, (r.say("a"), r.say("b")))
    raw = held(k, "raw total wide_sum", raw)
    clipped: Expr = raw
    done = f"Compute {text} in {wide}"
    if form not in ("abs_diff", "average"):
        clipped = _clipped(k, level, raw, type_, form == "sub")
        done += f", clamped to [{low}, {high}]"
    elif form == "abs_diff" and low < 0:
        clipped = least(raw, high)
        done += f", limited to {high}"
    result = cast(clipped, type_)
    done += f" and converted to {type_}."
    if level >= 4:
        result = k.let("narrowed value", result)
        done += _overflowed(s, level, raw, low, high)
    done += stored(s, "out result dst", result, r["a"], 0.06 if level >= 3 else 0.0)
    return Title(k.name(_SATURATING[form]), done)


def _raw(
    s: Site, level: int, form: str, x: Expr, y: Expr, type_: Scalar, texts: tuple[str, str]
) -> tuple[Expr, str]:
    """The result in the wide type, before it is limited."""
    k, (a, b), signed = s.k, texts, not type_.is_unsigned
    if form in ("add", "sub"):
        value, text = (x + y, f"{a} + {b}") if form == "add" else (x - y, f"{a} - {b}")
        if level >= 2 and (form == "add" or signed) and k.draw.shape.chance(0.6):
            bias = k.scalar("bias offset", x.type, 1, 20)
            value, text = value + bias, f"{text} + {bias.name}"
        return value, text
    if form == "abs_diff":
        return abs(x - y), f"|{a} - {b}|"
    if form == "average":
        if signed:
            shift = 2 ** (type_.bits - 1)
            return (x + y + 2 * shift) // 2 - shift, f"({a} + {b} + {2 * shift}) // 2 - {shift}"
        if k.draw.shape.chance(0.5):
            return (x + y + 1) >> 1, f"({a} + {b} + 1) >> 1"
        w = k.draw.value.integer(1, 3)
        return (w * x + (4 - w) * y + 2) // 4, f"({w} * {a} + {4 - w} * {b} + 2) // 4"
    product, text = x * y, f"{a} * {b}"
    if not signed:
        shift = 6 if type_ == UINT8 else 14
        product, text = product >> shift, f"({text} >> {shift})"
    if form == "mul":
        return product, text
    acc = given(s, "addend carry bias", scalar_of(x.type), -100 if signed else 0, 100, forms=OWN)
    return acc + product, f"{say(k, acc)} + {text}"


def _clipped(k: KernelBuilder, level: int, raw: Expr, type_: Scalar, sinks: bool) -> Expr:
    """The result within the range of the narrow type."""
    low, high = type_.int_range
    forms = ("clamp", "minmax", "branches") if level > 1 else ("clamp", "minmax")
    form = k.draw.shape.choice(forms)

    def build(b: BodyBuilder, v: Expr) -> Expr:
        if low == 0:
            return most(v, 0) if sinks else least(v, high)
        if form == "clamp":
            return clamp(v, low, high)
        if form == "minmax":
            return most(least(v, high), low)
        result = b.let("clipped limited", v)
        with b.if_(v > high):
            b.assign(result, high)
        with b.elif_(v < low):
            b.assign(result, low)
        return result

    names = f"saturate clamp_to_{type_} narrow"
    return applied(k, 0.5 if level >= 3 else 0.0, names, {"v": raw}, build)


def _overflowed(s: Site, level: int, raw: Expr, low: int, high: int) -> str:
    """A second output: where the unclamped value lies."""
    k, middle = s.k, high // 4
    if k.draw.shape.chance(0.5):
        out = s.put("above upper_half", raw > middle)
        return f" {out.name} says whether the value before clamping exceeds {middle}."
    gap: Expr = abs(cast(raw, INT32) - middle)
    text = f"the distance of the value before clamping from {middle}"
    if level == 5:
        limit = k.scalar("limit max_gap", INT32, (high - low) // 8, (high - low) // 4)
        gap, text = least(gap, limit), f"{text}, at most {limit.name}"
    return f" {s.put('distance headroom', gap).name} gets {text}."


@dataclass
class Fixed:
    """Numbers in a narrow type, their fraction bits, and the type of products."""

    s: Site
    level: int
    type: Scalar
    wide: Scalar
    bits: int
    rounds: bool
    multiply: str = ""

    @property
    def one(self) -> int:
        return 1 << self.bits

    def number(self, names: Names, most_: int, shared: int = 3) -> tuple[Expr, str]:
        """A number of the thread in the wide type, or now and then one that all threads share."""
        k = self.s.k
        if k.draw.shape.chance(shared / 10):
            var = k.scalar(names, self.wide, most_ // 4, most_)
            return var, var.name
        own = self.s.read(names, self.type, 0, most_)
        return cast(own, self.wide), say(k, own)

    def shifted(self, product: Expr) -> Expr:
        """A product with its own fraction bits shifted out."""
        return (product + self.one // 2 if self.rounds else product) >> self.bits

    def times(self, a: Expr, b: Expr) -> Expr:
        """A product of two numbers, in a function from level 3 on now and then."""
        k = self.s.k
        if self.level < 3 or (not self.multiply and not k.draw.shape.chance(0.6)):
            return self.shifted(a * b)
        if not self.multiply:
            params = [("a", self.wide), ("b", self.wide)]
            names = "fixed_mul q_mul mul_q"
            self.multiply = helper(k, names, params, lambda _, p, q: self.shifted(p * q))
        return k.call(self.multiply, a, b)


_FIXED = {
    "product": "fixed_multiply q_multiply",
    "square": "fixed_square q_square",
    "scale": "fixed_scale apply_gain_q",
    "multiply_add": "fixed_multiply_add q_multiply_add",
    "mix": "fixed_blend q_lerp",
    "dot": "fixed_dot q_dot_product",
    "horner": "fixed_polynomial q_horner",
}


@idiom(depth=1)
def fixed_point(k: KernelBuilder, level: int) -> Title:
    """Products, blends and polynomials of fixed-point numbers, rounded, limited and masked."""
    shape = k.draw.shape
    type_, wide = shape.choice(((INT16, INT32), (INT32, INT64)))
    bits = k.draw.value.choice((6, 7, 8) if type_ == INT16 else (8, 10, 12, 16))
    s = launch(k, list=5, grid=3, cube=1)
    f = Fixed(s, level, type_, wide, bits, shape.chance(0.5))
    form = shape.choice(list(_FIXED)[: 7 if level >= 3 else 5])
    note = ""
    out = s.out("out_q result_q dst_q", type_)
    if level >= 4 and shape.chance(0.06):
        test = flag(s, "valid mask")
        early_out(s, test, [(out, 0)])
        note = f" Where {test.off}, {out.name} gets 0."
    value, text = _value(f, form)
    q = k.let("q value_q acc_q", value)
    how = f"rounded (add {f.one // 2}, shift right by {bits})"
    done = f"For fixed-point numbers with {bits} fraction bits, compute q = {text}, each product "
    done += f"{how if f.rounds else f'shifted right by {bits}'}."
    done += _finished(f, q, form)
    k.store(out, s.at, cast(q, type_))
    done += f" {out.name} gets it. Products are taken in {wide}.{note}"
    return Title(k.name(_FIXED[form]), done)


def _finished(f: Fixed, q: Var, form: str) -> str:
    """What becomes of the result: a bias, a limit."""
    k, done = f.s.k, ""
    chosen = ("limit",) if k.draw.shape.chance(0.4) else ()
    if form in ("dot", "horner") and k.draw.shape.chance(0.4):
        chosen = ("offset", *chosen)
    if "offset" in chosen:
        offset = k.scalar("offset_q bias_q", f.wide, f.one // 4, f.one)
        k.augment(q, "add", offset)
        done += f" Add {offset.name} to it."
    if "limit" in chosen:
        top = 2 * f.one if "offset" in chosen or form == "horner" else f.one
        top -= k.draw.shape.integer(0, 1)
        k.assign(q, least(q, top))
        done += f" It is limited to {top}."
    return done


def _value(f: Fixed, form: str) -> tuple[Expr, str]:
    """The value of a form, and its text."""
    if form in ("dot", "horner"):
        return (_dot if form == "dot" else _horner)(f)
    a, text = f.number("x_q a_q samples_q", 2 * f.one, 0)
    if form == "square":
        x = f.s.k.let("x v", a)
        return f.times(x, x), f"{text} * {text}"
    if form == "scale":
        gain = f.s.k.scalar("gain_q scale_q", f.wide, f.one, 2 * f.one)
        return f.times(gain, a), f"{gain.name} * {text}"
    b, b_text = f.number("b_q level_q back_q", 2 * f.one)
    if form == "product":
        return f.times(a, b), f"{text} * {b_text}"
    c, c_text = f.number("c_q addend_q share_q", f.one)
    if form == "multiply_add":
        return f.times(a, b) + c, f"{text} * {b_text} + {c_text}"
    t = f.s.k.let("t share", c)
    text = f"{c_text} * {text} + ({f.one} - {c_text}) * {b_text} in one product sum"
    return f.shifted(t * a + (f.one - t) * b), text


def _dot(f: Fixed) -> tuple[Expr, str]:
    """The sum of products along a short last axis, shifted once at the end."""
    k, taps = f.s.k, f.s.k.size("taps", 3, 5)
    x = f.s.array("x_q window_q", f.type, 0, f.one, more=taps)
    w = k.array("w_q taps_q", f.type, taps, low=0, high=f.one // 2)
    total = k.let("acc total", k.lift(0, f.wide))
    with k.for_("tap c", k.trip_count("num_taps length", taps)) as tap:
        k.augment(total, "add", cast(x[f.s.index(tap)], f.wide) * cast(w[tap], f.wide))
    return f.shifted(total), f"the sum of {x.name} * {w.name} along the last axis, as one product"


def _horner(f: Fixed) -> tuple[Expr, str]:
    """A quadratic or cubic polynomial of the number."""
    k = f.s.k
    a, text = f.number("x_q phase_q", f.one, 0)
    degree = k.draw.shape.choice((2, 3))
    coeffs = k.array("coeffs_q poly_q", f.type, str(degree + 1), low=0, high=f.one)
    x = k.let("x v", a)
    value: Expr = cast(coeffs[degree], f.wide)
    for power in reversed(range(degree)):
        value = k.let("p acc partial", f.times(value, x) + cast(coeffs[power], f.wide))
    text = f"the polynomial of {text} with the coefficients {coeffs.name}, lowest first, by "
    return value, f"{text}Horner's rule"
