"""Generators of pseudo-random numbers, stepped by hand; and Warp's own."""

from __future__ import annotations

from generators.arithmetic.parts import (
    FLOAT32,
    INT32,
    UINT32,
    UINT64,
    Given,
    Grid,
    condition,
    grid,
    local,
    parameters,
    store_where,
)
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Var


def library(k: KernelBuilder, level: int) -> Title:
    """Random numbers by ``wp.rand_init`` and its samplers."""
    shape = k.draw.shape
    g = grid(k, {1: 3, 2: 3, 3: 1})
    seed: Expr = k.scalar("seed frame iteration", INT32, 0, 1000)
    state = k.random_state("state rng", seed, _flat(k, g))
    kinds = shape.sample("randf range randi randn randu", 1 if level < 3 else 2)
    done = f"Seed each thread's generator with {_name(seed)} and the flat index of its element."
    for kind in kinds:
        done += _sampled(k, level, kind, state, g)
    return Title(k.name("random_field fill_random sample_noise"), done)


def _name(seed: Expr) -> str:
    assert isinstance(seed, Var)
    return seed.name


def _flat(k: KernelBuilder, g: Grid) -> Expr:
    index: Expr = g.at[0]
    for at, size in zip(g.at[1:], g.sizes[1:], strict=True):
        index = index * k.size_param(f"num_{at.name} n{at.name}", size) + at
    return index if g.ndim == 1 or k.draw.shape.chance(0.5) else k.let("index flat", index)


def _sampled(k: KernelBuilder, level: int, kind: str, state: Var, g: Grid) -> str:
    if kind == "randi":
        sides = k.scalar("sides num_choices", INT32, 6, 40)
        drawn = k.sample("roll pick", "randi", state, 0, sides)
        out = k.out("rolls picks", INT32, g.sizes)
        k.store(out, g.at, drawn + 1 if level > 1 else drawn)
        plus = " plus 1" if level > 1 else ""
        return f" {out.name} gets wp.randi in [0, {sides.name}){plus}."
    if kind == "randu":
        drawn = k.sample("word bits32", "randu", state)
        out = k.out("words random_bits", UINT32, g.sizes)
        by = k.draw.value.integer(1, 16)
        k.store(out, g.at, drawn ^ (drawn >> by))
        return f" {out.name} gets w ^ (w >> {by}) of w = wp.randu."
    names = {"randf": ("u", "sample"), "range": ("t", "offset"), "randn": ("z", "normal")}[kind]
    if kind == "range":
        bounds = sorted(k.draw.value.integer(-4, 4) * 0.25 for _ in range(2))
        drawn = k.sample(names, "randf", state, bounds[0], bounds[1] + 0.5)
        text = f"wp.randf in [{bounds[0]}, {bounds[1] + 0.5})"
    else:
        drawn = k.sample(names, kind, state)
        text = f"wp.{kind}"
    value, said = _shaped(k, level, drawn, g)
    out = k.out(f"{names[0]}_out noise field_out", FLOAT32, g.sizes)
    k.store(out, g.at, value)
    return f" {out.name} gets {said.format(text)}."


def _shaped(k: KernelBuilder, level: int, drawn: Var, g: Grid) -> tuple[Expr, str]:
    form = k.draw.shape.choice(("plain", "affine", "added") if level < 4 else ("added", "bridge"))
    if form == "plain":
        return (drawn, "{}") if k.draw.shape.chance(0.5) else (drawn * drawn, "the square of {}")
    mean, spread = parameters(
        k,
        [("mean mu", FLOAT32, -1.0, 1.0), ("sigma spread", FLOAT32, 0.3, 1.2)],
        "Moments Gaussian",
        0.3,
    )
    value: Expr = mean.value + spread.value * drawn
    text = f"{mean.text} + {spread.text} * {{}}"
    if form == "affine":
        return value, text
    base = k.array("signal base image", FLOAT32, g.sizes, low=-1.0, high=1.0)
    given = Given(base[g.at], base.name)
    if form == "added":
        return given.value + value, f"{given.text} + {text}"
    limit = k.scalar("limit max_abs", FLOAT32, 1.0, 1.5)
    bounded = fn("clamp", given.value + value, -limit, limit)
    return bounded, f"{given.text} + {text}, clamped to [-{limit.name}, {limit.name}]"


