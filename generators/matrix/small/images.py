"""Pixels: maps of the plane that move them, and colours by 3 x 3 matrices."""

from __future__ import annotations

from collections.abc import Sequence

from generators.build import BodyBuilder, KernelBuilder, cast, extent, fn, make
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula, formulas
from generators.kit.functions import clamp, dot, log2, where
from generators.kit.masks import flag
from generators.kit.naming import applied, held, helper
from generators.kit.records import Part, record
from generators.kit.sites import Names
from generators.kit.sources import zero
from generators.matrix.parts import Place, place
from generators.program.dtypes import FLOAT32, INT32, Mat, Scalar, Vec, scalar_of
from generators.program.expr import Expr, Var, literal


@idiom(depth=1)
def plane_map(k: KernelBuilder, level: int) -> Title:
    """Homographies and affine maps of points in the plane, and of pixel places."""
    shape = k.draw.shape
    vec = Vec(2, k.draw.wide_float_type())
    pixel = shape.chance(0.4)
    g = place(k, "i tid pt_id", **({"grid": 1} if pixel else {}))
    points = _spot(g, vec) if pixel else g.read("points corners coords", vec, 0.0, 1.0)
    p = g.let("p xy", points)
    way = shape.choice(("homography", "affine", "linear", "linear"))
    linear: list[Expr] = []
    q, text = _MAPS[way](g, p, level, linear)
    kind = {"homography": "a homography", "affine": "an affine map"}.get(way, "an affine map")
    done = f"Apply {kind} to points in the plane: with {g.told(p)}, {text}."
    done += g.gets("mapped warped", q)
    if level >= 3:
        done += _sampled(g, q) if shape.chance(0.6) else _back(g, q)
    if level >= 4 and linear:
        done += _voted(g, *linear)
    done += g.offer(
        (shape.integer(0, 1), 1, 1, 2, 2)[level - 1],
        shift=("displacements motion", lambda: q - p),
    )
    return Title(
        k.name(f"warp_points {'homography' if way == 'homography' else 'affine'}_map"), done
    )


def _spot(g: Place, vec: Vec) -> Expr:
    """The place of a pixel in units of its spacing."""
    y, x = g.at
    step = g.k.scalar("spacing pixel_size", vec.scalar, 0.1, 0.3)
    fx, fy = g.part("fx u", cast(x, vec.scalar)), g.part("fy v", cast(y, vec.scalar))
    return make(vec, step * fx, step * fy)


def _lifted(p: Expr) -> Expr:
    """A point with 1 as its third coordinate."""
    scalar = scalar_of(p.type)
    return make(Vec(3, scalar), p[0], p[1], literal(1, scalar))


def _affine(g: Place, p: Expr, level: int, linear: list[Expr]) -> tuple[Expr, str]:
    """By a 2 x 3 matrix, or its entries."""
    a = held(g.k, "a m", g.one("affine affine_mat", Mat(2, 3, scalar_of(p.type)), -1.0, 1.0))
    value: Expr = a * _lifted(p)
    text = f"q = {g.tell(value)}"
    if g.chance(0.5):
        rows = [a[r, 0] * p[0] + a[r, 1] * p[1] + a[r, 2] for r in range(2)]
        value = make(p.type, *rows)
    return g.let("q moved", value), text


def _linear(g: Place, p: Expr, level: int, linear: list[Expr]) -> tuple[Expr, str]:
    """By a 2 x 2 matrix, which is kept in ``linear`` with the shift."""
    lin = g.one("linear lin_mat", Mat(2, 2, scalar_of(p.type)), -1.2, 1.2)
    shift = g.one("shift offset", p.type, -1.0, 1.0)
    lin, shift = held(g.k, "lin l_mat", lin), held(g.k, "t move", shift)
    linear += [lin, shift]
    if level < 4 and g.chance(0.4):
        center = g.one("center anchor", p.type, -0.5, 0.5)
        q = g.let("q moved", lin * (p - center) + center + shift)
    else:
        q = g.let("q moved", lin * p + shift)
    return q, g.told(q)


