"""What kernels on arrays of two to four dimensions share: launches, and where numbers come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from generators.build import KernelBuilder
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Operand, Var, literal

Names = tuple[str, ...]
Place = tuple[Operand, ...]


def at(*parts: Operand) -> Place:
    """Parts of an index as one."""
    return parts


@dataclass
class Cells:
    """One thread for each element of an array, and the sentences said about it so far."""

    k: KernelBuilder
    scalar: Scalar
    dims: tuple[str, ...]
    at: tuple[Var, ...]
    said: list[str] = field(default_factory=list)
    channel: int | None = None
    """The axis along which a bias runs."""

    def say(self, text: str) -> None:
        self.said.append(text)

    @property
    def text(self) -> str:
        return " ".join(self.said)

    def write(self, names: Names, value: Expr) -> Var:
        """Store a value in a new output, which is given back."""
        target = self.k.out(names, value.type, self.dims)
        self.k.store(target, self.at, value)
        return target

    def along(
        self, names: Names, low: float, high: float, axis: int | None = None
    ) -> tuple[Expr, str]:
        """An entry of an array along this axis, or one or two of the launch's axes."""
        count = 2 if len(self.dims) > 2 and self.k.draw.shape.chance(0.4) else 1
        axes = sorted(self.k.draw.shape.sample(range(len(self.dims)), count))
        if axis is not None:
            axes = [axis]
        dims = [self.dims[a] for a in axes]
        source = self.k.array(names, self.scalar, dims, low=low, high=high)
        index = tuple(self.at[a] for a in axes)
        return source[index], f"{source.name}[{', '.join(v.name for v in index)}]"

    def each(self, names: Names, low: float, high: float) -> tuple[Expr, str]:
        """This thread's entry of an array of the output's shape."""
        source = self.k.array(names, self.scalar, self.dims, low=low, high=high)
        return source[self.at], f"{source.name}[{', '.join(v.name for v in self.at)}]"

    def factor(self, one: Names, many: Names, low: float, high: float) -> tuple[Expr, str]:
        """A number that is a parameter, an entry along an axis, or a literal."""
        way = self.k.draw.shape.weighted({"param": 4, "along": 3, "literal": 1})
        if way == "along":
            return self.along(many, low, high)
        if way == "param":
            value = self.k.scalar(one, self.scalar, low, high)
            return value, value.name
        number = float(self.k.draw.value.constant(low, high))
        return literal(number, self.scalar), str(number)


def cells(k: KernelBuilder, scalar: Scalar, dims: Sequence[str], *names: tuple[str, ...]) -> Cells:
    """Launch a thread for each point of ``dims``; ``names`` are sets of names of the indices."""
    return Cells(k, scalar, tuple(dims), k.thread(*dims, names=k.draw.word.choice(names)))
