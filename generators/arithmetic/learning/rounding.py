"""Rounding by chance, and gradients through a quantiser."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, cast, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, where
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var

INT8, UINT32 = Scalar("int8"), Scalar("uint32")

_HASHES = {"murmur": "Murmur3's final mix", "lowbias": "the lowbias32 mix", "pcg": "a PCG hash"}


def _mixed(body: BodyBuilder, way: str, counter: Expr) -> Expr:
    """A counter's hash: Murmur3's last steps, lowbias32 (C. Wellons), or PCG's output (Jarzynski
    and Olano, JCGT 9(3), 2020)."""

    def number(value: int) -> Expr:
        return body.lift(value, UINT32)

    if way == "pcg":
        state = body.let("state h", counter * number(747796405) + number(2891336453))
        turned = (state >> ((state >> number(28)) + number(4))) ^ state
        word = body.let("word mix", turned * number(277803737))
        return (word >> number(22)) ^ word
    steps = {
        "murmur": ((16, 0x85EBCA6B), (13, 0xC2B2AE35)),
        "lowbias": ((16, 0x7FEB352D), (15, 0x846CA68B)),
    }[way]
    h = body.let("h bits", counter)
    for shift, factor in steps:
        body.assign(h, h ^ (h >> number(shift)))
        body.assign(h, h * number(factor))
    return h ^ (h >> number(16))


def _uniform(k: KernelBuilder, s: Site, whole: Var, level: int) -> tuple[Expr, str]:
    """A number in [0, 1) of each element, given or hashed from its place and a seed; in words."""
    shape = k.draw.shape
    if shape.chance(0.35):
        uniforms = s.array("uniforms noise u_rand", FLOAT32, 0.0, 0.999)
        k.exact.add(uniforms.name)
        return uniforms[s.at], uniforms.name
    flat: Expr = s.at[0]
    for axis in range(1, s.rank):
        flat = flat * extent(whole, axis) + s.at[axis]
    if s.rank > 1:
        flat = k.let("flat linear", flat)
    seed = k.scalar("seed rng_seed", UINT32, 1, 100000)
    way = shape.choice(sorted(_HASHES))
    counter = cast(flat, UINT32) ^ seed if shape.chance(0.6) else cast(flat, UINT32) + seed
    sign = "xor" if "bit_xor" in str(counter) else "+"
    hashed = routine(
        k,
        max(0.5, BY_LEVEL[level]),
        "hash_u32 mix_bits",
        {"x": UINT32},
        lambda body, x: _mixed(body, way, x),
    )
    bits = k.let("bits r32", hashed(counter))
    said = f"{_HASHES[way]} of its flat index {sign} {seed.name}, the top 24 bits over 2^24"
    return cast(bits >> k.lift(8, UINT32), FLOAT32) / 16777216.0, said


def _by_chance(
    k: KernelBuilder, ratio: Expr, u: Expr, split: bool, type_: Scalar
) -> tuple[Expr, str]:
    """One of the two whole numbers beside a value; in words."""
    if not split:
        return cast(fn("floor", ratio + u), type_), "floor(v + u)"
    ratio = k.let("scaled v", ratio)
    low = k.let("low below", fn("floor", ratio))
    up = where(u < ratio - low, k.lift(1, type_), k.lift(0, type_))
    return cast(low, type_) + up, "floor(v), plus 1 where u < v - floor(v)"


def _bracketed(text: str) -> str:
    return f"({text})" if "," in text else text


@idiom
def stochastic_rounding(k: KernelBuilder, level: int) -> Title:
    """Rounding up with the probability of the fraction, to integers or to a coarser grid."""
    shape = k.draw.shape
    s = launch(k, list=4, grid=6, indices="i tid idx")
    x = s.array("values x weights", FLOAT32, -1.2, 1.2)
    # Among so many, a half moved by a unit in its last place would round to another number.
    k.exact.add(x.name)
    scale = given(s, "scale step", FLOAT32, 0.1, 0.13, shared=4, first=2, last=1)
    u, told = _uniform(k, s, x, level)
    u = k.let("u chance rnd", u)
    way = shape.choice(("codes", "grid", "fraction"))
    value: Expr = x[s.at]
    said, residual = x.name, None
    if shape.chance(0.15 + 0.1 * level):
        residual = s.array("residual error_mem carry_over", FLOAT32, -0.1, 0.1, role="inout")
        value = k.let("wanted total", value + residual[s.at])
        said = f"({x.name} + {residual.name})"
    kept_codes = residual is None and (way == "codes" or (way == "fraction" and shape.chance(0.5)))
    near, how = _by_chance(k, value / scale, u, way == "fraction", INT32 if kept_codes else FLOAT32)
    what = "integer codes" if kept_codes else f"multiples of {say(k, scale)}"
    text = f"Stochastic rounding to {what}: with v = {said} / {say(k, scale)} and u = {told}, "
    if residual is not None:
        kept = k.let("kept", scale * near)
        k.store(residual, s.at, value - kept)
        out = s.put("rounded", kept)
        text += (
            f"set {out.name} to {say(k, scale)} * {_bracketed(how)}. The error, {said} less that, "
        )
        text += f"is kept in {residual.name}."
    elif not kept_codes:
        out = s.put("rounded", scale * near)
        text += f"set {out.name} to {say(k, scale)} * {_bracketed(how)}."
    else:
        code = k.let("code q", near)
        out = s.put("codes quantized q_out", cast(clamp(code, -8, 7), INT8))
        text += f"set {out.name} to {how}, held within -8 and 7."
    names = "stochastic_quantize" if kept_codes else "stochastic_round round_by_chance"
    return Title(k.name(names), text)


@idiom(depth=3)
def straight_through_gradient(k: KernelBuilder, level: int) -> Title:
    """Fake quantisation and its gradient: passed where the value was within range, else cut."""
    shape = k.draw.shape
    s = launch(k, list=4, grid=6, indices="i tid idx")
    x = s.array("values x weights", FLOAT32, -2.0, 2.0)
    dy = s.array("grad_out dy upstream", FLOAT32, -1.0, 1.0)
    low, high = shape.choice(((-8, 7), (-7, 7), (0, 15)))
    scale = given(s, "scale step", FLOAT32, 0.08, 0.15, shared=4, first=2, last=1)
    v = k.let("v scaled ratio", x[s.at] / scale)
    said, zero = f"v = {x.name} / {say(k, scale)}", None
    if shape.chance(0.3):
        zero = k.scalar("zero_point zero", FLOAT32, 1.0, 4.0)
        v = k.let("shifted q_real", v + zero)
        said += f" + {zero.name}"
    g: Expr = dy[s.at]
    if shape.chance(0.3):
        factor = k.scalar("grad_scale inv_count", FLOAT32, 0.3, 0.8)
        g = factor * g
        told = f"{factor.name} * {dy.name}"
    else:
        told = dy.name
    g = k.let("g upstream_g", g) if shape.chance(0.5) or told != dy.name else g
    way = shape.weighted({"cut": 3, "learned": 3, "leak": 1 + (level > 2)})
    dx = s.out("grad_in dx", FLOAT32)
    text = f"Backward pass of fake quantisation with {said}, kept within {low} and {high}: "
    text += f"{dx.name} gets {told} where v is within"
    outside: Expr = k.lift(0.0, FLOAT32)
    if way == "leak":
        leak = k.scalar("leak", FLOAT32, 0.05, 0.3)
        outside = leak * g
        text += f", else {leak.name} times that."
    else:
        text += ", else 0."
    _passed(k, s, dx, (v, low, high), (g, outside))
    if way == "learned":
        text += _scale_gradient(k, s, v, zero, g, low, high)
    names = "leaky_ste_backward" if way == "leak" else "fake_quant_backward ste_backward"
    return Title(k.name(names), text)


def _passed(
    k: KernelBuilder, s: Site, dx: Var, range_: tuple[Var, int, int], values: tuple[Expr, Expr]
) -> None:
    """Store the gradient where the value is within the range, else what is left outside."""
    (v, low, high), (g, outside) = range_, values
    inside = fn("and", v >= float(low), v <= float(high))
    form = k.draw.shape.weighted({"where": 4, "local": 3, "arms": 3})
    if form == "where":
        k.store(dx, s.at, where(inside, g, outside))
    elif form == "arms":
        with k.if_(fn("or", v < float(low), v > float(high))):
            k.store(dx, s.at, outside)
        with k.else_():
            k.store(dx, s.at, g)
    else:
        passed = k.let("passed g_in", outside)
        with k.if_(inside):
            k.assign(passed, g)
        k.store(dx, s.at, passed)


def _scale_gradient(
    k: KernelBuilder, s: Site, v: Var, zero: Var | None, g: Expr, low: int, high: int
) -> str:
    """What each element adds to the gradient of a learned step (Esser et al., ICLR 2020)."""
    bound = clamp(v, float(low), float(high))
    # Beyond the range the restored value is the step times the bound, counted from zero.
    part = k.let("ds step_grad", bound if zero is None else bound - zero)
    with k.if_(fn("and", v > float(low), v < float(high))):
        k.assign(part, fn("rint", v) - v)
    out = s.put("scale_grads step_grads", g * part)
    return (
        f" {out.name} gets the gradient by the scale: the same upstream gradient times round(v) - "
        f"v where v is strictly within, times the bound{f' - {zero.name}' if zero else ''} "
        "elsewhere."
    )
