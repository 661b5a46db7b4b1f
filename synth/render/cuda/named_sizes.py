"""Sizes whose names say how large they are in use: images, batches, heads, vocabularies.

Of each name the ranges that are drawn from, where the launch counts other sizes besides or counts
it not at all. Sides of images and grids are smaller where there are three axes.
"""

from __future__ import annotations

from collections.abc import Mapping

Range = tuple[int, int]


def _named(**ranges: tuple[Range, ...]) -> dict[str, tuple[Range, ...]]:
    """The ranges by name; keys hold several names, joined by two underscores."""
    return {name: each for names, each in ranges.items() for name in names.split("__")}


_FLAT: tuple[Range, ...] = ((256, 1024), (1024, 4096))
_SOLID: tuple[Range, ...] = ((32, 128), (128, 256))
_SIDES = frozenset({"h", "w", "height", "width", "ny", "nx"})
_THIRD = frozenset({"nz", "d", "slices"})

CALLED: Mapping[str, tuple[Range, ...]] = _named(
    taps=((3, 9), (9, 33)),
    groups=((4, 16), (16, 256)),
    classes=((8, 64), (64, 1000)),
    channels__chans__cout=((8, 64), (64, 256)),
    cin=((3, 4), (16, 64), (64, 256)),
    heads=((8, 16), (16, 64)),
    dim__vdim=((32, 128), (64, 256)),
    features=((32, 128), (128, 1024)),
    b__batch__images__clouds__scenes__worlds__folds__models__tracks__streams=((4, 16), (16, 64)),
    frames__series__filters__views=((16, 64), (64, 256)),
    bins=((16, 64), (64, 256)),
    rhos=((512, 1024), (1024, 4096)),
    cams=((64, 512), (512, 4096)),
    buckets__docs=((1024, 65_536), (65_536, 1_000_000)),
    edges__num_edges__num_faces__num_elements=((4096, 65_536), (65_536, 500_000)),
    brackets__parts__components__terms__adapters__experts=((4, 8), (8, 16)),
    levels__objects__shapes__rank__window=((4, 16), (16, 64)),
    actions__slots__shifts=((8, 32), (32, 64)),
    degree__max_degree__longest=((8, 32), (32, 64)),
    chars=((32, 128), (128, 512)),
    states__k_clusters=((8, 64), (64, 256)),
    vocab=((8_000, 32_000), (32_000, 128_000)),
    angles=((64, 180), (180, 720)),
    lags__thresholds=((16, 64), (64, 256)),
)

_CROWDS = frozenset({"n", "num", "count", "scenes", "worlds", "batch", "b"})
"""Sizes of sets of points, beside which a width is how many neighbours each has."""
_ALONE: Mapping[str, tuple[Range, ...]] = _named(
    channels__tracks__streams__models__clouds__folds=((64, 256), (256, 1024)),
    states__units=((64, 256), (256, 1024)),
)
"""The same of a size that the launch counts and nothing else, where that is no large number."""

POINTS = frozenset(
    {"nodes", "num_nodes", "verts", "num_verts", "nv", "points", "num_points", "capacity"}
)
"""What elements, edges and faces share, and what entries are kept in: a share of them."""
SHARING = ("num_edges", "edges", "num_elements", "num_faces", "faces")
"""What shares points, where it is one of several sizes."""


def ranges_of(name: str, others: frozenset[str], alone: bool) -> tuple[Range, ...]:
    """The ranges of a size beside ``others``, none where its name does not say them.

    ``alone``: the launch counts it and nothing else; then only sides of an image say something.
    """
    sides = _SIDES & {name, *others}
    if name in _SIDES and (len(sides) > 1 or "nz" in others):
        return _SOLID if _THIRD & others else _FLAT
    if name == "nz" and sides:
        return _SOLID
    if name == "width" and others <= _CROWDS:
        return CALLED["degree"]
    if name == "bins" and "angles" in others:
        return CALLED["rhos"]
    return _ALONE.get(name, ()) if alone else CALLED.get(name, ())
