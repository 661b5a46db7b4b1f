"""Generators of pseudo-random numbers, stepped by hand; and Warp's own."""

from __future__ import annotations

from generators.arithmetic.types import UINT32, UINT64
from generators.build import BodyBuilder, KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp
from generators.kit.masks import Test
from generators.kit.naming import helper, local, maybe
from generators.kit.outputs import choose
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32, Scalar, scalar_of
from generators.program.expr import Expr, Var, literal


def _library(k: KernelBuilder, level: int) -> Title:
    """Random numbers by ``wp.rand_init`` and its samplers."""
    shape = k.draw.shape
    s = launch(k, list=3, grid=6)
    seed = k.scalar("seed frame iteration", INT32, 0, 1000)
    index: Expr = s.at[0]
    for at, size in zip(s.at[1:], s.dims[1:], strict=True):
        index = index * k.size_param({"cols": "num_cols", "w": "width"}.get(size, size), size) + at
    state = k.random_state("state rng", seed, maybe(k, "index flat", index))
    done = f"Seed a generator for each element with {seed.name} and its flat index."
    kinds = ("randf", "range", "randi", "randn", "randu")
    kind = shape.choice(kinds)
    done += _sampled(s, level, kind, state)
    return Title(k.name(_TITLES[kind]), done)


_TITLES = {
    "randf": "uniform_noise fill_uniform",
    "range": "uniform_range fill_uniform",
    "randi": "random_integers roll_dice",
    "randn": "gaussian_noise fill_normal",
    "randu": "random_words fill_bits",
}


def _sampled(s: Site, level: int, kind: str, state: Var) -> str:
    """One number drawn, and what becomes of it."""
    k = s.k
    if kind == "randi":
        sides = k.scalar("sides num_choices", INT32, 6, 40)
        drawn = k.sample("roll pick", "randi", state, 0, sides)
        plus = " plus 1" if level > 1 and sides.name == "sides" else ""
        out = s.put("rolls" if plus else "picks", drawn + 1 if plus else drawn)
        return f" {out.name} gets wp.randi in [0, {sides.name}){plus}."
    if kind == "randu":
        drawn = k.sample("word bits32", "randu", state)
        out = s.put("words random_bits", drawn)
        return f" {out.name} gets wp.randu, 32 random bits."
    names = {"randf": "u sample", "range": "t offset", "randn": "z normal"}[kind]
    text = f"wp.{kind}"
    if kind == "range":
        low = k.scalar("low min_value", FLOAT32, -1.0, -0.2)
        high = k.scalar("high max_value", FLOAT32, 0.2, 1.0)
        drawn = k.sample(names, "randf", state, low, high)
        text = f"wp.randf in [{low.name}, {high.name})"
    else:
        drawn = k.sample(names, kind, state)
    value, said = _shaped(s, level, drawn, kind)
    out = s.put(
        "noise"
        if said == "{}"
        else "samples noisy"
        if "signal" in said or "image" in said
        else "noise samples",
        value,
    )
    return f" {out.name} gets {said.format(text)}."


def _shaped(s: Site, level: int, drawn: Var, kind: str) -> tuple[Expr, str]:
    """A number drawn as it is, scaled and shifted, or added to a field."""
    k = s.k
    form = k.draw.shape.choice(("plain", "affine", "added") if level < 4 else ("added", "bridge"))
    value: Expr = drawn
    text = "{}"
    if kind != "range" and form != "plain":
        parts = {
            "mean": Part("mean mu", FLOAT32, -1.0, 1.0),
            "spread": Part("sigma std_dev", FLOAT32, 0.3, 1.2),
        }
        called = "Moments Gaussian"
        if kind == "randf":
            called = "Interval UniformNoise"
            parts = {
                "mean": Part("low offset", FLOAT32, -1.0, 1.0),
                "spread": Part("width amplitude", FLOAT32, 0.3, 1.2),
            }
        r = record(s, called, parts, 0.3, shared=True)
        value = r["mean"] + r["spread"] * drawn
        text = f"{r.say('mean')} + {r.say('spread')} * {{}}"
    if form in ("plain", "affine"):
        return value, text
    base = s.read("signal image", FLOAT32, -1.0, 1.0)
    value, text = base + value, f"{say(k, base)} + {text}"
    if form == "added":
        return value, text
    limit = k.scalar("limit max_abs", FLOAT32, 1.0, 1.5)
    return clamp(value, -limit, limit), f"{text}, clamped to [-{limit.name}, {limit.name}]"


