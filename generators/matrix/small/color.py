"""Colours by 3 x 3 matrices: spaces, white balance, saturation, tone, grading, palettes."""

from __future__ import annotations

from collections.abc import Sequence

from generators.build import KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula, formulas
from generators.kit.functions import dot, log2, where
from generators.kit.masks import flag
from generators.kit.naming import helper
from generators.kit.records import Part, record
from generators.kit.sites import Names
from generators.kit.sources import zero
from generators.matrix.place import Place, place
from generators.program.dtypes import FLOAT32, INT32, Mat, Scalar, Vec, scalar_of
from generators.program.expr import Expr, Var, literal

_LINEAR = formulas(
    decode=(
        "decode to_linear",
        lambda v: where(v < 0.0405, v / 12.92, ((v + 0.055) / 1.055) ** 2.4),
    ),
    square=("decode expand", lambda v: v * v),
    gamma_in=("gamma gamma_curve", lambda v: (abs(v) + 0.001) ** 2.2),
)
_DISPLAY = formulas(
    srgb=("encode to_srgb", lambda v: 1.055 * (abs(v) + 0.001) ** 0.4167 - 0.055),
    reinhard=("tone compress", lambda v: v / (1.0 + abs(v))),
    log=("encode to_log", lambda v: log2(abs(v) + 0.05)),
    gamma=("gamma gamma_curve", lambda v: (abs(v) + 0.001) ** 0.4545),
)
"""Transfer curves before and after the work on colours."""


def _curved(g: Place, names: Names, colour: Expr, curves: Sequence[Formula]) -> tuple[Var, str]:
    """Each component through a curve, which is a helper; and the curve's text."""
    curve = g.shape.choice(curves)
    scalar = scalar_of(colour.type)
    called = helper(g.k, curve.outs, [("v", scalar)], curve.build)
    value = make(colour.type, *(g.k.call(called, colour[c]) for c in range(3)))
    return g.let(names, value), curve.said({"v": "v"})


_SPACES = {
    "xyz": "0.4124 0.3576 0.1805 0.2126 0.7152 0.0722 0.0193 0.1192 0.9505",
    "yuv": "0.299 0.587 0.114 -0.147 -0.289 0.436 0.615 -0.515 -0.1",
    "ycbcr": "0.299 0.587 0.114 -0.169 -0.331 0.5 0.5 -0.419 -0.081",
    "lms": "0.4122 0.5363 0.0514 0.2119 0.6807 0.1074 0.0883 0.2817 0.63",
    "sepia": "0.393 0.769 0.189 0.349 0.686 0.168 0.272 0.534 0.131",
    "yiq": "0.299 0.587 0.114 0.596 -0.274 -0.322 0.211 -0.523 0.312",
}
_ABOUT = {"lms": "the cone responses of Oklab", "sepia": "sepia tones"}
_LUMA = ("0.2126 0.7152 0.0722", "0.299 0.587 0.114", "0.229 0.692 0.079")


def _numbers(type_: Mat | Vec, text: str) -> Expr:
    """A matrix or vector of numbers that are in the text."""
    return make(type_, *(literal(number, type_.scalar) for number in text.split()))


def _pixel(g: Place, vec: Vec) -> Var:
    """The colour: of floats, of bytes, or out of planes."""
    way = g.shape.choice(("vector", "vector", "bytes", "planes"))
    value: Expr
    if way == "bytes":
        byte = g.shape.choice((Scalar("uint8"), Scalar("uint16"), INT32))
        raw = g.k.let("raw b", g.read("pixels image frame", Vec(3, byte), 0, 255))
        value = make(vec, *(cast(raw[c], vec.scalar) for c in range(3))) / 255.0
        return g.let("c rgb pixel", value)
    if way == "planes":
        sides = ("red", "green", "blue")
        value = make(vec, *(g.read(f"{s}_plane {s}s", vec.scalar, 0.0, 1.0) for s in sides))
    else:
        value = g.read("pixels image colors frame", vec, 0.0, 1.0)
    return g.let("c rgb pixel", value)


