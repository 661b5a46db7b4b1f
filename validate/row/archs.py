"""GPU architectures that a row can be compiled for."""

from __future__ import annotations

from collections.abc import Sequence

ARCHS: tuple[str, ...] = (
    "sm_75",
    "sm_80",
    "sm_86",
    "sm_87",
    "sm_88",
    "sm_89",
    "sm_90",
    "sm_100",
    "sm_103",
    "sm_110",
    "sm_120",
    "sm_121",
)
DEFAULT_ARCH = "sm_90"


def check_archs(names: Sequence[str]) -> tuple[str, ...]:
    """The names in numerical order, without repeats.

    Raises ValueError, in one line that lists the known ones, for an unknown name or none at all.
    """
    known = f"known are {' '.join(ARCHS)}"
    if not names:
        raise ValueError(f"no architecture named; {known}")
    for name in names:
        if name not in ARCHS:
            raise ValueError(f"unknown architecture {name!r}; {known}")
    return tuple(arch for arch in ARCHS if arch in names)
