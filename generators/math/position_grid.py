"""Positions and channels of attention: the launch, positions, angles and padding."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.kit.pieces import helper
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Operand, Var


@dataclass
class Grid:
    """A launch over positions and channels or pairs, batched or not; its scalar type."""

    k: KernelBuilder
    level: int
    type: Scalar
    lead: tuple[Var, ...]
    pos: Var
    col: Var
    dims: tuple[str, ...]
    pad: str = ""

    @property
    def at(self) -> tuple[Var, ...]:
        return (*self.lead, self.pos, self.col)


def grid_of(k: KernelBuilder, level: int, columns: tuple[str, ...]) -> Grid:
    shape = k.draw.shape
    batched = shape.chance(0.3 if level < 3 else 0.5)
    dims = (k.size("seq", 7, 10), k.size("dim", 6, 9))
    rows = k.draw.word.choice(("pos", "t", "token", "p"))
    names = [k.name(rows), k.name(*columns)]
    if batched:
        dims = (k.size("batch", 2, 3), *dims)  # type: ignore[assignment]
        names.insert(0, k.name("b", "batch_idx", "head"))
    threads = k.thread(*dims, names=names)
    type_ = k.draw.wide_float_type()
    return Grid(k, level, type_, threads[:-2], threads[-2], threads[-1], dims)


def position(g: Grid) -> tuple[Expr, str]:
    """The position: its index, with an offset, or read from an array; and what it is."""
    k, shape = g.k, g.k.draw.shape
    how = shape.choice(("index", "offset", "array", "float array"))
    names = ("position", "at_pos", "where_pos")
    if how == "index":
        return k.let(names, cast(g.pos, g.type)), g.pos.name
    if how == "offset":
        start = k.scalar(("start_pos", "offset", "cache_len"), INT32, 1, 6)
        return k.let(names, cast(g.pos + start, g.type)), f"({g.pos.name} + {start.name})"
    per_batch = bool(g.lead) and shape.chance(0.5)
    dims = g.dims[:-1] if per_batch else g.dims[-2:-1]
    index = g.at[:-1] if per_batch else (g.pos,)
    if how == "array":
        ids = k.array(("position_ids", "pos_ids"), INT32, dims, low=0, high=12)
        return k.let(names, cast(ids[index], g.type)), ids.name
    floats = k.array(("coords", "timestamps", "positions"), g.type, dims, low=0.0, high=8.0)
    return k.let(names, floats[index]), floats.name


def base_of(g: Grid) -> tuple[Operand, str]:
    if g.k.draw.shape.chance(0.5):
        base = g.k.scalar(("base", "theta", "max_period"), g.type, 50.0, 500.0)
        return base, base.name
    value = g.k.draw.value.choice((100.0, 1000.0, 10000.0))
    return value, str(value)


def rate_of(g: Grid, index: Expr, count: Expr, base: Operand) -> Expr:
    """``base`` to the power of minus the index over the count, by pow or by exp."""
    k = g.k
    if k.draw.shape.chance(0.3):
        names = ("inv_freq", "angular_rate")
        share = ("index", g.type), ("count", g.type), ("base", g.type)

        def build(b: BodyBuilder, i: Expr, n: Expr, base_in: Expr) -> Expr:
            return fn("exp", -fn("log", base_in) * i / n)

        call = helper(k, names, share, build)
        return k.call(call, index, count, k.lift(base, g.type))
    lifted = k.lift(base, g.type)
    if k.draw.shape.chance(0.5):
        return fn("pow", lifted, -index / count)
    return fn("exp", -fn("log", lifted) * (index / count))


def padded(g: Grid, outs: list[Var]) -> None:
    """At high levels: zeros for positions that are padding, and nothing more for these."""
    k = g.k
    if g.level < 4:
        return
    keep = k.array(("keep", "not_pad", "token_mask"), INT32, g.dims[-2], low=0, high=1)
    g.pad = keep.name
    with k.if_(fn("eq", keep[g.pos], 0)):
        for out in outs:
            k.store(out, g.at, 0.0)
        k.return_()


def pad_text(g: Grid) -> str:
    return f"; positions where {g.pad} is 0 get zeros" if g.pad else ""


def angle_of(g: Grid, index: Expr) -> tuple[Var, str]:
    """The angle of a position in the channel pair ``index``."""
    k = g.k
    where, text = position(g)
    base, base_text = base_of(g)
    width = k.size_param(("dim", "width", "num_channels"), "dim")
    rate = k.let(("rate", "freq", "inv_freq"), rate_of(g, index, cast(width, g.type), base))
    angle = k.let(("angle", "phase", "arg"), where * rate)
    return angle, f"{text} * {base_text}^(-index / {width.name})"
