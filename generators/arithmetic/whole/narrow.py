"""Narrow integers: arithmetic that stops at the ends of their range, and fixed-point numbers."""

from __future__ import annotations

from dataclasses import dataclass

from generators.arithmetic.tasks import EITHER, ONE, Input, Task, perform
from generators.arithmetic.types import INT8, INT16, INT64, UINT8, UINT16
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Build
from generators.kit.functions import clamp, either, least, most
from generators.kit.sites import launch
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr


def _wide(*values: Expr) -> tuple[Expr, ...]:
    return tuple(cast(value, INT32) for value in values)


def _held(body: BodyBuilder, raw: Expr, type_: Scalar, names: str) -> Expr:
    """A value within the range of a narrow type, in it."""
    low, high = type_.int_range
    wide = body.let(names, raw)
    kept = either(body, clamp(wide, low, high), most(least(wide, high), low))
    return cast(kept, type_)


def _sum(type_: Scalar) -> Build:
    def add(body: BodyBuilder, a: Expr, b: Expr) -> Expr:
        x, y = _wide(a, b)
        if type_.is_unsigned:
            return cast(least(body.let("total wide_sum", x + y), type_.int_range[1]), type_)
        return _held(body, x + y, type_, "total wide_sum")

    return add


def _difference(type_: Scalar) -> Build:
    def subtract(body: BodyBuilder, a: Expr, b: Expr) -> Expr:
        x, y = _wide(a, b)
        if type_.is_unsigned:
            return cast(most(body.let("diff wide_diff", x - y), 0), type_)
        return _held(body, x - y, type_, "diff wide_diff")

    return subtract


def _gained(bits: int) -> Build:
    def gain(body: BodyBuilder, a: Expr, b: Expr) -> Expr:
        (x,) = _wide(a)
        scaled = (x * b + (1 << (bits - 1))) >> bits
        wide = body.let("scaled amplified", scaled)
        return cast(least(wide, 65_535), UINT16)

    return gain


def _q_product(body: BodyBuilder, a: Expr, b: Expr) -> Expr:
    x, y = _wide(a, b)
    product = body.let("product wide_product", x * y)
    return cast((product + (1 << 14)) >> 15, INT16)


def _requantized(body: BodyBuilder, a: Expr, m: Expr, shift: Expr, zero: Expr) -> Expr:
    product = body.let("product scaled", cast(a, INT64) * cast(m, INT64))
    code = cast(product >> cast(shift, INT64), INT32) + zero
    return cast(least(body.let("code level", code), 255), UINT8)


