"""The texts of a row as things that can be launched on the current GPU at any shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from validate.gpu_launch import Call, DeviceLauncher, Kernel, LaunchFailed, WrongParameters
from validate.gpu_memory import DeviceArena
from validate.host_memory import Arena, arrays_of, damage
from validate.inputs import Array, draw_inputs
from validate.plain_launch import grid_of
from validate.plain_layout import as_plain, by_value, from_plain
from validate.sizes import evaluate, evaluate_all

Row = Mapping[str, Any]
Values = dict[str, Array]
MOST_THREADS = 1 << 40


@dataclass(frozen=True)
class Shape:
    """A shape of a row with its inputs, before any launch."""

    sizes: Mapping[str, int]
    dim: tuple[int, ...]
    inputs: Values


def shape_of(row: Row, sizes: Mapping[str, int]) -> Shape:
    """Draw the inputs of a row at a shape. Raises WrongParameters when the row allows none."""
    try:
        dim = evaluate_all(row["launch"]["dim"], sizes)
        return Shape(sizes, dim, draw_inputs(row["args"], sizes, row["input_seed"]))
    except ValueError as error:
        raise WrongParameters(f"inputs: {error}") from error


@dataclass(frozen=True)
class Ran:
    """One launch: its time on the device, what it wrote, and what it may not have touched."""

    time_us: float
    outputs: Values
    trouble: tuple[str, str] | None


class Text(Protocol):
    """A kernel of a row."""

    @property
    def name(self) -> str:
        """ "forward" or "plain"."""

    def prepare(self, row: Row, shape: Shape) -> Prepared:
        """Put the arrays of a shape on the device."""


class Prepared(Protocol):
    """A kernel with its arguments on the device."""

    @property
    def arena(self) -> DeviceArena:
        """Where they lie."""

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
    name: str = "forward"

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
        return _written(self.row, self.arena)


@dataclass(frozen=True)
class PlainText:
    """The kernel of a row's plain CUDA."""

    kernel: Kernel
    name: str = "plain"

    def prepare(self, row: Row, shape: Shape) -> Prepared:
        arrays = {
            arg["name"]: as_plain(shape.inputs[arg["name"]], arg)
            for arg in row["args"]
            if arg["kind"] == "array"
        }
        return _PlainReady(self.kernel, row, shape, DeviceArena(arrays))


@dataclass(frozen=True)
class _PlainReady:
    kernel: Kernel
    row: Row
    shape: Shape
    arena: DeviceArena

    def call(self) -> Call:
        row, sizes = self.row, self.shape.sizes
        try:
            grid = grid_of(row["plain_launch"], sizes, MOST_THREADS)
        except ValueError as error:
            raise LaunchFailed(str(error), sticky=False) from error
        try:
            more = [
                np.array(evaluate(extra["size"], sizes), np.int32)
                for extra in row["plain_args"][len(row["args"]) :]
            ]
        except ValueError as error:
            raise WrongParameters(str(error)) from error
        values = [self._parameter(arg) for arg in row["args"]]
        shared_bytes = int(row["plain_launch"]["shared_bytes"] or 0)
        return self.kernel.call(grid.grid, grid.block, [*values, *more], shared_bytes)

    def _parameter(self, arg: Mapping[str, Any]) -> Array:
        if arg["kind"] == "array":
            return np.array(self.arena.address(arg["name"]), np.uint64)
        return by_value(self.shape.inputs[arg["name"]], arg)

    def outputs(self) -> Values:
        laid = _written(self.row, self.arena)
        return {
            arg["name"]: from_plain(laid[arg["name"]], self.shape.inputs[arg["name"]], arg)
            for arg in self.row["args"]
            if arg["name"] in laid
        }


def backward_launcher(row: Row, kernel: Kernel) -> DeviceLauncher:
    """What launches a row's backward kernel, for `validate.adjoint`."""
    return DeviceLauncher(kernel, _block_dim(row))


def _block_dim(row: Row) -> int:
    return int(row["launch"]["block_dim"])


def _written(row: Row, arena: Arena) -> Values:
    names: Sequence[str] = [
        a["name"] for a in row["args"] if a["kind"] == "array" and a["role"] != "in"
    ]
    return {name: arena.array(name) for name in names}
