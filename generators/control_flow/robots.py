"""Walks on a grid by commands, with walls and edges."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.old import also, function_of
from generators.control_flow.params import with_struct
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var, op

_ENDS = (("row_out", "end_row"), ("col_out", "end_col"))


@idiom
@with_struct
def grid_walk(k: KernelBuilder, level: int) -> Title:
    """Walks on a grid by direction codes, with walls, wrapping and stops."""
    shape = k.draw.shape
    walkers, moves = k.size("walkers", 40, 64), k.size("moves", 8, 12)
    h, w = k.size("h", 5, 7), k.size("w", 5, 7)
    turns = shape.choice(("codes", "turtle"))
    type_ = Scalar(shape.weighted({"int32": 4, "uint8": 3, "int8": 2}))
    cmds = k.array(
        ("commands", "steps", "program"),
        type_,
        (walkers, moves),
        low=0,
        high=4 if turns == "codes" else 2,
    )
    grid = k.array(("walls", "grid", "maze"), INT32, (h, w), low=0, high=3) if level >= 2 else None
    hp, wp_ = k.size_param(("num_rows", "height"), h), k.size_param(("num_cols", "width"), w)
    count: Expr = k.size_param(("num_moves", "length"), moves)
    edge = shape.choice(("wrap", "stop", "clamp"))
    joined = shape.chance(0.4)
    ends = (
        (k.out(("cell_out", "end_cell"), INT32, walkers),)
        if joined
        else tuple(k.out(names, INT32, walkers) for names in _ENDS)
    )
    blocked = also(k, 0.5 if level >= 2 else 0.0, ("blocked", "bumps"), INT32, walkers)
    home = level >= 3 and shape.chance(0.5)
    (i,) = k.thread(walkers, names=(k.name("i", "tid", "walker"),))
    start = shape.choice(("corner", "middle", "own", "given"))
    at = (
        k.array(("start_cell", "home_cell"), INT32, walkers, init="index_of:h*w")
        if start == "given"
        else None
    )
    places: dict[str, tuple[Expr, Expr]] = {
        "corner": (k.lift(0, INT32), k.lift(0, INT32)),
        "middle": (hp // 2, wp_ // 2),
        "own": (i % hp, (i // 3) % wp_),
    }
    if at is not None:
        places["given"] = (at[i] // wp_, at[i] % wp_)
    r, c = k.let(("r", "y"), places[start][0]), k.let(("c", "x"), places[start][1])
    wrapped = function_of(
        k,
        level if edge == "wrap" else 1,
        ("wrap_index", "wrapped"),
        [("index", INT32), ("size", INT32)],
        lambda _, index, size: (index + size) % size,
    )
    facing = k.let(("facing", "heading"), k.lift(0, INT32)) if turns == "turtle" else None
    bumps = k.let(("hits", "n_blocked"), k.lift(0, INT32)) if blocked is not None else None
    with k.for_(("m", "s", "step"), count) as m:
        code = k.let(("code", "cmd"), cast(cmds[i, m], INT32))
        if turns == "codes":
            with k.if_(fn("eq", code, 4)):
                if home:
                    k.break_()
                else:
                    k.continue_()
            direction: Expr = code
        else:
            assert facing is not None
            with k.if_(fn("eq", code, 1)):
                k.assign(facing, (facing + 1) % 4)
            with k.elif_(fn("eq", code, 2)):
                k.assign(facing, (facing + 3) % 4)
            direction = facing
        nr, nc = k.let(("nr", "r_next"), r), k.let(("nc", "c_next"), c)
        with k.if_(fn("eq", direction, 0)):
            k.augment(nc, "add", 1)
        with k.elif_(fn("eq", direction, 1)):
            k.augment(nr, "add", 1)
        with k.elif_(fn("eq", direction, 2)):
            k.augment(nc, "sub", 1)
        with k.else_():
            k.augment(nr, "sub", 1)
        _edge(k, edge, (nr, nc), (hp, wp_), bumps, wrapped)
        if grid is not None:
            with k.if_(fn("eq", grid[nr, nc], 3)):
                if bumps is not None:
                    k.augment(bumps, "add", 1)
                k.continue_()
        k.assign(r, nr)
        k.assign(c, nc)
    if joined:
        k.store(ends[0], i, r * wp_ + c)
    else:
        k.store(ends[0], i, r)
        k.store(ends[1], i, c)
    texts = {
        "corner": "(0, 0)",
        "middle": "the middle (height // 2, width // 2)",
        "own": "(i mod height, i // 3 mod width)",
        "given": f"the cell {at.name if at is not None else ''} (row * width + column)",
    }
    done = f"Walker i starts at {texts[start]} and obeys its row of {cmds.name}: "
    done += (
        "0 right, 1 down, 2 left, 3 up, 4 " + ("ends the walk" if home else "stays")
        if turns == "codes"
        else (
            "1 turns right, 2 turns left, and after each "
            "code it steps (0 right, 1 down, 2 left, 3 up)"
        )
    )
    edges = {
        "wrap": "edges wrap around",
        "stop": "a step off the grid is not made",
        "clamp": "positions are clamped to the grid",
    }
    done += f"; {edges[edge]}"
    done += f"; cells of {grid.name} that hold 3 are walls" if grid is not None else ""
    if joined:
        done += f". Its last cell goes to {ends[0].name} as row * width + column"
    else:
        done += f". Its last row and column go to {ends[0].name} and {ends[1].name}"
    if blocked is not None and bumps is not None:
        k.store(blocked, i, bumps)
        done += f", how often it was stopped to {blocked.name}"
    return Title(k.name("grid_walk", "robot_walk", "turtle_steps", "follow_commands"), f"{done}.")


def _edge(
    k: KernelBuilder,
    edge: str,
    place: tuple[Var, Var],
    size: tuple[Var, Var],
    bumps: Var | None,
    wrapped: Callable[..., Expr],
) -> None:
    (r, c), (h, w) = place, size
    if edge == "wrap":
        k.assign(r, wrapped(r, h))
        k.assign(c, wrapped(c, w))
    elif edge == "clamp":
        k.assign(r, fn("clamp", r, 0, h - 1))
        k.assign(c, fn("clamp", c, 0, w - 1))
    else:
        outside = op("or", op("or", r < 0, r >= h), op("or", c < 0, c >= w))
        with k.if_(outside):
            if bumps is not None:
                k.augment(bumps, "add", 1)
            k.continue_()