def _merged(g: Place, vec: Vec) -> tuple[Var, str]:
    """Radiance out of several exposures, the middle tones counting most."""
    k = g.k
    count = k.trip_count("num_frames frame_count", k.size("m", 2, 4))
    shots = g.array("brackets exposures_in", vec, 0.05, 0.95, more="m")
    times = k.array("shutter times", vec.scalar, "m", low=0.4, high=2.5)
    total, norm = k.let("merged acc", zero(vec)), k.let("norm w_sum", zero(vec.scalar))
    tent = g.chance(0.5)
    with k.for_("f shot", count) as f:
        s = k.let("s sample", shots[g.index(f)])
        m = g.let("m mid", (s[0] + s[1] + s[2]) / 3.0, "m")
        weight = 1.05 - abs(2.0 * m - 1.0) if tent else 4.0 * m * (1.0 - m) + 0.05
        w = k.let("w trust", weight)
        k.augment(total, "add", w * s / times[f])
        k.augment(norm, "add", w)
    text = f"the mean of {shots.name} / {times.name} over the frames with weights"
    text += f" {g.tell(weight)}, m the mean of a frame's channels"
    return g.let("c radiance", total / norm), f"c = {text}"


def _matrix(g: Place, vec: Vec) -> tuple[Expr, str, str]:
    """A standard matrix written out, a given one, or saturation; its text, names of the kernel."""
    mat = Mat(3, 3, vec.scalar)
    way = g.shape.choice(("standard", "standard", "given", "saturation", "camera"))
    if way == "standard":
        space = g.shape.choice(sorted(_SPACES))
        m = g.let("m mix basis", _numbers(mat, _SPACES[space]))
        text = f"{g.told(m)}, RGB to {_ABOUT.get(space, space.upper())}"
        return m, text, f"rgb_to_{space} to_{space} {space}_colors"
    if way == "saturation":
        luma = g.part("luma_w weights_l", _numbers(vec, g.shape.choice(_LUMA)))
        s = g.given("saturation vibrance", vec.scalar, 0.3, 1.8, literals=False)
        ones = make(vec, literal(1, vec.scalar))
        gray = g.part("gray_m flat", fn("outer", ones, luma))
        m = g.let("m sat_m", s * fn("diag", ones) + (1.0 - s) * gray)
        return m, g.told(m), "adjust_saturation saturate"
    names = "grade_colors color_matrix apply_ccm"
    source = g.given("ccm mixing", mat, -0.3, 1.0)
    if way == "camera":
        source = source * fn("diag", g.given("gain white_balance", vec, 0.6, 1.6))
    if isinstance(source, Var):
        return source, f"M = {source.name}", names
    m = g.let("m mix wb_m", source)
    return m, g.told(m), names


def _graded(g: Place, q: Var, vec: Vec) -> Var:
    """Lift, gamma-free gain and offset of a grading, in a struct or one by one."""
    parts = {
        "gain": Part("gain slope", vec, 0.6, 1.5, forms={"each": 3, "shared": 4}),
        "lift": Part("lift offset", vec, -0.1, 0.2, forms={"each": 3, "shared": 4}),
    }
    r = record(g, "Grade ColorGrade Look", parts, 0.5, shared=True)
    return g.let("graded look_c", fn("cw_mul", r["gain"], q) + r["lift"])