def _homography(g: Place, p: Expr, level: int, linear: list[Expr]) -> tuple[Expr, str]:
    """Points lie where all entries are positive, so that none goes to infinity."""
    k, scalar = g.k, scalar_of(p.type)
    h = g.one("homography h_mat", Mat(3, 3, scalar), 0.2, 1.0)

    def apply(body: BodyBuilder, m: Expr, at: Expr) -> Expr:
        hom = body.let("hom w3", m * _lifted(at))
        if body.draw.shape.chance(0.5):
            inv = body.let("inv_w iw", 1.0 / hom[2])
            return make(at.type, hom[0] * inv, hom[1] * inv)
        return make(at.type, hom[0] / hom[2], hom[1] / hom[2])

    text = f"w = {g.tell(h)} * (p[0], p[1], 1) and q = (w[0] / w[2], w[1] / w[2])"
    value = applied(k, 0.6 * (level >= 2), "apply_homography warp_point", {"m": h, "at": p}, apply)
    return g.let("q moved", value), text


_MAPS = {"homography": _homography, "affine": _affine, "linear": _linear}


def _sampled(g: Place, q: Expr) -> str:
    """Read an image at the place it maps to: nearest pixel, held inside."""
    k, scalar = g.k, scalar_of(q.type)
    dims = (k.size("r", 5, 7), k.size("s", 5, 7))
    image = k.array("image texture atlas", scalar, dims, low=-1.0, high=1.0)
    wide, high = (cast(extent(image, axis), scalar) for axis in (1, 0))
    px = k.let("px col_at", cast(fn("floor", q[0] * wide), INT32))
    py = k.let("py row_at", cast(fn("floor", q[1] * high), INT32))
    px = k.let("cx ux", clamp(px, 0, extent(image, 1) - 1))
    py = k.let("cy uy", clamp(py, 0, extent(image, 0) - 1))
    text = f"{image.name} at row floor(q[1] * its rows) and column floor(q[0] * its columns), each"
    text += " clamped to the image"
    return g.gets("sampled colors", image[py, px], text)


def _back(g: Place, q: Expr) -> str:
    """Distance to a place it should reach, with a weight."""
    goal = g.read("goals matches", q.type, -1.0, 1.0)
    e = g.let("e gap", q - goal)
    weight = g.read("weights confidence", scalar_of(q.type), 0.2, 1.0)
    size = dot(e, e) if g.chance(0.5) else g.part("size_e dist", fn("length", e))
    return g.gets("costs losses", weight * size, f"{g.tell(weight * size)}, {g.told(e)}")


def _voted(g: Place, linear: Expr, shift: Expr) -> str:
    """Matches that a linear map explains: how many, and how well."""
    k, vec = g.k, shift.type
    count = k.trip_count("num_matches match_count", k.size("m", 3, 5))
    sources = k.array("match_src sources", vec, "m", low=-1.0, high=1.0)
    goals = k.array("match_dst destinations", vec, "m", low=-1.0, high=1.0)
    limit = g.one("inlier_sq threshold", scalar_of(vec), 0.5, 2.5)
    inliers = k.let("inliers votes", k.lift(0, INT32))
    cost = k.let("cost msac", zero(scalar_of(vec)))
    with k.for_("match q_m", count) as j:
        e = k.let("e_m off", linear * sources[j] + shift - goals[j])
        err = k.let("err sq_m", dot(e, e))
        with k.if_(err < limit):
            k.augment(inliers, "add", 1)
            k.augment(cost, "add", err)
        with k.else_():
            k.augment(cost, "add", limit)
    first, second = g.put("votes_out support", inliers), g.put("msac_costs fit_cost", cost)
    return (
        f" Over the matches, with e = the same map of {sources.name} minus {goals.name}:"
        f" {first.name} gets how often dot(e, e) < {g.tell(limit)}, {second.name} the sum of"
        f" min(dot(e, e), {g.tell(limit)})."
    )


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
_ABOUT = {"lms": "the cone responses of Oklab", "sepia": "sepia tones", "ycbcr": "YCbCr"}
_LUMA = ("0.2126 0.7152 0.0722", "0.299 0.587 0.114", "0.229 0.692 0.079")


def _numbers(type_: Mat | Vec, text: str) -> Expr:
    """A matrix or vector of numbers that are in the text."""
    return make(type_, *(literal(number, type_.scalar) for number in text.split()))


def _pixel(g: Place, vec: Vec, linear: bool) -> Var:
    """The colour: of floats, of bytes where it is not linear light, or out of planes."""
    way = g.shape.choice(("vector", "vector", "vector" if linear else "bytes", "planes"))
    value: Expr
    if way == "bytes":
        raw = g.k.let("raw b", g.read("pixels image frame", Vec(3, Scalar("uint8")), 0, 255))
        value = make(vec, *(cast(raw[c], vec.scalar) for c in range(3))) / 255.0
        return g.let("c rgb pixel", value)
    if way == "planes":
        end = g.k.draw.word.choice(("_plane", "s"))
        sides = (f"{side}{end}" for side in ("red", "green", "blue"))
        value = make(vec, *(g.read(side, vec.scalar, 0.0, 1.0) for side in sides))
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


