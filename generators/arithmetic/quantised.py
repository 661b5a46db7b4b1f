"""Quantised numbers: scale and zero point, products of int8, fixed-point rescaling."""

from __future__ import annotations

from generators.arithmetic.common import stored
from generators.arithmetic.types import FLOAT16, FLOAT64, INT8, INT16, INT64, UINT8
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import formulas
from generators.kit.functions import clamp, most, where
from generators.kit.naming import applied, evaluated, held, maybe
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Load, Var, literal

_RANGES = {INT8: (-128, 127), UINT8: (0, 255), INT16: (-2048, 2047)}
_SCALES = {INT8: (0.02, 0.03), UINT8: (0.01, 0.015), INT16: (0.001, 0.002)}
_NAMES = {
    "quantize": "quantize_affine quantize_values",
    "dequantize": "dequantize_affine dequantize_codes",
    "fake": "fake_quantize quantize_dequantize",
    "requant": "requantize rescale_codes",
}
_ACTIVATIONS = formulas(
    relu=lambda x: most(x, 0.0),
    leaky_relu=lambda x: where(x > 0.0, x, 0.1 * x),
    hard_tanh=lambda x: clamp(x, -1.0, 1.0),
)


@idiom(depth=3)
def quantize(k: KernelBuilder, level: int) -> Title:
    """Between real numbers and narrow integers: affine, symmetric, per row, fake quantisation."""
    shape = k.draw.shape
    s = launch(k, list=2, grid=4, cube=1)
    form = shape.choice(list(_NAMES)[: 4 if level > 1 else 2])
    encodes = form in ("quantize", "fake")
    type_ = shape.choice((INT8, UINT8) if encodes else (INT8, UINT8, INT8, INT16))
    q = _Affine(s, level, type_)
    done = _to_codes(q, form) if encodes else _from_codes(q, form)
    return Title(k.name(_NAMES[form]), done)


class _Affine:
    """Scale and zero point of codes, for all elements or for each row or channel."""

    def __init__(self, s: Site, level: int, codes: Scalar) -> None:
        self.s, self.k, self.level, self.codes = s, s.k, level, codes
        shape = s.k.draw.shape
        self.real = shape.weighted({FLOAT32: 19, FLOAT64: 1})
        zeros = (100, 150) if codes == UINT8 else (-20, 20)
        parts = {
            "scale": Part("scale step_size", self.real, *_SCALES[codes], many="scales scale"),
            "zero": Part("zero_point zero", INT32, *zeros, many="zero_points zeros"),
        }
        if codes != UINT8 and shape.chance(0.4):
            parts.pop("zero")
        if s.rank > 1 and shape.chance(0.4):
            r = record(s, "QuantParams", parts, 0.0, axes=s.axes("axis"))
        else:
            r = record(s, "QuantParams Affine", parts, 0.2 + 0.08 * level, shared=True)
        self.scale = self._named("scale_c step_c", r["scale"])
        self.zero = self._named("zero_c zp", r["zero"]) if "zero" in parts else None

    def _named(self, names: str, value: Expr) -> Expr:
        return maybe(self.k, names, value) if isinstance(value, Load) else value

    def restored(self, code: Expr) -> Expr:
        """What a code stands for."""
        return self.scale * cast(code if self.zero is None else code - self.zero, self.real)

    def rounded(self, v: Expr) -> tuple[Expr, str]:
        form = self.k.draw.shape.choice(("round", "rint", "floor", "round"))
        if form == "floor":
            return fn("floor", v + 0.5), "floor(v + 0.5)"
        halves = "to nearest even" if form == "rint" else "with halves away from zero"
        return fn(form, v), f"v rounded {halves}"


_VERBS = {"fake": "Round to codes and back", "quantize": "Quantise"}