_RULES = {
    "lcg": "s = a * s + c with a = {a}, c = {c}",
    "xorshift": "s ^= s << {a}; s ^= s >> {b}; s ^= s << {c}",
    "pcg": "s = a * s + c with a = {a}, c = {c}; the output is a permuted s",
    "weyl": "s += {a}; the output is s squared and folded",
    "lehmer": "s = {a} * s % 2147483647",
}
_XORSHIFTS = {UINT32: ((13, 17, 5), (7, 1, 9), (5, 9, 7)), UINT64: ((13, 7, 17), (21, 35, 4))}


def _advance(b: BodyBuilder, form: str, s: Var, numbers: tuple[int, int, int]) -> None:
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
    assert isinstance(s.type, Scalar)
    if form == "pcg" and s.type == UINT32:
        word = b.let("word w", ((s >> ((s >> 28) + 4)) ^ s) * 277803737)
        return (
            word >> 22
        ) ^ word, "w ^ (w >> 22) with w = ((s >> ((s >> 28) + 4)) ^ s) * 277803737"
    if form == "pcg":
        mixed = b.let("mixed w", ((s >> 18) ^ s) >> 27)
        turn = b.let("turn rot", s >> 59)
        low = mixed & 0xFFFFFFFF
        return (low >> turn) | ((low << ((32 - turn) & 31)) & 0xFFFFFFFF), (
            "the low 32 bits of ((s >> 18) ^ s) >> 27, rotated right by s >> 59 in 32 bits"
        )
    if form == "weyl":
        square = b.let("square sq", s * s)
        return square ^ (square >> (s.type.bits // 2)), (
            f"q ^ (q >> {s.type.bits // 2}) with q = s * s"
        )
    if form == "lcg":
        return s >> (s.type.bits // 2), f"s >> {s.type.bits // 2}"
    return s, "s"


def _numbers(k: KernelBuilder, form: str, type_: Scalar) -> tuple[int, int, int]:
    value = k.draw.value
    if form == "xorshift":
        return value.choice(_XORSHIFTS[type_])
    if form == "weyl":
        return (0x9E3779B9 if type_ == UINT32 else 0x9E3779B97F4A7C15), 0, 0
    if form == "lehmer":
        return value.choice((16807, 48271, 69621)), 0, 0
    if type_ == UINT64:
        return 6364136223846793005, 0, 1442695040888963407
    return value.choice(((1664525, 0, 1013904223), (747796405, 0, 2891336453), (22695477, 0, 1)))


@idiom
def random_step(k: KernelBuilder, level: int) -> Title:
    """Steps of LCG, xorshift, PCG, Weyl and Lehmer generators; at higher levels what is drawn."""
    shape = k.draw.shape
    if shape.chance(0.35):
        return library(k, level)
    form = shape.choice(sorted(_RULES))
    type_ = UINT64 if form == "lehmer" else shape.weighted({UINT32: 3, UINT64: 2})
    g = grid(k, {1: 3, 2: 2, 3: 1})
    inplace = level >= 2 and shape.chance(0.5)
    top = 2147483646 if form == "lehmer" else 2**type_.bits - 1
    states = k.array(
        "states rng_state seeds", type_, g.sizes, low=1, high=top, role="inout" if inplace else "in"
    )
    numbers = _numbers(k, form, type_)
    start: Expr = states[g.at]
    salted = "s"
    if form != "lehmer" and shape.chance(0.4):
        stream = k.scalar("stream salt frame_key", type_, 1, 2**31)
        start, salted = start ^ stream, f"s ^ {stream.name}"
    s = k.let("s state x", start)
    rule = _RULES[form].format(a=numbers[0], b=numbers[1], c=numbers[2])
    steps = 1 if level < 3 else k.draw.value.integer(2, 5)
    step = _stepper(k, level, form, type_, numbers)
    if level >= 3:
        with k.for_("turn r burn", steps):
            s = step(k, s)
    else:
        s = step(k, s)
    again = f" {steps} times" if steps > 1 else ""
    done = f"Step each state s of {states.name}{again}: {rule}."
    if salted != "s":
        done = f"Start from {salted} for each s of {states.name}. Step s{again}: {rule}."
    if level == 1:
        out = k.out("next_state out", type_, g.sizes)
        return _simple(k, form, s, out, g, done)
    if inplace:
        k.store(states, g.at, s)
        done += " The state is written back."
    drawn, how = _tempered(k, form, s)
    drawn = k.let("drawn bits_out r", drawn)
    done += f" The number drawn is r = {how}."
    return Title(
        k.name(f"{form}_step {form}_random next_random"),
        done + _used(k, level, form, drawn, g, type_),
    )


def _simple(k: KernelBuilder, form: str, s: Var, out: Var, g: Grid, done: str) -> Title:
    value: Expr = s
    kind = k.draw.shape.choice(("state", "tempered", "range"))
    if kind == "tempered":
        value, how = _tempered(k, form, s)
        done += f" {out.name} gets {how}."
    elif kind == "range":
        assert isinstance(s.type, Scalar)
        count = k.scalar("limit sides", s.type, 6, 100)
        value, done = s % count, f"{done} {out.name} gets s % {count.name}."
    else:
        done += f" {out.name} gets s."
    k.store(out, g.at, value)
    return Title(k.name(f"{form}_step {form}_next advance_rng"), done)


class _Stepper:
    """One step, in a helper function or in place."""

    def __init__(self, form: str, numbers: tuple[int, int, int], call: str) -> None:
        self.form, self.numbers, self.call = form, numbers, call

    def __call__(self, k: KernelBuilder, s: Var) -> Var:
        if self.call:
            k.assign(s, k.call(self.call, s))
        else:
            _advance(k, self.form, s, self.numbers)
        return s


def _stepper(
    k: KernelBuilder, level: int, form: str, type_: Scalar, numbers: tuple[int, int, int]
) -> _Stepper:
    if level < 2 or k.draw.shape.chance(0.4):
        return _Stepper(form, numbers, "")

    def build(body: BodyBuilder, state: Expr) -> Expr:
        s = body.let("s x", state)
        _advance(body, form, s, numbers)
        return s

    return _Stepper(form, numbers, helper(k, f"{form}_next advance", [("state", type_)], build))


def _used(k: KernelBuilder, level: int, form: str, drawn: Var, g: Grid, type_: Scalar) -> str:
    """What becomes of the number drawn: an integer in a range, a real, a coin, a jittered value."""
    bits = {"lcg": type_.bits // 2, "lehmer": 31, "pcg": 32}.get(form, type_.bits)
    use = k.draw.shape.choice(("range", "unit", "signed") if level < 4 else ("jitter", "coin"))
    if use == "range":
        count = k.scalar("limit num_bins", type_, 6, 60)
        out = k.out("picks drawn_out", INT32, g.sizes)
        k.store(out, g.at, cast(drawn % count, INT32))
        return f" {out.name} gets r % {count.name}."
    kept = min(bits, 16 if form == "lcg" and type_ == UINT32 else 24)
    shifted = drawn >> (bits - kept) if bits > kept else drawn
    unit = k.let("u unit uniform", cast(shifted, FLOAT32) / float(2**kept))
    said = f" u is the upper {kept} of the {bits} bits of r over 2^{kept}."
    if use in ("unit", "signed"):
        out = k.out("uniform_out noise", FLOAT32, g.sizes)
        k.store(out, g.at, unit if use == "unit" else 2.0 * unit - 1.0)
        return f"{said} {out.name} gets {'u' if use == 'unit' else '2 * u - 1'}."
    return said + _applied(k, level, use, unit, g)


def _applied(k: KernelBuilder, level: int, use: str, unit: Expr, g: Grid) -> str:
    values = k.array("values signal weights", FLOAT32, g.sizes, low=-2.0, high=2.0)
    out = k.out("out result noisy", FLOAT32, g.sizes)
    value = local(k, "value v", values[g.at])
    if use == "coin":
        rate = k.scalar("rate drop_rate p", FLOAT32, 0.3, 0.6)
        scale = 1.0 / (1.0 - rate)
        kept = k.let("keep kept", unit > rate)
        store_where(k, out, g, kept, scale * value, 0.0)
        return f" {out.name} gets {values.name} / (1 - {rate.name}) where u > {rate.name}, else 0."
    low, width = parameters(
        k,
        [("low shift", FLOAT32, -0.5, 0.5), ("width amplitude", FLOAT32, 0.5, 1.5)],
        "Jitter Noise",
        0.5,
    )
    moved: Expr = value + low.value + width.value * unit
    text = f"{values.name} + {low.text} + {width.text} * u"
    if level == 5:
        test = condition(k, g)
        moved = k.let("moved jittered", moved)
        store_where(k, out, g, test.value, moved, value)
        return f" {out.name} gets {text} where {test.text}, else {values.name}."
    k.store(out, g.at, moved)
    return f" {out.name} gets {text}."
