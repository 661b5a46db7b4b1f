"""How kernels of elements are launched, and how their results reach memory: as it is, masked,
weighted, added to what is there, or moved a share of the way to it.
"""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, fn
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Var

_SIZES = {1: ((48, 96),), 2: ((7, 10), (7, 11)), 3: ((3, 4), (4, 6), (4, 6))}
_SYMBOLS = {1: ("n",), 2: ("rows", "cols"), 3: ("batch", "rows", "cols")}
_THREADS = {
    1: (("i",), ("tid",), ("idx",)),
    2: (("i", "j"), ("row", "col"), ("y", "x")),
    3: (("b", "i", "j"), ("batch", "row", "col")),
}


@dataclass(frozen=True)
class Site:
    """One thread for each element: the sizes of the launch, and the thread's indices."""

    dims: tuple[str, ...]
    at: tuple[Var, ...]

    @property
    def where(self) -> str:
        """The indices, as a description writes them."""
        return ", ".join(index.name for index in self.at)


def elements(k: KernelBuilder, weights: dict[int, int] | None = None) -> Site:
    """A launch over the elements of an array of one to three dimensions."""
    rank = k.draw.shape.weighted(weights or {1: 5, 2: 4, 3: 2})
    for symbol, (low, high) in zip(_SYMBOLS[rank], _SIZES[rank], strict=True):
        k.size(symbol, low, high)
    names = tuple(k.name(name) for name in k.draw.word.choice(_THREADS[rank]))
    return Site(_SYMBOLS[rank], k.thread(*_SYMBOLS[rank], names=names))


def write(
    k: KernelBuilder,
    level: int,
    site: Site,
    names: tuple[str, ...],
    value: Expr,
    *,
    blends: bool = True,
) -> str:
    """Store a float result in one of the ways of its level; the sentences on it.

    ``blends`` says that a running average of such a result means something.
    """
    ways = {way: w for way, w in _WAYS[level].items() if blends or way != "blend"}
    how = k.draw.shape.weighted(ways)
    text = ""
    if how != "plain" and not isinstance(value, Var) and k.draw.shape.chance(0.7):
        value = k.let(("value", "result", "res", "val"), value)
    if "mask" in how:
        value, text = _masked(k, site, value)
    if "weight" in how:
        weights = k.array(
            ("weights", "importance", "gains"), value.type, site.dims, low=0.2, high=1
        )
        value, text = weights[site.at] * value, f" times {weights.name}{text}"
    if "add" not in how and "blend" not in how:
        out = k.out(names, value.type, site.dims)
        k.store(out, site.at, value)
        return f" {out.name} gets it{text}."
    out = k.array(names, value.type, site.dims, role="inout", low=-1.0, high=1.0)
    if "add" in how:
        k.store(out, site.at, value, op="add")
        return f" It is added to {out.name}{text}."
    assert isinstance(value.type, Scalar)
    rate = k.scalar(("rate", "blend", "momentum"), value.type, 0.1, 0.9)
    k.store(out, site.at, fn("lerp", out[site.at], value, rate))
    return f" {out.name} becomes lerp({out.name}, it, {rate.name}){text}."


_WAYS: dict[int, dict[str, int]] = {
    1: {"plain": 7, "add": 2},
    2: {"plain": 3, "mask": 3, "weight": 3, "add": 2, "blend": 1},
    3: {"plain": 2, "mask": 3, "weight": 3, "add": 2, "blend": 2, "mask weight": 2},
    4: {"plain": 1, "mask": 3, "weight": 3, "blend": 2, "mask weight": 3, "mask add": 2},
    5: {"mask": 3, "weight": 2, "mask weight": 3, "mask add": 2, "weight add": 2, "blend": 1},
}


def _masked(k: KernelBuilder, site: Site, value: Expr) -> tuple[Expr, str]:
    flag = Scalar(k.draw.shape.weighted({"int32": 4, "uint8": 4, "int8": 1, "uint32": 1}))
    dims, at = site.dims, site.at
    if len(dims) > 1 and k.draw.shape.chance(0.3):
        dims, at = dims[-1:], at[-1:]
    mask = k.array(("mask", "valid", "active"), flag, dims, low=0, high=1)
    what = mask.name if dims == site.dims else f"{mask.name}[{at[0].name}]"
    return fn("where", fn("ne", mask[at], 0), value, 0.0), f", 0 where {what} is 0"