def _to_codes(q: _Affine, form: str) -> str:
    """Codes of real numbers, or what they stand for."""
    k, s, level = q.k, q.s, q.level
    narrow = level > 1 and q.real == FLOAT32 and k.draw.shape.chance(0.3)
    top = 4.5 if q.codes == INT8 else 2.4
    value = s.read("values activations weights", FLOAT16 if narrow else q.real, -top, top)
    low, high = _RANGES[q.codes]
    x: Expr = cast(value, q.real)
    scaled = x / q.scale
    if level < 4 and k.draw.shape.chance(0.3):
        scaled = x * k.let("inv_scale", 1.0 / q.scale)
    rounded, how = q.rounded(k.let("scaled v", scaled))
    branches = k.draw.shape.chance(0.4)

    def build(b: BodyBuilder, code: Expr) -> Expr:
        if not branches:
            return clamp(code, low, high)
        result = b.let("limited c", code)
        with b.if_(code < low):
            b.assign(result, low)
        with b.elif_(code > high):
            b.assign(result, high)
        return result

    code: Expr = cast(rounded, INT32)
    done = f"{_VERBS[form]}: with v = {say(k, value)} / {say(k, q.scale)}, take {how}"
    if q.zero is not None:
        code, done = code + q.zero, f"{done} plus the zero point {say(k, q.zero)}"
    code = k.let("code q", code)
    chance = 0.5 if level >= 3 else 0.0
    code = applied(k, chance, "saturate_code limit_code", {"code": code}, build)
    done += f", clamped to [{low}, {high}]"
    if form == "fake":
        out = s.put("restored fake_quant out", q.restored(code))
        return f"{done}; {out.name} gets that code as a real number again."
    if level >= 4:
        code = held(k, "limited_code kept", code)
    out = s.put("codes quantized q_out", cast(code, q.codes))
    done += f", stored as {q.codes} in {out.name}."
    return done + (_error(q, x, code) if level >= 4 else "")


def _error(q: _Affine, x: Expr, code: Expr) -> str:
    """A second output: what is lost by the code."""
    weight = q.s.read("importance hessian", q.real, 0.5, 1.5)
    gap = q.k.let("gap diff", x - q.restored(code))
    value, text = weight * gap, "d"
    if q.level == 5:
        value, text = weight * abs(gap) + gap * gap, "|d| + d^2"
    lost = q.s.put("error residual", value)
    done = f" With d the value minus what the code stands for, {lost.name} gets "
    return f"{done}{say(q.k, weight)} * {text}."


def _from_codes(q: _Affine, form: str) -> str:
    """Real numbers that codes stand for, or codes of another scale."""
    k, s, level = q.k, q.s, q.level
    codes = s.read("codes quantized q", q.codes, *_RANGES[q.codes])
    value = q.restored(k.let("code c", cast(codes, INT32)))
    text = say(k, q.restored(cast(codes, INT32)))
    if level >= 2 and k.draw.shape.chance(0.5):
        bias = given(s, "bias offsets", q.real, -1.0, 1.0, many="bias offsets", last=1)
        value, text = value + bias, f"{text} + {say(k, bias)}"
    if form == "dequantize":
        done = ""
        if level >= 4:
            value = held(k, "value real", value)
            skip = s.read("residual skip", q.real, -1.0, 1.0)
            done = f" {s.put('sums skip_out', value + skip).name} gets that plus {say(k, skip)}."
        return f"Dequantise: {s.put('values out restored', value).name} gets {text}.{done}"
    new = k.scalar("out_scale next_scale", q.real, 0.008, 0.012)
    rounded, how = q.rounded(k.let("scaled v", value / new))
    out = s.put("next_codes requantized", cast(clamp(rounded, -128.0, 127.0), INT8))
    done = f"Requantise: with v = ({text}) / {new.name}, {out.name} gets {how}, clamped to "
    return f"{done}[-128, 127]."


def activated(k: KernelBuilder, value: Expr, text: str) -> tuple[Expr, str]:
    """An activation of a value."""
    formula = k.draw.shape.choice(_ACTIVATIONS)
    result = evaluated(k, 0.6, formula, {"x": held(k, "pre a", value)})
    return result, f"{formula.said({'x': 'a'})} with a = {text}"