@idiom
def color_transform(k: KernelBuilder, level: int) -> Title:
    """Pixels through a colour matrix, between curves, graded, masked."""
    shape, vec = k.draw.shape, Vec(3, k.draw.wide_float_type())
    g = place(k, "i tid px", list=2, grid=5, cube=1)
    merged = level >= 3 and shape.chance(0.35)
    c, source = _merged(g, vec) if merged else (_pixel(g, vec), "")
    done = f"For {source or g.told(c)}"
    used: Expr = c
    if level >= 3 and not merged and shape.chance(0.5):
        used, text = _curved(g, "linear lin", c, _LINEAR)
        done += f", and linear each v of it sent to {text}"
    m, text, names = _matrix(g, vec)
    way = shape.choice(("plain", "offset", "exposed") if level >= 2 else ("plain", "offset"))
    value = m * used
    if way == "offset":
        value = value + g.given("bias black", vec, -0.2, 0.3)
    elif way == "exposed":
        value = g.given("exposure gain_c", vec.scalar, 0.5, 2.0) * value
    q = g.let("q out_c", value)
    done += f", {g.told(q)}; {text}."
    q, text = _finished(g, c, q, level)
    done += text
    if level >= 4 and shape.chance(0.6):
        done += _nearest(g, q, vec)
    done += g.gets("converted out_image result", q)
    done += _more(g, c, q, (shape.integer(0, 1), 1, 1, 2, 3)[level - 1])
    return Title(k.name(names), done)


def _finished(g: Place, c: Var, q: Var, level: int) -> tuple[Var, str]:
    """Graded, sent through a curve, and kept or mixed with the pixel where a mask says so."""
    shape, vec = g.shape, q.type
    done = ""
    assert isinstance(vec, Vec)
    if level >= 4 or (level >= 2 and shape.chance(0.3)):
        q = _graded(g, q, vec)
        done += f" Then {g.told(q)}."
    if level >= 3 and (level >= 5 or shape.chance(0.5)):
        name = g.tell(q)
        q, text = _curved(g, "toned display", q, _DISPLAY)
        done += f" toned is {name}, each v of it sent to {text}."
    if level >= 2 and shape.chance(0.4):
        if shape.chance(0.5):
            there = flag(g, "keep untouched")
            value = where(there.value, c, q)
            done += f" kept is {g.tell(q)}, but c where {there.on}."
            return g.let("kept masked_c", value), done
        q = g.let(
            "mixed mixed_c over", fn("lerp", c, q, g.read("alpha matte", vec.scalar, 0.0, 1.0))
        )
        done += f" {g.told(q)}."
    return q, done


def _more(g: Place, c: Var, q: Var, count: int) -> str:
    """Further results."""
    norms = {
        "size": (
            "sizes norm1",
            lambda: fn("norm_l1", q),
            f"the sum of |v| over the v of {g.tell(q)}",
        )
    }
    d = q - c
    return g.offer(
        count,
        luma=("luma brightness", lambda: 0.2126 * q[0] + 0.7152 * q[1] + 0.0722 * q[2]),
        spread=("chroma spread", lambda: fn("max_element", q) - fn("min_element", q)),
        difference=("changes delta_e", lambda: fn("length_sq", d)),
        opponent=("opponent red_green", lambda: q[0] - q[1]),
        channel=("dominant channel", lambda: fn("argmax", q)),
        **(norms if scalar_of(q.type) == FLOAT32 else {}),
    )


def _nearest(g: Place, q: Expr, vec: Vec) -> str:
    """The nearest colour of a palette, by a weighted or plain distance."""
    k = g.k
    count = k.trip_count("palette_size num_colors", k.size("c", 3, 5))
    palette = k.array("palette swatches", vec, "c", low=0.0, high=1.0)
    weights = k.scalar("channel_weights eye", vec, 0.3, 1.2) if g.chance(0.5) else None
    best = k.let("best chosen", k.lift(0, INT32))
    lowest = k.let("least best_d", k.lift(1000.0, vec.scalar))
    with k.for_("entry q_id", count) as entry:
        d = g.let("d d_p diff", q - palette[entry])
        value = dot(d, d) if weights is None else dot(weights, fn("cw_mul", d, d))
        size = k.let("size_p dist", value)
        with k.if_(size < lowest):
            k.assign(lowest, size)
            k.assign(best, entry)
    text = (
        f"the first entry p of {palette.name} with the least {g.tell(value)}, d = {g.tell(q)} - p"
    )
    done = g.gets("indices palette_ids", best, text)
    if g.chance(0.5):
        done = f"{done[:-1]}; {g.put('quantization palette_error', lowest).name} gets that."
    return done
