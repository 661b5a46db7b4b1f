"""How arrays of several axes lie in memory, how long loops over them are, which thread does what.

A :class:`Work` draws once for a kernel whether sizes are parameters or are read from shapes; its
arrays may have their axes in another order or lie flat, and a thread may do one output or a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from generators.build import KernelBuilder, cast, extent
from generators.build.docs import listed
from generators.kit.sources import zero
from generators.program.dtypes import INT32, Scalar, Type
from generators.program.expr import Expr, Operand, Var


@dataclass(frozen=True)
class Tensor:
    """An array whose axes are named by size symbols.

    ``order`` says which axis stands where in memory; ``flat`` arrays have one index.
    """

    w: Work
    var: Var
    dims: tuple[str, ...]
    order: tuple[int, ...]
    flat: bool

    @property
    def name(self) -> str:
        return self.var.name

    def place(self, *at: Operand) -> Operand | tuple[Operand, ...]:
        """The index of an element whose axes come in the order of ``dims``."""
        turned = [at[axis] for axis in self.order]
        if not self.flat:
            return tuple(turned)
        found = self.w.k.lift(turned[0], INT32)
        for axis, part in zip(self.order[1:], turned[1:], strict=True):
            found = found * self.w.count(self.dims[axis]) + part
        return found

    def __getitem__(self, at: Operand | tuple[Operand, ...]) -> Expr:
        """An element in the type that the kernel computes with, if it is a float."""
        found = self.var[self.place(*(at if isinstance(at, tuple) else (at,)))]
        if isinstance(found.type, Scalar) and found.type.is_float:
            return cast(found, self.w.type_)
        return found

    def store(self, at: Sequence[Operand], value: Operand, op: str = "") -> None:
        self.w.k.store(self.var, self.place(*at), value, op)


@dataclass
class Work:
    """What the arrays of one kernel have in common, and what its description says of them."""

    k: KernelBuilder
    level: int
    type_: Scalar
    by_params: bool
    turning: float = 0.0
    flattening: float = 0.0
    words: dict[str, str] = field(default_factory=dict)
    counts: dict[str, Expr] = field(default_factory=dict)
    tensors: list[Tensor] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def chance(self, probability: float, level: int = 1) -> bool:
        """A draw of the shape stream; never below ``level``."""
        return self.level >= level and self.k.draw.shape.chance(probability)

    def size(self, symbol: str, low: int, high: int, names: str = "", minimum: int = 1) -> str:
        """A size and what a parameter that holds it is called."""
        self.words[symbol] = names or f"{symbol} num_{symbol}"
        return self.k.size(symbol, low, high, minimum=minimum)

    def known(self, symbol: str, count: Expr) -> None:
        """Say how many there are of a size that no parameter holds."""
        self.counts[symbol] = count

    def count(self, symbol: str) -> Expr:
        """How many: a parameter, or an array's length along the axis."""
        if symbol in self.counts:
            return self.counts[symbol]
        if not self.by_params:
            for t in self.tensors:
                if not t.flat and symbol in t.dims:
                    axis = t.order.index(t.dims.index(symbol))
                    return extent(t.var, axis)
        names = self.words[symbol]
        self.counts[symbol] = self.k.size_param(names, symbol)
        return self.counts[symbol]

    def tensor(
        self,
        names: str,
        dims: Sequence[str],
        low: float = -1.0,
        high: float = 1.0,
        *,
        role: str = "in",
        type_: Type | None = None,
        fixed: bool = False,
        turns: bool = True,
        init: str = "uniform",
    ) -> Tensor:
        """An array; unless it is ``fixed``, it may lie flat, or ``turns`` its axes now and then."""
        order = tuple(range(len(dims)))
        many = len(dims) > 1 and not fixed
        shape = self.k.draw.shape
        straight = all(t.order == tuple(sorted(t.order)) for t in self.tensors)
        # One operand at most lies the other way round, and not the first.
        second = role == "in" and straight and bool(self.tensors)
        if many and second and turns and shape.chance(2.0 * self.turning):
            order = (*order[:-2], order[-1], order[-2])
        # The length of a flat array is a product of sizes, not of sums.
        flat = many and not any("+" in d for d in dims) and shape.chance(self.flattening)
        # Who keeps arrays flat passes their sizes.
        self.by_params |= flat
        sizes = [dims[axis] for axis in order]
        span = (None, None) if role == "out" else (low, high)
        var = self.k.array(
            names,
            type_ or self.type_,
            "*".join(sizes) if flat else sizes,
            role=role,
            init=init,
            low=span[0],
            high=span[1],
        )
        made = Tensor(self, var, tuple(dims), order, flat)
        self.tensors.append(made)
        return made

    def exact(self, made: Tensor) -> Tensor:
        """The same array, which is never stored in half precision."""
        self.k.exact.add(made.name)
        return made

    def out(self, names: str, dims: Sequence[str], type_: Type | None = None) -> Tensor:
        """An output that every thread writes its part of."""
        return self.tensor(names, dims, role="out", type_=type_)

    @contextmanager
    def each(self, dims: Sequence[str], names: Sequence[str]) -> Iterator[tuple[Var, ...]]:
        """Indices of each output: a thread for each place, or for each flat index."""
        k = self.k
        names = _of_one_kind(k, names)
        if len(dims) == 2 and k.draw.shape.chance(0.12):
            (tid,) = k.thread("*".join(dims), names=(k.name("tid idx"),))
            wide = self.count(dims[1])
            yield (
                k.let(names[0], tid // wide),
                k.let(names[1], tid % wide),
            )
            return
        yield k.thread(*dims, names=[k.name(n) for n in names[: len(dims)]])

    @contextmanager
    def loop(self, names: str, symbol: str, start: Operand = 0) -> Iterator[Var]:
        """A loop over an axis."""
        with self.k.for_(names, self.count(symbol), start=start) as index:
            yield index

    def sum(self, names: str = "total acc s") -> Var:
        """A sum that starts at zero."""
        return self.k.let(names, zero(self.type_))

    def number(self, names: str, low: float, high: float, literal: float = 0.01) -> Expr:
        """A parameter, or a literal that people write into the kernel."""
        if self.k.draw.shape.chance(literal):
            value = self.k.draw.value.constant(low, high)
            return self.k.lift(float(value) if float(value) != 1.0 else high, self.type_)
        return self.k.scalar(names, self.type_, low, high)

    def say(self, text: str) -> None:
        self.told.append(text)

    def text(self) -> str:
        """The sentences so far, and one on arrays that lie otherwise than one would think."""
        flat = [f"{t.name} as ({', '.join(self._axes(t))})" for t in self.tensors if t.flat]
        turned = [
            f"{t.name} is stored transposed, as ({', '.join(self._axes(t))})"
            for t in self.tensors
            if t.order != tuple(sorted(t.order)) and not t.flat
        ]
        told = list(self.told)
        if turned:
            told.append(f"{listed(turned)}.")
        if flat:
            told.append(f"Flat in row-major order: {listed(flat)}.")
        return " ".join(told)

    def _axes(self, t: Tensor) -> list[str]:
        """The axes of an array as they lie, by the names of the parameters."""
        found = []
        for axis in t.order:
            held = self.counts.get(t.dims[axis])
            found.append(held.name if isinstance(held, Var) else t.dims[axis])
        return found


def _of_one_kind(k: KernelBuilder, names: Sequence[str]) -> list[str]:
    """Names of indices that go together: all first ones, or all second ones, and so on."""
    parts = [name.split() for name in names]
    which = k.draw.word.choice(range(max(map(len, parts))))
    own = [p[which % len(p)] for p in parts]
    return [" ".join(p) if one in k.used else one for one, p in zip(own, parts, strict=True)]


def alike(k: KernelBuilder, *families: str) -> list[str]:
    """Names that belong together: those of one family."""
    return k.draw.word.choice(families).split()


def work(k: KernelBuilder, level: int, turning: float = 0.0, flattening: float = 0.0) -> Work:
    """A kernel in float32, seldom in float64; arrays are turned or flat more often by level."""
    type_ = k.draw.wide_float_type()
    share = {1: 0.5, 2: 1.0}.get(level, 1.4)
    by_params = k.draw.shape.chance(0.5)
    # Who keeps one array flat keeps all of them so.
    flat = 1.0 if k.draw.shape.chance(0.3 * flattening * share) else 0.0
    turned = turning * min(share, 1.0) * (0.5 if flat else 1.0)
    return Work(k, level, type_, by_params, turned, flat)