_LINEAR_SPACES = ("xyz", "lms")
"""Spaces that are matrices of linear light."""


def _converted(g: Place, vec: Vec, way: str, used: Expr) -> tuple[Expr, str, str]:
    """A pixel in a standard space, by a camera's matrix, or of another saturation; the text on
    what its value is made of, names of the kernel."""
    mat = Mat(3, 3, vec.scalar)
    if way in _SPACES:
        m = g.let("m rgb_mat", _numbers(mat, _SPACES[way]))
        value: Expr = m * used
        if way == "sepia":
            value = fn("min", value, make(vec, literal(1, vec.scalar)))
        return value, g.told(m), f"rgb_to_{way} to_{way} {way}_colors"
    if way == "saturation":
        luma = g.let("gray luma", dot(_numbers(vec, g.shape.choice(_LUMA)), used), "y")
        s = g.one("saturation amount", vec.scalar, 0.3, 1.8)
        gray = make(vec, luma)
        return gray + s * (used - gray), g.told(luma), "adjust_saturation saturate"
    given = g.one("ccm color_mat", mat, -0.3, 1.0)
    value = given * used
    if way == "camera":
        value = given * fn("cw_mul", g.one("gain white_balance", vec, 0.6, 1.6), used)
    return value, "", "grade_colors color_matrix apply_ccm"


def _graded(g: Place, q: Var, vec: Vec) -> Var:
    """Lift, gamma-free gain and offset of a grading, in a struct or one by one."""
    parts = {
        "gain": Part("gain slope", vec, 0.6, 1.5, forms={"each": 3, "shared": 4}),
        "lift": Part("lift offset", vec, -0.1, 0.2, forms={"each": 3, "shared": 4}),
    }
    r = record(g, "Grade ColorGrade Look", parts, 0.5, shared=True)
    return g.let("graded look_c", fn("cw_mul", r["gain"], q) + r["lift"])


@idiom(depth=1)
def color_transform(k: KernelBuilder, level: int) -> Title:
    """Pixels through a colour matrix, between curves, graded, masked."""
    shape, vec = k.draw.shape, Vec(3, FLOAT32)
    g = place(k, "i tid px", list=2, grid=5)
    merged = level >= 3 and shape.chance(0.35)
    ways = ("standard", "standard", "given", "saturation", "camera")
    how = shape.choice(ways)
    how = shape.choice(sorted(_SPACES)) if how == "standard" else how
    linear = how in _LINEAR_SPACES
    c, source = _merged(g, vec) if merged else (_pixel(g, vec, linear), "")
    done = f"for {source or g.told(c)}"
    used: Expr = c
    if level >= 3 and not merged and not linear and shape.chance(0.5):
        used, text = _curved(g, "linear lin", c, _LINEAR)
        done += f", and linear each v of it sent to {text}"
    value, text, names = _converted(g, vec, how, used)
    way = shape.choice(("plain", "offset", "exposed")) if "ccm" in names else "plain"
    if way == "offset":
        value = value + g.one("offset bias", vec, -0.2, 0.3)
    elif way == "exposed":
        value = g.one("exposure", vec.scalar, 0.5, 2.0) * value
    q = g.let("q out_c", value)
    what = {
        "saturation": "Change the saturation of pixels",
        "ccm": "Apply a colour matrix to pixels",
    }
    kind = next((what[key] for key in what if key in names), "Convert RGB pixels")
    if names.startswith("rgb_to_"):
        space = names.split()[0].removeprefix("rgb_to_")
        light = "linear " if linear else ""
        kind = f"Convert {light}RGB pixels to {_ABOUT.get(space, space.upper())}"
    done = f"{kind}: {done}, {g.told(q)}{f'; {text}' if text else ''}."
    q, text = _finished(g, c, q, level)
    done += text
    if level >= 3 and shape.chance(0.3):
        done += _nearest(g, q, vec)
    done += g.gets("converted out_image result", q)
    if "ccm" in names:
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
    if level >= 2 and shape.chance(0.2):
        if shape.chance(0.3):
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
    return g.offer(
        count,
        luma=("luminance brightness", lambda: 0.2126 * q[0] + 0.7152 * q[1] + 0.0722 * q[2]),
        spread=("chroma value_range", lambda: fn("max_element", q) - fn("min_element", q)),
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
