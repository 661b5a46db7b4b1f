"""Names of what belongs together: the parts of a point, a complex number, a range."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

TUPLES = tuple(
    frozenset(names.split())
    for names in (
        "x y z w",
        "u v w",
        "q k v",
        "re im",
        "real imag",
        "row col",
        "r g b",
        "lo hi",
        "low high",
        "even odd",
        "left right",
        "prev next",
        "src dst",
        "key value",
        "keys values",
        "min max",
        "start end",
        "first second",
        "sin cos",
        "year month day",
        "roll pitch yaw",
        "a b",
    )
)
"""Words that say which part of one thing a name is of, by that thing."""
_PARTS = frozenset[str]().union(*TUPLES)


@lru_cache(maxsize=65536)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, a last x, y or z of a short word apart: ``fx`` is ``f`` and ``x``."""
    *words, last = name.split("_")
    if 1 < len(last) <= 3 and last[-1] in "xyz" and last not in _PARTS:
        return (*words, last[:-1], last[-1])
    return (*words, last)


@lru_cache(maxsize=65536)
def parts_in(name: str) -> frozenset[str]:
    """The words of a name of several that say which part of a tuple it is."""
    words = words_of(name)
    return _PARTS.intersection(words) if len(words) > 1 else frozenset()


def are_siblings(a: str, b: str) -> bool:
    """Whether two names say different parts of one tuple and are alike otherwise."""
    one, other = words_of(a), words_of(b)
    if len(one) != len(other) or len(one) < 2:
        return False
    unlike = [{x, y} for x, y in zip(one, other, strict=True) if x != y]
    return len(unlike) == 1 and any(unlike[0] <= parts for parts in TUPLES)


_AFFIX = re.compile(r"^(new|next)_|_(new|next|out)$")
"""What says of a name that it is of the state after a step."""


_SETS = tuple(
    frozenset(names.split())
    for names in (
        "depth height width",
        "num_slices num_rows num_cols",
        "rows cols",
        "h w",
        "nz ny nx",
        "rolls pitches yaws",
        "roll_angles pitch_angles yaw_angles",
        "cos_t sin_t",
        "ct st",
        "cx sx",
        "cy sy",
        "cz sz",
        "cos_x sin_x",
        "cos_y sin_y",
        "cos_z sin_z",
        "c s",
        "cs sn",
        "ca sa",
        "fx fy fz",
        "fu fv",
        "x_axis y_axis z_axis",
        "first last",
        "begin end",
        "xn yn",
        "x_img y_img",
        "a b c",
        "highest lowest",
        "top left",
        "xi yi zi",
        "x_cell y_cell z_cell",
        "rij rkj",
        "a_vec b_vec",
        "lon lat",
        "y0 x0",
        "row0 col0",
        "row_max row_min",
        "za zb",
        "c22 c23",
    )
)
"""Whole names that people use together."""


def _together(candidates: Collection[str], used: Collection[str]) -> list[str]:
    """The candidates that belong to a set of names of which one is in use."""
    begun = [names for names in _SETS if not names.isdisjoint(used)]
    fresh = [name for name in candidates if name not in used]
    return [name for name in fresh if any(name in names for names in begun)]


_NUMBERED = re.compile(r"(.*[a-zA-Z_])(\d)")
"""A name that ends in a number of one digit."""


def _numbered(candidates: Collection[str], used: Collection[str]) -> list[str]:
    """The candidates that continue a row of names in use: ``b1`` where there is ``b0``."""
    stems = {m[1] for m in map(_NUMBERED.fullmatch, used) if m}
    return [name for name in candidates if (m := _NUMBERED.fullmatch(name)) and m[1] in stems]


def matching(candidates: Collection[str], used: Collection[str]) -> list[str]:
    """The candidates that are siblings of a name in use, that belong with one, that continue a
    row of numbered names, or say in the same way what is new."""
    told = [name for name in candidates if parts_in(name)]
    known = [name for name in used if parts_in(name)] if told else []
    found = [name for name in told if any(are_siblings(name, other) for other in known)]
    found = found or _together(candidates, used) or _numbered(candidates, used)
    ends = {m[0] for m in map(_AFFIX.search, used) if m} if not found else set()
    return found or [name for name in candidates if (m := _AFFIX.search(name)) and m[0] in ends]


_OF_A_GRID = re.compile(r"(?:num_|n_?)i?([xyz])")
_OF_ITSELF = re.compile(r"(?:num_|n_)(width|height|depth|length|size)")
_OF_ONE = re.compile(r"(num_|n_)(cell|row|col|node|point|pixel|particle|step|edge|item)")


def size_name(name: str) -> str:
    """A size as people call it: ``ny`` and not ``num_y``, ``width`` and not ``num_width``,
    ``num_cells`` and not ``num_cell``."""
    if found := _OF_A_GRID.fullmatch(name):
        return f"n{found[1]}"
    if found := _OF_ITSELF.fullmatch(name):
        return found[1]
    return f"{name}s" if _OF_ONE.fullmatch(name) else name
