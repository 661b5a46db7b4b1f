"""Morphology of images and masks: erosion, dilation, outlines, patterns."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.kit.functions import least, most, where
from generators.math.images.pixels import Image, every, pixel_type
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var, op

_BYTE = Scalar("uint8")


@idiom
def hit_or_miss(k: KernelBuilder, level: int) -> Title:
    """Morphology: erosion, dilation, outlines, and patterns that must hit or miss."""
    shape = k.draw.shape
    borders = {"clamp": 3, "skip": 3, "padded": 2, "wrap": 1}
    image = Image(k, level, borders, size=(16, 20))
    type_ = shape.choice((INT32, _BYTE, INT32))
    plain = 2 if level < 4 else 1
    ways = dict.fromkeys(("gradient", "outline", "pattern", "element", "ends"), 2)
    ways |= {"erode": plain, "dilate": plain, "thin": 2 * max(level - 2, 0)}
    way = shape.weighted(ways)
    gray = way in ("erode", "dilate", "gradient")
    if gray and shape.chance(0.5):
        type_ = pixel_type(k)
    high: float = {"outline": 3, "element": 3}.get(way, 1)
    if gray:
        high = 1.0 if type_.is_float else 200
    names = "image src gray" if gray else "mask binary"
    mask = image.array(names, type_, 0, high, around=True)
    out = image.out(_OUTS[way], type_)
    image.skip([(out, k.lift(0, type_))])
    ring = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if (dy, dx) != (0, 0)]
    cross = [(-1, 0), (0, -1), (0, 1), (1, 0)]
    around = cross if way in ("ends", "outline") or shape.chance(0.5) else ring
    value, said = _MORPHOLOGY[way](k, image, mask, type_, around)
    k.store(out, image.at, value)
    text = f"{said}. {out.name} gets the result.{image.said('get 0', mask.name)}"
    return Title(k.name(_NAMES[way]), text)


def _count(n: list[tuple[int, int]]) -> str:
    return "four" if len(n) == 4 else "eight"


def _erode(
    k: KernelBuilder, image: Image, mask: Var, type_: Scalar, around: list[tuple[int, int]]
) -> tuple[Expr, str]:
    """The minimum over a pixel and its neighbours."""
    return _least_or_most(k, image, mask, around, least), (
        f"Erosion of {mask.name}: the smallest of a pixel and its {_count(around)} neighbours"
    )


def _dilate(
    k: KernelBuilder, image: Image, mask: Var, type_: Scalar, around: list[tuple[int, int]]
) -> tuple[Expr, str]:
    return _least_or_most(k, image, mask, around, most), (
        f"Dilation of {mask.name}: the largest of a pixel and its {_count(around)} neighbours"
    )


def _gradient(
    k: KernelBuilder, image: Image, mask: Var, type_: Scalar, around: list[tuple[int, int]]
) -> tuple[Expr, str]:
    """Dilation less erosion."""
    high = k.let("high top", _least_or_most(k, image, mask, around, most, "highest"))
    low = k.let("low bottom", _least_or_most(k, image, mask, around, least, "lowest"))
    return high - low, (
        f"The morphological gradient of {mask.name}: the largest less the smallest of a pixel and "
        f"its {_count(around)} neighbours"
    )


def _least_or_most(
    k: KernelBuilder,
    image: Image,
    mask: Var,
    around: list[tuple[int, int]],
    pick: Callable[..., Expr],
    names: str = "found extreme",
) -> Expr:
    found = k.let(names, image.near(mask, 0, 0))
    if len(around) == 4 and k.draw.shape.chance(0.5):
        values = [image.near(mask, dy, dx) for dy, dx in around]
        return pick(found, *values)
    for dy, dx in around:
        k.assign(found, pick(found, image.near(mask, dy, dx)))
    return found


def _outline(
    k: KernelBuilder, image: Image, mask: Var, type_: Scalar, around: list[tuple[int, int]]
) -> tuple[Expr, str]:
    """A pixel that is set beside one that is not."""
    here = k.let("here own", image.near(mask, 0, 0))
    inner = least(*(image.near(mask, dy, dx) for dy, dx in around))
    kept = k.let("inner all_set", inner)
    zero, one = k.lift(0, type_), k.lift(1, type_)
    test = op("and", op("ne", here, zero), op("eq", kept, zero))
    return where(test, one, zero), (
        f"The outline of {mask.name}: 1 where a pixel is not 0 but one of its {_count(around)} "
        "neighbours is, "
        "else 0"
    )


def _pattern(
    k: KernelBuilder, image: Image, mask: Var, type_: Scalar, around: list[tuple[int, int]]
) -> tuple[Expr, str]:
    """A corner: a pixel must be set, its neighbours on two sides must not."""
    flip_y, flip_x = k.draw.shape.choice((-1, 1)), k.draw.shape.choice((-1, 1))
    zero = k.lift(0, type_)
    misses = [(0, -flip_x), (-flip_y, 0)]
    if k.draw.shape.chance(0.5):
        inside = k.let("hit foreground", op("ne", image.near(mask, 0, 0), zero))
        beside = k.let(
            "miss background", every(*(op("eq", image.near(mask, *at), zero) for at in misses))
        )
        test: Expr = op("and", inside, beside)
    else:
        test = every(
            op("ne", image.near(mask, 0, 0), zero),
            *(op("eq", image.near(mask, *at), zero) for at in misses),
        )
    place = lambda at: f"({at[0]}, {at[1]})"  # noqa: E731
    return where(test, k.lift(1, type_), zero), (
        f"A hit-or-miss transform of {mask.name} that finds corners: 1 where a pixel is not 0 and "
        f"those at {' and '.join(map(place, misses))} (rows and columns from here) are, else 0"
    )


def _element(
    k: KernelBuilder, image: Image, mask: Var, type_: Scalar, around: list[tuple[int, int]]
) -> tuple[Expr, str]:
    """Erosion by a structuring element that is given."""
    element = k.array("element kernel footprint", INT32, ("3", "3"), low=0, high=1)
    zero, one = k.lift(0, type_), k.lift(1, type_)
    found = k.let("found fits", one)
    row_step, column_step = image.steps
    with k.for_(row_step, 3) as dy, k.for_(column_step, 3) as dx:
        place = image.place(image.stepped(0, dy - 1), image.stepped(1, dx - 1))
        used = op("ne", element[dy, dx], k.lift(0, INT32))
        with k.if_(op("and", used, op("eq", mask[place], zero))):
            k.assign(found, zero)
    return found, (
        f"Erosion of {mask.name} by the 3 x 3 element {element.name} (what is not 0 counts): 0 "
        "where "
        "one of the pixels under it is 0, else 1"
    )


def _ends(
    k: KernelBuilder, image: Image, mask: Var, type_: Scalar, around: list[tuple[int, int]]
) -> tuple[Expr, str]:
    """How many neighbours of a set pixel are set."""
    total = image.near(mask, *around[0])
    for at in around[1:]:
        total = total + image.near(mask, *at)
    count = k.let("count neighbors", total)
    here = image.near(mask, 0, 0)
    zero, one = k.lift(0, type_), k.lift(1, type_)
    most_set = k.draw.shape.integer(1, 2)
    test = op("and", op("ne", here, zero), count <= most_set)
    return where(test, one, zero), (
        f"{'End' if most_set == 1 else 'Thin'} points of the lines in {mask.name} (0 or 1): 1 "
        f"where a pixel is 1 and at most {most_set} of its four neighbours are, else 0"
    )


def _thin(
    k: KernelBuilder, image: Image, mask: Var, type_: Scalar, around: list[tuple[int, int]]
) -> tuple[Expr, str]:
    """One of the two passes of Zhang and Suen's thinning (Communications of the ACM, 1984)."""
    ring = [(-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1)]
    zero = k.lift(0, type_)
    names = k.draw.word.choice(("n ne e se s sw w nw", "p2 p3 p4 p5 p6 p7 p8 p9")).split()
    p = [k.let(name, image.near(mask, *at)) for name, at in zip(names, ring, strict=True)]
    total: Expr = p[0]
    for value in p[1:]:
        total = total + value
    count = k.let("set_count neighbors", total)
    rises = k.let("rises transitions", k.lift(0, INT32))
    for now, after in zip(p, [*p[1:], p[0]], strict=True):
        with k.if_(op("and", op("eq", now, zero), op("ne", after, zero))):
            k.augment(rises, "add", 1)
    north, east, south, west = p[0], p[2], p[4], p[6]
    second = k.draw.shape.chance(0.5)
    sides = (
        (north * east * west, north * south * west)
        if second
        else (north * east * south, east * south * west)
    )
    here = k.let("here own", image.near(mask, 0, 0))
    tests = (op("ne", here, zero), count >= 2, count <= 6, op("eq", rises, k.lift(1, INT32)))
    open_ = [op("eq", side, zero) for side in sides]
    removed = k.let("removed deleted", every(*tests, *open_))
    order = "north, east and west" if second else "north, east and south"
    other = "north, south and west" if second else "east, south and west"
    return where(removed, zero, here), (
        f"The {'second' if second else 'first'} pass of a step of Zhang and Suen's thinning of "
        f"{mask.name} (0 or 1): a pixel becomes 0 where it is 1, 2 to 6 of its eight neighbours "
        "are 1, going round them finds one rise from 0 to 1, and not all of those to the "
        f"{order} nor all to the {other} are 1"
    )


_MORPHOLOGY: dict[str, Callable[..., tuple[Expr, str]]] = {
    "erode": _erode,
    "dilate": _dilate,
    "gradient": _gradient,
    "outline": _outline,
    "pattern": _pattern,
    "element": _element,
    "ends": _ends,
    "thin": _thin,
}
_OUTS = {
    "erode": "eroded dst",
    "dilate": "dilated dst",
    "gradient": "gradient edges",
    "outline": "outline contour",
    "pattern": "corners matches",
    "element": "eroded fits",
    "ends": "ends end_points",
    "thin": "thinned skeleton",
}
_NAMES = {
    "erode": "erode erode_image morphology_erode",
    "dilate": "dilate dilate_image morphology_dilate",
    "gradient": "morphological_gradient morphology_gradient",
    "outline": "mask_outline outline_mask",
    "pattern": "hit_or_miss match_corners",
    "element": "erode_by_element binary_erode",
    "ends": "line_ends find_end_points",
    "thin": "zhang_suen_step thinning_pass",
}
"""What each output and each kernel is called."""
