"""Grid worlds: moves on a map with walls, pits and goals, slips, pushed boxes, whole episodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title
from generators.control_flow.kit import same, some
from generators.kit.functions import clamp, where
from generators.kit.masks import as_flag
from generators.kit.sites import Site, over
from generators.program.dtypes import BOOL, FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var

UINT8 = Scalar("uint8")
_GOAL, _PIT = 1, 2
_SIDES, _KINDS = 4, 16
"""A cell is a byte: a bit for each side that a wall closes, then one of so many kinds."""


@dataclass
class _Map:
    """A map of cells, the same for all environments or one for each."""

    k: KernelBuilder
    s: Site
    tiles: Var
    height: Var
    width: Var
    own: bool
    edge: str

    def cell(self, row: Expr, col: Expr) -> Expr:
        at = (*self.s.at, row, col) if self.own else (row, col)
        value = self.tiles[at]
        return value if value.type == INT32 else cast(value, INT32)

    def kind(self, row: Expr, col: Expr) -> Expr:
        """What a cell is."""
        return self.cell(row, col) >> _SIDES

    def closed(self, row: Expr, col: Expr, action: Expr) -> Expr:
        """Whether a wall stops an action."""
        return fn("ne", (self.cell(row, col) >> action) & 1, 0)

    def held(self, row: Expr, col: Expr) -> tuple[Expr, Expr]:
        """A place beyond the edge: at the edge, or on the other side."""
        if self.edge == "wrap":
            return (row + self.height) % self.height, (col + self.width) % self.width
        return clamp(row, 0, self.height - 1), clamp(col, 0, self.width - 1)


def _map(k: KernelBuilder, s: Site) -> _Map:
    k.size("grid_h", 6, 9)
    k.size("grid_w", 6, 9)
    height = k.size_param("grid_h num_rows", "grid_h")
    width = k.size_param("grid_w num_cols", "grid_w")
    own = k.draw.shape.chance(0.35)
    dims = ("envs", "grid_h", "grid_w") if own else ("grid_h", "grid_w")
    kind = k.draw.shape.choice((INT32, UINT8))
    tiles = k.array("maze cells_map", kind, dims, low=0, high=(_KINDS << _SIDES) - 1)
    edge = "wrap" if k.draw.shape.chance(0.3) else "clamp"
    return _Map(k, s, tiles, height, width, own, edge)


def _moves(k: KernelBuilder, action: Expr) -> tuple[Expr, Expr, str]:
    """Rows and columns of a move: by comparisons, by arithmetic, or from tables."""
    way = k.draw.shape.choice(("where", "branch", "table"))
    told = "action 0 going up a row, 1 to the next column, 2 down a row, 3 to the column before"
    one, none = k.lift(1, INT32), k.lift(0, INT32)
    if way == "table":
        rows = k.array("row_moves d_row", INT32, "4", low=-1, high=1)
        cols = k.array("col_moves d_col", INT32, "4", low=-1, high=1)
        said = f"a move being that of {rows.name} and {cols.name} for the action"
        return k.let("dr", rows[action]), k.let("dc", cols[action]), said
    if way == "where":
        dr = where(same(action, 0), k.lift(-1, INT32), where(same(action, 2), one, none))
        dc = where(same(action, 3), k.lift(-1, INT32), where(same(action, 1), one, none))
        return k.let("dr", dr), k.let("dc", dc), told
    dr, dc = k.let("dr", none), k.let("dc", none)
    with k.if_(same(action, 0)):
        k.assign(dr, -1)
    with k.elif_(same(action, 1)):
        k.assign(dc, 1)
    with k.elif_(same(action, 2)):
        k.assign(dr, 1)
    with k.else_():
        k.assign(dc, -1)
    return dr, dc, told


@dataclass
class _Agent:
    """Where the agent of an environment is: one number of a cell, or row and column."""

    m: _Map
    arrays: list[Var]
    row: Var
    col: Var

    def write(self, row: Expr, col: Expr) -> None:
        k, place = self.m.k, self.m.s.at
        if len(self.arrays) == 1:
            k.store(self.arrays[0], place, row * self.m.width + col)
            return
        for array, value in zip(self.arrays, (row, col), strict=True):
            k.store(array, place, value)

    def said(self) -> str:
        if len(self.arrays) == 1:
            return f"{self.arrays[0].name} (row * {self.m.width.name} + column), in place"
        return f"{self.arrays[0].name} and {self.arrays[1].name} (row and column), in place"


def _agent(m: _Map) -> _Agent:
    k, s = m.k, m.s
    if k.draw.shape.chance(0.5):
        cells = s.array("agent_cell cell_pos", INT32, role="inout", init="index_of:grid_h*grid_w")
        cell = k.let("cell at_cell", cells[s.at])
        return _Agent(m, [cells], k.let("row r", cell // m.width), k.let("col c", cell % m.width))
    rows = s.array("agent_row pos_row", INT32, role="inout", init="index_of:grid_h")
    cols = s.array("agent_col pos_col", INT32, role="inout", init="index_of:grid_w")
    return _Agent(m, [rows, cols], k.let("row r", rows[s.at]), k.let("col c", cols[s.at]))


@dataclass
class _Pay:
    """What a tile pays."""

    goal: Expr
    pit: Expr
    step: Expr

    def of(self, k: KernelBuilder, tile: Expr) -> Expr:
        rest = where(same(tile, _PIT), -self.pit, -self.step)
        return where(same(tile, _GOAL), self.goal, rest)

    def said(self) -> str:
        names = [e.name for e in (self.goal, self.pit, self.step) if isinstance(e, Var)]
        goal, pit, step = names
        return f"{goal} on a goal (kind {_GOAL}), -{pit} on a pit ({_PIT}) and -{step} elsewhere"


def _pay(k: KernelBuilder) -> _Pay:
    goal, pit = k.scalar("goal_reward", FLOAT32, 1.0, 10.0), k.scalar("pit_cost", FLOAT32, 1.0, 5.0)
    return _Pay(goal, pit, k.scalar("step_cost", FLOAT32, 0.01, 0.2))


def _go(m: _Map, row: Var, col: Var, action: Expr) -> tuple[Var, Var, str]:
    """The place after a move: the same where a wall is in the way."""
    k = m.k
    dr, dc, told = _moves(k, action)
    there = m.held(row + dr, col + dc)
    to_row, to_col = k.let("to_row nr", there[0]), k.let("to_col nc", there[1])
    wall = m.closed(row, col, action)
    if k.draw.shape.chance(0.5):
        with k.if_(wall):
            k.assign(to_row, row)
            k.assign(to_col, col)
    else:
        blocked = k.let("blocked hit", wall)
        to_row = k.let("row_now r_now", where(blocked, row, to_row))
        to_col = k.let("col_now c_now", where(blocked, col, to_col))
    beyond = "the grid being cyclic" if m.edge == "wrap" else "within the grid"
    own = ", its own map," if m.own else ""
    said = f"{told}, {beyond}, except where a wall stops it: bit a of the agent's cell in "
    said += f"{m.tiles.name}{own} is set where action a is stopped"
    return to_row, to_col, said


def grid_step(k: KernelBuilder, level: int) -> Title:
    """One move of each agent, with reward and end, a new start, and slips."""
    s = over(k, "envs", (k.draw.word.choice(("e", "env", "i")),), ((150, 190),))
    m = _map(k, s)
    agent = _agent(m)
    actions = s.array("actions acts", INT32, 0, 3)
    action: Expr = k.let("action act", actions[s.at])
    text = f"A step of grid worlds by {actions.name}"
    if level > 3:
        text += _slip(k, s, action)
    row, col, told = _go(m, agent.row, agent.col, action)
    text += f", {told}. The agent is at {agent.said()}"
    pay = _pay(k) if level > 1 or k.draw.shape.chance(0.5) else None
    tile = k.let("kind tile", m.kind(row, col)) if pay is not None else None
    if pay is not None and tile is not None:
        out = k.out("rewards reward_out", FLOAT32, "envs")
        k.store(out, s.at, pay.of(k, tile))
        text += f". The reward is {pay.said()}, kinds being the bits of a cell from 4 on: "
        text += f"{out.name} gets it"
    if level > 1 and tile is not None:
        ended = k.let("done ended", some(same(tile, _GOAL), same(tile, _PIT)))
        kind = k.draw.shape.choice((BOOL, UINT8, INT32))
        done = k.out("dones terminated", kind, "envs")
        k.store(done, s.at, as_flag(ended, kind))
        text += f". {done.name} gets 1 on a goal or a pit, else 0"
        if level > 2:
            text += _anew(k, s, m, ended, row, col)
    agent.write(row, col)
    return Title(k.name("grid_world_step gridworld_step maze_step"), f"{text}.")


def _slip(k: KernelBuilder, s: Site, action: Expr) -> str:
    """With some chance a random action is taken instead."""
    assert isinstance(action, Var)
    (e,) = s.at
    assert isinstance(e, Var)
    seed, slip = k.scalar("seed", INT32, 1, 9999), k.scalar("slip_prob eps", FLOAT32, 0.1, 0.4)
    now = k.scalar("global_step tick", INT32, 0, 500)
    count = k.size_param("num_envs n_envs", "envs")
    state = k.random_state("rng state", seed, now * count + e)
    u = k.sample("u draw", "randf", state)
    with k.if_(u < slip):
        k.assign(action, k.sample("other_act", "randi", state, 0, 4))
    source = f"rand_init({seed.name}, {now.name} * {count.name} + {e.name})"
    return f" (where randf of the state of {source} is below {slip.name}, randi(0, 4) instead)"


def _anew(k: KernelBuilder, s: Site, m: _Map, ended: Var, row: Var, col: Var) -> str:
    """Where an episode ended the agent begins at its start."""
    if k.draw.shape.chance(0.5):
        starts = s.array("start_cell spawn", INT32, init="index_of:grid_h*grid_w")
        with k.if_(ended):
            k.assign(row, starts[s.at] // m.width)
            k.assign(col, starts[s.at] % m.width)
        return f". Where it ended the agent begins anew at cell {starts.name}"
    rows = s.array("start_row spawn_row", INT32, init="index_of:grid_h")
    cols = s.array("start_col spawn_col", INT32, init="index_of:grid_w")
    with k.if_(ended):
        k.assign(row, rows[s.at])
        k.assign(col, cols[s.at])
    return f". Where it ended the agent begins anew at {rows.name} and {cols.name}"


def grid_rollout(k: KernelBuilder, level: int) -> Title:
    """A thread for each environment: an episode by a table of values or actions, or learning."""
    s = over(k, "envs", (k.draw.word.choice(("e", "env", "i")),), ((60, 80),))
    m = _map(k, s)
    agent = _agent(m)
    steps = k.scalar("horizon max_steps", INT32, 6, 9)
    gamma = k.scalar("gamma discount", FLOAT32, 0.9, 0.99)
    way = k.draw.shape.choice(("policy", "greedy", "learning", "learning"))
    table, choose, told = _table(k, m, way)
    pay = _pay(k)
    zero, one = k.lift(0.0, FLOAT32), k.lift(1.0, FLOAT32)
    total, weight = k.let("total ret", zero), k.let("weight df", one)
    row, col = agent.row, agent.col
    with k.for_("t step", steps):
        here = k.let("s cell_now", row * m.width + col)
        action = k.let("action act", choose(here))
        to_row, to_col, moved = _go(m, row, col, action)
        tile = k.let("kind tile", m.kind(to_row, to_col))
        reward = k.let("reward pay", pay.of(k, tile))
        k.augment(total, "add", weight * reward)
        k.augment(weight, "mul", gamma)
        ended = k.let("done ended", some(same(tile, _GOAL), same(tile, _PIT)))
        if way == "learning":
            places = (here, action, to_row * m.width + to_col)
            told += _learn(k, m, table, places, (reward, ended, gamma))
        k.assign(row, to_row)
        k.assign(col, to_col)
        with k.if_(ended):
            k.break_()
    agent.write(row, col)
    out = k.out("returns ep_returns", FLOAT32, "envs")
    k.store(out, s.at, total)
    text = f"Episodes in grid worlds of {steps.name} steps or until a goal or a pit is reached, a "
    text += f"thread for each environment. {told}. A step is a move, {moved}. The agent is at "
    text += f"{agent.said()}. A step pays {pay.said()}, kinds being the bits of a cell from 4 on. "
    text += f"The return is the sum of that, times {gamma.name} to the power of the steps before: "
    text += f"{out.name} gets it"
    names = {"learning": "q_learning_episode tabular_q_learning"}
    name = names.get(way, "grid_world_rollout gridworld_episode")
    return Title(k.name(name), f"{text}.")


def _table(k: KernelBuilder, m: _Map, way: str) -> tuple[Var, Callable[[Expr], Expr], str]:
    """Actions by the cell: from a table of actions, or the best of a table of values."""
    lead: tuple[Expr, ...] = ()
    dims: tuple[str, ...] = ()
    if way == "learning" or k.draw.shape.chance(0.5):
        lead, dims = m.s.at, ("envs",)
    cells = "grid_h*grid_w"
    if way == "policy":
        plan = k.array("policy plan", INT32, (*dims, cells), low=0, high=3)
        return plan, (lambda cell: plan[lead + (cell,)]), f"The action is {plan.name} of the cell"
    role = "inout" if way == "learning" else "in"
    q = k.array("q_table q_values", FLOAT32, (*dims, cells, "4"), role=role, low=-1.0, high=1.0)

    def best(cell: Expr) -> Expr:
        found, top = (
            k.let("best_a arg", k.lift(0, INT32)),
            k.let("best_q q_max", q[lead + (cell, k.lift(0, INT32))]),
        )
        with k.for_("a act_id", 4, start=1) as a:
            value = k.let("q_a value", q[lead + (cell, a)])
            with k.if_(value > top):
                k.assign(top, value)
                k.assign(found, a)
        return found

    own = " of its own" if dims else ""
    return (
        q,
        best,
        f"The action is that of the greatest {q.name}{own} of the cell, the first of equals",
    )


def _learn(
    k: KernelBuilder,
    m: _Map,
    q: Var,
    places: tuple[Expr, Expr, Expr],
    numbers: tuple[Expr, Expr, Expr],
) -> str:
    """Q-learning: the value moves towards the reward and the best that follows."""
    here, action, there = places
    reward, ended, gamma = numbers
    rate = k.scalar("alpha learn_rate", FLOAT32, 0.1, 0.5)
    cell = k.let("s_next cell_next", there)
    best = k.let("next_best v_next", q[m.s.at + (cell, k.lift(0, INT32))])
    with k.for_("b act_next", 4, start=1) as b:
        k.assign(best, fn("max", best, q[m.s.at + (cell, b)]))
    aim = k.let("td_target aim", reward + where(ended, 0.0, gamma * best))
    at = (*m.s.at, here, action)
    k.store(q, at, rate * (aim - q[at]), op="add")
    assert isinstance(rate, Var)
    assert isinstance(gamma, Var)
    return (
        f"; after each step its value moves by {rate.name} towards the reward plus {gamma.name} "
        "times the greatest value of the next cell, which counts only where the episode goes on"
    )
