"""What a category file declares: a ``CATEGORY`` with its idioms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from generators.build import KernelBuilder
from generators.draw import Draw
from generators.ir import Program

LEVELS = (1, 2, 3, 4, 5)


class Title(NamedTuple):
    """What an idiom calls its kernel, and one or two sentences on what it computes."""

    kernel_name: str
    description: str


Idiom = Callable[[KernelBuilder, int], Title]


@dataclass
class Category:
    """A named set of idioms. Every idiom draws at every level from 1 to 5."""

    name: str
    about: str
    idioms: dict[str, Idiom] = field(default_factory=dict)

    def idiom(self, function: Idiom) -> Idiom:
        """Register an idiom under the name of its function; ``ValueError`` for a second one."""
        name = function.__name__
        if name in self.idioms:
            raise ValueError(f"category {self.name} has two idioms called {name}")
        self.idioms[name] = function
        return function

    def choose(self, draw: Draw) -> str:
        """The idiom that a draw is of."""
        return draw.idiom.choice(sorted(self.idioms))

    def draw(self, draw: Draw, level: int) -> Program:
        """Draw one program. May raise :class:`generators.draw.Reject`."""
        return self.draw_idiom(self.choose(draw), draw, level)

    def draw_idiom(self, name: str, draw: Draw, level: int) -> Program:
        """Draw one program of a given idiom."""
        kernel = KernelBuilder(draw)
        title = self.idioms[name](kernel, level)
        return kernel.program(name, level, title.kernel_name, title.description)
