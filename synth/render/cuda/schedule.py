"""How a kernel is laid out on the device: the numbers of a schedule, as JSON there and back."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from math import prod

from validate.row.archs import ALWAYS_FIT_THREADS

BLOCKS = {1: ((128,), (256,), (512,)), 2: ((16, 16), (32, 8)), 3: ((8, 8, 4), (32, 4, 2))}
"""Blocks that kernels of one thread an element have, by launch dimensions."""

MOST_THREADS = 1024


@dataclass(frozen=True)
class Schedule:
    """How a kernel is laid out on the device: its style and the numbers that go with it.

    ``tile``: turns of a loop, elements along each side or bins that a block holds, 0 for none;
    ``vector_width``: elements to a load, 1 for none; ``unroll``: what ``#pragma unroll`` is told,
    1 for none; ``elements_a_thread``: how many elements a thread takes in turn; ``group``: threads
    that work together on one element or on one copy of what is shared, 1 for none. ``limits`` says
    what most of the predicted time goes to, empty where nobody asked.
    """

    style: str
    block: tuple[int, ...]
    launch_bounds: bool = False
    tile: int = 0
    vector_width: int = 1
    unroll: int = 1
    elements_a_thread: int = 1
    group: int = 1
    limits: str = field(default="", compare=False)

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return prod(self.block)

    @property
    def is_large(self) -> bool:
        """Whether a block has more threads than there are registers for in all cases: the compiler
        is then told."""
        return self.threads > ALWAYS_FIT_THREADS

    def to_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    @staticmethod
    def from_json(text: str) -> Schedule:
        """``ValueError`` for what is no schedule."""
        try:
            found = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"no JSON: {error}") from None
        known = {f.name for f in fields(Schedule)}
        if not isinstance(found, dict) or not {"style", "block"} <= set(found) <= known:
            raise ValueError(
                f"a schedule has a style, a block and, where they matter, "
                f"{', '.join(sorted(known - {'style', 'block'}))}"
            )
        if not isinstance(found["block"], list):
            raise ValueError("block is a list of whole numbers")
        return Schedule(**{**found, "block": tuple(found["block"])})
