"""Blocks of numbers with a scale each: absmax and affine codes, nibbles in bytes and words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import least, most
from generators.kit.naming import maybe
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var

UINT8, INT8 = Scalar("uint8"), Scalar("int8")


def rounded(k: KernelBuilder, x: Expr) -> Expr:
    """The nearest whole number: ties to even, or away from zero."""
    return fn("rint" if k.draw.shape.chance(0.6) else "round", x)


@dataclass(frozen=True)
class _Block:
    """A thread's block of numbers: where it starts, how long it is."""

    k: KernelBuilder
    dims: tuple[str, ...]
    at: tuple[Expr, ...]
    whole: tuple[str, ...]
    size: Expr
    start: Expr
    two: bool
    """Whether blocks have an axis of their own."""

    @contextmanager
    def each(self) -> Iterator[tuple[Expr, ...]]:
        """A loop over the block, which gives the place of an element."""
        k = self.k
        before = set(k.used)
        with k.for_("c e q_i", self.size) as c:
            if self.two:
                yield (*self.at, c)
            elif k.draw.shape.chance(0.5):
                yield (*self.at[:-1], k.let("idx pos", self.start + c))
            else:
                yield (*self.at[:-1], self.start + c)
        k.used &= before | {p.name for p in k.params}

    @property
    def said(self) -> str:
        long = self.size.name if isinstance(self.size, Var) else str(getattr(self.size, "value", 0))
        return f"Quantise blocks of {long} elements, one block a thread:"


def _block(k: KernelBuilder, level: int) -> _Block:
    """Blocks of a list, of the rows of a matrix, or along the last of three axes."""
    shape = k.draw.shape
    way = shape.weighted({"list": 3, "rows": 5, "axis": 3})
    fixed = shape.choice((16, 32)) if shape.chance(0.35) else 0
    per = str(fixed) if fixed else k.size("block_size", 4, 6)
    k.size("blocks", 2, 4)
    if way == "list":
        k.sizes.pop("blocks")
        k.size("blocks", 7, 10)
        at = k.thread("blocks", names=[k.name("b block g")])
        dims: tuple[str, ...] = ("blocks",)
        whole: tuple[str, ...] = (f"blocks*{per}",)
    else:
        k.size("rows", 3, 5)
        at = k.thread("rows", "blocks", names=[k.name("row r i"), k.name("b block g")])
        dims = ("rows", "blocks")
        whole = (*dims, per) if way == "axis" else ("rows", f"blocks*{per}")
    size: Expr = k.lift(fixed, INT32)
    if not fixed:
        size = k.size_param("block_size group_size", per)
    start: Expr = at[-1] * size
    if way != "axis":
        start = k.let("start first base", start)
    return _Block(k, dims, at, whole, size, start, way == "axis")


def _largest(b: _Block, x: Var) -> tuple[Var, str]:
    """The largest size in a block, which a tiny number keeps from being 0; in words."""
    k = b.k
    floor = k.draw.value.choice((1.0e-6, 1.0e-5, 1.0e-8))
    top = k.let("absmax amax largest", k.lift(floor, FLOAT32))
    with b.each() as place:
        if k.draw.shape.chance(0.7):
            k.assign(top, most(top, abs(x[place])))
        else:
            size = k.let("mag a", abs(x[place]))
            with k.if_(size > top):
                k.assign(top, size)
    return top, f"the largest absolute value in a block (at least {floor:g})"


@idiom
def quantise_blocks(k: KernelBuilder, level: int) -> Title:
    """Blocks to eight bits or fewer: a thread finds the block's range, then its codes."""
    shape = k.draw.shape
    b = _block(k, level)
    x = k.array("weights x values", FLOAT32, b.whole, low=-2.0, high=2.0)
    # Among so many, a half moved by a unit in its last place would get another code.
    k.exact.add(x.name)
    scales = k.out("scales block_scales", FLOAT32, b.dims)
    if shape.chance(0.6):
        return _symmetric(b, x, scales)
    return _affine(b, x, scales)


def _symmetric(b: _Block, x: Var, scales: Var) -> Title:
    """Codes on both sides of 0, by the largest size."""
    k, shape = b.k, b.k.draw.shape
    limit = shape.choice((127, 7))
    codes = k.out("codes quantized q", INT8, b.whole)
    top, said = _largest(b, x)
    over = shape.chance(0.4)
    scale = k.let("scale step", top / float(limit))
    factor = scale if over else k.let("inv_scale inv", 1.0 / scale)
    k.store(scales, b.at, scale)
    with b.each() as place:
        scaled = x[place] / factor if over else x[place] * factor
        code = rounded(k, maybe(k, "v scaled", scaled, 0.4))
        k.store(codes, place, cast(cast(code, INT32) if shape.chance(0.5) else code, INT8))
    text = f"store {said} over {limit} in {scales.name}, and each of {x.name} over that scale, "
    text += f"rounded, in {codes.name}."
    bits = "int8" if limit == 127 else "int4"
    return Title(k.name(f"quantize_blocks absmax_quantize blockwise_{bits}"), f"{b.said} {text}")


def _affine(b: _Block, x: Var, scales: Var) -> Title:
    """Codes from 0 up, by the smallest and the largest."""
    k, shape = b.k, b.k.draw.shape
    limit = shape.choice((255, 15, 15))
    codes, zeros = (
        k.out("codes quantized q", UINT8, b.whole),
        k.out("minima block_min", FLOAT32, b.dims),
    )
    low = k.let("lo low", k.lift(1.0e30, FLOAT32))
    high = k.let("hi high", k.lift(-1.0e30, FLOAT32))
    with b.each() as place:
        value = k.let("v x_c", x[place])
        k.assign(low, least(low, value))
        k.assign(high, most(high, value))
    scale = k.let("scale step", (high - low + 1.0e-6) / float(limit))
    k.store(scales, b.at, scale)
    k.store(zeros, b.at, low)
    with b.each() as place:
        code = rounded(k, (x[place] - low) / scale)
        k.store(codes, place, cast(cast(code, INT32) if shape.chance(0.5) else code, UINT8))
    text = f"store its smallest element in {zeros.name}, (largest - smallest + 1e-6) / {limit} in "
    text += f"{scales.name}, and each of {x.name}, less the smallest and over the scale, rounded, "
    text += f"in {codes.name}."
    bits = "uint8" if limit == 255 else "uint4"
    return Title(k.name(f"quantize_blocks affine_quantize blockwise_{bits}"), f"{b.said} {text}")
