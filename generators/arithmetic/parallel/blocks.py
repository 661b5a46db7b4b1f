"""Scans by blocks: the last step, which adds what lies before each block."""

from __future__ import annotations

from generators.arithmetic.parallel.scans import Monoid, monoid
from generators.build import KernelBuilder
from generators.build.draw import Stream
from generators.build.registry import Title, idiom
from generators.kit.naming import maybe
from generators.program.dtypes import INT32
from generators.program.expr import Expr, Var, op


@idiom(depth=3)
def add_block_offsets(k: KernelBuilder, level: int) -> Title:
    """The last step of a scan by blocks: each element joined with what lies before its block."""
    shape = k.draw.shape
    m = monoid(k, level)
    layout, lead, dims, at = _blocks(k, level)
    in_place = shape.chance(0.4)
    values = k.array(
        "partial",
        m.type,
        dims,
        role="inout" if in_place else "in",
        low=m.low,
        high=m.high,
    )
    exclusive = shape.chance(0.5)
    sums = k.array(
        "block_offsets block_prefix" if exclusive else "scanned_sums scanned_totals",
        m.type,
        (*lead, "blocks"),
        low=m.low,
        high=m.high,
    )
    out = values if in_place else k.out("scan_out prefix", m.type, dims)
    if layout == "plane":
        block: Expr = at[-2]
    else:
        block = k.let("block b blk", at[-1] // k.size_param("block_size", "width"))
    return _add_block_offsets_stored(
        exclusive, block, at, lead, m, layout, in_place, k, out, values, shape, sums
    )


def _blocks(
    k: KernelBuilder, level: int
) -> tuple[str, tuple[str, ...], tuple[str, ...], tuple[Var, ...]]:
    """How blocks lie, sizes before theirs, the sizes of the elements, and a thread for each."""
    shape = k.draw.shape
    k.size("blocks", 6, 9)
    layout = shape.choice(("flat", "plane"))
    lead: tuple[str, ...] = ()
    k.size("width", 4, 6)
    if level > 1 and shape.chance(0.35):
        k.size("rows", 2, 3)
        lead = ("rows",)
    names = [k.name("row r")] if lead else []
    dims: tuple[str, ...] = (*lead, "blocks", "width")
    if layout == "plane":
        at = k.thread(*dims, names=(*names, k.name("b block"), k.name("t lane j")))
    else:
        dims = (*lead, "blocks*width")
        at = k.thread(*dims, names=(*names, k.name("i tid idx")))
    return layout, lead, dims, at


def _add_block_offsets_stored(
    exclusive: bool,
    block: Expr,
    at: tuple[Var, ...],
    lead: tuple[str, ...],
    m: Monoid,
    layout: str,
    in_place: bool,
    k: KernelBuilder,
    out: Var,
    values: Var,
    shape: Stream,
    sums: Var,
) -> Title:
    """Store the result; what the kernel is called, and what it does in words."""
    place = (*at[: len(lead)], block if exclusive else block - 1)
    text = f"Last step of a scan of {m.said} by blocks "
    text += "of block_size elements: " if layout == "flat" else f"(rows of {values.name}): "
    if not exclusive:
        with k.if_(op("eq", block, k.lift(0, INT32)) if shape.chance(0.5) else block < 1):
            if not in_place:
                k.store(out, at, values[at])
            k.return_()
    value = m.join(sums[place], values[at])
    if in_place and m.key in ("sum", "count", "vector") and shape.chance(0.6):
        k.store(out, at, sums[place], "add")
    else:
        k.store(out, at, maybe(k, "joined", value))
    text += _joined_with(exclusive, values.name, sums.name, m.key == "affine")
    text += ", in place." if in_place else f". {out.name} gets it."
    return Title(k.name(_called(m)), text)


def _called(m: Monoid) -> str:
    """What the kernel is called: only sums are added."""
    if m.key in ("sum", "count", "vector"):
        return "add_block_offsets uniform_add"
    return "apply_block_offsets join_block_prefix"


def _joined_with(exclusive: bool, values: str, sums: str, ordered: bool) -> str:
    """What each element is joined with, in words."""
    text = f"each element of {values}, scanned within its block, is joined with "
    first = ", which comes first" if ordered else ""
    if exclusive:
        return f"{text}what lies before the block, its entry of {sums}{first}"
    text += f"the entry of {sums}, an inclusive scan of the blocks' totals, for the block before"
    return f"{text}{first}; block 0 stays as it is"
