"""Jump flooding: the nearest seed of every pixel, by steps of halving length."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.control_flow.kit import both, index
from generators.kit.functions import most, sqrt
from generators.program.dtypes import FLOAT32, INT32, Vec
from generators.program.expr import Expr, Operand, Var

_PAIR = Vec(2, INT32)


@dataclass
class _Flood:
    """Pixels of a plane, or of several, and how they hold the seed that they know."""

    k: KernelBuilder
    dims: tuple[str, ...]
    at: tuple[Var, ...]
    way: str
    """``packed`` as y * width + x, ``vector`` of column and row, or two ``planes``."""
    seeds: list[Var]
    sizes: tuple[Expr, Expr]
    wrap: bool
    metric: str

    def read(self, y: Operand, x: Operand) -> list[Var]:
        """The seed that a pixel knows, as it is held."""
        place = index(*self.at[:-2], y, x)
        names = ("sx", "sy") if self.way == "planes" else ("code s",)
        if self.way == "vector":
            names = ("seed s",)
        return [self.k.let(n, a[place]) for n, a in zip(names, self.seeds, strict=True)]

    def parts(self, seed: list[Var]) -> tuple[Expr, Expr]:
        """Its row and column."""
        if self.way == "vector":
            return seed[0][1], seed[0][0]
        if self.way == "planes":
            return seed[1], seed[0]
        sy = self.k.let("sy", seed[0] // self.sizes[1])
        return sy, seed[0] - sy * self.sizes[1]

    def known(self, seed: list[Var]) -> Expr:
        return (seed[0][0] if self.way == "vector" else seed[0]) >= 0

    def distance(self, sy: Expr, sx: Expr) -> Var:
        """The distance to a seed in whole numbers, squared if it is Euclid's."""
        k = self.k
        gaps = []
        for here, there, size, name in zip(
            self.at[-2:], (sy, sx), self.sizes, ("gy", "gx"), strict=True
        ):
            gap: Expr = here - there
            if self.wrap or self.metric != "euclid":
                gap = fn("abs", gap)
            gap = k.let(name, gap)
            gaps.append(k.let(f"{name}w", fn("min", gap, size - gap)) if self.wrap else gap)
        a, b = gaps
        ways = {"euclid": a * a + b * b, "city": a + b}
        names = "dist2 d2" if self.metric == "euclid" else "dist"
        return k.let(names, ways.get(self.metric, most(a, b)))


def _flood(k: KernelBuilder, level: int) -> _Flood:
    shape = k.draw.shape
    batch = shape.chance(0.1 * level)
    for size in ("height", "width"):
        k.size(size, *((8, 8) if batch else (9, 11)), minimum=4)
    if batch:
        k.size("images", 2, 3)
    dims = (*(("images",) if batch else ()), "height", "width")
    names = k.draw.word.choice(("y x", "row col", "i j")).split()
    at = k.thread(*dims, names=[*([k.name("b img")] if batch else []), *names])
    way = shape.choice(("vector", "planes", "packed"))
    if way == "planes":
        pair = k.draw.word.choice((("seed_x", "seed_y"), ("near_x", "near_y")))
        seeds = [
            k.array(n, INT32, dims, low=-m, high=7) for n, m in zip(pair, (20, 0), strict=True)
        ]
    elif way == "vector":
        seeds = [k.array("seeds nearest", _PAIR, dims, low=-20, high=7)]
    else:
        seeds = [k.array("seed_ids nearest_ids", INT32, dims, low=-150, high=60)]
    sizes = (k.size_param("height num_rows", "height"), k.size_param("width num_cols", "width"))
    metric = shape.weighted({"euclid": 4, "city": 1, "chess": 1})
    return _Flood(k, dims, at, way, seeds, sizes, shape.chance(0.25), metric)


