"""What a style is: a way for the threads of a kernel to share its work. One object a style.

Each module of ``synth/render/cuda/styles`` has its own in ``STYLES``; nothing else lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules

from generators.program import ir
from synth.render.cuda import styles as styles_folder
from synth.render.cuda.kernel import KernelText, Written
from synth.render.cuda.schedule import MOST_THREADS, Schedule


@dataclass(frozen=True)
class Plan:
    """How a schedule maps the work of a program to the device, as far as time depends on it.

    Statements and loops are named by ``id`` of their node in the kernel's body.
    """

    lanes: str = ""
    """The variable in which neighbouring threads differ, a thread's name or a loop's; empty for the
    last thread name."""
    threads_an_element: float = 1.0
    """Threads that work on one point of the launch: 32 for a warp each, 0.25 for four points a
    thread."""
    in_turn: bool = False
    """Whether a thread takes its points one after the other, and waits for each."""
    along_row: int = 1
    """Of those, how many lie along the last dimension, a block's width apart; the others are rows
    apart."""
    shared_out: frozenset[int] = frozenset()
    """Loops whose turns are shared out to the threads of one point."""
    staged: Mapping[str, float] = field(default_factory=dict)
    """Arrays read through shared memory or kept in registers: how many reads one load serves."""
    spared: Mapping[str, float] = field(default_factory=dict)
    """Arrays of which loops that are made one read each element once: loads for each that is
    left."""
    register_reuse: float = 1.0
    """Uses in arithmetic that one read of what is staged in shared memory serves."""
    vector_width: int = 1
    """Elements to a load or store of those that lie side by side."""
    in_vectors: frozenset[str] = frozenset()
    """Arrays of which a thread takes so many elements with one load; of others each by itself."""
    walked: Mapping[tuple[int, str], float] = field(default_factory=dict)
    """By loop and array, elements of a row that a thread takes with one load as it goes along."""
    fetched: frozenset[tuple[int, str]] = frozenset()
    """By loop and array, rows of neighbouring threads that a block loads together, element beside
    element, through shared memory."""
    independent: int = 1
    """Loads of different points that a thread has under way at a time."""
    shuffles: float = 0.0
    """Shuffles a thread."""
    instructions: float = 0.0
    """Instructions of a thread beyond those of the program, as to fill a tile."""
    barriers: float = 0.0
    """Barriers a thread."""
    combined: Mapping[int, float] = field(default_factory=dict)
    """Atomics: how many updates of threads become one that reaches memory."""
    matched: Mapping[int, float] = field(default_factory=dict)
    """Atomics before which the lanes of a warp look which of them are at one element, where data
    says: how often a thread does."""
    in_shared: Mapping[int, float] = field(default_factory=dict)
    """Atomics on a block's own copy in shared memory: how many copies of each element there are,
    one a block."""
    held: Mapping[int, float] = field(default_factory=dict)
    """Of those, the ones of which a copy may be of the first elements alone: of how many."""
    copies: float = 1.0
    """Places in a block's shared memory over which the updates of ``in_shared`` at one element are
    spread."""
    shared_bytes: int = 0
    """Of a block."""
    blocks: float = 0.0
    """Blocks of a grid whose size does not follow from the threads, 0 where it does."""
    launches: int = 1
    """Kernels that run one after the other."""
    loads: float = 0.0
    """Loads that a thread waits for in turn beyond those of the program: of what an earlier kernel
    wrote."""

    @property
    def served(self) -> dict[str, float]:
        """By array, reads of the program for each load that is left."""
        return {**self.staged, **self.spared}

    @property
    def joint(self) -> bool:
        """Whether threads work together."""
        joined = self.combined or self.matched or self.in_shared or self.shared_out or self.staged
        return bool(joined or self.shuffles or self.barriers)


@dataclass(frozen=True)
class Style:
    """A way to lay kernels out.

    ``schedules`` gives every schedule worth a thought for a program, in an order that never
    changes, and none where the kernel has no form of the style. ``allows`` raises ``ValueError``,
    in words for a user, for a schedule of this style that is not legal for a program that has the
    form. ``plan`` takes sizes by symbol; ``asks`` is the sentence in which a prompt asks for the
    style, empty where there is nothing to ask; ``called`` is what an engineer calls the style, as
    the subject of a sentence.
    """

    name: str
    schedules: Callable[[ir.Program], Sequence[Schedule]]
    allows: Callable[[ir.Program, Schedule], None]
    write: Callable[[KernelText], Written]
    plan: Callable[[ir.Program, Schedule, Mapping[str, int]], Plan]
    asks: Callable[[Mapping[str, object]], str]
    called: str = ""
    tiles: bool = False
    """Whether it is for kernels of tiles, and for no others."""


@lru_cache(maxsize=1)
def styles() -> dict[str, Style]:
    """All styles by name, in the order of their modules."""
    found: dict[str, Style] = {}
    for module in sorted(m.name for m in iter_modules(styles_folder.__path__)):
        for style in getattr(import_module(f"{styles_folder.__name__}.{module}"), "STYLES", ()):
            assert style.name not in found, style.name
            found[style.name] = style
    return found


def fitting(program: ir.Program) -> dict[str, Style]:
    """The styles for kernels of a program's kind."""
    tiled = isinstance(program.kernel, ir.TiledKernel)
    return {name: style for name, style in styles().items() if style.tiles == tiled}


def same_dims(schedule: Schedule, dims: int) -> None:
    """``ValueError`` for a block that has not so many numbers, or too many threads."""
    block = schedule.block
    if not all(type(size) is int and size > 0 for size in block) or schedule.threads > MOST_THREADS:
        raise ValueError(
            f"block {list(block)}: whole numbers of up to {MOST_THREADS} threads in all"
        )
    if len(block) != dims:
        raise ValueError(
            f"block {list(block)}: the style {schedule.style} takes {dims} "
            f"number{'s' if dims > 1 else ''}"
        )


def power_of_two(schedule: Schedule) -> None:
    """``ValueError`` unless a block is a power of two, and a warp at least."""
    (size,) = schedule.block
    if size < 32 or size & (size - 1):
        raise ValueError(f"block [{size}]: {schedule.style} takes a power of two from 32 on")
