"""Discrete cosine transforms of eight samples, of which JPEG makes those of its blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import PI, cos, where
from generators.kit.naming import routine
from generators.kit.words import words
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var, op

_INT16 = Scalar("int16")


@dataclass(frozen=True)
class _Lines:
    """Lines of eight samples, each of a thread: runs of an image's pixels, or a list."""

    dims: tuple[str, ...]
    place: Callable[[Expr], tuple[Expr, ...]]
    said: str
    across: Var | None = None
    """The other coordinate of an image's pixels; None of a list."""


def _lines(k: KernelBuilder, level: int) -> _Lines:
    """Runs along the rows or columns of an image or of several, or a list of lines."""
    shape = k.draw.shape
    rows = shape.chance(0.5)
    which = "rows" if rows else "columns"
    form = shape.weighted({"image": 4, "images": level, "list": 3})
    if form == "list":
        k.size("lines", 24, 40)
        (line,) = k.thread("lines", names=(k.name("line i tid"),))
        place = lambda e: (line, e) if rows else (e, line)  # noqa: E731
        return _Lines(("lines", "8") if rows else ("8", "lines"), place, which)
    lead = ("images",) if form == "images" else ()
    if lead:
        k.size("images", 2, 2)
    own, blocks = ("height", "blocks_x") if rows else ("width", "blocks_y")
    k.size(own, 8, 10)
    k.size(blocks, 2, 3)
    names = ("y", k.name("bx block_x")) if rows else (k.name("by block_y"), "x")
    dims = (own, blocks) if rows else (blocks, own)
    at = k.thread(*lead, *dims, names=[*("n" for _ in lead), *names])
    *before, y, x = at
    first = k.let("base start", 8 * (x if rows else y))

    def place_of(e: Expr) -> tuple[Expr, ...]:
        at = first if e == k.lift(0, INT32) else first + e
        return (*before, y, at) if rows else (*before, at, x)

    whole = (own, f"8*{blocks}") if rows else (f"8*{blocks}", own)
    axis = "row" if rows else "column"
    said = f"runs of 8 pixels along each {axis}"
    return _Lines((*lead, *whole), place_of, said, y if rows else x)


@idiom(depth=3)
def dct_lines(k: KernelBuilder, level: int) -> Title:
    """DCT-II or DCT-III of runs of eight samples, by sums or by butterflies; one pass of the
    transform of 8 x 8 blocks, quantised after it or dequantised before it as in JPEG."""
    shape = k.draw.shape
    fast = level > 1 and shape.chance(0.5)
    back = (level > 2 or not fast) and shape.chance(0.4)
    lines = _lines(k, level)
    coded = level > 2 and lines.across is not None and shape.chance(0.6)
    table = None if fast or shape.chance(0.4) else _basis(k)
    steps, slot = _steps(k, lines) if coded else (None, None)
    src, out = _arrays(k, lines, back, coded)
    rows = "row" in lines.said

    def step(n: Expr) -> Expr:
        assert steps is not None
        assert slot is not None
        return steps[(slot, n) if rows else (n, slot)]

    def read(n: Expr) -> Expr:
        value = src[lines.place(n)]
        return cast(value, FLOAT32) * step(n) if coded and back else value

    def write(n: Expr, value: Expr) -> None:
        if coded and not back:
            value = cast(fn("round", value / step(n)), _INT16)
        k.store(out, lines.place(n), value)

    if fast:
        numbers = [k.lift(n, INT32) for n in range(8)]
        values = (_inverse if back else _butterflies)(k, [read(n) for n in numbers])
        for n, value in zip(numbers, values, strict=True):
            write(n, value)
    else:
        _summed(k, read, write, back, table)
    return Title(*_told(k, lines, (src, out, table, steps), back, fast))


def _steps(k: KernelBuilder, lines: _Lines) -> tuple[Var, Var]:
    """The table of quantisation steps, and where the thread's line lies in its block."""
    assert lines.across is not None
    steps = k.array(words("quant_table q_steps"), FLOAT32, ("8", "8"), low=4.0, high=30.0)
    return steps, k.let("slot in_block", lines.across % 8)


def _arrays(k: KernelBuilder, lines: _Lines, back: bool, coded: bool) -> tuple[Var, Var]:
    """What is transformed, and what gets the result."""
    sources = "pixels image src" if not back else "codes quantized" if coded else "coeffs src"
    if coded:
        low, high = (-20, 20) if back else (-128.0, 127.0)
        kind = _INT16 if back else FLOAT32
        src = k.array(words(sources), kind, lines.dims, low=low, high=high)
    else:
        src = k.array(words(sources), FLOAT32, lines.dims, low=-1.0, high=1.0)
    results = "restored" if back else "codes quantized" if coded else "coeffs transformed"
    kind = _INT16 if coded and not back else FLOAT32
    return src, k.out(words(results), kind, lines.dims)


def _told(
    k: KernelBuilder,
    lines: _Lines,
    arrays: tuple[Var, Var, Var | None, Var | None],
    back: bool,
    fast: bool,
) -> tuple[str, str]:
    """What the kernel is called, and what it does in words."""
    src, out, table, steps = arrays
    which = "row" if "row" in lines.said else "column"
    text = f"Orthonormal 8-point DCT-{'III' if back else 'II'} of the {lines.said} of {src.name}, "
    text += f"a thread for each: element n of the line in {out.name} is {_rule(back, table)}"
    text += ", by butterflies of even and odd parts" if fast else ""
    if steps is not None:
        at, other = ("r, j" if back else "r, n"), "row"
        if which == "column":
            at, other = ("j, r" if back else "n, r"), "column"
        where_ = f"{steps.name}[{at}], r being the {other} modulo 8"
        text += f"; before it element j is multiplied by {where_}" if back else ""
        text += "" if back else f"; the result is divided by {where_}, and rounded (by round)"
    name = "idct8" if back else "dct8"
    name = f"dequantize_{name}" if back and steps is not None else name
    name = f"{name}_quantize" if not back and steps is not None else name
    return k.name(f"{name}_{which}s {name}_pass"), text + "."


