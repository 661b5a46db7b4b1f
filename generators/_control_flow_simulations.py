"""Simulations by small steps: balances, heating, populations, stock, queues, falls, walks."""

from __future__ import annotations

from generators._control_flow_kit import also, either, shown
from generators.build import KernelBuilder, cast, fn
from generators.dtypes import INT32, Scalar
from generators.expr import Expr, Operand, Var, op
from generators.registry import Title

_MODELS = {
    "savings": (
        "a balance that earns {a} per period and takes a deposit of {b}, until it reaches 2.5"
    ),
    "loan": "a debt that grows by 0.2 * {a} per period before a payment of {b}, until it is paid",
    "thermostat": (
        "a room that cools by {a} of its temperature, heated by "
        "{b} while a switch is on (on below 0.4, off above 0.7)"
    ),
    "population": (
        "a population x that becomes x + {a} * x * (1 - x) - {b} * x, until it is below 0.3"
    ),
    "dose": (
        "a level that loses {a} of itself per hour and is raised by {b} whenever it is below 0.5"
    ),
    "bounce": (
        "a ball at height x that falls by growing steps of {a} and bounces with {b} of its speed"
    ),
    "charge": "a battery that takes {a} of what is missing while below 0.8, then {b} times 0.1",
    "epidemic": (
        "an infected share x changing by 4 * {a} * x * (1 - x) - {b} * x, halved where it falls"
    ),
}


def time_stepping(k: KernelBuilder, level: int) -> Title:
    """A state moved on step by step, with switches, stops and events."""
    shape, s = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_MODELS))
    n = k.size("n", 56, 80)
    x0 = k.array(("start", "initial", "x0"), s, n, low=0.2, high=1.0)
    own = shape.chance(0.35)
    a: Operand = 0.1
    rate = k.array(("rate", "rates"), s, n, low=0.05, high=0.2) if own else None
    if rate is None:
        a = either(k, ("rate", "growth"), s, 0.05, 0.2)
    b = either(k, ("amount", "boost", "gain"), s, 0.11, 0.3)
    steps = k.draw.value.integer(6, 12)
    limit: Operand = steps
    if form not in ("savings", "loan", "population") and shape.chance(0.4):
        limit = k.scalar(("num_steps", "max_steps"), INT32, steps, steps + 3)
    out = k.out(("final", "out", "state_out"), s, n)
    events = (
        k.out(("events", "periods", "count"), INT32, n)
        if shape.chance(0.3 + 0.12 * level)
        else None
    )
    swings = level >= 3 and form in ("thermostat", "dose", "bounce")
    peak = also(k, 0.6 if swings else 0.0, ("peak", "highest"), s, n)
    noise = (
        k.array(("noise", "shock"), s, (n, "12"), low=-0.03, high=0.03)
        if level >= 4 and shape.chance(0.5)
        else None
    )
    if noise is not None:
        limit = k.draw.value.integer(6, 12)
    (i,) = k.thread(n, names=(k.name("i", "tid", "run"),))
    x = k.let(("x", "state", "level"), x0[i])
    r: Operand = k.let(("r", "k"), rate[i]) if rate is not None else a
    count = k.let(("count_events", "hits"), k.lift(0, INT32)) if events is not None else None
    top = k.let(("top", "best"), x) if peak is not None else None
    extra = (
        k.let(("v", "speed") if form == "bounce" else ("on", "switch"), k.lift(0.0, s))
        if form in ("bounce", "thermostat")
        else None
    )
    loop = shape.choice(("for", "while"))
    if loop == "while":
        t = k.let(("t", "step"), k.lift(0, INT32))
        with k.while_(t < limit):
            k.augment(t, "add", 1)
            _one_step(k, form, (x, extra, count), (r, b))
            _watch(k, x, top, noise, (i, t - 1))
    else:
        with k.for_(("t", "step"), limit) as t:
            _one_step(k, form, (x, extra, count), (r, b))
            _watch(k, x, top, noise, (i, t))
    k.store(out, i, x)
    first = f"{rate.name}[i]" if rate is not None else shown(a)
    done = (
        f"Simulate {_MODELS[form].format(a=first, b=shown(b))}: "
        f"{shown(limit)} steps from {x0.name}; the state goes to {out.name}."
    )
    if noise is not None:
        done += f" After step t {noise.name}[i, t] is added."
    if events is not None and count is not None:
        k.store(events, i, count)
        done += f" {events.name} counts the steps in which its branch was taken."
    if peak is not None and top is not None:
        k.store(peak, i, top)
        done += f" {peak.name} gets the largest state, the start included."
    return Title(k.name(f"simulate_{form}", f"{form}_steps", f"step_{form}"), done)