@idiom(depth=3)
def jump_flood(k: KernelBuilder, level: int) -> Title:
    """A pass of jump flooding (Rong and Tan, 2006): the nearest of the seeds that nine pixels
    know, or with the last pass the distance as well."""
    f = _flood(k, level)
    step = k.scalar("step jump", INT32, 1, 3)
    best = k.let("best best_dist", k.lift(2147483647, INT32))
    none = make(_PAIR, k.lift(-1, INT32)) if f.way == "vector" else k.lift(-1, INT32)
    names = ("best_x", "best_y") if f.way == "planes" else ("winner best_seed",)
    found = [k.let(n, none) for n in names]
    y, x = f.at[-2:]
    with k.for_("dy", 2, start=-1) as dy, k.for_("dx", 2, start=-1) as dx:
        row, col = k.let("ny qy", y + dy * step), k.let("nx qx", x + dx * step)
        if f.wrap:
            row = k.let("wy", (row + f.sizes[0]) % f.sizes[0])
            col = k.let("wx", (col + f.sizes[1]) % f.sizes[1])
            _look(f, (row, col), best, found)
        else:
            inside = both(row >= 0, row < f.sizes[0], col >= 0, col < f.sizes[1])
            with k.if_(inside):
                _look(f, (row, col), best, found)
    return _kept(f, level, step.name, best, found)


def _look(f: _Flood, place: tuple[Var, Var], best: Var, found: list[Var]) -> None:
    """Take the seed that another pixel knows where it is nearer than the one so far."""
    k = f.k
    seed = f.read(*place)
    with k.if_(f.known(seed)):
        dist = f.distance(*f.parts(seed))
        with k.if_(dist < best):
            k.assign(best, dist)
            for mine, theirs in zip(found, seed, strict=True):
                k.assign(mine, theirs)


_METRICS = {
    "euclid": "Euclidean distance",
    "city": "Manhattan distance",
    "chess": "Chebyshev distance",
}


def _kept(f: _Flood, level: int, step: str, best: Var, found: list[Var]) -> Title:
    """The seed, and the distance to it."""
    k = f.k
    kinds = {"planes": ("seed_x_out", "seed_y_out")}.get(f.way, ("seeds_out next_seeds",))
    kind = _PAIR if f.way == "vector" else INT32
    outs = [k.out(n, kind, f.dims) for n in kinds]
    measured = k.draw.shape.chance(0.2 + 0.1 * level)
    far = None
    if measured:
        missing = k.scalar("max_dist far_value", FLOAT32, 20.0, 50.0)
        far = k.out("distances dist_out", FLOAT32, f.dims)
    for out, value in zip(outs, found, strict=True):
        k.store(out, f.at, value)
    held = f"{f.seeds[0].name} holds the seed that each pixel knows"
    form = {"vector": " as (column, row)", "packed": " as row * width + column"}.get(f.way, "")
    if f.way == "planes":
        held = f"{f.seeds[0].name} and {f.seeds[1].name} hold column and row of the seed that "
        held += "each pixel knows"
    text = f"A pass of jump flooding: {held}{form}, "
    text += f"{'a negative column' if f.way != 'packed' else 'a negative number'} if none. "
    text += f"Of those known by the pixel and the 8 pixels {step} rows or columns away, or both, "
    text += f"{' and '.join(o.name for o in outs)} {'get' if len(outs) > 1 else 'gets'} the one of "
    text += f"the least {_METRICS[f.metric]} to the pixel, of equal ones the first in the order of "
    text += "rows, then columns of these offsets (-1, 0, 1), or -1 if there is none."
    ends = (
        " Pixels and distances wrap around; steps are no longer than the image."
        if f.wrap
        else " Pixels outside are left out."
    )
    text += ends
    if far is not None:
        length = cast(best, FLOAT32)
        length = sqrt(length) if f.metric == "euclid" else length
        with k.if_(f.known(found)):
            k.store(far, f.at, length)
        with k.else_():
            k.store(far, f.at, missing)
        text += f" {far.name} gets that distance, or {missing.name} without a seed."
    return Title(k.name("jump_flood jump_flood_pass flood_nearest"), text)
