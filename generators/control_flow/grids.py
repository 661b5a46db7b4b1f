"""Grids of cells: one step of an automaton, and walks by commands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import (
    NEXT,
    STOP,
    Also,
    Case,
    Step,
    both,
    branch,
    counter,
    leave,
    same,
    some,
    take,
)
from generators.control_flow.params import with_struct
from generators.kit.functions import clamp
from generators.kit.masks import one_if
from generators.kit.naming import BY_LEVEL, held, routine
from generators.kit.sites import Site, launch, over
from generators.kit.sources import zero
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Operand, Var


@dataclass(frozen=True)
class Rule:
    """How a cell changes by what is near: numbers that matter, the largest state, new states."""

    text: str
    numbers: tuple[int, ...]
    top: int
    cases: Callable[[Expr, Expr, int], list[tuple[Expr, Operand]]]
    """New states by condition, of the state, the neighbours counted, and the number."""
    counted: Callable[[Expr, Expr], Expr] = lambda other, state: same(other, 1)
    """Whether a neighbour counts."""
    near: str = "alive num_alive"
    """Names of how many neighbours count."""
    dies: bool = False
    """Whether a cell is 0 where no condition holds, else it stays as it is."""


_RULES = {
    "life": Rule(
        "Conway's Game of Life: a dead cell with {0} of its 8 neighbours alive comes alive, a "
        "living one stays alive with 2 or 3, all others die",
        (3,),
        1,
        lambda state, near, born: [
            (both(same(state, 0), same(near, born)), 1),
            (both(state > 0, some(same(near, 2), same(near, 3))), 1),
        ],
        dies=True,
    ),
    "high_life": Rule(
        "the automaton HighLife: a dead cell with 3 or {0} of its 8 neighbours alive comes alive, "
        "a living one stays alive with 2 or 3, all others die",
        (6,),
        1,
        lambda state, near, born: [
            (both(same(state, 0), some(same(near, 3), same(near, born))), 1),
            (both(state > 0, some(same(near, 2), same(near, 3))), 1),
        ],
        dies=True,
    ),
    "brain": Rule(
        "Brian's Brain: a resting cell (0) with {0} of its 8 neighbours firing (1) fires, a firing "
        "cell becomes refractory (2), a refractory one rests",
        (2,),
        2,
        lambda state, near, need: [
            (both(same(state, 0), same(near, need)), 1),
            (same(state, 1), 2),
        ],
        dies=True,
    ),
    "majority": Rule(
        "a majority rule: 1 with more than {0} of 8 neighbours set, 0 with fewer, else as it is",
        (4,),
        1,
        lambda state, near, need: [(near > need, 1), (near < need, 0)],
    ),
    "fire": Rule(
        "a forest fire: burning cells (2) become empty (0), trees (1) with a burning cell among "
        "their 8 neighbours burn",
        (0,),
        2,
        lambda state, near, need: [(same(state, 2), 0), (both(same(state, 1), near > need), 2)],
        lambda other, state: same(other, 2),
        "burning num_burning",
    ),
    "cyclic": Rule(
        "a cyclic automaton of 5 states: a cell with more than {0} of its 8 neighbours in the next "
        "state (0 after 4) moves on to it",
        (1, 2),
        4,
        lambda state, near, need: [(near > need, (state + 1) % 5)],
        lambda other, state: same(other, (state + 1) % 5),
        "ahead num_ahead",
    ),
}


_LONG = {"n": "num_cells", "count": "num_cells", "rows": "num_rows", "cols": "num_cols"}
_LONG |= {"h": "height", "w": "width"}
"""Names of parameters for the sizes."""


@idiom
@with_struct
def cellular_automaton(k: KernelBuilder, level: int) -> Title:
    """One step of a cellular automaton: life-like, majority, fires, elementary, cyclic."""
    shape = k.draw.shape
    form = shape.choice(("elementary", *_RULES))
    type_ = Scalar(shape.weighted({"int32": 5, "uint8": 4, "int8": 2}))
    s = launch(k, {"list" if form == "elementary" else "grid": 1})
    called = ("cells current", "next_cells updated")
    if form != "elementary":
        called = ("cells grid current", "next_cells updated next_grid")
    old = s.array(called[0], type_, 0, _RULES[form].top if form in _RULES else 1)
    new = s.out(called[1], type_)
    changed = Also(s, 0.0 if level < 3 else 0.6, "changed flips")
    sizes = [k.size_param(_LONG.get(d, d), d) for d in s.dims]
    wrap, note = shape.chance(0.5), ""
    if level >= 2 and shape.chance(0.12):
        fixed = s.read("active movable", INT32, 0, 2)
        leave(s, same(fixed, 0), (new, old[s.at]), (changed, 0))
        note = f" Cells whose {say(k, fixed)} is 0 keep their state."
    state = k.let("state cell", cast(old[s.at], INT32))
    if form == "elementary":
        text, result = _elementary(s, old, sizes[0], state, wrap)
    else:
        found = _neighbours(s, _RULES[form], old, sizes, state, wrap)
        text, result = _ruled(k, level, form, state, found)
    result = held(k, "after new_state", result) if changed else result
    k.store(new, s.at, cast(result, type_))
    flips = one_if(fn("ne", result, state))
    note += changed.told("1 where the state changed, else 0", flips)
    outside = "are not counted" if form == "cyclic" else "count as 0"
    whole = "row" if form == "elementary" else "grid"
    around = f"The {whole} wraps around." if wrap else f"Cells outside {outside}."
    name = k.name(f"{form}_step {form}_automaton automaton_step")
    text = text.replace(":", f" from {old.name} to {new.name}:", 1)
    return Title(name, f"One step of {text}. {around}{note}")


def _elementary(s: Site, old: Var, n: Var, state: Var, wrap: bool) -> tuple[str, Expr]:
    k, i = s.k, s.at[0]
    rule: Expr = k.lift(k.draw.value.choice((30, 54, 90, 110, 126, 150, 184)), INT32)
    if k.draw.shape.chance(0.5):
        rule = k.scalar("rule rule_number", INT32, 30, 200)
    if wrap:
        left = k.let("left", cast(old[(i + n - 1) % n], INT32))
        right = k.let("right", cast(old[(i + 1) % n], INT32))
    else:
        left, right = counter(k, "left"), counter(k, "right")
        branch(k, (i > 0, (left, cast(old[i - 1], INT32))))
        branch(k, (i < n - 1, (right, cast(old[i + 1], INT32))))
    pattern = k.let("pattern code", 4 * left + 2 * state + right)
    text = f"the elementary automaton with rule {say(k, rule)}: the new state of a cell is bit "
    return f"{text}4 * left + 2 * own + right of the rule", (rule >> pattern) & 1


def _neighbours(s: Site, rule: Rule, old: Var, sizes: list[Var], state: Var, wrap: bool) -> Var:
    """How many of the 8 neighbours count."""
    k, (i, j), (h, w) = s.k, s.at, sizes
    found, branches = counter(k, rule.near), k.draw.shape.chance(0.7)

    def count(at: tuple[Expr, Expr]) -> None:
        test = rule.counted(cast(old[at], INT32), state)
        if branches:
            branch(k, (test, (found, found + 1)))
        else:
            k.augment(found, "add", cast(test, INT32))

    steps = k.draw.word.choice(("di dj", "dy dx")).split()
    with k.for_(steps[0], 2, start=-1) as di, k.for_(steps[1], 2, start=-1) as dj:
        with k.if_(both(same(di, 0), same(dj, 0))):
            k.continue_()
        if wrap:
            count(((i + di + h) % h, (j + dj + w) % w))
        else:
            names = k.draw.word.choice(("ni nj", "near_i near_j", "row_n col_n")).split()
            ni, nj = k.let(names[0], i + di), k.let(names[1], j + dj)
            with k.if_(both(ni >= 0, ni < h, nj >= 0, nj < w)):
                count((ni, nj))
    return found


def _ruled(k: KernelBuilder, level: int, form: str, state: Var, found: Var) -> tuple[str, Expr]:
    """The new state of a cell by its rule, in a function or written out."""
    rule, number = _RULES[form], k.draw.value.choice(_RULES[form].numbers)

    def build(b: BodyBuilder, own: Expr, near: Expr) -> Expr:
        result = b.let("new_state after", b.lift(0, INT32) if rule.dies else own)
        cases = rule.cases(own, near, number)
        branch(b, *((test, (result, value)) for test, value in cases))
        return result

    params = {"state": INT32, "near": INT32}
    names = f"next_state {form}_rule updated_state"
    ruled = routine(k, BY_LEVEL[level], names, params, build)
    return rule.text.format(number), ruled(state, found)


_EDGES = {
    "wrap": "edges wrap around",
    "stop": "a step off the grid leaves the walker where it is",
    "clamp": "positions are clamped to the grid",
}


@idiom(depth=4)
@with_struct
def grid_walk(k: KernelBuilder, level: int) -> Title:
    """Walks on a grid by direction codes, with walls, wrapping and stops."""
    shape, word = k.draw.shape, k.draw.word
    s = over(k, "walkers", (word.choice(("i", "walker")),), ((40, 64),))
    k.size("moves", 8, 12)
    dims = (k.size("h", 5, 7), k.size("w", 5, 7))
    turtle, edge = shape.chance(0.5), shape.choice(sorted(_EDGES))
    type_ = Scalar(shape.weighted({"int32": 4, "uint8": 3, "int8": 2}))
    names = "commands steps program"
    codes = s.array(names, type_, 0, 2 if turtle else 4, more="moves")
    walls = (
        k.array(["terrain", "tile_kinds", "cell_kinds"], INT32, dims, low=0, high=3)
        if level >= 2
        else None
    )
    h = k.size_param(["num_rows", "height"], "h")
    w = k.size_param(["num_cols", "width"], "w")
    count = k.size_param(["num_moves", "length"], "moves")
    blocked = Also(s, 0.5 if level >= 2 else 0.0, "blocked bumps")
    stopped = "it was stopped" if edge == "stop" or walls is None else "a wall stopped it"
    home = level >= 3 and shape.chance(0.5)
    r, c, place = _start(s, h, w)
    done = f"Robots on a grid: walker {s.where} starts at {place} and obeys its row of "
    done += f"{codes.name}: {_meaning(turtle, home)}; {_EDGES[edge]}"
    done += f"; cells of kind 3 in {walls.name} are walls." if walls is not None else "."
    facing = counter(k, "facing heading") if turtle else None
    blocked.start("hits n_blocked")
    chance, params = BY_LEVEL[level] * (edge == "wrap"), {"index": INT32, "size": INT32}
    wrapped = routine(k, chance, "wrap_index wrapped", params, lambda _, i, size: (i + size) % size)
    with k.for_("m s step", count) as m:
        code = k.let("code cmd", cast(codes[s.index(m)], INT32))
        nr, nc = _stepped(k, _turned(k, code, facing, home), r, c)
        _bounded(k, edge, (nr, nc), (h, w), wrapped, blocked)
        if walls is not None:
            branch(k, (same(walls[nr, nc], 3), (blocked, 1), NEXT))
        take(k, (r, nr), (c, nc))
    done += _ended(s, r, c, w) + blocked.told(f"how often {stopped}")
    return Title(k.name("grid_walk robot_walk move_robots follow_commands"), done)


def _bounded(
    k: KernelBuilder,
    edge: str,
    place: tuple[Var, Var],
    sizes: tuple[Var, Var],
    wrapped: Callable[..., Expr],
    blocked: Also,
) -> None:
    """What happens at the edges of the grid."""
    (nr, nc), (h, w) = place, sizes
    if edge == "stop":
        off = some(nr < 0, nr >= h, nc < 0, nc >= w)
        branch(k, (off, (blocked, 1), NEXT))
    elif edge == "wrap":
        take(k, (nr, wrapped(nr, h)), (nc, wrapped(nc, w)))
    else:
        take(k, (nr, clamp(nr, 0, h - 1)), (nc, clamp(nc, 0, w - 1)))


def _meaning(turtle: bool, home: bool) -> str:
    """What the codes mean."""
    ways = "0 right, 1 down, 2 left, 3 up"
    if turtle:
        turns = "1 turns right, 2 turns left, 0 does not turn"
        return f"it faces right at first, {turns}, and then it steps on"
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
    k = s.k
    start = k.draw.shape.choice(("corner", "middle", "given", "given"))
    places: dict[str, tuple[Expr, Expr]] = {
        "corner": (zero(INT32), zero(INT32)),
        "middle": (h // 2, w // 2),
    }
    if start == "given":
        cell = s.read("start_cell home_cell", INT32, init="index_of:h*w")
        places[start] = (cell // w, cell % w)
    row, col = places[start]
    names = k.draw.word.choice(("r c", "y x", "row col")).split()
    return k.let(names[0], row), k.let(names[1], col), f"({say(k, row)}, {say(k, col)})"


def _stepped(k: KernelBuilder, way: Expr, r: Var, c: Var) -> tuple[Var, Var]:
    """The cell beside, in one of four ways."""
    names = (f"{r.name}_next", f"{c.name}_next")
    names = k.draw.word.choice((names, (f"new_{r.name}", f"new_{c.name}")))
    if k.draw.shape.chance(0.35):
        down, up, right, left = (cast(same(way, code), INT32) for code in (1, 3, 0, 2))
        return k.let(names[0], r + down - up), k.let(names[1], c + right - left)
    nr, nc = k.let(names[0], r), k.let(names[1], c)
    steps: list[Step] = [(nc, nc + 1), (nr, nr + 1), (nc, nc - 1)]
    cases: list[Case] = [(same(way, code), step) for code, step in enumerate(steps)]
    branch(k, *cases, (None, (nr, nr - 1)))
    return nr, nc