def _watch(
    k: KernelBuilder, x: Var, top: Var | None, noise: Var | None, at: tuple[Expr, Expr]
) -> None:
    if noise is not None:
        k.augment(x, "add", noise[at])
    if top is not None:
        if k.draw.shape.chance(0.5):
            k.assign(top, fn("max", top, x))
        else:
            with k.if_(x > top):
                k.assign(top, x)


def _one_step(
    k: KernelBuilder,
    form: str,
    state: tuple[Var, Var | None, Var | None],
    by: tuple[Operand, Operand],
) -> None:
    x, extra, count = state
    a, b = by

    def event() -> None:
        if count is not None:
            k.augment(count, "add", 1)

    if form == "savings":
        with k.if_(x >= 2.5):
            event()
            k.break_()
        k.assign(x, x + a * x + b)
    elif form == "loan":
        k.augment(x, "add", 0.2 * (a * x))
        with k.if_(x <= b):
            k.assign(x, 0.0)
            event()
            k.break_()
        k.augment(x, "sub", b)
    elif form == "thermostat":
        assert extra is not None
        k.augment(x, "sub", a * x)
        with k.if_(x < 0.4):
            k.assign(extra, 1.0)
            event()
        with k.elif_(x > 0.7):
            k.assign(extra, 0.0)
        k.augment(x, "add", b * extra)
    elif form == "population":
        k.assign(x, x + a * x * (1.0 - x) - b * x)
        with k.if_(x < 0.3):
            event()
            k.break_()
    elif form == "dose":
        k.augment(x, "sub", a * x)
        with k.if_(x < 0.5):
            k.augment(x, "add", b)
            event()
    elif form == "bounce":
        assert extra is not None
        k.augment(extra, "sub", a)
        k.augment(x, "add", 0.5 * extra)
        with k.if_(x < 0.0):
            k.assign(x, -x)
            k.assign(extra, -b * extra)
            event()
    elif form == "charge":
        with k.if_(x < 0.8):
            k.augment(x, "add", a * (1.0 - x))
        with k.else_():
            k.augment(x, "add", 0.1 * (b * (1.0 - x)))
            event()
    else:
        grown = k.let(("grown", "dx"), 4.0 * a * x * (1.0 - x) - b * x)
        with k.if_(grown < 0.0):
            event()
            k.augment(x, "add", 0.5 * grown)
        with k.else_():
            k.augment(x, "add", grown)


_STOCKS = {
    "inventory": "orders {q} more whenever fewer than {r} are left; what cannot be served is lost",
    "queue": "serves up to {r} waiting customers per slot; those above {q} waiting leave",
    "tank": "opens a valve of {r} per step whenever the level is above {q}",
    "parking": "lets cars in while fewer than {q} are inside, {r} leave per step",
}


