"""What is known of a program at given sizes: its accesses, loops and instructions, a point each."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any

from synth.render.cuda.cost.affine import Moves
from synth.render.cuda.cost.device import LINE_BYTES, SECTOR_BYTES, WARP

LOAD, STORE, UPDATE = "load", "store", "update"


@dataclass(frozen=True)
class Turns:
    """A loop: its node's ``id``, its variable (empty for while) and how often it turns;
    ``is_guess`` where only data say how often."""

    node: int
    name: str
    count: float
    is_guess: bool = False


@dataclass(frozen=True)
class Access:
    """Places in the text that read or write an array in the same way but for constant distances.

    ``times`` a point of the launch in all, ``once`` the most of any one place: what its neighbours
    read is near by then; ``most`` as that, were every branch taken that data or an edge decides.
    """

    kind: str
    array: str
    bytes: int
    node: int
    times: float
    once: float
    moves: Moves
    loops: tuple[Turns, ...]
    most: float = 0.0
    atoms: int = 1
    """Numbers that an element has, each of which an update changes by itself."""
    first: float = 0.0
    """Of ``times``, those that all points make at one element: in the first turn of a loop that all
    start at one place."""

    @property
    def is_guess(self) -> bool:
        """Whether data decide how often a loop around it turns."""
        return any(turns.is_guess for turns in self.loops)

    def lanes(self, lane: str, first: int = 0) -> list[float]:
        """The elements that a warp of neighbours in a variable touch, the first of them at a value
        of it, but for what all of them share."""
        return [self.moves.at({lane: float(first + k)}) for k in range(WARP)]

    def stride(self, lane: str) -> float:
        """Elements between neighbours in a variable; of stairs those that would ask for as many
        lines and sectors as a warp does."""
        if not any(lane in stair.names for stair in self.moves.stairs):
            return abs(self.moves.factors.get(lane, 0.0))
        # What wraps around does so in the first warp, and in hardly any other.
        return min(self._asked(lane, first) for first in (0, WARP)) / (WARP * self.bytes)

    def _asked(self, lane: str, first: int) -> int:
        """Bytes of the lines or sectors in which the elements of a warp lie, wherever the first of
        them starts: as of what moves in no steps."""
        places = self.lanes(lane, first)
        starts = {(place - min(places)) * self.bytes for place in places}
        sectors = len({start // SECTOR_BYTES for start in starts})
        lines = len({start // LINE_BYTES for start in starts})
        return lines * LINE_BYTES if lines > 1 else sectors * SECTOR_BYTES


@dataclass(frozen=True)
class Work:
    """Instructions of a point within the same loops."""

    loops: tuple[Turns, ...]
    count: float


@dataclass(frozen=True)
class Facts:
    """All of it. ``arrays`` has the bytes of each array, ``extents`` the launch dimensions, ``met``
    the most elements that an update can meet, by its node, where the inputs bound them."""

    threads: tuple[str, ...]
    extents: tuple[int, ...]
    arrays: dict[str, float]
    accesses: tuple[Access, ...]
    work: tuple[Work, ...]
    met: dict[int, float]
    kept: dict[tuple[object, ...], Any] = field(default_factory=dict, compare=False)
    """What predictions of several schedules have in common."""

    def atoms(self, array: str) -> int:
        """Numbers in an element of an array that is updated."""
        return max(a.atoms for a in self.accesses if a.array == array and a.kind == UPDATE)

    @property
    def points(self) -> float:
        return float(prod(self.extents))