Numbers = tuple[int, int, int]

_CALLED = {
    "lcg": "Step linear congruential generators",
    "lehmer": "Step Lehmer generators",
    "pcg": "Step PCG generators",
    "weyl": "Step Weyl sequences",
    "xorshift": "Step xorshift generators",
}
_RULES = {
    "lcg": "s = {0} * s + {2}",
    "lehmer": "s = {0} * s % 2147483647",
    "pcg": "s = {0} * s + {2}",
    "weyl": "s += {0}",
    "xorshift": "s ^= s << {0}; s ^= s >> {1}; s ^= s << {2}",
}
_LCG_64: Numbers = (6364136223846793005, 0, 1442695040888963407)
_LCGS: tuple[Numbers, ...] = (
    (1664525, 0, 1013904223),
    (747796405, 0, 2891336453),
    (22695477, 0, 1),
)
_NUMBERS: dict[tuple[str, Scalar], tuple[Numbers, ...]] = {
    ("lcg", UINT32): _LCGS,
    ("lcg", UINT64): (_LCG_64,),
    ("lehmer", UINT64): ((16807, 0, 0), (48271, 0, 0), (69621, 0, 0)),
    ("pcg", UINT32): _LCGS,
    ("pcg", UINT64): (_LCG_64,),
    ("weyl", UINT32): ((0x9E3779B9, 0, 0),),
    ("weyl", UINT64): ((0x9E3779B97F4A7C15, 0, 0),),
    ("xorshift", UINT32): ((13, 17, 5), (7, 1, 9), (5, 9, 7)),
    ("xorshift", UINT64): ((13, 7, 17), (21, 35, 4)),
}
"""The numbers that generators are known to work well with."""


def _advance(b: BodyBuilder, form: str, s: Var, numbers: Numbers) -> None:
    """One step of a state."""
    first, second, third = numbers
    if form == "xorshift":
        b.assign(s, s ^ (s << first))
        b.assign(s, s ^ (s >> second))
        b.assign(s, s ^ (s << third))
    elif form == "weyl":
        b.augment(s, "add", first)
    elif form == "lehmer":
        b.assign(s, (first * s) % 2147483647)
    else:
        b.assign(s, first * s + third)


def _tempered(b: BodyBuilder, form: str, s: Var) -> tuple[Expr, str]:
    """What the generator gives out for a state."""
    half = scalar_of(s.type).bits // 2
    if form == "pcg" and s.type == UINT32:
        word = b.let("word w", ((s >> ((s >> 28) + 4)) ^ s) * 277803737)
        rule = "w ^ (w >> 22) with w = ((s >> ((s >> 28) + 4)) ^ s) * 277803737"
        return (word >> 22) ^ word, rule
    if form == "pcg":
        mixed = b.let("mixed w", ((s >> 18) ^ s) >> 27)
        turn = b.let("turn rot", s >> 59)
        low = mixed & 0xFFFFFFFF
        rule = "the low 32 bits of ((s >> 18) ^ s) >> 27, rotated right by s >> 59 in 32 bits"
        return (low >> turn) | ((low << ((32 - turn) & 31)) & 0xFFFFFFFF), rule
    if form == "weyl":
        square = b.let("square sq", s * s)
        return square ^ (square >> half), f"q ^ (q >> {half}) with q = s * s"
    return (s >> half, f"s >> {half}") if form == "lcg" else (s, "s")


@idiom(depth=3)
def random_step(k: KernelBuilder, level: int) -> Title:
    """Steps of LCG, xorshift, PCG, Weyl and Lehmer generators; at higher levels what is drawn."""
    shape = k.draw.shape
    if shape.chance(0.35):
        return _library(k, level)
    form = shape.choice(sorted(_RULES))
    type_ = UINT64 if form == "lehmer" else shape.weighted({UINT32: 3, UINT64: 2})
    s = launch(k, list=1)
    in_place = level >= 2 and shape.chance(0.5)
    top, role = (
        2147483646 if form == "lehmer" else type_.int_range[1],
        "inout" if in_place else "in",
    )
    states = s.array("states rng_state seeds", type_, 1, top, role=role)
    start: Expr = states[s.at]
    if form != "lehmer" and shape.chance(0.4):
        start = start ^ k.scalar("stream salt frame_key", type_, 1, 2**31)
    done = f"{_CALLED[form]}: start with s = {say(k, start)}. ".replace("^^", "^")
    x = k.let("s state x", start)
    numbers = k.draw.value.choice(_NUMBERS[form, type_])
    _stepped(k, level, form, x, numbers)
    done += f"Step it: {_RULES[form].format(*numbers)}."
    if level == 1:
        done += _simple(s, form, x)
    else:
        if in_place:
            k.store(states, s.at, x)
            done += " The state is written back."
        drawn, how = _tempered(k, form, x)
        drawn = local(k, "drawn bits_out r", drawn)
        done += _used(s, level, form, drawn, how)
    return Title(k.name(f"{form}_step {form}_random"), done)


