"""Fixed point: integers that stand for numbers with a fixed number of fraction bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn
from generators.dtypes import Scalar
from generators.expr import Expr, Var
from generators.registry import Title


@dataclass
class Fixed:
    """A fixed-point value ``q`` on its way through steps, and the array elements it came from."""

    q: Var
    type: Scalar
    bits: int
    i: Var
    sources: tuple[Var, Var]

    @property
    def one(self) -> int:
        return 1 << self.bits

    def source(self, k: KernelBuilder) -> tuple[Expr, str]:
        """One of the elements, with the name of its array."""
        array = k.draw.shape.choice(self.sources)
        return array[self.i], array.name


Step = Callable[[KernelBuilder, Fixed], str]


def _blend(k: KernelBuilder, f: Fixed) -> str:
    weight = k.draw.value.integer(1, f.one - 1)
    other, name = f.source(k)
    k.assign(f.q, (weight * f.q + (f.one - weight) * other) >> f.bits)
    return f"q = ({weight} * q + {f.one - weight} * {name}) >> {f.bits}"


def _knee(k: KernelBuilder, f: Fixed) -> str:
    start, fall = k.draw.value.integer(f.one // 2, f.one), k.draw.value.integer(1, 2)
    with k.if_(f.q > start):
        k.assign(f.q, start + ((f.q - start) >> fall))
    return f"shift what exceeds {start} right by {fall}"


def _echo(k: KernelBuilder, f: Fixed) -> str:
    taps = k.draw.value.integer(2, 4)
    total = k.let(("total", "echo", "acc"), k.lift(0, f.type))
    with k.for_(("tap", "shift"), taps) as tap:
        k.augment(total, "add", f.q >> cast(tap, f.type))
    f.q = total
    return f"replace q by the sum of q >> s for s from 0 to {taps - 1}"


def _limit(k: KernelBuilder, f: Fixed) -> str:
    room = k.draw.value.integer(1, f.one // 2)
    other, name = f.source(k)
    k.assign(f.q, fn("min", f.q, other + room))
    return f"limit q to {name} + {room}"


def _saturate(k: KernelBuilder, f: Fixed) -> str:
    low, high = k.draw.value.integer(1, f.one // 4), f.one + k.draw.value.integer(0, f.one // 4)
    k.assign(f.q, fn("clamp", f.q, low, high))
    return f"clamp q to [{low}, {high}]"


def _square(k: KernelBuilder, f: Fixed) -> str:
    k.assign(f.q, fn("min", f.q, 2 * f.one - 1))
    k.assign(f.q, (f.q * f.q) >> f.bits)
    return f"limit q to {2 * f.one - 1} and square it (>> {f.bits})"


def _leak(k: KernelBuilder, f: Fixed) -> str:
    times, shift = k.draw.value.integer(2, 4), k.draw.value.integer(2, 3)
    with k.for_(("turn", "step", "r"), times):
        k.augment(f.q, "sub", f.q >> shift)
    return f"subtract q >> {shift} from q {times} times in a row"


def _halve(k: KernelBuilder, f: Fixed) -> str:
    limit = k.draw.value.integer(f.one // 2, f.one)
    with k.while_(f.q > limit):
        k.assign(f.q, f.q >> 1)
    return f"halve q (>> 1) while it exceeds {limit}"


def _gap(k: KernelBuilder, f: Fixed) -> str:
    other, name = f.source(k)
    k.assign(f.q, fn("abs", f.q - other))
    return f"q = |q - {name}|"


STEPS: dict[str, Step] = {
    "blend": _blend,
    "knee": _knee,
    "echo": _echo,
    "limit": _limit,
    "saturate": _saturate,
    "square": _square,
    "leak": _leak,
    "halve": _halve,
    "gap": _gap,
}


def _offset(k: KernelBuilder, f: Fixed) -> str:
    offset = k.draw.value.integer(1, f.one)
    k.augment(f.q, "add", offset)
    return f"add {offset} to q"


def _scale(k: KernelBuilder, f: Fixed) -> str:
    gain = k.draw.value.integer(f.one // 2, 2 * f.one - 2) | 1
    k.assign(f.q, (gain * f.q) >> f.bits)
    return f"replace q by ({gain} * q) >> {f.bits}"


def _cap(k: KernelBuilder, f: Fixed) -> str:
    cap = k.draw.value.integer(f.one // 2, 3 * f.one // 2)
    k.assign(f.q, fn("min", f.q, cap))
    return f"limit q to {cap}"


def _above(k: KernelBuilder, f: Fixed) -> str:
    black = k.draw.value.integer(1, f.one // 2)
    k.assign(f.q, fn("max", f.q - black, 0))
    return f"replace q by max(q - {black}, 0)"


LAST_STEPS: dict[str, Step] = {
    "offset": _offset,
    "scale": _scale,
    "cap": _cap,
    "above": _above,
}
_NAMES = {
    "product": ("fixed_multiply", "q_multiply", "multiply_q_values"),
    "multiply_add": ("fixed_multiply_add", "q_multiply_add"),
    "mix": ("fixed_blend", "q_lerp", "mix_q_values"),
    "weighted": ("fixed_weighted_sum", "q_weighted_sum"),
}


def fixed_point(k: KernelBuilder, level: int) -> Title:
    """Products and blends of fixed-point numbers, at higher levels sent through more steps."""
    shape = k.draw.shape
    type_ = shape.weighted({Scalar("int32"): 3, Scalar("int64"): 2, Scalar("int16"): 1})
    bits = k.draw.value.integer(4, 4 if type_.bits == 16 else 8)
    n, one = k.size("n", 48, 96), 1 << bits
    a = k.array(("gain_q", "a_q", "left_q"), type_, n, low=0, high=2 * one)
    b = k.array(("level_q", "b_q", "right_q"), type_, n, low=0, high=2 * one)
    form = shape.choice(sorted(_NAMES))
    names = ("mix_q", "t_q") if form == "mix" else ("offset_q", "c_q")
    other = a
    if form in ("mix", "multiply_add"):
        other = k.array(names, type_, n, low=0, high=one)
    out = k.out(("out_q", "result_q", "dst_q"), type_, n)
    (i,) = k.thread(n)
    wide, text = _combined(k, form, (a, b, other), i, bits)
    if rounded := shape.chance(0.5):
        wide = wide + one // 2
    f = Fixed(k.let(("q", "scaled", "fixed"), wide >> bits), type_, bits, i, (a, b))
    steps = [STEPS[name](k, f) for name in shape.sample(sorted(STEPS), level - 1)]
    if level == 1 and shape.chance(0.85):
        steps.append(LAST_STEPS[shape.choice(sorted(LAST_STEPS))](k, f))
    k.store(out, i, f.q)
    how = f"rounded (add {one // 2}, shift right by {bits})"
    how = how if rounded else f"rounded down (shift right by {bits})"
    done = f"For fixed-point numbers with {bits} fraction bits, compute q = {text}, {how}."
    if steps:
        order = ", in this order: " if len(steps) > 1 else " "
        done += f" Then{order}{'; '.join(steps)}."
    return Title(k.name(*_NAMES[form]), done)


def _combined(
    k: KernelBuilder, form: str, arrays: tuple[Var, Var, Var], i: Var, bits: int
) -> tuple[Expr, str]:
    """A sum of products with twice the fraction bits, and what it is."""
    one, (a, b, c) = 1 << bits, arrays
    if form == "product":
        return a[i] * b[i], f"{a.name} * {b.name}"
    if form == "multiply_add":
        return a[i] * b[i] + (c[i] << bits), f"{a.name} * {b.name} + {c.name}"
    if form == "mix":
        t = k.let(("t", "share"), c[i])
        text = f"{c.name} * {a.name} + (1 - {c.name}) * {b.name}"
        return t * a[i] + (one - t) * b[i], text
    first, second = k.draw.value.integer(1, one - 1), k.draw.value.integer(1, one - 1)
    text = f"{first}/{one} * {a.name} + {second}/{one} * {b.name}"
    return first * a[i] + second * b[i], text
