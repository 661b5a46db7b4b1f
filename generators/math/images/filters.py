"""Filters of images: Gaussian, bilateral and guided ones, medians, box sums of integral images."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from generators.build import KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, least, most, where
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.sources import setting
from generators.kit.words import say
from generators.math.images.pixels import Image, every, pixel_type
from generators.program.dtypes import INT32, Scalar, Type
from generators.program.expr import Expr, Operand, Var


def _radius(k: KernelBuilder, names: str = "radius half_width") -> tuple[Expr, str]:
    """How far a window reaches: a parameter or a literal."""
    if k.draw.shape.chance(0.6):
        radius: Expr = k.scalar(names, INT32, 1, 2)
    else:
        radius = k.lift(k.draw.shape.integer(1, 2), INT32)
    return radius, say(k, radius)


def _from_to(radius: Expr) -> tuple[Operand, Operand]:
    """The bounds of a loop over -radius .. radius."""
    if isinstance(radius, Var):
        return -radius, radius + 1
    number = int(str(radius.value))  # type: ignore[attr-defined]
    return -number, number + 1


@idiom(depth=3)
def gaussian_pass(k: KernelBuilder, level: int) -> Title:
    """One pass of a separable filter: Gaussian weights of a table or of their formula."""
    shape = k.draw.shape
    image = Image(k, level, {"clamp": 4, "wrap": 2, "inside": 2})
    type_ = pixel_type(k)
    src = image.array("src image img", type_)
    axis = shape.integer(0, 1)
    half, weighed, said = _blur_weights(k, type_)
    normal = half is None or image.border == "inside" or shape.chance(0.3)
    here = (image.y, image.x)[axis]
    total = k.let("acc total blurred", k.lift(0.0, type_))
    norm = k.let("norm weight_sum", k.lift(0.0, type_)) if normal else None
    called = image.around()[axis]
    with weighed() as (d, weight):
        weight = k.let("w weight", weight) if normal else weight
        at = k.let(called, _read_at(image, axis, here + d, half))
        if image.border == "inside":
            with k.if_(_inside(image, axis, at)):
                _gather(k, image, src, axis, at, weight, total, norm)
        else:
            _gather(k, image, src, axis, at, weight, total, norm)
    out = image.out("dst blurred_out smoothed", type_)
    k.store(out, image.at, total if norm is None else total / norm)
    along = "down the columns" if axis == 0 else "along the rows"
    return _gaussian_pass_title(along, said, src, normal, out, image, axis, k)


Weights = Callable[[], AbstractContextManager[tuple[Expr, Expr]]]
"""A loop over the pixels that a blur reads: how far each is away, and its weight."""


def _blur_weights(k: KernelBuilder, type_: Scalar) -> tuple[Var | None, Weights, str]:
    """The weights of a blur: half of their number, where they are a table; the loop over them, and
    what they are."""
    if k.draw.shape.chance(0.33):
        k.size("taps", 3, 5)
        taps = k.array("weights kernel taps", type_, "taps", low=0.1, high=1.0)
        count = k.size_param("num_taps kernel_size", "taps")
        half = k.let("half radius", count // 2)

        @contextmanager
        def tabled() -> Iterator[tuple[Expr, Expr]]:
            with k.for_("tap q", count) as q:
                yield k.let("d offset", q - half), taps[q]

        said = f"the pixel t - {count.name} // 2 away is weighted by {taps.name}[t], for each of "
        return half, tabled, f"{said}the {count.name} taps t"
    radius, reach = _radius(k)
    sigma = k.scalar("sigma", type_, 0.6, 1.6)
    spread = k.let("inv_2s2 falloff", 0.5 / (sigma * sigma))
    start, stop = _from_to(radius)

    @contextmanager
    def by_formula() -> Iterator[tuple[Expr, Expr]]:
        with k.for_("d offset", stop, start=start) as d:
            yield d, exp(-spread * cast(d * d, type_))

    said = f"for d from -{reach} to {reach} the pixel d away is weighted by exp(-d^2 / (2 * "
    return None, by_formula, f"{said}{sigma.name}^2))"


def _gaussian_pass_title(
    along: str,
    said: str,
    src: Var,
    normal: bool,
    out: Var,
    image: Image,
    axis: int,
    k: KernelBuilder,
) -> Title:
    """What the kernel is called, and what it does in words."""
    text = f"One pass of a separable Gaussian blur of {src.name} {along}: {said}"
    text += ", and the sum is divided by that of the weights" if normal else ""
    text += f". {out.name} gets the result.{_ends(image)}"
    names = "gaussian_rows blur_horizontal" if axis else "gaussian_columns blur_vertical"
    return Title(k.name(names), text)


def _inside(image: Image, axis: int, at: Expr) -> Expr:
    from_start = at >= 0
    return every(from_start, at < image.size(axis))


def _read_at(image: Image, axis: int, place: Expr, half: Expr | None = None) -> Expr:
    """Where a pixel is read; ``half`` of the taps, where these may be more than the image has."""
    return place if image.border == "inside" else image.within(axis, place, times=half)


def _gather(
    k: KernelBuilder,
    image: Image,
    src: Var,
    axis: int,
    at: Expr,
    weight: Expr,
    total: Var,
    norm: Var | None,
) -> None:
    place = image.place(at, image.x) if axis == 0 else image.place(image.y, at)
    k.augment(total, "add", weight * src[place])
    if norm is not None:
        k.augment(norm, "add", weight)


Reader = Callable[[Operand, Operand], Expr]


def _weigh(
    k: KernelBuilder,
    image: Image,
    src: Var,
    read: Reader,
    at: tuple[Expr, Expr],
    offset: tuple[Expr, Expr],
    center: Expr,
    factors: tuple[Expr, Expr, str, str],
    sums: tuple[Var, Var],
) -> None:
    """Add a pixel of the window with its weight."""
    dy, dx = offset
    value = k.let("value neighbor q_value", read(*at))
    diff = k.let("diff dv", value - center)
    near = cast(dy * dy + dx * dx, diff.type)  # type: ignore[arg-type]
    if k.draw.shape.chance(0.5):
        weight = exp(-(factors[0] * near + factors[1] * diff * diff))
    else:
        weight = exp(-factors[0] * near - factors[1] * diff * diff)
    weight = k.let("w weight", weight)
    pixel = src[image.place(*at)]
    k.augment(sums[0], "add", weight * (value if read(*at) == pixel else pixel))
    k.augment(sums[1], "add", weight)


@idiom
def bilateral_filter(k: KernelBuilder, level: int) -> Title:
    """Weights that fall with the distance in space and in value, perhaps of a guide image.

    C. Tomasi and R. Manduchi, ICCV 1998.
    """
    shape = k.draw.shape
    image = Image(k, level, {"clamp": 4, "inside": 3, "wrap": 1}, size=(7, 9))
    type_ = pixel_type(k)
    src = image.array("src image noisy", type_)
    joint = level > 1 and shape.chance(0.35)
    one = shape.chance(0.5) and image.layout != "batch"
    guide = image.array("guide reference depth", type_, plain=one) if joint else src
    radius, said = _radius(k)
    plain = guide is not src and len(_shape_of(k, guide)) < len(image.dims)
    read = lambda y, x: guide[(y, x) if plain else image.place(y, x)]  # noqa: E731
    center = k.let("center mid here", read(image.y, image.x))
    factors = _falloffs(k, type_)
    total, norm = (k.let(n, k.lift(0.0, type_)) for n in ("acc total", "norm weight_sum"))
    start, stop = _from_to(radius)
    (row_step, column_step), called = image.steps, image.around()
    with k.for_(row_step, stop, start=start) as dy, k.for_(column_step, stop, start=start) as dx:
        y = k.let(called[0], _read_at(image, 0, image.y + dy))
        x = k.let(called[1], _read_at(image, 1, image.x + dx))
        if image.border == "inside":
            with k.if_(every(y >= 0, y < image.size(0), x >= 0, x < image.size(1))):
                _weigh(k, image, src, read, (y, x), (dy, dx), center, factors, (total, norm))
        else:
            _weigh(k, image, src, read, (y, x), (dy, dx), center, factors, (total, norm))
    out = image.out("dst filtered denoised", type_)
    k.store(out, image.at, total / norm)
    text = f"{'Joint bilateral' if joint else 'Bilateral'} filter of {src.name} over the window of "
    text += f"{said} pixel{'s' * (said != '1')} to each side. A pixel of the window is weighted by "
    text += f"exp(-({factors[2]} + {factors[3]})), d being its distance in pixels and v its value "
    text += f"of {guide.name} less that of the center. {out.name} gets the weighted mean."
    text += _ends(image)
    return Title(k.name("bilateral_filter edge_preserving_blur", "bilateral_smooth"), text)


def _ends(image: Image) -> str:
    """What happens at the borders, as a sentence with a space before."""
    if image.border == "inside":
        return " Pixels outside the image are left out."
    return image.said("", "")


def _shape_of(k: KernelBuilder, array: Var) -> tuple[str, ...]:
    return next(p.shape for p in k.params if p.name == array.name)


def _falloffs(k: KernelBuilder, type_: Scalar) -> tuple[Expr, Expr, str, str]:
    """The factors of both squared distances, and what is subtracted with them."""
    factors = k.draw.word.choice(
        (("space_coeff", "range_coeff"), ("inv_2sigma_s2", "inv_2sigma_r2"))
    )
    if k.draw.shape.chance(0.5):
        space = setting(k, factors[0], type_, 0.1, 0.6, 0.7)
        value = setting(k, factors[1], type_, 2.0, 20.0, 0.7)
        return space, value, f"{say(k, space)} * d^2", f"{say(k, value)} * v^2"
    called = k.draw.word.choice((("sigma_space", "sigma_range"), ("sigma_s", "sigma_r")))
    ss, sr = k.scalar(called[0], type_, 0.8, 2.0), k.scalar(called[1], type_, 0.1, 0.5)
    space, value = k.let(factors[0], 0.5 / (ss * ss)), k.let(factors[1], 0.5 / (sr * sr))
    return space, value, f"d^2 / (2 * {ss.name}^2)", f"v^2 / (2 * {sr.name}^2)"


_WINDOWS = {
    "line": [(0, -1), (0, 0), (0, 1)],
    "column": [(-1, 0), (0, 0), (1, 0)],
    "cross": [(-1, 0), (0, -1), (0, 0), (0, 1), (1, 0)],
    "square": [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)],
}


@idiom
def median_filter(k: KernelBuilder, level: int) -> Title:
    """Medians of windows: of three or five by minima and maxima, of 3 x 3 by sorted columns."""
    shape = k.draw.shape
    few = 2 if level < 3 else 0
    ways = {"line": few, "cross": 3, "square": 1 + level, "column": few}
    way = shape.weighted(ways)
    borders = {"clamp": 4, "skip": 3, "padded": 2, "wrap": 1}
    image = Image(k, level, borders, reach=1)
    type_ = pixel_type(k)
    src = image.array("src image noisy", type_, around=True)
    out = image.out("dst median denoised", type_)
    middle = image.near(src, 0, 0)
    image.skip([(out, middle)])
    window = _WINDOWS[way]
    value = (
        _by_columns(k, level, image, src)
        if way == "square"
        else _of_few(k, level, image, src, window)
    )
    strict = level > 1 and shape.chance(0.3)
    limit = k.scalar("threshold limit", type_, 0.1, 0.4) if strict else None
    what = {
        "line": "row of three pixels",
        "column": "column of three pixels",
        "cross": "cross of five pixels",
        "square": "3 x 3 window",
    }[way]
    text = f"Median filter of {src.name} over each pixel's {what}"
    if limit is not None:
        found = k.let("med median_value", value)
        here = k.let("here own", middle)
        value = where(abs(here - found) > limit, found, here)
        text += f"; a pixel that is within {limit.name} of its median is kept"
    k.store(out, image.at, value)
    text += f". {out.name} gets the result.{image.said('keep their values', src.name)}"
    return Title(k.name("median_filter median_denoise", "despeckle"), text)


def _median_of_three(k: KernelBuilder, level: int, type_: Type) -> Callable[..., Expr]:
    """The median of three values, by a helper or in place."""
    return routine(
        k,
        BY_LEVEL[level],
        "median3 mid3 median_of_three",
        {"a": type_, "b": type_, "c": type_},
        lambda b, x, y, z: most(least(x, y), least(most(x, y), z)),
    )


def _of_few(
    k: KernelBuilder, level: int, image: Image, src: Var, window: list[tuple[int, int]]
) -> Expr:
    """The median of three or five values by minima and maxima."""
    of_three = _median_of_three(k, level, src[image.at].type)
    letters = "abcde" if not {*"abcde"} & k.used else "pqrst"
    names = list(letters) if not {*letters} & k.used else [f"v{n}" for n in range(5)]
    values = [k.let(names[n], image.near(src, *step)) for n, step in enumerate(window)]
    if len(values) == 3:
        return of_three(*values)
    a, b, c, d, e = values
    # The smallest of two pairs and the largest of two pairs cannot be the median.
    low = k.let("low_side upper_of_lows", most(least(a, b), least(d, e)))
    high = k.let("high_side lower_of_highs", least(most(a, b), most(d, e)))
    return of_three(low, high, c)


def _by_columns(k: KernelBuilder, level: int, image: Image, src: Var) -> Expr:
    """The median of 3 x 3 values from sorted columns: that of the largest low, the median middle
    and the smallest high (J. L. Smith, Xilinx application note, 1996)."""
    of_three = _median_of_three(k, level, src[image.at].type)
    moved = [[image.moved(axis, by) for by in (-1, 0, 1)] for axis in (0, 1)]
    lows, middles, highs = [], [], []
    for n, x in enumerate(moved[1]):
        column = [src[image.place(y, x)] for y in moved[0]]
        a, b, c = (k.let(f"{name}{n}", value) for name, value in zip("abc", column, strict=True))
        lows.append(k.let(f"low{n} lo{n}", least(least(a, b), c)))
        middles.append(k.let(f"mid{n} m{n}", of_three(a, b, c)))
        highs.append(k.let(f"high{n} hi{n}", most(most(a, b), c)))
    low = k.let("largest_low top_low", most(most(lows[0], lows[1]), lows[2]))
    high = k.let("smallest_high least_high", least(least(highs[0], highs[1]), highs[2]))
    return of_three(low, k.let("mid_mid middle", of_three(*middles)), high)
