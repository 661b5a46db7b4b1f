"""Whole numbers taken apart: units of time and money, indices along axes, digits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.arithmetic.types import INT64, UINT32
from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import most, where
from generators.kit.sites import Site, launch
from generators.kit.words import listed, say, singular
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var


@dataclass(frozen=True)
class Fields:
    """A number that is divided again and again: what it counts, and its parts, lowest first.

    A part is names of its output, how many of it make one of the next, and what a local holds that
    counts the next."""

    title: str
    arrays: str
    top: int
    parts: tuple[tuple[str, int, str], ...]
    whole: str
    said: str


_FIELDS = (
    Fields(
        "clock_fields split_seconds",
        "total_seconds elapsed",
        400_000,
        (("seconds secs", 60, "total_minutes"), ("minutes mins", 60, "total_hours")),
        "hours hrs",
        "Split durations in seconds",
    ),
    Fields(
        "day_clock split_minutes",
        "total_minutes minute_stamps",
        100_000,
        (("minutes minute_of_hour", 60, "total_hours"), ("hours hour_of_day", 24, "total_days")),
        "days day",
        "Split times in minutes",
    ),
    Fields(
        "week_fields split_days",
        "day_ids day_numbers",
        9_000,
        (("weekdays day_of_week", 7, "full_weeks"),),
        "weeks week_ids",
        "Split counts of days since a Monday",
    ),
    Fields(
        "smpte_timecode split_frames",
        "frame_numbers frame_ids",
        500_000,
        (("frames frame_of_second", 25, "total_seconds"), ("seconds secs", 60, "total_minutes")),
        "minutes mins",
        "Split frame numbers of video at 25 frames a second",
    ),
    Fields(
        "split_cents dollars_and_cents",
        "price_cents amounts",
        90_000,
        (("cents cents_part", 100, "whole_dollars"),),
        "dollars dollars_part",
        "Split amounts in cents",
    ),
    Fields(
        "split_inches feet_and_inches",
        "heights_in lengths_in",
        5_000,
        (("inches inches_part", 12, "whole_feet"),),
        "feet feet_part",
        "Split lengths in inches",
    ),
    Fields(
        "split_arcseconds degrees_minutes_seconds",
        "arcsecs angles_arcsec",
        1_200_000,
        (("seconds secs", 60, "total_minutes"), ("minutes mins", 60, "whole_degrees")),
        "degrees degs",
        "Split angles in arcseconds",
    ),
)
"""What people keep as one number and show as several."""


@dataclass(frozen=True)
class Places:
    """Indices taken apart by sizes: names of the sizes, of the parts, lowest first, and of a local
    that holds what is left."""

    title: str
    arrays: str
    sizes: tuple[str, ...]
    parts: tuple[str, ...]
    above: str
    said: str


_PLACES = (
    Places(
        "unravel_index index_to_cell",
        "cell_ids indices",
        ("num_cols width",),
        ("cols", "rows"),
        "row",
        "Find column and row of cells that are numbered row by row",
    ),
    Places(
        "index_to_pixel pixel_coords",
        "pixel_ids indices",
        ("width image_width",),
        ("xs", "ys"),
        "y",
        "Find the coordinates of pixels that are numbered row by row",
    ),
    Places(
        "unravel_3d index_to_voxel",
        "voxel_ids cell_ids",
        ("nx", "ny"),
        ("ix", "iy", "iz"),
        "plane",
        "Find the coordinates of voxels that are numbered with x fastest, then y",
    ),
    Places(
        "page_and_offset split_address",
        "addresses positions",
        ("page_size",),
        ("offsets", "pages"),
        "page",
        "Split addresses into the offset within a page and the number of the page",
    ),
    Places(
        "serpentine_cell boustrophedon",
        "cell_ids led_ids",
        ("num_cols width",),
        ("cols", "rows"),
        "row",
        "Find column and row of cells on a serpentine path, whose odd rows run backwards",
    ),
    Places(
        "token_and_head split_head_index",
        "flat_ids thread_ids",
        ("num_heads",),
        ("heads", "tokens"),
        "token",
        "Find head and token of flat indices token * num_heads + head",
    ),
)


@idiom(depth=1)
def integer_split(k: KernelBuilder, level: int) -> Title:
    """A whole number taken apart: into units of time, indices along axes, or its digits."""
    shape = k.draw.shape
    s = launch(k, list=1)
    type_ = shape.weighted({INT32: 5, INT64: 1, UINT32: 1})
    form = shape.weighted({"fields": 7, "places": 6, "digits": 6})
    if form == "digits":
        return _digits(s, type_)
    return _fields(s, type_) if form == "fields" else _places(s)


def _fields(s: Site, type_: Scalar) -> Title:
    """Units of time, money or length."""
    k = s.k
    f = k.draw.shape.choice(_FIELDS)
    rest: Expr = s.read(f.arrays, type_, 0, f.top)
    text = say(k, rest)
    if k.draw.shape.chance(0.6):
        one = singular(text)
        rest = k.let(one if one != text and not text.startswith("total_") else "count", rest)
    told = []
    for names, base, above in f.parts:
        told.append(f"{s.put(names, rest % base).name} (below {base})")
        rest = k.let(above, rest // base)
    told.append(s.put(f.whole, rest).name)
    return Title(k.name(f.title), f"{f.said}, {text}, into {listed(told)}.")


def _places(s: Site) -> Title:
    """Indices along axes from one that counts through them."""
    k = s.k
    form = k.draw.shape.choice(_PLACES)
    rest: Expr = s.read(form.arrays, INT32, 0, 4_000)
    text = say(k, rest)
    if k.draw.shape.chance(0.6):
        rest = k.let(singular(text) if singular(text) != text else "flat", rest)
    values: list[Expr] = []
    counts = [k.scalar(size.split(), INT32, 5, 16) for size in form.sizes]
    for number, (count, part) in enumerate(zip(counts, form.parts, strict=False)):
        values.append(
            k.let(singular(part) if singular(part) != part else f"{part}_i", rest % count)
        )
        last = number == len(counts) - 1
        left = form.above if len(counts) == 1 else f"{form.parts[-1]}_i" if last else "rest"
        rest = k.let(left, rest // count)
    if "serpentine" in form.title:
        values[0] = where(fn("eq", rest % 2, 1), counts[0] - 1 - values[0], values[0])
    outs = [
        s.put(names, value).name for names, value in zip(form.parts, [*values, rest], strict=True)
    ]
    sizes = listed([c.name for c in counts])
    lengths = "the length" if len(counts) == 1 else "the lengths"
    done = f"{form.said}, {sizes} being {lengths} of the faster "
    done += f"{'axis' if len(counts) == 1 else 'axes'}: store {listed(outs)} of {text}."
    return Title(k.name(form.title), done)


def _digits(s: Site, type_: Scalar) -> Title:
    """A sum, a reversal, a count, the largest of the digits, or a digital root."""
    k, shape = s.k, s.k.draw.shape
    base = shape.choice((10, 10, 8, 2))
    number = s.read("numbers values codes", type_, 1, 60_000)
    skipped = {"largest"} if base == 2 else set()
    if type_.is_unsigned:
        skipped.add("alternating")
    what = shape.choice([key for key in sorted(_OF_DIGITS) if key not in skipped])
    names, outs, said, step = _OF_DIGITS[what]
    left = k.let("left rest n", number)
    found = k.let(_FOUND[what], k.lift(0, type_))
    with k.while_(left > 0):
        step(k, found, left % base, base)
        k.assign(left, left // base)
    out = s.put(outs, found)
    done = f"For each of {say(k, number)}, set {out.name} to {said.format(base=base)}."
    return Title(k.name(names), done)


_FOUND = {
    "sum": "digit_total total",
    "reverse": "mirror backwards",
    "largest": "top_digit best",
    "count": "num_found length",
    "alternating": "alternating total",
}
_Step = Callable[[KernelBuilder, Var, Expr, int], None]
_OF_DIGITS: dict[str, tuple[str, str, str, _Step]] = {
    "sum": (
        "digit_sum sum_digits",
        "digit_sums sums",
        "the sum of its digits in base {base}",
        lambda k, total, digit, base: k.augment(total, "add", digit),
    ),
    "reverse": (
        "reverse_digits mirror_number",
        "mirrored reversed_numbers",
        "the number that has its digits in base {base} in reverse order",
        lambda k, total, digit, base: k.assign(total, total * base + digit),
    ),
    "largest": (
        "largest_digit max_digit",
        "top_digits largest",
        "its largest digit in base {base}",
        lambda k, total, digit, base: k.assign(total, most(total, digit)),
    ),
    "count": (
        "count_digits digit_count",
        "digit_counts num_digits",
        "how many digits it has in base {base}, 0 having none",
        lambda k, total, digit, base: k.augment(total, "add", 1),
    ),
    "alternating": (
        "alternating_digits alternating_digit_sum",
        "digit_sums alternating_sums",
        "the alternating sum of its digits in base {base}: the highest, less the next, and so on",
        lambda k, total, digit, base: k.assign(total, digit - total),
    ),
}
"""Names, outputs, what is told, and what each digit does, the lowest first."""
