"""Ops whose Warp builtin answers at an edge what a bare formula does not, and what a walk found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from generators.program import expr
from generators.program.dtypes import Type
from synth.render.ranges.known import Known, Value
from synth.render.ranges.rules import is_never_zero

EDGES: dict[str, Callable[[expr.Op, Value], bool]] = {
    "normalize": lambda node, value: not is_never_zero(value, node.type),
    "inverse": lambda node, value: not (isinstance(value, Known) and value.dominated),
    "quat_twist": lambda node, value: True,
    **dict.fromkeys(
        ("asin", "acos"),
        lambda node, value: (
            not (isinstance(value, Known) and value.only[0] >= -1 and value.only[1] <= 1)
        ),
    ),
}
"""Ops with such an edge: whether an argument may come to it."""


FUNCTIONS = {"quat_twist": "normalize"}
"""The function of whose edge an op speaks, where it is not the op's own."""


@dataclass
class Edges:
    """What the walk found.

    ``safe`` and ``at``: nodes, by id, that never come to their edge and that may; ``low`` and
    ``high``: arguments of functions on [-1, 1] that may lie below and above it; ``functions``:
    device functions, with the type of their result, that some node may bring to their edge.
    """

    safe: set[int] = field(default_factory=set)
    at: set[int] = field(default_factory=set)
    low: set[int] = field(default_factory=set)
    high: set[int] = field(default_factory=set)
    functions: set[tuple[str, Type]] = field(default_factory=set)

    def guards(self, node: expr.Op) -> bool:
        """Whether a node needs a guard; one that the walk has not seen does."""
        return id(node) not in self.safe

    def beyond_one(self, node: expr.Op) -> tuple[bool, bool]:
        """Whether an argument may be below -1, and above 1."""
        seen = id(node) in self.safe or id(node) in self.at
        return not seen or id(node) in self.low, not seen or id(node) in self.high


NO_EDGES = Edges()