def _stepped(k: KernelBuilder, level: int, form: str, s: Var, numbers: Numbers) -> None:
    """A step, in a helper or in place."""

    def build(body: BodyBuilder, state: Expr) -> Expr:
        x = body.let("s x", state)
        _advance(body, form, x, numbers)
        return x

    call = ""
    if level >= 2 and k.draw.shape.chance(0.6):
        call = helper(k, f"{form}_next advance", [("state", s.type)], build)

    if call:
        k.assign(s, k.call(call, s))
    else:
        _advance(k, form, s, numbers)


def _simple(s: Site, form: str, x: Var) -> str:
    """The state, what the generator gives out for it, or a number below some limit."""
    k, text = s.k, "s"
    value: Expr = x
    kind = k.draw.shape.choice(("state", "tempered", "range"))
    if kind == "tempered":
        value, text = _tempered(k, form, x)
    elif kind == "range":
        limit = k.scalar("num_choices limit", x.type, 6, 100)
        value, text = x % limit, f"s % {limit.name}"
    out = s.put({"state": "next_states", "range": "picks"}.get(kind, "random_bits"), value)
    return f" {out.name} gets {text}."


def _used(s: Site, level: int, form: str, drawn: Var, how: str) -> str:
    """What becomes of the number drawn: an integer in a range, a real, a coin, a jittered value.

    In one sentence, which goes with its output.
    """
    where_ = f"where r = {how} is the number drawn"
    k, type_ = s.k, scalar_of(drawn.type)
    bits = {"lcg": type_.bits // 2, "lehmer": 31, "pcg": 32}.get(form, type_.bits)
    use = k.draw.shape.choice(("range", "unit", "signed") if level < 4 else ("jitter", "coin"))
    if use == "range":
        count = k.scalar("limit num_bins", type_, 6, 60)
        out = s.put("picks drawn_out", cast(drawn % count, INT32))
        return f" {out.name} gets r % {count.name}, {where_}."
    kept = min(bits, 16 if form == "lcg" and type_ == UINT32 else 24)
    shifted = drawn >> (bits - kept) if bits > kept else drawn
    unit = k.let("u unit uniform", cast(shifted, FLOAT32) / float(2**kept))
    upper = f"the upper {kept} of its {bits} bits" if kept < bits else "r"
    where_ += f" and u is {upper} over 2^{kept}"
    if use in ("unit", "signed"):
        out = s.put("uniform_out noise", unit if use == "unit" else 2.0 * unit - 1.0)
        return f" {out.name} gets {'u' if use == 'unit' else '2 * u - 1'}, {where_}."
    values = s.read("values signal weights", FLOAT32, -2.0, 2.0)
    text, value = say(k, values), k.let("value v", values)
    if use == "coin":
        rate = k.scalar("rate drop_rate p", FLOAT32, 0.3, 0.6)
        kept_scale = 1.0 / (1.0 - rate)
        test = Test(k.let("keep kept", unit > rate), f"u > {rate.name}", f"u <= {rate.name}")
        out = s.out("out result noisy", FLOAT32)
        choose(s, out, test, kept_scale * value, literal(0.0, FLOAT32), last=True)
        kept_text = f"{text} / (1 - {rate.name}) if {test.on}, else 0"
        return f" {out.name} gets {kept_text}, {where_}."
    parts = {
        "low": Part("low shift", FLOAT32, -0.5, 0.5),
        "width": Part("width amplitude", FLOAT32, 0.5, 1.5),
    }
    r = record(s, "Jitter Noise", parts, 0.5, shared=True)
    moved = k.let("moved jittered", value + r["low"] + r["width"] * unit)
    out = s.put("jittered noisy", moved)
    return f" {out.name} gets {text} + {r.say('low')} + {r.say('width')} * u, {where_}."
