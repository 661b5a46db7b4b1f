"""Colours by 3 x 3 matrices: spaces, white balance, saturation, tone, grading."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, cast, field, fn, make
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper
from generators.matrix.small.extras import Extra, extras, flagged
from generators.matrix.small.grid import Grid, Names, grid, say
from generators.matrix.small.palette import merged_exposures, nearest_in_palette
from generators.program import ir
from generators.program.dtypes import FLOAT32, INT32, Mat, Scalar, Type, Vec
from generators.program.expr import Expr, Var, literal


def curve(k: KernelBuilder, g: Grid, scalar: Scalar, before: bool) -> tuple[str, str]:
    """A transfer curve as a helper; its name and text."""
    after = ("gamma", "reinhard", "log", "srgb")
    way = k.draw.shape.choice(("srgb_in", "square", "gamma_in") if before else after)
    if way == "srgb":

        def encode(_: BodyBuilder, v: Expr) -> Expr:
            return 1.055 * fn("pow", fn("abs", v) + 0.001, 0.4167) - 0.055

        name = helper(k, ("encode", "to_srgb"), (("v", scalar),), encode)
        return name, "1.055 * (|v| + 0.001)^0.4167 - 0.055"
    if way == "srgb_in":

        def decode(_: BodyBuilder, v: Expr) -> Expr:
            curved = fn("pow", (v + 0.055) / 1.055, 2.4)
            return fn("where", v < 0.0405, v / 12.92, curved)

        name = helper(k, ("decode", "to_linear"), (("v", scalar),), decode)
        return name, "v / 12.92 if v < 0.0405 else ((v + 0.055) / 1.055)^2.4"
    if way == "reinhard":
        name = helper(
            k, ("tone", "compress"), (("v", scalar),), lambda _, v: v / (1.0 + fn("abs", v))
        )
        return name, "v / (1 + |v|)"
    if way == "log":
        name = helper(
            k, ("encode", "to_log"), (("v", scalar),), lambda _, v: fn("log2", fn("abs", v) + 0.05)
        )
        return name, "log2(|v| + 0.05)"
    if way == "square":
        name = helper(k, ("decode", "expand"), (("v", scalar),), lambda _, v: v * v)
        return name, "v * v"
    power = 2.2 if way == "gamma_in" else 0.4545
    name = helper(
        k,
        ("gamma", "gamma_curve"),
        (("v", scalar),),
        lambda _, v: fn("pow", fn("abs", v) + 0.001, k.lift(power, scalar)),
    )
    return name, f"(|v| + 0.001)^{power}"


def each(k: KernelBuilder, name: str, v: Expr, vec: Vec, names: Names) -> Var:
    return k.let(names, make(vec, *(k.call(name, v[c]) for c in range(3))))


SPACES: dict[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "xyz": (
        ("rgb_to_xyz", "to_xyz"),
        ("0.4124", "0.3576", "0.1805", "0.2126", "0.7152", "0.0722", "0.0193", "0.1192", "0.9505"),
        "the sRGB primaries to XYZ",
    ),
    "yuv": (
        ("rgb_to_yuv", "to_yuv"),
        ("0.299", "0.587", "0.114", "-0.147", "-0.289", "0.436", "0.615", "-0.515", "-0.1"),
        "RGB to YUV",
    ),
    "ycbcr": (
        ("rgb_to_ycbcr", "to_ycbcr"),
        ("0.299", "0.587", "0.114", "-0.169", "-0.331", "0.5", "0.5", "-0.419", "-0.081"),
        "RGB to YCbCr",
    ),
    "lms": (
        ("rgb_to_lms", "to_lms"),
        ("0.4122", "0.5363", "0.0514", "0.2119", "0.6807", "0.1074", "0.0883", "0.2817", "0.63"),
        "linear RGB to the cone responses of Oklab",
    ),
    "sepia": (
        ("sepia", "sepia_tone"),
        ("0.393", "0.769", "0.189", "0.349", "0.686", "0.168", "0.272", "0.534", "0.131"),
        "sepia tones",
    ),
    "yiq": (
        ("rgb_to_yiq", "to_yiq"),
        ("0.299", "0.587", "0.114", "0.596", "-0.274", "-0.322", "0.211", "-0.523", "0.312"),
        "RGB to YIQ",
    ),
}
LUMA = {"709": (0.2126, 0.7152, 0.0722), "601": (0.299, 0.587, 0.114), "p3": (0.229, 0.692, 0.079)}


def _pixel(k: KernelBuilder, g: Grid, vec: Vec, level: int) -> tuple[Var, str]:
    """The colour: of floats, of bytes, or out of planes."""
    way = k.draw.shape.choice(("vector", "vector", "bytes", "planes"))
    name = ("c", "rgb", "pixel")
    if way == "bytes":
        byte = k.draw.shape.choice((Scalar("uint8"), Scalar("uint16"), INT32))
        source = g.array(("pixels", "image", "frame"), Vec(3, byte), 0, 255)
        raw = k.let(("raw", "b"), source[g.index])
        parts = (cast(raw[c], vec.scalar) for c in range(3))
        c = k.let(name, make(vec, *parts) / 255.0)
        return c, f"c = {source.name} / 255"
    if way == "planes":
        planes = [
            g.array((f"{side}_plane", f"{side}s"), vec.scalar, 0.0, 1.0)
            for side in ("red", "green", "blue")
        ]
        c = k.let(name, make(vec, *(plane[g.index] for plane in planes)))
        return c, f"c = ({', '.join(plane.name for plane in planes)})"
    source = g.array(("pixels", "image", "colors", "frame"), vec, 0.0, 1.0)
    return k.let(name, source[g.index]), f"c = {source.name}"


def _matrix(k: KernelBuilder, g: Grid, vec: Vec, level: int) -> tuple[Expr, str, Names]:
    """A standard matrix written out, a given one, saturation about luma, or a hue turn."""
    scalar = vec.scalar
    mat = Mat(3, 3, scalar)
    way = k.draw.shape.choice(("standard", "standard", "given", "saturation", "camera"))
    if way == "standard":
        names, numbers, text = SPACES[k.draw.shape.choice(sorted(SPACES))]
        rows = ", ".join(f"({', '.join(numbers[r : r + 3])})" for r in (0, 3, 6))
        value: Expr = make(mat, *(literal(number, scalar) for number in numbers))
        return k.let(("m", "mix", "basis"), value), f"M = ({rows}), {text}", names
    names = ("grade_colors", "color_matrix", "apply_ccm")
    if way == "saturation":
        weights = LUMA[k.draw.shape.choice(sorted(LUMA))]
        amount = g.supply(("saturation", "vibrance"), ("saturations",), scalar, 0.3, 1.8, False)
        luma = k.let(("luma_w", "weights_l"), make(vec, *(literal(w, scalar) for w in weights)))
        ones = make(vec, literal(1, scalar))
        gray = k.let(("gray_m", "flat"), fn("outer", ones, luma))
        eye = fn("diag", ones)
        value = amount * eye + (1.0 - amount) * gray
        text = f"M = s I + (1 - s) outer((1, 1, 1), {weights}), s = {say(amount)}"
        return k.let(("m", "sat_m"), value), text, ("adjust_saturation", "saturate")
    source = g.supply(("ccm", "mixing"), ("ccms", "profiles"), mat, -0.3, 1.0)
    if way == "camera":
        gains = g.supply(("gains", "white_balance"), ("gains", "balances"), vec, 0.6, 1.6)
        value = source * fn("diag", gains)
        return k.let(("m", "wb_m"), value), f"M = {say(source)} * diag({say(gains)})", names
    m = source if isinstance(source, Var) else k.let(("m", "mix"), source)
    return m, f"M = {say(source)}", names


def _graded(k: KernelBuilder, g: Grid, q: Var, vec: Vec) -> tuple[Var, str]:
    """Lift, gamma-free gain and offset of a grading, in a struct or one by one."""
    bounds = {"gain": ("0.6", "1.5"), "lift": ("-0.1", "0.2")}
    if k.draw.shape.chance(0.5):
        inits = [ir.FieldInit(name, vec, "uniform", *bounds[name]) for name in bounds]
        fields: tuple[tuple[str, Type], ...] = tuple((f.name, f.type) for f in inits)
        struct = k.struct(k.name("Grade", "ColorGrade", "Look"), *fields)
        grade = k.scalar(("grade", "look"), struct, fields=inits)
        gain: Expr = field(grade, "gain")
        lift: Expr = field(grade, "lift")
        text = f"{grade.name}.gain by components, plus {grade.name}.lift"
    else:
        gain = g.supply(("gain", "slope"), ("gain_map",), vec, 0.6, 1.5)
        lift = g.supply(("lift", "offset"), ("lift_map",), vec, -0.1, 0.2)
        text = f"{say(gain)} by components, plus {say(lift)}"
    graded = k.let(("graded", "look_c"), fn("cw_mul", gain, q) + lift)
    return graded, f" Then q times {text}."


@idiom
def color_transform(k: KernelBuilder, level: int) -> Title:
    """Pixels through a colour matrix, between curves, graded, masked."""
    shape = k.draw.shape
    scalar = k.draw.wide_float_type()
    vec = Vec(3, scalar)
    g = grid(k, {1: 2, 2: 5, 3: 1}, "i", "tid", "px")
    merged = level >= 3 and shape.chance(0.35)
    if merged:
        c, source = merged_exposures(k, g, vec)
    else:
        c, source = _pixel(k, g, vec, level)
    done = f"For {source}"
    used: Expr = c
    if level >= 3 and not merged and shape.chance(0.5):
        name, text = curve(k, g, scalar, before=True)
        used = each(k, name, c, vec, ("linear", "lin"))
        done += f", each v of it sent to {text},"
    m, text, names = _matrix(k, g, vec, level)
    way = shape.choice(("plain", "offset", "exposed") if level >= 2 else ("plain", "offset"))
    if way == "offset":
        offset = g.supply(("bias", "black"), ("biases", "blacks"), vec, -0.2, 0.3)
        q = k.let(("q", "out_c"), m * used + offset)
        done += f" q = M * c + {say(offset)} with {text}."
    elif way == "exposed":
        stops = g.supply(("exposure", "gain_c"), ("exposures",), scalar, 0.5, 2.0)
        q = k.let(("q", "out_c"), stops * (m * used))
        done += f" q = {say(stops)} * M * c with {text}."
    else:
        q = k.let(("q", "out_c"), m * used)
        done += f" q = M * c with {text}."
    if level >= 4 or (level >= 2 and shape.chance(0.3)):
        q, text = _graded(k, g, q, vec)
        done += text
    if level >= 3 and (level >= 5 or shape.chance(0.5)):
        name, text = curve(k, g, scalar, before=False)
        q = each(k, name, q, vec, ("toned", "display"))
        done += f" Each v of q is sent to {text}."
    if level >= 2 and shape.chance(0.4):
        q, text = _kept(k, g, c, q, scalar)
        done += text
    if level >= 4 and shape.chance(0.6):
        done += nearest_in_palette(k, g, q, vec)
    target = g.write(("converted", "out_image", "result"), q)
    done += f" {target.name} gets q."
    done += extras(g, _menu(k, g, c, q, scalar), (shape.integer(0, 1), 1, 1, 2, 3)[level - 1])
    return Title(k.name(*names), done)


def _kept(k: KernelBuilder, g: Grid, c: Var, q: Var, scalar: Scalar) -> tuple[Var, str]:
    """Where a mask says so the pixel stays, or is mixed by an alpha."""
    if k.draw.shape.chance(0.5):
        there, text = flagged(g, ("keep", "untouched"))
        kept = k.let(("kept", "masked_c"), fn("where", there, c, q))
        return kept, f" Where {text}, q is c."
    alpha = g.array(("alpha", "matte"), scalar, 0.0, 1.0)
    mixed = k.let(("mixed_c", "over"), fn("lerp", c, q, alpha[g.index]))
    return mixed, f" q is then c + {alpha.name} * (q - c)."


def _menu(k: KernelBuilder, g: Grid, c: Var, q: Var, scalar: Scalar) -> dict[str, Extra]:
    def luma() -> Expr:
        return 0.2126 * q[0] + 0.7152 * q[1] + 0.0722 * q[2]

    def spread() -> Expr:
        return fn("max_element", q) - fn("min_element", q)

    def difference() -> Expr:
        d = k.let(("d", "delta"), q - c)
        return fn("dot", d, d)

    menu = {
        "luma": Extra(("luma", "brightness"), luma, "0.2126 q[0] + 0.7152 q[1] + 0.0722 q[2]"),
        "spread": Extra(
            ("chroma", "spread"), spread, "the greatest less the smallest component of q"
        ),
        "difference": Extra(("changes", "delta_e"), difference, "the squared length of q - c"),
        "opponent": Extra(("opponent", "red_green"), lambda: q[0] - q[1], "q[0] - q[1]"),
        "channel": Extra(
            ("dominant", "channel"), lambda: fn("argmax", q), "the index of the greatest of q"
        ),
    }
    if scalar == FLOAT32:
        menu["size"] = Extra(("sizes", "norm1"), lambda: fn("norm_l1", q), "the sum of |q|")
    return menu