def stock_keeping(k: KernelBuilder, level: int) -> Title:
    """Whole-number stocks, queues and tanks over the steps of a row of demands."""
    shape = k.draw.shape
    form = shape.choice(sorted(_STOCKS))
    type_ = Scalar(shape.weighted({"int32": 5, "int64": 2, "int16": 1}))
    rows, cols = k.size("stores", 24, 40), k.size("steps", 8, 12)
    demand = k.array(("demand", "arrivals", "inflow"), type_, (rows, cols), low=0, high=12)
    start = (
        k.array(("stock", "initial"), type_, rows, low=4, high=18) if shape.chance(0.6) else None
    )
    q = either(k, ("capacity", "order_size", "limit"), type_, 14, 20)
    r = either(k, ("served", "reorder_point", "outflow"), type_, 4, 7)
    count: Expr = k.size_param(("num_steps", "num_days"), cols)
    out = k.out(("final", "left_over"), type_, rows)
    lost = k.out(("lost", "turned_away", "events"), type_, rows) if shape.chance(0.7) else None
    trace = also(k, 0.0 if level < 3 else 0.5, ("history", "levels"), type_, (rows, cols))
    closed = (
        k.array(("closed_on", "holiday"), INT32, rows, low=0, high=9)
        if level >= 3 and shape.chance(0.5)
        else None
    )
    (row,) = k.thread(rows, names=(k.name("row", "s", "i"),))
    x = k.let(("x", "on_hand", "level"), start[row] if start is not None else k.lift(9, type_))
    gone = k.let(("gone", "missed"), k.lift(0, type_))
    with k.for_(("t", "day", "j"), count) as t:
        if closed is not None:
            with k.if_(fn("eq", t, closed[row])):
                if trace is not None:
                    k.store(trace, (row, t), x)
                k.continue_()
        d = k.let(("d", "wanted"), demand[row, t])
        _stock(k, form, (x, gone), d, (q, r))
        if trace is not None:
            k.store(trace, (row, t), x)
    k.store(out, row, x)
    if lost is not None:
        k.store(lost, row, gone)
    begin = f"{start.name}" if start is not None else "9"
    done = (
        f"Each row of {demand.name} drives a {form} from {begin} "
        f"that {_STOCKS[form].format(q=shown(q), r=shown(r))}; "
    )
    done += f"what is left goes to {out.name}"
    done += f", what was lost or left over to {lost.name}" if lost is not None else ""
    done += f"; {trace.name} gets the level after each step" if trace is not None else ""
    done += f"; the step {closed.name} is left out" if closed is not None else ""
    return Title(k.name(f"simulate_{form}", f"run_{form}", f"{form}_policy"), f"{done}.")


def _stock(
    k: KernelBuilder, form: str, state: tuple[Var, Var], d: Var, by: tuple[Operand, Operand]
) -> None:
    x, gone = state
    q, r = by
    if form == "inventory":
        with k.if_(d > x):
            k.augment(gone, "add", d - x)
            k.assign(x, 0)
        with k.else_():
            k.augment(x, "sub", d)
        with k.if_(x < r):
            k.augment(x, "add", q)
    elif form == "queue":
        k.augment(x, "add", d)
        with k.if_(x > q):
            k.augment(gone, "add", x - q)
            k.assign(x, k.lift(q, x.type))
        k.assign(x, fn("max", x - r, 0))
    elif form == "tank":
        k.augment(x, "add", d)
        with k.if_(x > q):
            k.augment(x, "sub", r)
            k.augment(gone, "add", 1)
    else:
        with k.for_(("c", "car"), _as_int(d)):
            with k.if_(x >= q):
                k.augment(gone, "add", 1)
                k.continue_()
            k.augment(x, "add", 1)
        k.assign(x, fn("max", x - r, 0))


def _as_int(value: Var) -> Expr:
    return cast(value, INT32)