def _averaged(body: BodyBuilder, a: Expr, b: Expr) -> Expr:
    x, y = _wide(a, b)
    return cast(either(body, (x + y + 1) >> 1, (x + y + 1) // 2), UINT8)


def _contrast(body: BodyBuilder, a: Expr, gain: Expr, bias: Expr) -> Expr:
    (x,) = _wide(a)
    return _held(body, ((x * gain) >> 4) + bias, UINT8, "adjusted level")


_SAMPLES = -32_768, 32_767
_BYTES = 0, 255

_TASKS = (
    Task(
        "mix_samples saturating_add",
        {
            "a": Input("voice_a", *_SAMPLES, type=INT16),
            "b": Input("voice_b", *_SAMPLES, type=INT16),
        },
        {"mixed": _sum(INT16)},
        "Mix two tracks of 16-bit audio: store in {out0} the sums of {a} and {b}, held within "
        "-32768 and 32767.",
    ),
    Task(
        "saturating_sub subtract_tracks",
        {
            "a": Input("stereo_mix", *_SAMPLES, type=INT16),
            "b": Input("voice", *_SAMPLES, type=INT16),
        },
        {"remaining": _difference(INT16)},
        "Take one track of 16-bit audio off another: store in {out0} {a} less {b}, held within "
        "-32768 and 32767.",
    ),
    Task(
        "add_images saturating_add",
        {"a": Input("image_a", *_BYTES, type=UINT8), "b": Input("image_b", *_BYTES, type=UINT8)},
        {"added": _sum(UINT8)},
        "Add two 8-bit images pixel by pixel: store in {out0} the sums of {a} and {b}, at most "
        "255.",
    ),
    Task(
        "subtract_background saturating_sub",
        {
            "a": Input("frame", *_BYTES, type=UINT8, local="pixel"),
            "b": Input("background dark_frame", *_BYTES, type=UINT8, local="level"),
        },
        {"foreground corrected": _difference(UINT8)},
        "Subtract {b} from the 8-bit image {a}: store in {out0} the differences, at least 0.",
    ),
    Task(
        "residual_add add_int8",
        {
            "a": Input("activations", -128, 127, type=INT8),
            "b": Input("skip shortcut", -128, 127, type=INT8),
        },
        {"sums": _sum(INT8)},
        "Residual connection of a quantised network: store in {out0} the sums of the codes {a} and "
        "{b}, held within -128 and 127.",
    ),
    Task(
        "frame_difference absolute_difference",
        {
            "a": Input("frame", *_BYTES, type=UINT8, local="pixel"),
            "b": Input("previous", *_BYTES, type=UINT8, local="before"),
        },
        {
            "difference motion": lambda body, a, b: cast(
                either(
                    body, abs(cast(a, INT32) - cast(b, INT32)), abs(cast(b, INT32) - cast(a, INT32))
                ),
                UINT8,
            )
        },
        "Absolute differences of two 8-bit frames, {a} and {b}, pixel by pixel. Store them in "
        "{out0}.",
    ),
    Task(
        "average_frames rounded_average",
        {"a": Input("frame_a", *_BYTES, type=UINT8), "b": Input("frame_b", *_BYTES, type=UINT8)},
        {"average between": _averaged},
        "Average two 8-bit frames, {a} and {b}, pixel by pixel, halves rounded up. Store it in "
        "{out0}.",
    ),
    *(
        Task(
            "apply_gain amplify_counts",
            {
                "a": Input("counts raw", 0, 65_535, type=UINT16),
                "b": Input(f"gain_q{bits}", 1 << (bits - 1), 2 << bits, ONE),
            },
            {"amplified corrected": _gained(bits)},
            f"Amplify 16-bit counts of a sensor by {{b}}, a gain with {bits} fraction bits: "
            f"multiply {{a}} by it in int32, add {1 << (bits - 1)}, shift right by {bits}, and "
            "limit the result to 65535. Store it in {out0}.",
        )
        for bits in (8, 12)
    ),
    Task(
        "q15_multiply multiply_q15",
        {
            "a": Input("a_q15 envelope_q15", 0, 32_767, type=INT16),
            "b": Input("b_q15 window_q15", 0, 32_767, type=INT16),
        },
        {"product_q15": _q_product},
        "Multiply Q15 numbers that are not negative: the product of {a} and {b} in int32, rounded "
        "(add 16384, shift right by 15). Store it in {out0}.",
    ),
    Task(
        "requantize_relu requantize_accumulators",
        {
            "a": Input("accumulators acc", 0, 200_000, local="acc_i"),
            "m": Input("multiplier", 10_000, 60_000, ONE),
            "shift": Input("shift", 22, 24, ONE),
            "zero": Input("zero_point", 1, 30, ONE),
        },
        {"codes q_out": _requantized},
        "Requantise the int32 accumulators {a} of an integer layer, at least 0 after its ReLU: "
        "multiply by {m} in int64, shift right by {shift}, add {zero}, limit to 255. Store it in "
        "{out0}.",
    ),
    Task(
        "relu_int8 clip_activations",
        {
            "a": Input("codes activations", -128, 127, type=INT8),
            "zero": Input("zero_point", -40, 40, ONE),
        },
        {"rectified": lambda a, zero: cast(most(cast(a, INT32), zero), INT8)},
        "ReLU of quantised activations: codes of {a} below {zero}, which stands for zero, become "
        "{zero}. Store them in {out0}.",
    ),
    Task(
        "adjust_contrast brightness_contrast",
        {
            "a": Input("image pixels", *_BYTES, type=UINT8, local="pixel"),
            "gain": Input("contrast_q4", 8, 40, ONE),
            "bias": Input("brightness", -60, 60, ONE),
        },
        {"adjusted": _contrast},
        "Contrast and brightness of an 8-bit image: {a} times {gain} / 16, rounded down, plus "
        "{bias}, held within 0 and 255. Store it in {out0}.",
    ),
)


@idiom(depth=1)
def saturating(k: KernelBuilder, level: int) -> Title:
    """Sums, differences and products of narrow integers that stop at the ends of their range."""
    s = launch(k, list=3, grid=4)
    return perform(s, k.draw.shape.choice(_TASKS), INT32)


@dataclass(frozen=True)
class _Q:
    """Numbers with so many fraction bits in a narrow type, products being taken in a wide one."""

    bits: int
    type: Scalar
    wide: Scalar

    @property
    def one(self) -> int:
        return 1 << self.bits

    @property
    def tag(self) -> str:
        return f"q{self.bits}"

    @property
    def told(self) -> str:
        return f"Fixed-point numbers with {self.bits} fraction bits"

    @property
    def head(self) -> str:
        return f"{self.told}, products in {self.wide} rounded to nearest: "

    def shifted(self, product: Expr) -> Expr:
        """A product, or a sum of them, rounded to a number of the wide type."""
        return (product + self.one // 2) >> self.bits

    def times(self, a: Expr, b: Expr) -> Expr:
        return self.shifted(cast(a, self.wide) * cast(b, self.wide))

    def stored(self, value: Expr) -> Expr:
        return cast(value, self.type)

    def levels(self, names: str) -> Input:
        """An array of numbers from 0 to 2."""
        return Input(" ".join(f"{n}_{self.tag}" for n in names.split()), 0, 2 * self.one)


def _products(q: _Q) -> tuple[Task, ...]:
    """Products of two numbers, and what is added to them."""
    a, b = q.levels("a samples"), q.levels("b levels")
    gain = Input(f"gain_{q.tag}", q.one // 2, 2 * q.one, ONE)
    sides = {n: Input(f"{n}_{q.tag}", -q.one, q.one) for n in "xy"}

    def power(body: BodyBuilder, x: Expr, y: Expr) -> Expr:
        u, v = body.let("x_wide", cast(x, q.wide)), body.let("y_wide", cast(y, q.wide))
        return q.stored(q.shifted(u * u + v * v))

    return (
        Task(
            "fixed_multiply q_multiply",
            {"a": a, "b": b},
            {f"product_{q.tag}": lambda a, b: q.stored(q.times(a, b))},
            f"{q.head}set {{out0}} to {{a}} times {{b}}.",
        ),
        Task(
            "fixed_scale apply_gain_q",
            {"a": a, "b": gain},
            {f"scaled_{q.tag}": lambda a, b: q.stored(q.times(a, b))},
            f"{q.head}set {{out0}} to {{a}} times the gain {{b}}.",
        ),
        Task(
            "fixed_multiply_add q_multiply_add",
            {"a": a, "b": b, "c": Input(f"c_{q.tag} offsets_{q.tag}", 0, q.one)},
            {f"sums_{q.tag}": lambda a, b, c: q.stored(q.times(a, b) + cast(c, q.wide))},
            f"{q.head}set {{out0}} to {{a}} times {{b}}, plus {{c}}.",
        ),
        Task(
            "fixed_power q_squared_length",
            sides,
            {f"power_{q.tag}": power},
            f"{q.told}: squared lengths of vectors, {{x}}^2 + {{y}}^2, taken in {q.wide} and "
            "rounded once to nearest. Store them in {out0}.",
        ),
    )


def _blends(q: _Q) -> tuple[Task, ...]:
    """Sums of two products that are rounded once."""
    share = f"t_{q.tag} alpha_{q.tag}"
    rate = Input(f"rate_{q.tag}", q.one // 16, q.one // 2, ONE, type=q.wide)

    def mixed(a: Expr, b: Expr, t: Expr) -> Expr:
        t = cast(t, q.wide)
        return q.stored(q.shifted(cast(a, q.wide) * (q.one - t) + cast(b, q.wide) * t))

    return (
        Task(
            "fixed_lerp blend_fixed",
            {
                "a": q.levels("a front"),
                "b": q.levels("b back"),
                "t": Input(share, 1, q.one, EITHER, many=share),
            },
            {f"blended_{q.tag}": mixed},
            f"{q.told}: blend {{a}} times 1 - {{t}} and {{b}} times {{t}}, the sum of products "
            f"being taken in {q.wide} and rounded once. Store it in {{out0}}.",
        ),
        Task(
            "fixed_smooth q_low_pass",
            {
                "old": Input(f"state_{q.tag}", 0, 2 * q.one, local="old"),
                "x": q.levels("samples"),
                "rate": rate,
            },
            {f"smoothed_{q.tag}": _smoothed(q)},
            f"{q.told}: one step of a low-pass filter, {{old}} times 1 - {{rate}} plus {{x}} times "
            f"{{rate}}, summed in {q.wide} and rounded once. Store it in {{out0}}.",
        ),
    )


def _smoothed(q: _Q) -> Build:
    """A state moved toward a sample by a share in the wide type."""
    return lambda old, x, rate: q.stored(
        q.shifted((q.one - rate) * cast(old, q.wide) + rate * cast(x, q.wide))
    )


def _others(q: _Q) -> tuple[Task, ...]:
    """A polynomial, and conversions from and to real numbers."""
    coefficients = {f"c{n}": Input(f"c{n}_{q.tag}", 1, q.one, ONE) for n in range(3)}

    def horner(body: BodyBuilder, x: Expr, c0: Expr, c1: Expr, c2: Expr) -> Expr:
        inner = body.let("inner partial", q.times(x, c2) + cast(c1, q.wide))
        return q.stored(q.times(x, inner) + cast(c0, q.wide))

    return (
        Task(
            "fixed_polynomial q_horner",
            {"x": Input(f"x_{q.tag} phases_{q.tag}", 0, q.one), **coefficients},
            {f"values_{q.tag}": horner},
            f"{q.head}set {{out0}} to the polynomial {{c0}} + {{c1}} * x + {{c2}} * x^2 of each x "
            "of {x}, by Horner's rule.",
        ),
        Task(
            "to_fixed encode_fixed",
            {"a": Input("values samples", -2.0, 2.0, type=FLOAT32, local="value")},
            {f"values_{q.tag}": lambda a: cast(fn("rint", float(q.one) * a), q.type)},
            f"Convert {{a}} to fixed-point numbers with {q.bits} fraction bits, rounded to "
            "nearest. Store them in {out0}.",
        ),
        Task(
            "from_fixed decode_fixed",
            {"a": Input(f"values_{q.tag} samples_{q.tag}", -2 * q.one, 2 * q.one)},
            {"decoded values_out": lambda a: cast(a, FLOAT32) / float(q.one)},
            f"Convert the fixed-point numbers {{a}} with {q.bits} fraction bits to float32. Store "
            "them in {out0}.",
        ),
    )


@idiom(depth=1)
def fixed_point(k: KernelBuilder, level: int) -> Title:
    """Products, blends, polynomials and conversions of fixed-point numbers."""
    shape = k.draw.shape
    type_, wide, choices = shape.choice(((INT16, INT32, (8, 10, 12)), (INT32, INT64, (10, 12, 16))))
    q = _Q(shape.choice(choices), type_, wide)
    tasks = (*_products(q), *_blends(q), *_others(q))
    return perform(launch(k, list=3, grid=1), shape.choice(tasks), type_)
