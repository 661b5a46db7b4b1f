"""Walks on a grid by commands, with walls and edges."""

from __future__ import annotations

from generators.build import KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.control_flow.kit import (
    NEXT,
    STOP,
    Also,
    Case,
    Step,
    branch,
    counter,
    same,
    some,
    take,
)
from generators.control_flow.params import with_struct
from generators.kit.functions import clamp
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.sites import Site, over
from generators.kit.sources import zero
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

_EDGES = {
    "wrap": "edges wrap around",
    "stop": "a step off the grid is not made",
    "clamp": "positions are clamped to the grid",
}


@idiom
@with_struct
def grid_walk(k: KernelBuilder, level: int) -> Title:
    """Walks on a grid by direction codes, with walls, wrapping and stops."""
    shape, word = k.draw.shape, k.draw.word
    s = over(k, "walkers", (word.choice(("i", "tid", "walker")),), ((40, 64),))
    k.size("moves", 8, 12)
    dims = (k.size("h", 5, 7), k.size("w", 5, 7))
    turtle, edge = shape.chance(0.5), shape.choice(sorted(_EDGES))
    type_ = Scalar(shape.weighted({"int32": 4, "uint8": 3, "int8": 2}))
    names = "commands steps program"
    codes = s.array(names, type_, 0, 2 if turtle else 4, more="moves")
    walls = k.array(["walls", "grid", "maze"], INT32, dims, low=0, high=3) if level >= 2 else None
    h = k.size_param(["num_rows", "height"], "h")
    w = k.size_param(["num_cols", "width"], "w")
    count = k.size_param(["num_moves", "length"], "moves")
    blocked = Also(s, 0.5 if level >= 2 else 0.0, "blocked bumps")
    home = level >= 3 and shape.chance(0.5)
    r, c, place = _start(s, h, w)
    done = f"Walker {s.where} starts at {place} and obeys its row of {codes.name}: "
    done += f"{_meaning(turtle, home)}; {_EDGES[edge]}"
    done += f"; cells of {walls.name} that hold 3 are walls." if walls is not None else "."
    facing = counter(k, "facing heading") if turtle else None
    blocked.start("hits n_blocked")
    chance, params = BY_LEVEL[level] * (edge == "wrap"), {"index": INT32, "size": INT32}
    wrapped = routine(k, chance, "wrap_index wrapped", params, lambda _, i, size: (i + size) % size)
    with k.for_("m s step", count) as m:
        code = k.let("code cmd", cast(codes[s.index(m)], INT32))
        nr, nc = _stepped(k, _turned(k, code, facing, home), r, c)
        if edge == "stop":
            off = some(some(nr < 0, nr >= h), some(nc < 0, nc >= w))
            branch(k, (off, (blocked, 1), NEXT))
        elif edge == "wrap":
            take(k, (nr, wrapped(nr, h)), (nc, wrapped(nc, w)))
        else:
            take(k, (nr, clamp(nr, 0, h - 1)), (nc, clamp(nc, 0, w - 1)))
        if walls is not None:
            branch(k, (same(walls[nr, nc], 3), (blocked, 1), NEXT))
        take(k, (r, nr), (c, nc))
    done += _ended(s, r, c, w) + blocked.told("how often it was stopped")
    return Title(k.name("grid_walk robot_walk turtle_steps follow_commands"), done)


def _meaning(turtle: bool, home: bool) -> str:
    """What the codes mean."""
    ways = "0 right, 1 down, 2 left, 3 up"
    if turtle:
        return f"1 turns right, 2 turns left, and after each code it steps ({ways})"
    return f"{ways}, 4 {'ends the walk' if home else 'stays'}"


def _turned(k: KernelBuilder, code: Var, facing: Var | None, home: bool) -> Var:
    """The way to step: the code itself, or the way that a turtle faces after it."""
    if facing is None:
        branch(k, (same(code, 4), STOP if home else NEXT))
        return code
    right = (same(code, 1), (facing, (facing + 1) % 4))
    branch(k, right, (same(code, 2), (facing, (facing + 3) % 4)))
    return facing


def _ended(s: Site, r: Var, c: Var, w: Var) -> str:
    """The last place is stored, as a cell's number or a row and a column."""
    if s.k.draw.shape.chance(0.4):
        cell = s.put("cell_out end_cell", r * w + c)
        return f" {cell.name} gets its last cell as row * {w.name} + column."
    row, col = s.put("row_out end_row", r), s.put("col_out end_col", c)
    return f" {row.name} and {col.name} get its last row and column."


def _start(s: Site, h: Var, w: Var) -> tuple[Var, Var, str]:
    """Where a walker starts: row and column in locals, and in words."""
    k, i = s.k, s.at[0]
    start = k.draw.shape.choice(("corner", "middle", "own", "given"))
    places: dict[str, tuple[Expr, Expr]] = {
        "corner": (zero(INT32), zero(INT32)),
        "middle": (h // 2, w // 2),
        "own": (i % h, (i // 3) % w),
    }
    if start == "given":
        cell = s.read("start_cell home_cell", INT32, init="index_of:h*w")
        places[start] = (cell // w, cell % w)
    row, col = places[start]
    return k.let("r y", row), k.let("c x", col), f"({say(k, row)}, {say(k, col)})"


def _stepped(k: KernelBuilder, way: Expr, r: Var, c: Var) -> tuple[Var, Var]:
    """The cell beside, in one of four ways."""
    if k.draw.shape.chance(0.35):
        down, up, right, left = (cast(same(way, code), INT32) for code in (1, 3, 0, 2))
        return k.let("nr r_next", r + down - up), k.let("nc c_next", c + right - left)
    nr, nc = k.let("nr r_next", r), k.let("nc c_next", c)
    steps: list[Step] = [(nc, nc + 1), (nr, nr + 1), (nc, nc - 1)]
    cases: list[Case] = [(same(way, code), step) for code, step in enumerate(steps)]
    branch(k, *cases, (None, (nr, nr - 1)))
    return nr, nc
