"""State machines that go along the rows of a table."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.dtypes import INT32, Scalar
from generators.expr import Expr, Var, op
from generators.registry import Title

_MACHINES = {
    "longest_streak": "the length of the longest run of values above {0}",
    "upward_crossings": "how many runs of values above {0} begin",
    "switched_on": "how many values leave a switch on that is off at first, goes on above {0} + 1 "
    "and goes off below {0} - 1",
}
_STATES = {
    "longest_streak": ("streak", "run"),
    "upward_crossings": ("above", "inside"),
    "switched_on": ("state", "on"),
}


def row_machine(k: KernelBuilder, level: int) -> Title:
    """A state machine over each row; at higher levels it skips, stops early, adds up."""
    shape, type_ = k.draw.shape, k.draw.shape.weighted({INT32: 3, Scalar("float32"): 2})
    rows, cols = k.size("rows", 48, 64), k.size("cols", 6, 8)
    table = k.array(("table", "readings", "signal"), type_, (rows, cols), low=0, high=9)
    form = shape.choice(sorted(_MACHINES))
    per_row = level >= 2 and shape.chance(0.5)
    names = ("thresholds", "limits", "triggers") if per_row else ("threshold", "limit", "trigger")
    limits = k.array(names, type_, rows, low=2, high=7) if per_row else k.scalar(names, type_, 2, 7)
    width = k.size_param(("width", "num_steps", "length"), cols)
    out = k.out(("out", "counts", "result"), INT32, rows)
    summed = k.out(("sums", "excess", "totals"), type_, rows) if level >= 4 else None
    (r,) = k.thread(rows, names=(k.draw.word.choice(("row", "r", "i")),))
    limit: Expr = k.let(("cut", "bound"), limits[r]) if per_row else limits
    rules = [_refused(k, table, r, (out, summed))] if level >= 5 and summed is not None else []
    run = k.let(_STATES[form], k.lift(0, INT32))
    count = k.let(("count", "tally"), k.lift(0, INT32))
    total = k.let(("total", "acc"), k.lift(0, type_)) if summed is not None else None
    with k.for_(("j", "t", "col"), width) as j:
        v = k.let(("v", "reading"), table[r, j])
        if level >= 3:
            rules.append(_passed_over(k, v))
        _step(k, form, v, limit, run, count)
        added = _added(k, form, (run, count), v, limit, total) if total is not None else ""
    k.store(out, r, count)
    done = f"Find in each row of {table.name} {_MACHINES[form].format(limits.name)}."
    if rules:
        text = "; ".join(rules)
        done += f" {text[0].upper()}{text[1:]}."
    if summed is not None and total is not None:
        k.store(summed, r, total)
        done += f" Put into {summed.name} the sum of the values {added.format(limits.name)}."
    return Title(k.name(f"row_{form}", f"{form}_rows"), done)


def _refused(k: KernelBuilder, table: Var, r: Var, outs: tuple[Var, Var]) -> str:
    with k.if_(table[r, 0] < 1):
        k.store(outs[0], r, -1)
        k.store(outs[1], r, 0)
        k.return_()
    return f"rows that start below 1 get -1 in {outs[0].name} and 0 in {outs[1].name}"


def _passed_over(k: KernelBuilder, v: Var) -> str:
    stops = k.draw.shape.chance(0.5)
    with k.if_(v > 8 if stops else v < 1):
        k.break_() if stops else k.continue_()
    return "the first value above 8 ends its row" if stops else "values below 1 are ignored"


def _step(k: KernelBuilder, form: str, v: Var, limit: Expr, run: Var, count: Var) -> None:
    """One step of a state machine over a row, with its state and what it counts."""
    with k.if_(v > (limit + 1 if form == "switched_on" else limit)):
        if form == "upward_crossings":
            with k.if_(fn("eq", run, 0)):
                k.augment(count, "add", 1)
        if form == "longest_streak":
            k.augment(run, "add", 1)
            k.assign(count, fn("max", count, run))
        else:
            k.assign(run, 1)
    with k.elif_(v < limit - 1) if form == "switched_on" else k.else_():
        k.assign(run, 0)
    if form == "switched_on":
        k.augment(count, "add", run)


def _added(
    k: KernelBuilder, form: str, states: tuple[Var, Var], v: Var, limit: Expr, total: Var
) -> str:
    """Add up some values; says which."""
    run, count = states
    joint = k.draw.shape.choice(("and", "or"))
    chosen = {
        "longest_streak": (run > 1, "that continue a run"),
        "upward_crossings": (count > 0, "that come from the first one above {0} on"),
        "switched_on": (run > 0, "that leave the switch on"),
    }
    state, text = chosen[form]
    with k.if_(op(joint, state, v < limit + 2)):
        k.augment(total, "add", v)
    return f"{text} {joint} are below {{0}} + 2"
