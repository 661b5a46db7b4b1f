"""How a kernel is laid out on the device, drawn for a program or asked for."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from generators import ir
from generators.draw import Stream
from generators.walk import statements

STYLES = ("guarded", "grid_stride")


BLOCKS = {1: ((128,), (256,), (512,)), 2: ((16, 16), (32, 8)), 3: ((8, 8, 4), (32, 4, 2))}


@dataclass(frozen=True)
class Schedule:
    """How the kernel is laid out on the device: its style and the numbers that go with it."""

    style: str
    block: tuple[int, ...]
    launch_bounds: bool = False

    def to_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    @staticmethod
    def from_json(text: str) -> Schedule:
        found = json.loads(text)
        return Schedule(found["style"], tuple(found["block"]), found["launch_bounds"])


def schedule_for(program: ir.Program, style: str = "") -> Schedule:
    """A schedule drawn for a program from its seed; ``style`` forces one of :data:`STYLES`.

    ``ValueError`` where the kernel has no form of that style.
    """
    stream = Stream(f"{program.input_seed}/schedule")
    drawn = "grid_stride" if stream.chance(0.1 + 0.08 * program.level) else "guarded"
    if _leaves_from_a_loop(program):
        drawn = "guarded"
        if style == "grid_stride":
            raise ValueError("a thread leaves from within a loop: there is no grid-stride form")
    chosen = style or drawn
    dims = len(program.kernel.launch_dim)
    flat = chosen == "grid_stride" or dims == 4
    block = stream.choice(BLOCKS[1 if flat else dims])
    return Schedule(chosen, block, stream.chance(0.15))


def _leaves_from_a_loop(program: ir.Program) -> bool:
    loops = [s for s in statements(program.kernel.body) if isinstance(s, ir.For | ir.While)]
    return any(isinstance(s, ir.Return) for loop in loops for s in statements(loop.body))