_DOTS = ((INT8, INT32), (UINT8, INT32), (INT16, INT64), (FLOAT16, FLOAT32))
_ENDS: dict[Scalar, tuple[float, float]] = {
    UINT8: (0, 255),
    FLOAT16: (-2.0, 2.0),
    INT8: (-127, 127),
    INT16: (-5000, 5000),
}


@idiom(depth=2)
def mixed_dot(k: KernelBuilder, level: int) -> Title:
    """Short dot products of narrow numbers, accumulated in a wider type."""
    shape = k.draw.shape
    source, wide = shape.choice(_DOTS)
    s = launch(k, list=2, grid=18)
    m = k.size("inner", 5, 7)
    other = INT8 if source == UINT8 else source
    last = (s.dims[-1], m) if s.rank > 1 or shape.chance(0.5) else (m,)
    (low, high), (least, top) = _ENDS[source], _ENDS[other]
    a = k.array("a lhs activations", source, (s.dims[0], m), low=low, high=high)
    b = k.array({"a": "b", "lhs": "rhs"}.get(a.name, "weights"), other, last, low=least, high=top)
    count = k.size_param("inner depth", m)
    offset = None
    if level > 1 and not source.is_float and shape.chance(0.5):
        offset = k.scalar(f"{a.name}_zero zero_point", wide, 1, 20)
    start: Expr = literal(0, wide)
    where_from = ""
    if shape.chance(0.5):
        size = 1.0 if wide.is_float else 500
        start = given(s, "bias", wide, -size, size, many="bias", last=1)
        where_from = f", starting from {say(k, start)}"
    acc = k.let("acc total dot", start)
    with k.for_("q s inner", count) as q:
        x = maybe(k, "av x", cast(a[s.at[0], q], wide))
        y = maybe(k, "bv w", cast(b[(s.at[-1], q) if len(last) == 2 else q], wide))
        k.augment(acc, "add", (x - offset if offset is not None else x) * y)
    text = f"({a.name} - {offset.name})" if offset is not None else a.name
    kinds = {INT8: "int8", UINT8: "u8s8", INT16: "int16", FLOAT16: "half"}
    kind = "gemm" if s.rank > 1 else "row_dots" if len(last) == 2 else "matvec"
    what = {
        "gemm": f"Product of {text} and the transpose of {b.name}, summed",
        "row_dots": f"Dot product of each row of {text} with that of {b.name}, summed",
        "matvec": f"Product of the matrix {text} and the vector {b.name}, summed",
    }[kind]
    kinds_said = f", {a.name} being uint8 and {b.name} int8" if other != source else ""
    done = f"{what} in {wide}{kinds_said}"
    name = k.name(f"{kinds[source]}_{kind}", f"{kind}_{kinds[source]}")
    return Title(name, done + where_from + _dot_out(s, level, acc, source, wide))


def _dot_out(s: Site, level: int, acc: Var, source: Scalar, wide: Scalar) -> str:
    """What becomes of the sum: stored as it is, or scaled to a real number and activated."""
    k, shape = s.k, s.k.draw.shape
    if level < 3 and (wide.is_float or shape.chance(0.6)):
        if level == 2 and wide.is_float and shape.chance(0.5):
            gain = k.scalar("alpha gain", wide, 0.5, 1.5)
            return f", times {gain.name}, stored in {s.put('out products c', gain * acc).name}."
        return f", stored in {s.put('out c', acc).name}."
    size = 1.0 if source.is_float else 1.0e-7 if source == INT16 else 1.0e-4
    many = "col_scales channel_scales" if s.rank > 1 else "row_scales"
    scale = given(s, "scale", FLOAT32, 0.5 * size, 2.0 * size, many=many, last=1)
    value = maybe(k, "value real", cast(acc, FLOAT32) * scale)
    text = f". The sum is multiplied by {say(k, scale)} in float32."
    return text + stored(s, "out products c", value)
