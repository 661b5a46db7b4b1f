"""The texts of a row as things that can be launched on the current GPU at any shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from validate.gpu.launch import (
    Call,
    Calls,
    DeviceArena,
    DeviceLauncher,
    Kernel,
    LaunchFailed,
    WrongParameters,
)
from validate.host.memory import arrays_of, damage, written_arrays
from validate.host.plain_launch import in_small_blocks
from validate.host.plain_memory import plain_outputs
from validate.host.plain_steps import Step, grids_of, memory_of, steps_of
from validate.row.edges import Args
from validate.row.inputs import Array, draw_inputs
from validate.row.sizes import evaluate_all
from validate.row.tiles import is_tiled
from validate.text import plain as plain_unit
from validate.text.launches import launches_problem, scratch_of

Row = Mapping[str, Any]
Values = dict[str, Array]
MOST_THREADS = 1 << 40


@dataclass(frozen=True)
class Shape:
    """A shape of a row with its inputs, before any launch."""

    sizes: Mapping[str, int]
    dim: tuple[int, ...]
    inputs: Values


def shape_of(row: Row, sizes: Mapping[str, int], args: Args | None = None) -> Shape:
    """Draw the inputs of a row at a shape, at an edge with its `args`. Raises WrongParameters when
    the row allows none."""
    try:
        dim = evaluate_all(row["launch"]["dim"], sizes)
        return Shape(sizes, dim, draw_inputs(args or row["args"], sizes, row["input_seed"]))
    except ValueError as error:
        raise WrongParameters(f"inputs: {error}") from error


@dataclass(frozen=True)
class Ran:
    """One launch: its time on the device, what it wrote, and what it may not have touched."""

    time_us: float
    outputs: Values
    trouble: tuple[str, str] | None


class Text(Protocol):
    """A CUDA text of a row, compiled: Warp's or the plain one."""

    def prepare(self, row: Row, shape: Shape) -> Prepared:
        """Put the arrays of a shape on the device."""


class Prepared(Protocol):
    """Kernels with their arguments on the device."""

    @property
    def arena(self) -> DeviceArena:
        """The device memory that the arguments lie in, with its guards."""

    def calls(self) -> Calls:
        """Their launches. Raises WrongParameters and LaunchFailed."""

    def outputs(self) -> Values:
        """The arrays that the kernel may write, as the reference lays them out, once fetched."""


def run_text(text: Text, row: Row, shape: Shape) -> Ran:
    """Launch a text once. Raises WrongParameters and LaunchFailed."""
    ready = text.prepare(row, shape)
    time_us = ready.calls().run()
    ready.arena.fetch()
    return Ran(time_us, ready.outputs(), damage(row["args"], ready.arena))


@dataclass(frozen=True)
class WarpText:
    """Warp's forward kernel."""

    kernel: Kernel

    def prepare(self, row: Row, shape: Shape) -> Prepared:
        arena = DeviceArena(arrays_of(row["args"], shape.inputs))
        return _WarpReady(warp_launcher(row, self.kernel), row, shape, arena)


@dataclass(frozen=True)
class _WarpReady:
    launcher: DeviceLauncher
    row: Row
    shape: Shape
    arena: DeviceArena

    def calls(self) -> Calls:
        values = self.arena.parameters(self.row["args"], self.shape.inputs)
        return Calls([self.launcher.call(self.shape.dim, values)])

    def outputs(self) -> Values:
        return written_arrays(self.row["args"], self.arena)


@dataclass(frozen=True)
class PlainText:
    """The kernels of a row's plain CUDA, in the order of `launches.kernels_of`; with `small_blocks`
    in smaller ones than the row names."""

    kernels: Sequence[Kernel]
    small_blocks: bool = False

    def prepare(self, row: Row, shape: Shape) -> Prepared:
        try:
            arena = DeviceArena(memory_of(row, shape.sizes, shape.inputs))
        except ValueError as error:
            raise WrongParameters(str(error)) from error
        return _PlainReady(self.kernels, self.small_blocks, row, shape, arena)

    def like(self, other: Prepared, row: Row, shape: Shape) -> Prepared:
        """With the arrays that another plain text of the row was prepared with at the shape; one
        with scratch memory has arrays of its own."""
        if scratch_of(row):
            return self.prepare(row, shape)
        return _PlainReady(self.kernels, self.small_blocks, row, shape, other.arena)


@dataclass(frozen=True)
class _PlainReady:
    kernels: Sequence[Kernel]
    small_blocks: bool
    row: Row
    shape: Shape
    arena: DeviceArena

    def calls(self) -> Calls:
        row, sizes = self.row, self.shape.sizes
        try:
            grids = grids_of(row, sizes, MOST_THREADS)
            if self.small_blocks:
                grids = [in_small_blocks(grid, row["cuda_plain"]) for grid in grids]
        except ValueError as error:
            raise LaunchFailed(str(error), sticky=False) from error
        try:
            steps = steps_of(row, sizes, self.shape.inputs, self.arena.address, grids)
        except ValueError as error:
            raise WrongParameters(str(error)) from error
        return Calls([self._call(step) for step in steps])

    def _call(self, step: Step) -> Call:
        grid = step.grid
        kernel = self.kernels[step.kernel]
        return kernel.call(grid.grid, grid.block, step.values, grid.shared_bytes)

    def outputs(self) -> Values:
        laid = written_arrays(self.row["args"], self.arena)
        return plain_outputs(self.row["args"], self.shape.inputs, laid)


def plain_text_of(row: Row, load: Callable[[str], Kernel]) -> PlainText:
    """A row's plain CUDA, of kernels that `load` finds by name. Raises WrongParameters for launches
    that are none, and what `load` raises."""
    if problem := launches_problem(row):
        raise WrongParameters(problem)
    return PlainText([load(name) for name in plain_unit.launched(row)])


def warp_launcher(row: Row, kernel: Kernel) -> DeviceLauncher:
    """What launches one of the kernels of a row's Warp text, forward or backward."""
    return DeviceLauncher(kernel, int(row["launch"]["block_dim"]), int(is_tiled(row)))
