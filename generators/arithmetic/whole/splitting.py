"""Whole numbers taken apart: units of time and money, indices along axes, digits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.arithmetic.types import INT64, UINT32
from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import most, where
from generators.kit.sites import Names, Site, launch
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var


@dataclass(frozen=True)
class Fields:
    """A number that is divided again and again: what it counts, and its parts, lowest first."""

    title: str
    arrays: str
    top: int
    parts: tuple[tuple[str, int], ...]
    whole: str


_FIELDS = (
    Fields(
        "clock_fields split_seconds",
        "seconds elapsed_s stamps",
        400_000,
        (("sec secs", 60), ("minute minutes", 60)),
        "hour hours",
    ),
    Fields(
        "day_clock split_minutes",
        "minutes minute_stamps",
        100_000,
        (("minute mins", 60), ("hour hours", 24)),
        "day days",
    ),
    Fields("week_fields split_days", "days day_ids", 9_000, (("weekday dow", 7),), "week weeks"),
    Fields(
        "frame_timecode split_frames",
        "frames frame_numbers",
        500_000,
        (("frame frames_out", 25), ("sec secs", 60)),
        "minute minutes_out",
    ),
    Fields(
        "split_cents coins_and_notes",
        "cents prices",
        90_000,
        (("cent cents_out", 100),),
        "dollar dollars",
    ),
    Fields(
        "split_inches feet_and_inches",
        "inches heights_in",
        5_000,
        (("inch inches_out", 12), ("foot feet", 3)),
        "yard yards",
    ),
)
"""What people keep as one number and show as several."""

_PLACES = {
    "rows": ("unravel_index index_to_cell", ("width num_cols",), ("col cols x", "row rows y")),
    "planes": (
        "unravel_3d index_to_voxel",
        ("nx size_x", "ny size_y"),
        ("ix cell_x", "iy cell_y", "iz cell_z"),
    ),
    "pages": (
        "page_and_offset split_address",
        ("page_size page_len",),
        ("offset page_offset", "page page_id"),
    ),
    "serpentine": (
        "serpentine_cell boustrophedon",
        ("width num_cols",),
        ("col cols x", "row rows y"),
    ),
}
"""Indices taken apart by sizes: names of the sizes and of the parts, lowest first."""


@idiom(depth=2)
def integer_split(k: KernelBuilder, level: int) -> Title:
    """A whole number taken apart: into units of time, indices along axes, or its digits."""
    shape = k.draw.shape
    s = launch(k, list=1)
    type_ = shape.weighted({INT32: 5, INT64: 1, UINT32: 1})
    form = shape.weighted({"fields": 5, "places": 4, "digits": 3})
    if form == "digits":
        return _digits(s, type_)
    return _fields(s, type_, level) if form == "fields" else _places(s, level)


def _fields(s: Site, type_: Scalar, level: int) -> Title:
    """Units of time, money or length."""
    k, shape = s.k, s.k.draw.shape
    f = shape.choice(_FIELDS)
    number = s.read(f.arrays, type_, 0, f.top)
    text, rest = say(k, number), k.let("t total n", number)
    if level > 1 and shape.chance(0.4):
        start = k.scalar("start epoch offset", type_, 1, 99)
        k.augment(rest, "add", start)
        text = f"{text} + {start.name}"
    told = []
    for names, base in f.parts:
        told.append(f"{_put(s, names, rest % base)} to the rest by {base}")
        rest = k.let("left whole q", rest // base)
    told.append(f"{_put(s, f.whole, rest)} to what is left")
    return Title(k.name(f.title), f"Divide {text} in turn by {_by(f)}: set {', '.join(told)}.")


def _by(f: Fields) -> str:
    return " and ".join(str(base) for _, base in f.parts)


def _put(s: Site, names: Names, value: Expr) -> str:
    """Store a part in an output of its own; its name."""
    return s.put(names, value).name


def _places(s: Site, level: int) -> Title:
    """Indices along axes from one that counts through them."""
    k, shape = s.k, s.k.draw.shape
    form = shape.choice(sorted(_PLACES))
    title, sizes, parts = _PLACES[form]
    flat = s.read("flat_ids indices cells addresses", INT32, 0, 4_000)
    text, rest = say(k, flat), k.let("t flat n", flat)
    if level > 1 and shape.chance(0.3):
        first = k.scalar("first base start", INT32, 1, 40)
        k.augment(rest, "add", first)
        text = f"{text} + {first.name}"
    values: list[Expr] = []
    counts = [k.scalar(size, INT32, 5, 16) for size in sizes]
    for count in counts:
        values.append(k.let("r rem within", rest % count))
        rest = k.let("q above outer", rest // count)
    told = f"the remainder by {counts[0].name}"
    if form == "serpentine":
        values[0] = where(fn("eq", rest % 2, 1), counts[0] - 1 - values[0], values[0])
        told += ", counted from the end of every odd row"
    outs = [_put(s, names, value) for names, value in zip(parts, [*values, rest], strict=True)]
    done = f"Take the index {text} apart, the fastest axis first: set {outs[0]} to {told}"
    above_said = [f"the remainder of the quotient by {c.name}" for c in counts[1:]]
    for out, above in zip(outs[1:], [*above_said, "the last quotient"], strict=True):
        done += f", {out} to {above}"
    return Title(k.name(title), f"{done}.")


def _digits(s: Site, type_: Scalar) -> Title:
    """A sum, a reversal, a count or the largest of the digits."""
    k, shape = s.k, s.k.draw.shape
    base = shape.choice((10, 10, 8, 2))
    number = s.read("numbers values codes", type_, 1, 60_000)
    what = shape.choice(sorted(_OF_DIGITS))
    names, outs, said, step = _OF_DIGITS[what]
    left = k.let("left rest n", number)
    found = k.let("total acc found", k.lift(0, type_))
    with k.while_(left > 0):
        step(k, found, left % base, base)
        k.assign(left, left // base)
    in_base = "" if base == 10 else f" in base {base}"
    done = f"For each of {say(k, number)}, set {s.put(outs, found).name} to {said}{in_base}."
    return Title(k.name(names), done)


_Step = Callable[[KernelBuilder, Var, Expr, int], None]
_OF_DIGITS: dict[str, tuple[str, str, str, _Step]] = {
    "sum": (
        "digit_sum sum_digits",
        "digit_sums sums",
        "the sum of its digits",
        lambda k, total, digit, base: k.augment(total, "add", digit),
    ),
    "reverse": (
        "reverse_digits mirror_number",
        "mirrored reversed_out",
        "the number of its digits in the other order",
        lambda k, total, digit, base: k.assign(total, total * base + digit),
    ),
    "largest": (
        "largest_digit top_digit",
        "top_digits largest",
        "its largest digit",
        lambda k, total, digit, base: k.assign(total, most(total, digit)),
    ),
    "count": (
        "count_digits digit_count",
        "digit_counts num_digits",
        "how many digits it has",
        lambda k, total, digit, base: k.augment(total, "add", 1),
    ),
}
"""Names, outputs, what is told, and what each digit does, the lowest first."""
