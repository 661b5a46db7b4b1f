"""Names of what belongs together: the parts of a point, a complex number, a range."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

TUPLES = tuple(
    frozenset(names.split())
    for names in (
        "x y z w",
        "u v w",
        "re im",
        "real imag",
        "row col",
        "r g b",
        "lo hi",
        "low high",
        "even odd",
        "left right",
        "sin cos",
        "year month day",
    )
)
"""Words that say which part of one thing a name is of, by that thing."""
_PARTS = frozenset[str]().union(*TUPLES)


@lru_cache(maxsize=65536)
def split(name: str) -> tuple[str, str]:
    """The word or last letter of a name that says which part of a tuple it is, and the rest of the
    name; empty and the name where none or several do."""
    words = name.split("_")
    found = [n for n, word in enumerate(words) if word in _PARTS]
    if len(found) == 1 and len(words) > 1:
        return words[found[0]], "_".join("*" if n == found[0] else w for n, w in enumerate(words))
    last = words[-1]
    if not found and 1 < len(last) <= 3 and last[-1] in "xyz":
        return last[-1], "_".join([*words[:-1], f"{last[:-1]}*"])
    return "", name


def are_siblings(a: str, b: str) -> bool:
    """Whether two names say different parts of one tuple and are alike otherwise."""
    (one, rest), (other, alike) = split(a), split(b)
    named = one and other and one != other and rest == alike
    return bool(named) and any({one, other} <= parts for parts in TUPLES)


def matching(candidates: Collection[str], used: Collection[str]) -> list[str]:
    """The candidates that are siblings of a name in use."""
    rests = {rest for part, rest in map(split, used) if part}
    return [
        name
        for name in candidates
        if split(name)[0]
        and split(name)[1] in rests
        and any(are_siblings(name, other) for other in used)
    ]
