"""Channels of sound: a thread for each, which runs in time, and the layout of their samples."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, extent
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Operand, Var


@dataclass(frozen=True)
class Channels:
    """A thread for each channel, or each channel of several tracks; ``last``: time is last."""

    k: KernelBuilder
    type: Scalar
    dims: tuple[str, ...]
    at: tuple[Var, ...]
    last: bool

    def place(self, t: Operand) -> tuple[Operand, ...]:
        return (*self.at, t) if self.last else (t, *self.at)

    def shape(self, length: str) -> tuple[str, ...]:
        return (*self.dims, length) if self.last else (length, *self.dims)

    def array(
        self, names: str, length: str, low: float = -1.0, high: float = 1.0, role: str = "in"
    ) -> Var:
        if role == "out":
            return self.k.out(names, self.type, self.shape(length))
        return self.k.array(names, self.type, self.shape(length), role=role, low=low, high=high)

    def own(self, names: str, low: float, high: float, each: float = 0.5) -> tuple[Expr, str]:
        """A setting of a channel or of all, and its name; a local where it is an array."""
        k = self.k
        if k.draw.shape.chance(each):
            array = k.array(
                [f"{n}s" for n in names.split()], self.type, self.dims, low=low, high=high
            )
            return k.let(names, array[self.at]), array.name
        made = k.scalar(names, self.type, low, high)
        return made, made.name

    def count(self, array: Var, length: str, names: str = "num_samples num_frames") -> Expr:
        """How many samples there are: the array's extent or a parameter."""
        if self.k.draw.shape.chance(0.5):
            return extent(array, len(self.dims) if self.last else 0)
        return self.k.size_param(names, length)

    def said(self) -> str:
        what = "channel of a track" if len(self.dims) > 1 else "track"
        order = "Time is the last axis" if self.last else "Time is the first axis"
        return f" {order}; a thread runs through the samples of a {what}."

    @property
    def each(self) -> str:
        """What a thread has."""
        return "channel" if len(self.dims) > 1 else "track"


def channels(
    k: KernelBuilder, level: int, length: tuple[int, int] = (12, 18), minimum: int = 1
) -> Channels:
    """Tracks of one channel, from level 2 on often of several."""
    shape = k.draw.shape
    several = level > 1 and shape.chance(0.3)
    dims = ("tracks", "channels") if several else ("tracks",)
    for name, low, high in (
        (("tracks", 2, 3), ("channels", 4, 6)) if several else (("tracks", 10, 16),)
    ):
        k.size(name, low, high)
    k.size("samples", *length, minimum)
    names = (k.name("track b"), k.name("ch c")) if several else (k.name("track tid i"),)
    at = k.thread(*dims, names=names)
    return Channels(k, k.draw.wide_float_type(), dims, at, shape.chance(0.55))