def _rule(back: bool, table: Var | None) -> str:
    """The sum that a transform takes, in words."""
    if table is not None:
        at = "[j, n]" if back else "[n, j]"
        return (
            f"the sum over j from 0 to 7 of {table.name}{at} times its element j, {table.name} "
            + ("holding the transform's matrix, a row for each frequency")
        )
    if back:
        return (
            "the sum over j from 0 to 7 of a_j times its element j times cos(pi j (2 n + 1) / 16), "
            "a_0 = sqrt(1/8) and a_j = 1/2 else"
        )
    return (
        "a_n times the sum over j from 0 to 7 of its element j times cos(pi n (2 j + 1) / 16), "
        "a_0 = sqrt(1/8) and a_n = 1/2 else"
    )


def _basis(k: KernelBuilder) -> Var:
    """A table of the transform's matrix."""
    return k.array(words("basis dct_table cosines"), FLOAT32, ("8", "8"), low=-0.5, high=0.5)


def _cosine(b: BodyBuilder, freq: Expr, sample: Expr) -> Expr:
    """a_f cos(pi f (2 s + 1) / 16) of a frequency and a sample."""
    angle = b.let("angle phase", PI / 16.0 * cast(freq * (2 * sample + 1), FLOAT32))
    first = op("eq", freq, b.lift(0, INT32))
    scale = b.let("scale alpha", where(first, b.lift(_ROOT_8, FLOAT32), b.lift(0.5, FLOAT32)))
    return scale * cos(angle)


_ROOT_8 = 0.35355339


Read = Callable[[Expr], Expr]
Write = Callable[[Expr, Expr], None]


def _summed(k: KernelBuilder, read: Read, write: Write, back: bool, table: Var | None) -> None:
    """Eight sums of eight terms."""
    params = {"freq": INT32, "sample": INT32}
    weigh = None if table is not None else routine(k, 0.7, "dct_weight dct_basis", params, _cosine)
    with k.for_("n m", 8) as n:
        acc = k.let("acc total", k.lift(0.0, FLOAT32))
        with k.for_("j s", 8) as j:
            freq, sample = (j, n) if back else (n, j)
            weight = weigh(freq, sample) if weigh else table[freq, sample]  # type: ignore[index]
            k.augment(acc, "add", weight * read(j))
        write(n, acc)


def _c(n: int) -> float:
    """Half of the cosine of n pi / 16."""
    return round(0.5 * math.cos(n * math.pi / 16.0), 8)


def _butterflies(k: KernelBuilder, loads: Sequence[Expr]) -> list[Expr]:
    """DCT-II of eight values: even ones by a 4-point DCT of the sums, odd ones of differences."""
    x = [k.let(f"x{n}", value) for n, value in enumerate(loads)]
    s = [k.let(f"s{n}", x[n] + x[7 - n]) for n in range(4)]
    d = [k.let(f"d{n}", x[n] - x[7 - n]) for n in range(4)]
    t = [k.let(f"t{n}", s[n] + s[3 - n]) for n in range(2)]
    u = [k.let(f"u{n}", s[n] - s[3 - n]) for n in range(2)]
    even = [
        _ROOT_8 * (t[0] + t[1]),
        _c(2) * u[0] + _c(6) * u[1],
        _ROOT_8 * (t[0] - t[1]),
        _c(6) * u[0] - _c(2) * u[1],
    ]
    return [value for pair in zip(even, _odd(d), strict=True) for value in pair]


def _odd(d: Sequence[Expr]) -> list[Expr]:
    """The odd half of the transform, a symmetric matrix."""
    return [
        _c(1) * d[0] + _c(3) * d[1] + _c(5) * d[2] + _c(7) * d[3],
        _c(3) * d[0] - _c(7) * d[1] - _c(1) * d[2] - _c(5) * d[3],
        _c(5) * d[0] - _c(1) * d[1] + _c(7) * d[2] + _c(3) * d[3],
        _c(7) * d[0] - _c(5) * d[1] + _c(3) * d[2] - _c(1) * d[3],
    ]


def _inverse(k: KernelBuilder, loads: Sequence[Expr]) -> list[Expr]:
    """DCT-III of eight values: the butterflies backwards."""
    x = [k.let(f"x{n}", value) for n, value in enumerate(loads)]
    t = [k.let("t0", _ROOT_8 * (x[0] + x[4])), k.let("t1", _ROOT_8 * (x[0] - x[4]))]
    u = [k.let("u0", _c(2) * x[2] + _c(6) * x[6]), k.let("u1", _c(6) * x[2] - _c(2) * x[6])]
    sums = (t[0] + u[0], t[1] + u[1], t[1] - u[1], t[0] - u[0])
    s = [k.let(f"s{n}", value) for n, value in enumerate(sums)]
    d = [k.let(f"d{n}", value) for n, value in enumerate(_odd([x[1], x[3], x[5], x[7]]))]
    return [*(s[n] + d[n] for n in range(4)), *(s[n] - d[n] for n in (3, 2, 1, 0))]
