"""Integral images: their passes, box sums of them, and guided filters from box means."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from generators.build import KernelBuilder, cast, extent
from generators.build.registry import Title, idiom
from generators.kit.functions import least, most, where
from generators.kit.naming import maybe
from generators.kit.sources import setting
from generators.kit.words import say
from generators.math.images.pixels import Image, pixel_type
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Const, Expr, Var


@idiom(depth=3)
def integral_image_pass(k: KernelBuilder, level: int) -> Title:
    """Running sums along the rows or down the columns, a thread for each; the two passes of an
    integral image (F. C. Crow, SIGGRAPH 1984)."""
    shape = k.draw.shape
    whole = shape.chance(0.3)
    type_ = INT32 if whole else pixel_type(k)
    wide = type_ if whole or type_.bits > 32 or shape.chance(0.75) else Scalar("float64")
    columns = shape.chance(0.5)
    more = shape.weighted({"": 4, "images": 2 + 2 * level, "bands": level})
    lines, length = ("width", "height") if columns else ("height", "width")
    mine, other, last = _line_threads(k, columns, more, lines, length)
    shape_of = _shape(more, last, ("height", "width"))
    bounds = (0, 255) if whole else (0.0, 1.0)
    in_place = wide == type_ and shape.chance(0.35)
    exclusive = not in_place and shape.chance(0.3)
    role = "inout" if in_place else "in"
    src = k.array("image src values", type_, shape_of, role=role, low=bounds[0], high=bounds[1])
    out_shape = shape_of
    out = src if in_place else k.out("integral sums sat", wide, out_shape)
    # Squares of bytes leave 32 bits after a few ten thousand pixels.
    squared = not in_place and not whole and shape.chance(0.12 * level)
    squares = k.out("integral_sq sums_sq", wide, out_shape) if squared else None
    names = {"height": "height num_rows", "width": "width num_cols"}[length]
    axis = list(shape_of).index(length)
    count: Expr = extent(src, axis) if shape.chance(0.5) else k.size_param(names, length)
    named = exclusive or shape.chance(0.4)
    total = k.let("running total acc", k.lift(0, wide))
    mask = None
    place = partial(_ordered, mine, other, columns, last)
    _run_along(k, count, columns, (src, mask, out, squares), (named, exclusive), total, place)
    return _integral_image_pass_stored(
        columns, mask, src, exclusive, in_place, out, squares, more, k
    )


def _line_threads(
    k: KernelBuilder, columns: bool, more: str, lines: str, length: str
) -> tuple[Var, tuple[Var, ...], bool]:
    """A thread for each line: its index, that of an image or channel, whether that is last."""
    for symbol, low, high in ((lines, 10, 14), (length, 6, 9)):
        k.size(symbol, low, high)
    if more:
        k.size(more, 2, 3)
    last = more == "bands"
    line = k.name("x col" if columns else "y row")
    beside = {"images": "b n", "bands": "c ch"}.get(more, "")
    dims = (lines,) if not more else (lines, more) if last else (more, lines)
    extra = [k.name(beside)] if more else []
    at = k.thread(*dims, names=[line, *extra] if last else [*extra, line])
    mine, other = (at[0], at[1:]) if last else (at[-1], at[:-1])
    return mine, other, last


def _ordered(
    mine: Var, other: tuple[Var, ...], columns: bool, last: bool, step: Var
) -> tuple[Var, ...]:
    """The index of a pixel: the row before the column, the image first or the channel last."""
    pixel = (step, mine) if columns else (mine, step)
    return (*pixel, *other) if last else (*other, *pixel)


def _run_along(
    k: KernelBuilder,
    count: Expr,
    columns: bool,
    arrays: tuple[Var, Var | None, Var, Var | None],
    ways: tuple[bool, bool],
    total: Var,
    place_of: Callable[[Var], tuple[Var, ...]],
) -> None:
    """The loop of a thread, with its running sums."""
    src, mask, out, squares = arrays
    named, exclusive = ways
    wide = total.type
    assert isinstance(wide, Scalar)
    total_sq = k.let("running_sq total_sq", k.lift(0, wide)) if squares is not None else None
    with k.for_("y row" if columns else "x col", count) as step:
        place = place_of(step)
        value: Expr = cast(src[place] if mask is None else mask[place] * src[place], wide)
        if squares is not None or named:
            value = k.let("value v", value)
        if exclusive:
            k.store(out, place, total)
        k.augment(total, "add", value)
        if not exclusive:
            k.store(out, place, total)
        if squares is not None and total_sq is not None:
            k.augment(total_sq, "add", value * value)
            k.store(squares, place, total_sq)


def _integral_image_pass_stored(
    columns: bool,
    mask: Var | None,
    src: Var,
    exclusive: bool,
    in_place: bool,
    out: Var,
    squares: Var | None,
    more: str,
    k: KernelBuilder,
) -> Title:
    """Store the result; what the kernel is called, and what it does in words."""
    along = "down each column" if columns else "along each row"
    what = src.name if mask is None else f"{mask.name} * {src.name}"
    text = f"One pass of an integral image, running sums of {what} {along}: "
    text += (
        f"{out.name} gets the sum of the pixels before each"
        if exclusive
        else (
            f"each pixel of {out.name} becomes the sum of those up to it"
            if in_place
            else f"{out.name} gets the sum of the pixels up to each"
        )
    )
    text += ", in place" if in_place else ""
    text += f", {squares.name} that of their squares" if squares is not None else ""
    text += f". A thread goes {'down a column' if columns else 'along a row'} of "
    text += f"{'an image' if more == 'images' else 'a band' if more else 'the image'}."
    return Title(
        k.name("integral_columns column_prefix" if columns else "integral_rows row_prefix"), text
    )


def _shape(more: str, last: bool, sizes: tuple[str, ...]) -> tuple[str, ...]:
    if not more:
        return sizes
    return (*sizes, more) if last else (more, *sizes)


@idiom
def box_from_integral(k: KernelBuilder, level: int) -> Title:
    """Means, sums or spreads of boxes from four corners of an integral image."""
    shape = k.draw.shape
    image = Image(k, level, {"clamp": 1})
    k.half_inputs = False
    ways = {"mean": 4, "sum": 2, "difference": 1 + level, "threshold": 1 + level, "spread": level}
    way = shape.weighted(ways)
    # a small variance would be lost in float32 sums of a whole image
    type_ = Scalar("float64") if way == "spread" else pixel_type(k)
    sat = _integral(image, "integral sat sums", type_)
    squares = _integral(image, "integral_sq sat_sq", type_) if way == "spread" else None
    radius = setting_radius(k)
    rows, columns = _window(image, 0, radius), _window(image, 1, radius)
    order = shape.choice(("rows", "diagonals"))
    box = k.let("box_sum total s", _corners(image, sat, rows, columns, order))
    area = maybe(k, "area count", cast((rows[1] - rows[0]) * (columns[1] - columns[0]), type_), 0.7)
    said, mean = say(k, radius), box / area
    value: Expr
    if way == "sum":
        value, what = box, "The sum"
    elif way == "mean":
        value, what = mean, "The mean"
    elif way == "spread":
        assert squares is not None
        average = k.let("mean mu", mean)
        square = k.let("sum_sq total_sq", _corners(image, squares, rows, columns, order))
        # Rounding may leave a negative difference where a box is flat.
        value = most(square / area - average * average, 0.0)
        what = "The variance, at least 0,"
    else:
        src = image.array("image src gray", type_)
        average = k.let("mean mu", mean)
        if way == "difference":
            value, what = src[image.at] - average, f"The difference of {src.name} and the mean"
        else:
            bias = setting(k, "bias offset", type_, 0.02, 0.2)
            value = where(src[image.at] > average - bias, k.lift(1.0, type_), 0.0)
            what = f"An adaptive threshold: 1 where {src.name} is above the mean less "
            what += f"{say(k, bias)}, else 0. The mean is that"
    return _box_from_integral_title(what, said, sat, squares, type_, image, value, k, way)


def _box_from_integral_title(
    what: str,
    said: str,
    sat: Var,
    squares: Var | None,
    type_: Scalar,
    image: Image,
    value: Expr,
    k: KernelBuilder,
    way: str,
) -> Title:
    """What the kernel is called, and what it does in words."""
    text = f"{what} of the box of pixels up to {said} away on each side, cut off at the borders. "
    text += f"It comes from the integral image {sat.name}, whose element [y, x] is the sum of all "
    text += "pixels before row y and column x"
    if squares is not None:
        text += f", and from {squares.name}, the same of the squares"
    outs = {"mean": "box_mean local_mean", "sum": "box_sums window_sums"}
    outs |= {"spread": "box_variance local_variance", "difference": "detail high_pass"}
    out = image.out(outs.get(way, "binary thresholded"), type_)
    k.store(out, image.at, value)
    text = f"{text}. {out.name} gets the result."
    names = {"mean": "box_filter box_mean_filter", "sum": "box_sum box_sum_from_integral"}
    names |= {
        "spread": "local_variance box_variance",
        "difference": "subtract_local_mean high_pass",
    }
    return Title(k.name(names.get(way, "adaptive_threshold threshold_by_mean")), text)


def _corners(
    image: Image, table: Var, rows: tuple[Expr, Expr], columns: tuple[Expr, Expr], order: str
) -> Expr:
    """The sum of a box: the corners at the far and near end less the two others."""
    k = image.k
    at = [table[image.place(y, x)] for y in rows for x in columns]
    sets = (("tl", "tr", "bl", "br"), ("s00", "s01", "s10", "s11"), ("q00", "q01", "q10", "q11"))
    free = [names for names in sets if not {*names} & k.used]
    if k.draw.shape.chance(0.4):
        names = k.draw.word.choice(free)
        near, right, below, far = (
            k.let(name, value) for name, value in zip(names, at, strict=True)
        )
    else:
        near, right, below, far = at  # type: ignore[assignment]
    if order == "rows":
        return far - right - below + near
    return (
        far + near - (right + below) if k.draw.shape.chance(0.5) else (far + near) - right - below
    )


def _integral(image: Image, names: str, type_: Scalar) -> Var:
    """An integral image: a row and a column more than there are pixels."""
    dims = (*image.before, *(f"{s}+1" for s in image.sizes), *image.after)
    return image.k.array(names, type_, dims, low=0.0, high=20.0)


def setting_radius(k: KernelBuilder) -> Expr:
    """How far a box reaches: a parameter or a literal."""
    if k.draw.shape.chance(0.6):
        return k.scalar("radius r half_size", INT32, 1, 3)
    return k.lift(k.draw.shape.integer(1, 3), INT32)


def _window(image: Image, axis: int, radius: Expr) -> tuple[Expr, Expr]:
    """The first row or column of a box and the one behind its last."""
    k, here = image.k, (image.y, image.x)[axis]
    size = image.size(axis)
    low = k.let(f"{here.name}0", most(here - radius, 0))
    if isinstance(radius, Const):
        return low, k.let(f"{here.name}1", least(here + (int(str(radius.value)) + 1), size))
    return low, k.let(f"{here.name}1", least(here + radius + 1, size))


@idiom(depth=3)
def guided_filter_coefficients(k: KernelBuilder, level: int) -> Title:
    """The linear coefficients of a guided filter from box means, or its output from their means.

    K. He, J. Sun and X. Tang, ECCV 2010.
    """
    shape = k.draw.shape
    image = Image(k, level, {"clamp": 1})
    k.half_inputs = False
    type_ = pixel_type(k)
    apply = shape.chance(0.25)
    if apply:
        return _guided_output(k, image, type_)
    own = shape.chance(0.35)
    guide = image.array("mean_i guide_mean mu_i", type_)
    squares = image.array("mean_ii corr_i guide_sq_mean", type_, 1.0, 2.0)
    source = guide if own else image.array("mean_p source_mean mu_p", type_)
    products = squares if own else image.array("mean_ip corr_ip cross_mean", type_, 0.0, 2.0)
    eps = setting(k, "eps regularization", type_, 0.01, 0.2, 0.7)
    values = _spread_and_covariance(k, level, image, own, (guide, squares, source, products), eps)
    return _guided_filter_coefficients_stored(
        k, values, image, own, guide, squares, eps, source, products
    )


def _spread_and_covariance(
    k: KernelBuilder,
    level: int,
    image: Image,
    own: bool,
    means: tuple[Var, Var, Var, Var],
    eps: Expr,
) -> tuple[Var, Expr, Expr, Expr]:
    """The guide's mean, the source's, the covariance, and the spread plus eps."""
    guide, squares, source, products = means
    shape = k.draw.shape
    mu = k.let("mi m", guide[image.at])
    spread: Expr = squares[image.at] - mu * mu
    spread = k.let("var_i variance", spread) if own else maybe(k, "var_i variance", spread)
    source_mean: Expr = mu if own else maybe(k, "mp q", source[image.at])
    covariance: Expr = (
        spread if own else maybe(k, "cov_ip cov", products[image.at] - mu * source_mean)
    )
    bottom: Expr = spread + eps
    if shape.chance(0.4):
        bottom = k.let("den regularized", bottom)
    return mu, source_mean, covariance, bottom


def _guided_filter_coefficients_stored(
    k: KernelBuilder,
    values: tuple[Var, Expr, Expr, Expr],
    image: Image,
    own: bool,
    guide: Var,
    squares: Var,
    eps: Expr,
    source: Var,
    products: Var,
) -> Title:
    """Store the coefficients; what the kernel is called, and what it does in words."""
    mu, source_mean, covariance, bottom = values
    a = k.let("a gain slope", covariance / bottom)
    type_ = a.type
    outs = image.out("a_out gains", type_), image.out("b_out offsets", type_)
    k.store(outs[0], image.at, a)
    offset = source_mean - a * mu if not own else (1.0 - a) * mu
    k.store(outs[1], image.at, maybe(k, "b bias", offset, 0.3))
    text = "The linear coefficients of a guided filter in each window: "
    if own:
        text += f"of the means {guide.name} and {squares.name} of the image and of its square, v = "
        text += f"{squares.name} - {guide.name}^2 and a = v / (v + {say(k, eps)})"
        rest = f"(1 - a) * {guide.name}"
    else:
        text += f"of the means {guide.name}, {source.name}, {squares.name} and {products.name} of "
        text += f"guide, source, squared guide and their product, a = ({products.name} - "
        text += f"{guide.name} * {source.name}) / ({squares.name} - {guide.name}^2 + {say(k, eps)})"
        rest = f"{source.name} - a * {guide.name}"
    text += f". {outs[0].name} gets a and {outs[1].name} gets {rest}."
    return Title(k.name("guided_filter_coefficients guided_coeffs", "guided_ab"), text)


def _guided_output(k: KernelBuilder, image: Image, type_: Scalar) -> Title:
    """The guide times the mean gain plus the mean offset, perhaps with details enhanced."""
    guide = image.array("guide image src", type_)
    gain, offset = image.array("mean_a gain_mean", type_), image.array("mean_b offset_mean", type_)
    value: Expr = gain[image.at] * guide[image.at] + offset[image.at]
    text = f"The output of a guided filter, {gain.name} * {guide.name} + {offset.name}"
    if k.draw.shape.chance(0.5):
        boost = setting(k, "boost detail_gain", type_, 1.5, 3.0)
        base = k.let("base smooth", value)
        value = base + boost * (guide[image.at] - base)
        text = "Details enhanced with a guided filter: b + "
        text += f"{say(k, boost)} * ({guide.name} - b), with the filter's output b = "
        text += f"{gain.name} * {guide.name} + {offset.name}"
    out = image.out("filtered dst output", type_)
    k.store(out, image.at, value)
    return Title(k.name("guided_filter_apply guided_output"), f"{text}. {out.name} gets it.")
