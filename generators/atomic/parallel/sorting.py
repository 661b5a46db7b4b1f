"""Counts and places that sorting in parallel needs: digits, ranks, runs, compaction."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

from generators.atomic.parallel.parts import (
    COUNTS,
    INT64,
    UINT32,
    UINT64,
    Work,
    named,
    spot,
    work,
)
from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.text import written
from generators.program.dtypes import FLOAT32, INT32, Array, Scalar
from generators.program.expr import Expr, Var


def _key(w: Work) -> tuple[Expr, str]:
    """A key whose digits are taken, as an unsigned number; and its name in words."""
    shape = w.k.draw.shape
    type_: Scalar = shape.weighted({INT32: 4, UINT32: 4, UINT64: 2, INT64: 1})
    load = w.read("keys values", type_, 0, 2**31 - 1 if type_.bits == 32 else 2**62)
    return w.let("key", load, 0.7), written(load)


@idiom(depth=3)
def radix_digit_counts(k: KernelBuilder, level: int) -> Title:
    """Digits of keys counted for a pass of a radix sort, or for all passes at once."""
    shape = k.draw.shape
    bits = 4
    radix = 1 << bits
    with work(k, level, "num_keys", (64, 96), "i idx", "segments", per_block=True) as w:
        key, said = _key(w)
        type_ = key.type
        assert isinstance(type_, Scalar)
        every = level > 2 and shape.chance(0.35)
        down = level > 1 and shape.chance(0.3)
        count: Scalar = shape.weighted({INT32: 3, UINT32: 2})
        if every:
            passes = type_.bits // bits
            text = f"Digit histograms for all {passes} passes of a radix sort"
            dims = (str(passes), str(radix))
            counts = w.shared("counts digit_counts hist", count, dims)
            with k.for_("p pass_id", passes) as p:
                shift: Expr = k.let("shift", cast(bits * p, type_))
                digit = _digit(w, key, shift, radix, down)
                counts.update("add", (p, digit), 1)
            place = counts.said("p", "d")
            how = f"its {bits} bits from bit {bits} * p on, for every pass p"
        else:
            counts = w.shared("counts digit_counts hist", count, (str(radix),))
            shift, start = _shift(k, type_, bits)
            counts.update("add", (_digit(w, key, shift, radix, down),), 1)
            place, text = counts.said("d"), "Digit histogram for a pass of a radix sort"
            how = f"the {bits} bits from bit {start} on"
    down_said = f", subtracted from {radix - 1} to sort downwards" if down else ""
    text += f": for each key {said}, add 1 to {place}. Digit d is {how}{down_said}.{w.about}"
    text += "" if type_.is_unsigned else " Keys are not negative."
    return Title(k.name("radix_histogram digit_counts count_digits", "radix_count_pass"), text)


def _shift(k: KernelBuilder, type_: Scalar, bits: int) -> tuple[Expr, str]:
    """The bit where the digit of a pass begins, given or by the number of the pass; in words."""
    if k.draw.shape.chance(0.6):
        given = k.scalar("shift start_bit", type_, 1, 24)
        return given, given.name
    number = k.scalar("pass_id digit_id", INT32, 1, 7)
    return k.let("shift", cast(number * bits, type_)), f"{bits} * {number.name}"


def _digit(w: Work, key: Expr, shift: Expr, radix: int, down: bool) -> Expr:
    """The digit of a key as an index."""
    type_ = key.type
    assert isinstance(type_, Scalar)
    mask = w.k.lift(radix - 1, type_)
    moved = w.let("shifted", key >> shift, 0.2)
    digit = cast(moved & mask, INT32)
    digit = w.let("digit d", digit, 0.6)
    return w.let("slot", radix - 1 - digit, 0.5) if down else digit


_KEYS: dict[Scalar, int] = {FLOAT32: 4, INT32: 4, UINT32: 1, INT64: 1}


def _span(type_: Scalar) -> tuple[int, int]:
    """A range in which keys are at times equal, where they are whole numbers."""
    if type_.is_float:
        return -2, 2
    return (0, 30) if type_.is_unsigned else (-15, 15)


@idiom(depth=3)
def block_ranks(k: KernelBuilder, level: int) -> Title:
    """Of a block of keys, those before a query are counted; the counts of all blocks are summed."""
    shape = k.draw.shape
    type_ = shape.weighted(_KEYS)
    width = k.draw.value.choice((16, 32))
    lead = (k.size("batch", 3, 4),) if shape.chance(0.4) else ()
    pair = [k.size("num_queries", 8, 12), k.size("blocks", 3, 4)]
    names, flipped = [k.name("q query"), k.name("c block")], shape.chance(0.4)
    threads = k.thread(
        *lead,
        *(reversed(pair) if flipped else pair),
        names=[*(k.name("b row") for _ in lead), *(reversed(names) if flipped else names)],
    )
    at = threads[: len(lead)]
    q, block = (Var(name, INT32) for name in names)
    search = level > 2 and shape.chance(0.5)
    grid = search or shape.chance(0.4)
    dims = (*lead, "blocks", str(width)) if grid else (*lead, f"{width}*blocks")
    init, (low, high) = "sorted" if search else "uniform", _span(type_)
    keys = k.array("keys values", type_, dims, low=low, high=high, init=init)
    asked = (*lead, "num_queries")
    queries = k.array("queries probes", type_, asked, low=low, high=high)
    counts = k.accumulator("ranks", INT32 if search else shape.weighted(COUNTS), asked)
    b = _Block(k, keys, (*at, block) if grid else at, None if grid else block, width)
    wanted = named(k, "wanted probe", queries[spot(*at, q)], 1.0)
    upto = shape.chance(0.4)
    found = b.halved(wanted, upto) if search else b.counted(wanted, upto, counts)
    some = fn("gt", found, k.lift(0, found.type))
    with k.if_(some) if level > 1 and shape.chance(0.25) else nullcontext():
        k.atomic("add", counts, (*at, q), found)
    text = (
        f"Ranks of {queries.name} among {keys.name}, block by block: for each x of {queries.name}"
    )
    text += f" and each block of {width} {keys.name}{' of its row' * bool(lead)}, count those that "
    text += f"are {'at most' if upto else 'less than'} x"
    text += ", by binary search in the sorted block," if search else ""
    text += f" and add the count to {counts.name} of x."
    return Title(k.name("block_ranks rank_in_blocks"), text)


@dataclass(frozen=True)
class _Block:
    """A block of keys, as a row of a grid or a stretch of a list."""

    k: KernelBuilder
    keys: Var
    lead: tuple[Var, ...]
    block: Var | None
    width: int

    def key(self, j: Expr) -> Expr:
        return self.keys[spot(*self.lead, j if self.block is None else self.block * self.width + j)]

    def counted(self, wanted: Expr, upto: bool, counts: Var) -> Var:
        k = self.k
        assert isinstance(counts.type, Array)
        found = k.let("found below", k.lift(0, counts.type.element))
        with k.for_("j step", self.width) as j:
            key = named(k, "key v", self.key(j), 0.5)
            with k.if_(key <= wanted if upto else key < wanted):
                k.augment(found, "add", 1)
        return found

    def halved(self, wanted: Expr, upto: bool) -> Expr:
        """A binary search."""
        k = self.k
        low, high = k.let("lo first", k.lift(0, INT32)), k.let("hi last", k.lift(self.width, INT32))
        with k.while_(low < high):
            middle = k.let("mid half", (low + high) // 2)
            key = named(k, "key v", self.key(middle), 0.4)
            with k.if_(key <= wanted if upto else key < wanted):
                k.assign(low, middle + 1)
            with k.else_():
                k.assign(high, middle)
        return low
