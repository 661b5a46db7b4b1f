"""Features of images: thinned edges, corners, flow, and shapes of binary masks."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, make
from generators.build.draw import Stream
from generators.build.registry import Title, idiom
from generators.kit.functions import least, most, sqrt, where
from generators.kit.naming import maybe
from generators.kit.sources import setting
from generators.kit.words import say
from generators.math.images.pixels import Image, pixel_type
from generators.program.dtypes import INT32, Scalar, Vec
from generators.program.expr import Expr, Var, op


@idiom
def non_maximum_suppression(k: KernelBuilder, level: int) -> Title:
    """Edges thinned as Canny does: kept where the magnitude is a ridge across the gradient."""
    shape = k.draw.shape
    image = Image(k, level, {"skip": 4, "padded": 3}, size=(12, 16))
    type_ = pixel_type(k)
    magnitude = image.array("mag magnitude strength", type_, around=True)
    out, here, a, b, said = _ridge(k, image, type_, magnitude)
    strictly = shape.chance(0.5)
    test = op("and", here >= a, here > b) if strictly else op("and", here > a, here >= b)
    limit = None
    if shape.chance(0.2):
        limit = k.scalar("threshold t_low", type_, 0.8, 0.9)
        test = op("and", test, here > limit)
    if shape.chance(0.5):
        k.store(out, image.at, where(test, here, 0.0))
        done = f"{out.name} gets {magnitude.name} there, else 0"
    else:
        kept = k.let("kept value", k.lift(0.0, type_))
        with k.if_(test):
            k.assign(kept, here)
        k.store(out, image.at, kept)
        done = f"{out.name} gets {magnitude.name} there, else 0"
    strict = "at least the first and above the second"
    if not strictly:
        strict = "above the first and at least the second"
    text = f"Non-maximum suppression of {magnitude.name}, as in Canny's edge detector: a pixel is "
    text += "kept where it is "
    text += f"above {limit.name} and " if limit is not None else ""
    text += f"{strict} of {said}"
    text += f". {done}.{image.said('get 0', magnitude.name)}"
    return Title(k.name("non_maximum_suppression thin_edges", "canny_nms"), text)


def _ridge(
    k: KernelBuilder, image: Image, type_: Scalar, magnitude: Var
) -> tuple[Var, Var, Expr, Expr, str]:
    """The output, the magnitude here and on both sides across the gradient, and which these are."""
    shape = k.draw.shape
    way = shape.choice(("sectors", "gradient", "interpolated"))
    codes = gx = gy = None
    if way == "sectors":
        codes = image.array("sector direction_bin", INT32, 0, 3)
    elif way in ("gradient", "interpolated"):
        gx, gy = (image.array(f"g{a} grad_{a}", type_, -1.0, 1.0) for a in "xy")
    out = image.out("edges thin ridges", type_)
    image.skip([(out, k.lift(0.0, type_))])
    here = k.let("m center here", image.near(magnitude, 0, 0))
    if codes is not None:
        a, b, said = _by_sector(k, image, magnitude, codes)
    else:
        assert gx is not None
        assert gy is not None
        a, b, said = _across(k, image, magnitude, gx, gy, way == "interpolated")
    return out, here, a, b, said


def _by_sector(k: KernelBuilder, image: Image, mag: Var, codes: Var) -> tuple[Expr, Expr, str]:
    """Both neighbours across one of four directions."""
    code = k.let("code sector_id", codes[image.at])
    a = k.let("ahead", image.near(mag, 0, 1))
    b = k.let("behind", image.near(mag, 0, -1))
    steps = ((1, 1), (1, 0), (1, -1))
    for n, (dy, dx) in enumerate(steps, 1):
        block = k.if_ if n == 1 else k.elif_
        near, far = image.near(mag, dy, dx), image.near(mag, -dy, -dx)
        with block(op("eq", code, k.lift(n, INT32))):
            k.assign(a, near)
            k.assign(b, far)
    return (
        a,
        b,
        (
            f"its two neighbours in the direction {codes.name} (0: right and left, 1: lower right "
            "and upper left, 2: below and above, 3: lower left and upper right)"
        ),
    )


def _across(
    k: KernelBuilder, image: Image, mag: Var, gx: Var, gy: Var, between: bool
) -> tuple[Expr, Expr, str]:
    """Neighbours along the larger component of the gradient, or values between them."""
    dx, dy = k.let("dx", gx[image.at]), k.let("dy", gy[image.at])
    flat = k.let("along_x mostly_x", abs(dx) >= abs(dy))
    left, right = image.near(mag, 0, -1), image.near(mag, 0, 1)
    up, down = image.near(mag, -1, 0), image.near(mag, 1, 0)
    if not between:
        a = k.let("ahead", where(flat, right, down))
        b = k.let("behind", where(flat, left, up))
        return (
            a,
            b,
            f"its right and left neighbours where |{gx.name}| is at least |{gy.name}|, else those "
            "below and above",
        )
    same = k.let("same_sign", dx * dy >= 0.0)
    falling, rising = image.near(mag, 1, 1), image.near(mag, 1, -1)
    back_falling, back_rising = image.near(mag, -1, -1), image.near(mag, -1, 1)
    ahead = where(same, falling, where(flat, back_rising, rising))
    behind = where(same, back_falling, where(flat, rising, back_rising))
    far_a, far_b = k.let("corner_ahead", ahead), k.let("corner_behind", behind)
    small, large = least(abs(dx), abs(dy)), most(abs(dx), abs(dy))
    w = k.let("w share", small / (large + 1.0e-6))
    a = k.let("ahead", w * far_a + (1.0 - w) * where(flat, right, down))
    b = k.let("behind", w * far_b + (1.0 - w) * where(flat, left, up))
    said = f"the values ahead and behind along the gradient ({gx.name}, {gy.name}), interpolated "
    said += "between the neighbour along its larger component and the diagonal one, which has the "
    said += "share smaller / (larger + 1e-6); ahead is right, or below where |gy| is larger"
    said = said.replace("|gy|", f"|{gy.name}|")
    return a, b, said


@idiom
def corner_response(k: KernelBuilder, level: int) -> Title:
    """Corner measures of a structure tensor: Harris, Shi and Tomasi, Noble; summed or given."""
    shape = k.draw.shape
    summed = level > 2 or shape.chance(0.4)
    return _corner_response_stored(k, level, summed, shape)


def _corner_response_stored(k: KernelBuilder, level: int, summed: bool, shape: Stream) -> Title:
    """Store the result; what the kernel is called, and what it does in words."""
    image = Image(k, level, {"clamp": 3, "padded": 2, "skip": 3} if summed else {"clamp": 1})
    k.half_inputs = k.half_inputs and summed
    type_ = pixel_type(k)
    measure = shape.choice(("harris", "noble", "shi_tomasi", "triggs"))
    out = image.out("response corners cornerness", type_)
    if summed:
        gx, gy = (image.array(f"i{a} grad_{a}", type_, -1.0, 1.0, around=True) for a in "xy")
        image.skip([(out, k.lift(0.0, type_))])
        way = shape.choice(tuple(_WEIGHTED))
        sums, table = _tensor_sum(k, image, gx, gy, way)
        text = f"of the gradient ({gx.name}, {gy.name}), summed over the 3 x 3 pixels around each"
        text += _WEIGHTED[way].format(table, *image.steps)
        padded = f"Each of {gx.name} and {gy.name}"
    else:
        names = k.draw.word.choice((("sxx", "syy", "sxy"), ("a_xx", "a_yy", "a_xy")))
        arrays = [
            image.array(n, type_, *b)
            for n, b in zip(names, ((0.2, 2.0), (0.2, 2.0), (-0.5, 0.5)), strict=True)
        ]
        sums = [
            k.let(n, array[image.at]) for n, array in zip(("xx", "yy", "xy"), arrays, strict=True)
        ]
        xx, yy, xy = (array.name for array in arrays)
        text = f"with {xx} and {yy} on the diagonal and {xy} off it"
        padded = ""
    value, said = _measure(k, level, sums, measure)
    value = maybe(k, "score r", value, 0.4)
    k.store(out, image.at, value)
    told = f"{said} of the structure tensor {text}. {out.name} gets it."
    told += image.said("get 0", padded) if summed else ""
    return Title(k.name(f"{measure}_response corner_response", "corner_strength"), told)


_WEIGHTED = {
    "scalars": "",
    "vector": "",
    "weighted": ", with the weight (2 - |{1}|) * (2 - |{2}|) {1} rows and {2} columns away",
    "table": ", with the weights {}",
}


"""How the pixels of a window count, and what a description says of that."""


def _tensor_sum(
    k: KernelBuilder, image: Image, gx: Var, gy: Var, way: str
) -> tuple[list[Expr], str]:
    """Sums of products of the gradient over the window: by a loop, or of a vector."""
    type_ = gx[image.at].type
    zero = k.lift(0.0, type_)
    vec = Vec(3, type_)  # type: ignore[arg-type]
    if way == "table":
        table = k.array("window weights_3x3", type_, ("3", "3"), low=0.1, high=1.0)
    if way == "vector":
        total = k.let("tensor acc s", make(vec, zero))
    else:
        parts = [k.let(n, zero) for n in (("sxx", "syy", "sxy"))]
    (row_step, column_step), beside = image.steps, image.around()
    with k.for_(row_step, 2, start=-1) as dy, k.for_(column_step, 2, start=-1) as dx:
        row, column = image.stepped(0, dy), image.stepped(1, dx)
        if image.border != "skip":
            row, column = k.let(beside[0], row), k.let(beside[1], column)
        place = image.place(row, column)
        called = [f"{gx.name}_q", f"{gy.name}_q"]
        a, b = k.let(called[0], gx[place]), k.let(called[1], gy[place])
        if way == "vector":
            k.augment(total, "add", make(vec, a * a, b * b, a * b))
        else:
            weight = None
            if way == "weighted":
                weight = k.let("w weight", cast((2 - abs(dy)) * (2 - abs(dx)), type_))  # type: ignore[arg-type]
            elif way == "table":
                weight = k.let("w weight", table[dy + 1, dx + 1])
            for part, value in zip(parts, (a * a, b * b, a * b), strict=True):
                k.augment(part, "add", value if weight is None else weight * value)
    if way == "vector":
        return [total[n] for n in range(3)], ""
    return list(parts), table.name if way == "table" else ""


def _measure(k: KernelBuilder, level: int, sums: list[Expr], measure: str) -> tuple[Expr, str]:
    """A measure of a tensor with the entries a, c on the diagonal and b beside it."""
    a, c, b = sums
    if measure in ("harris", "noble"):
        trace, det = k.let("trace tr", a + c), k.let("det determinant", a * c - b * b)
    if measure == "harris":
        alpha = setting(k, "alpha k_harris", trace.type, 0.04, 0.06)  # type: ignore[arg-type]
        return (
            det - alpha * trace * trace,
            f"Harris' corner response, determinant - {say(k, alpha)} * trace^2,",
        )
    if measure == "noble":
        eps = k.scalar("eps", trace.type, 0.01, 0.1)
        said = f"Noble's corner response, 2 * determinant / (trace + {eps.name}),"
        return 2.0 * det / (trace + eps), said
    trace = k.let("trace tr", a + c)
    half = maybe(k, "half_trace mid", 0.5 * trace)
    half_gap = k.let("half_gap half_diff", 0.5 * (a - c))
    root = k.let("root radius", sqrt(half_gap * half_gap + b * b))
    if measure == "shi_tomasi":
        return half - root, "Shi and Tomasi's corner response, the smaller eigenvalue,"
    small, large = half - root, half + root
    alpha = setting(k, "alpha k_triggs", trace.type, 0.04, 0.06)  # type: ignore[arg-type]
    said = f"Triggs' corner response, the smaller eigenvalue - {say(k, alpha)} times the larger,"
    return small - alpha * large, said