def grid_walk(k: KernelBuilder, level: int) -> Title:
    """Walks on a grid by direction codes, with walls, wrapping and stops."""
    shape = k.draw.shape
    walkers, moves = k.size("walkers", 40, 64), k.size("moves", 8, 12)
    h, w = k.size("h", 5, 7), k.size("w", 5, 7)
    turns = shape.choice(("codes", "turtle"))
    cmds = k.array(
        ("commands", "steps", "program"),
        INT32,
        (walkers, moves),
        low=0,
        high=4 if turns == "codes" else 2,
    )
    grid = k.array(("walls", "grid", "maze"), INT32, (h, w), low=0, high=3) if level >= 2 else None
    hp, wp_ = k.size_param(("num_rows", "height"), h), k.size_param(("num_cols", "width"), w)
    count: Expr = k.size_param(("num_moves", "length"), moves)
    edge = shape.choice(("wrap", "stop", "clamp"))
    out_r, out_c = (
        k.out(("row_out", "end_row"), INT32, walkers),
        k.out(("col_out", "end_col"), INT32, walkers),
    )
    blocked = also(k, 0.5 if level >= 2 else 0.0, ("blocked", "bumps"), INT32, walkers)
    home = level >= 3 and shape.chance(0.5)
    (i,) = k.thread(walkers, names=(k.name("i", "tid", "walker"),))
    start = shape.choice(("corner", "middle", "own"))
    places: dict[str, tuple[Expr, Expr]] = {
        "corner": (k.lift(0, INT32), k.lift(0, INT32)),
        "middle": (hp // 2, wp_ // 2),
        "own": (i % hp, (i // 3) % wp_),
    }
    r, c = k.let(("r", "y"), places[start][0]), k.let(("c", "x"), places[start][1])
    facing = k.let(("facing", "heading"), k.lift(0, INT32)) if turns == "turtle" else None
    bumps = k.let(("hits", "n_blocked"), k.lift(0, INT32)) if blocked is not None else None
    with k.for_(("m", "s", "step"), count) as m:
        code = k.let(("code", "cmd"), cmds[i, m])
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
        _edge(k, edge, (nr, nc), (hp, wp_), bumps)
        if grid is not None:
            with k.if_(fn("eq", grid[nr, nc], 3)):
                if bumps is not None:
                    k.augment(bumps, "add", 1)
                k.continue_()
        k.assign(r, nr)
        k.assign(c, nc)
    k.store(out_r, i, r)
    k.store(out_c, i, c)
    texts = {
        "corner": "(0, 0)",
        "middle": "the middle (height // 2, width // 2)",
        "own": "(i mod height, i // 3 mod width)",
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
    done += f". Its last row and column go to {out_r.name} and {out_c.name}"
    if blocked is not None and bumps is not None:
        k.store(blocked, i, bumps)
        done += f", how often it was stopped to {blocked.name}"
    return Title(k.name("grid_walk", "robot_walk", "turtle_steps", "follow_commands"), f"{done}.")


def _edge(
    k: KernelBuilder, edge: str, place: tuple[Var, Var], size: tuple[Var, Var], bumps: Var | None
) -> None:
    (r, c), (h, w) = place, size
    if edge == "wrap":
        k.assign(r, (r + h) % h)
        k.assign(c, (c + w) % w)
    elif edge == "clamp":
        k.assign(r, fn("clamp", r, 0, h - 1))
        k.assign(c, fn("clamp", c, 0, w - 1))
    else:
        outside = op("or", op("or", r < 0, r >= h), op("or", c < 0, c >= w))
        with k.if_(outside):
            if bumps is not None:
                k.augment(bumps, "add", 1)
            k.continue_()


def cellular_automaton(k: KernelBuilder, level: int) -> Title:
    """One step of a cellular automaton: life-like, majority, fires, elementary, cyclic."""
    shape = k.draw.shape
    form = shape.choice(("life", "majority", "fire", "elementary", "cyclic"))
    type_ = Scalar(shape.weighted({"int32": 5, "uint8": 4, "int8": 2}))
    line = form == "elementary"
    dims = (k.size("n", 60, 90),) if line else (k.size("h", 8, 10), k.size("w", 8, 10))
    top = {"fire": 2, "cyclic": 4}.get(form, 1)
    old = k.array(("cells", "grid", "current"), type_, dims, low=0, high=top)
    new = k.out(("next_cells", "updated", "next_grid"), type_, dims)
    changed = also(k, 0.0 if level < 3 else 0.6, ("changed", "flips"), INT32, dims)
    sizes = [k.size_param((f"num_{d}", f"{d}_size"), d) for d in dims]
    wrap = shape.chance(0.5)
    fixed = (
        k.array(("fixed", "mask"), INT32, dims, low=0, high=2)
        if level >= 2 and shape.chance(0.5)
        else None
    )
    place = k.thread(*dims, names=("i",) if line else ("i", "j"))
    state = k.let(("state", "cell"), cast(old[place], INT32))
    note = ""
    if fixed is not None:
        with k.if_(fn("eq", fixed[place], 0)):
            k.store(new, place, old[place])
            if changed is not None:
                k.store(changed, place, 0)
            k.return_()
        note = f" Cells whose {fixed.name} is 0 keep their state."
    if line:
        text, result = _elementary(k, old, place[0], sizes[0], state, wrap)
    else:
        text, result = _neighbours(k, form, old, place, sizes, state, wrap, level)
    k.store(new, place, cast(result, type_))
    if changed is not None:
        k.store(
            changed, place, fn("where", fn("ne", result, state), k.lift(1, INT32), k.lift(0, INT32))
        )
        note += f" {changed.name} is 1 where the state changed, else 0."
    around = "The grid wraps around." if wrap else "Cells outside count as 0."
    return Title(
        k.name(f"{form}_step", f"{form}_automaton", "automaton_step"), f"{text} {around}{note}"
    )


def _elementary(
    k: KernelBuilder, old: Var, i: Var, n: Var, state: Var, wrap: bool
) -> tuple[str, Expr]:
    rule = k.draw.value.choice((30, 54, 90, 110, 126, 150, 184))
    numbered = k.draw.shape.chance(0.5)
    chosen: Operand = k.scalar(("rule", "rule_number"), INT32, 30, 200) if numbered else rule
    if wrap:
        left = k.let(("left", "l"), cast(old[(i + n - 1) % n], INT32))
        right = k.let(("right", "r"), cast(old[(i + 1) % n], INT32))
    else:
        left, right = (
            k.let(("left", "l"), k.lift(0, INT32)),
            k.let(("right", "r"), k.lift(0, INT32)),
        )
        with k.if_(i > 0):
            k.assign(left, cast(old[i - 1], INT32))
        with k.if_(i < n - 1):
            k.assign(right, cast(old[i + 1], INT32))
    pattern = k.let(("pattern", "code"), 4 * left + 2 * state + right)
    bit = (k.lift(chosen, INT32) >> pattern) & 1
    text = (
        "One step of the elementary automaton with rule "
        f"{shown(chosen)}: the new state of a cell is bit "
    )
    return f"{text}4 * left + 2 * own + right of the rule.", bit


def _neighbours(
    k: KernelBuilder,
    form: str,
    old: Var,
    place: tuple[Var, ...],
    sizes: list[Var],
    state: Var,
    wrap: bool,
    level: int,
) -> tuple[str, Expr]:
    (i, j), (h, w) = place, sizes
    wanted = {"fire": 2}.get(form, 1)
    cyclic = form == "cyclic"
    found = k.let(("alive", "found", "near"), k.lift(0, INT32))
    with k.for_(("di", "dy"), 2, start=-1) as di, k.for_(("dj", "dx"), 2, start=-1) as dj:
        with k.if_(op("and", fn("eq", di, 0), fn("eq", dj, 0))):
            k.continue_()
        if wrap:
            around = ((i + di + h) % h, (j + dj + w) % w)
            _count(k, old, around, state, found, wanted, cyclic)
        else:
            ni, nj = k.let(("ni", "y"), i + di), k.let(("nj", "x"), j + dj)
            inside = op("and", op("and", ni >= 0, ni < h), op("and", nj >= 0, nj < w))
            with k.if_(inside):
                _count(k, old, (ni, nj), state, found, wanted, cyclic)
    result = k.let(("result", "new_state"), state)
    if form == "life":
        born, keep = k.draw.value.choice(((3, 2), (3, 3), (2, 3)))
        with k.if_(fn("eq", found, born)):
            k.assign(result, 1)
        with k.elif_(op("and", fn("ne", found, keep), fn("ne", found, born + 1))):
            k.assign(result, 0)
        text = (
            f"One step of a life-like automaton: a cell with {born} "
            f"of its 8 neighbours alive lives, with {keep} or "
        )
        return f"{text}{born + 1} it stays as it is, otherwise it dies.", result
    if form == "majority":
        need = k.draw.value.choice((4, 5))
        with k.if_(found > need):
            k.assign(result, 1)
        with k.elif_(found < need):
            k.assign(result, 0)
        return (
            (
                f"One step of a majority rule: 1 with more than {need} "
                "of 8 neighbours set, 0 with fewer, else as it is."
            ),
            result,
        )
    if form == "fire":
        with k.if_(fn("eq", state, 2)):
            k.assign(result, 0)
        with k.elif_(op("and", fn("eq", state, 1), found > 2)):
            k.assign(result, 2)
        return (
            (
                "One step of a forest fire: burning cells (2) become empty "
                "(0), trees (1) with more than two burning neighbours burn."
            ),
            result,
        )
    need = k.draw.value.integer(1, 2)
    with k.if_(found > need):
        k.assign(result, (state + 1) % 5)
    return (
        (
            "One step of a cyclic automaton of 5 states: a cell with "
            f"more than {need} neighbours one state ahead moves on."
        ),
        result,
    )


def _count(
    k: KernelBuilder,
    old: Var,
    at: tuple[Expr, Expr],
    state: Var,
    found: Var,
    wanted: int,
    cyclic: bool,
) -> None:
    other = cast(old[at], INT32)
    test = fn("eq", other, (state + 1) % 5) if cyclic else fn("eq", other, wanted)
    with k.if_(test):
        k.augment(found, "add", 1)
