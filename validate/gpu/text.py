"""The texts of a row as things that can be launched on the current GPU at any shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from validate.gpu.launch import (
    Call,
    DeviceArena,
    DeviceLauncher,
    Kernel,
    LaunchFailed,
    WrongParameters,
)
from validate.host.memory import arrays_of, damage, written_arrays
from validate.host.plain_launch import grid_of, in_small_blocks
from validate.host.plain_memory import plain_arrays, plain_outputs, plain_parameters
from validate.row.edges import Args
from validate.row.inputs import Array, draw_inputs
from validate.row.sizes import evaluate_all

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
    """A kernel with its arguments on the device."""

    @property
    def arena(self) -> DeviceArena:
        """The device memory that the arguments lie in, with its guards."""

    def call(self) -> Call:
        """Its launch. Raises WrongParameters and LaunchFailed."""

    def outputs(self) -> Values:
        """The arrays that the kernel may write, as the reference lays them out, once fetched."""


def run_text(text: Text, row: Row, shape: Shape) -> Ran:
    """Launch a text once. Raises WrongParameters and LaunchFailed."""
    ready = text.prepare(row, shape)
    time_us = ready.call().run()
    ready.arena.fetch()
    return Ran(time_us, ready.outputs(), damage(row["args"], ready.arena))


@dataclass(frozen=True)
class WarpText:
    """Warp's forward kernel."""

    kernel: Kernel

    def prepare(self, row: Row, shape: Shape) -> Prepared:
        arena = DeviceArena(arrays_of(row["args"], shape.inputs))
        return _WarpReady(DeviceLauncher(self.kernel, _block_dim(row)), row, shape, arena)


@dataclass(frozen=True)
class _WarpReady:
    launcher: DeviceLauncher
    row: Row
    shape: Shape
    arena: DeviceArena

    def call(self) -> Call:
        values = self.arena.parameters(self.row["args"], self.shape.inputs)
        return self.launcher.call(self.shape.dim, values)

    def outputs(self) -> Values:
        return written_arrays(self.row["args"], self.arena)


@dataclass(frozen=True)
class PlainText:
    """The kernel of a row's plain CUDA; with `small_blocks` in smaller ones than the row names."""

    kernel: Kernel
    small_blocks: bool = False

    def prepare(self, row: Row, shape: Shape) -> Prepared:
        arena = DeviceArena(plain_arrays(row["args"], shape.inputs))
        return _PlainReady(self.kernel, self.small_blocks, row, shape, arena)

    def like(self, other: Prepared, row: Row, shape: Shape) -> Prepared:
        """With the arrays that another plain text of the row was prepared with at the shape."""
        return _PlainReady(self.kernel, self.small_blocks, row, shape, other.arena)


@dataclass(frozen=True)
class _PlainReady:
    kernel: Kernel
    small_blocks: bool
    row: Row
    shape: Shape
    arena: DeviceArena

    def call(self) -> Call:
        row, sizes = self.row, self.shape.sizes
        try:
            grid = grid_of(row["plain_launch"], sizes, MOST_THREADS)
            if self.small_blocks:
                grid = in_small_blocks(grid, row["cuda_plain"])
        except ValueError as error:
            raise LaunchFailed(str(error), sticky=False) from error
        try:
            values = plain_parameters(row, sizes, self.shape.inputs, self.arena.address)
        except ValueError as error:
            raise WrongParameters(str(error)) from error
        return self.kernel.call(grid.grid, grid.block, values, grid.shared_bytes)

    def outputs(self) -> Values:
        laid = written_arrays(self.row["args"], self.arena)
        return plain_outputs(self.row["args"], self.shape.inputs, laid)


def backward_launcher(row: Row, kernel: Kernel) -> DeviceLauncher:
    """What launches a row's backward kernel, for `validate.host.adjoint`."""
    return DeviceLauncher(kernel, _block_dim(row))


def _block_dim(row: Row) -> int:
    return int(row["launch"]["block_dim"])
