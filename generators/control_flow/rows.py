"""State machines that go along the rows of a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.control_flow.old import function_of
from generators.control_flow.params import with_struct
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Const, Expr, Var, literal, op


@dataclass(frozen=True)
class Scale:
    """How readings come from raw entries, and the range in which they then lie."""

    k: KernelBuilder
    type: Scalar
    applied: Callable[[Expr], Expr] = lambda e: e
    low: float = 0
    high: float = 99
    phrase: str = ""

    @property
    def span(self) -> float:
        return self.high - self.low

    def at(self, start: float, stop: float) -> float:
        """A literal between two parts of the range."""
        return self.number(self.low + start * self.span, self.low + stop * self.span)

    def width(self, start: float, stop: float) -> float:
        """A literal of the size of a part of the range."""
        return self.number(start * self.span, stop * self.span)

    def number(self, low: float, high: float) -> float:
        if self.type.is_float:
            return float(self.k.draw.value.constant(low, high))
        return self.k.draw.value.integer(round(low), round(high))


@dataclass(frozen=True)
class Machine:
    """One step, the count, what it counts, and a condition on the state, in words too."""

    step: Callable[[Var], None]
    count: Var
    text: str
    state: tuple[Expr, str]


def _integers(k: KernelBuilder, *names: str) -> tuple[Var, Var]:
    """The state, 0 at first, and the count."""
    return k.let(names, k.lift(0, INT32)), k.let(("count", "tally"), k.lift(0, INT32))


def _name(limit: Expr, name: str) -> str:
    return str(limit.value) if isinstance(limit, Const) else name


def _longest_streak(k: KernelBuilder, scale: Scale, limit: Expr, name: str) -> Machine:
    run, count = _integers(k, "streak", "run")
    above = k.draw.shape.chance(0.6)

    def step(v: Var) -> None:
        with k.if_(v > limit if above else v < limit):
            k.augment(run, "add", 1)
            k.assign(count, fn("max", count, run))
        with k.else_():
            k.assign(run, 0)

    side = "above" if above else "below"
    text = f"the length of the longest run of v {side} {_name(limit, name)}"
    return Machine(step, count, text, (run > 1, "that continue a run"))


def _upward_crossings(k: KernelBuilder, scale: Scale, limit: Expr, name: str) -> Machine:
    run, count = _integers(k, "above", "inside")

    def step(v: Var) -> None:
        with k.if_(v > limit):
            with k.if_(fn("eq", run, 0)):
                k.augment(count, "add", 1)
            k.assign(run, 1)
        with k.else_():
            k.assign(run, 0)

    text = f"how many runs of v above {_name(limit, name)} begin"
    return Machine(step, count, text, (count > 0, "that come from the first run on"))


def _switched_on(k: KernelBuilder, scale: Scale, limit: Expr, name: str) -> Machine:
    run, count = _integers(k, "state", "on")
    shown = _name(limit, name)
    lower, off = _lower(scale, limit, shown)

    def step(v: Var) -> None:
        with k.if_(v > limit):
            k.assign(run, 1)
        with k.elif_(v < lower):
            k.assign(run, 0)
        k.augment(count, "add", run)

    text = f"how many v leave a switch on that is off at first, goes on above {shown} and "
    text += f"off below {off}"
    return Machine(step, count, text, (run > 0, "that leave the switch on"))


def _lower(scale: Scale, limit: Expr, shown: str) -> tuple[Expr, str]:
    """A second threshold under the first, as an expression and in words."""
    gap = scale.width(0.05, 0.2)
    if not isinstance(limit, Const):
        return limit - gap, f"{shown} - {gap}"
    low = scale.number(float(limit.value) - 2 * gap, float(limit.value) - gap)
    return literal(low, scale.type), f"{low}"


def _cooldown(k: KernelBuilder, scale: Scale, limit: Expr, name: str) -> Machine:
    wait, count = _integers(k, "wait", "pause")
    length = k.draw.value.integer(1, 3)

    def step(v: Var) -> None:
        with k.if_(wait > 0):
            k.augment(wait, "sub", 1)
        with k.elif_(v > limit):
            k.augment(count, "add", 1)
            k.assign(wait, length)

    after = "one is" if length == 1 else f"{length} are"
    text = f"how many v above {_name(limit, name)} there are when after each one that counts the "
    text += f"next {after} passed over"
    return Machine(step, count, text, (count > 0, "that come from the first one counted on"))


def _bucket(k: KernelBuilder, scale: Scale, limit: Expr, name: str) -> Machine:
    start, leak = scale.width(0.05, 0.3), scale.at(0.3, 0.5)
    filled = k.let(("filled", "stock"), k.lift(start, scale.type))
    count = k.let(("count", "tally"), k.lift(0, INT32))

    def step(v: Var) -> None:
        k.assign(filled, fn("max", filled + v - leak, 0))
        with k.if_(filled > limit):
            k.augment(count, "add", 1)
            k.assign(filled, start)

    text = f"how often a bucket overflows: it holds {start} at first and max(held + v - {leak}, 0) "
    text += (
        f"after each v; where that is above {_name(limit, name)}, it overflows and holds {start}"
    )
    return Machine(step, count, text, (count > 0, "that come from the first overflow on"))


MACHINES: dict[str, Callable[[KernelBuilder, Scale, Expr, str], Machine]] = {
    "longest_streak": _longest_streak,
    "upward_crossings": _upward_crossings,
    "switched_on": _switched_on,
    "cooldown": _cooldown,
    "leaky_bucket": _bucket,
}


@idiom
@with_struct
def row_machine(k: KernelBuilder, level: int) -> Title:
    """A state machine over each row; at higher levels it skips, stops early, adds up."""
    shape, type_ = k.draw.shape, k.draw.shape.weighted({INT32: 3, Scalar("float32"): 2})
    rows, cols = k.size("rows", 48, 64), k.size("cols", 6, 8)
    table = k.array(("table", "readings", "signal"), type_, (rows, cols), low=0, high=99)
    form = shape.choice(sorted(MACHINES))
    given = shape.weighted({"literal": 5, "scalar": 3, "array": 3 if level >= 2 else 0})
    scale = _calibration(k, type_, often=given != "literal" and level < 4)
    limits = _limits(k, given, scale, type_)
    width = k.size_param(("width", "num_steps", "length"), cols)
    out = k.out(("out", "counts", "result"), INT32, rows)
    summed = k.out(("sums", "excess", "totals"), type_, rows) if level >= 4 else None
    (r,) = k.thread(rows, names=(k.draw.word.choice(("row", "r", "i")),))
    limit = k.let(("cut", "bound"), limits[r]) if given == "array" else limits
    rules = [_refused(k, table, r, (out, summed))] if level >= 5 and summed is not None else []
    machine = MACHINES[form](k, scale, limit, limits.name if isinstance(limits, Var) else "")
    applied = function_of(
        k,
        level,
        ("calibrated", "reading_of", "decoded"),
        [("entry", type_)],
        lambda _, e: scale.applied(e),
        0.7 if scale.phrase else 0.0,
    )
    total = k.let(("total", "acc"), k.lift(0, type_)) if summed is not None else None
    with k.for_(("j", "t", "col"), width) as j:
        v = k.let(("v", "reading"), applied(table[r, j]))
        if level >= 3:
            rules.append(_passed_over(k, scale, v))
        machine.step(v)
        added = _added(k, machine, scale, v, total) if total is not None else ""
    k.store(out, r, machine.count)
    values = f"reading v = {scale.phrase} for each entry e" if scale.phrase else "reading each v"
    done = f"Go along each row of {table.name}, {values}, and find {machine.text}."
    if rules:
        text = "; ".join(rules)
        done += f" {text[0].upper()}{text[1:]}."
    if summed is not None and total is not None:
        k.store(summed, r, total)
        done += f" Put into {summed.name} the sum of the v {added}."
    return Title(k.name(f"row_{form}", f"{form}_rows"), done)


def _calibration(k: KernelBuilder, type_: Scalar, often: bool) -> Scale:
    """How a raw entry e in [0, 99] becomes a reading."""
    if not k.draw.shape.chance(0.6 if often else 0.2):
        return Scale(k, type_)
    value, floats = k.draw.value, type_.is_float
    form = k.draw.shape.choice(("affine", "down"))
    factor = float(value.constant(0.2, 4.0)) if floats else value.integer(2, 9)
    most = 15 * factor
    shift = float(value.constant(0.5, most)) if floats else value.integer(1, int(most))
    if form == "affine":
        phrase, low = f"{factor} e + {shift}", shift
        return Scale(k, type_, lambda e: factor * e + shift, low, 99 * factor + low, phrase)
    phrase, low = f"{factor} e - {shift}", -shift
    return Scale(k, type_, lambda e: factor * e - shift, low, 99 * factor + low, phrase)


def _limits(k: KernelBuilder, given: str, scale: Scale, type_: Scalar) -> Expr:
    """The threshold: a literal, a parameter, or an array with one for each row."""
    if given == "literal":
        return k.lift(scale.at(0.25, 0.75), type_)
    low, high = (int(scale.low + part * scale.span) for part in (0.25, 0.75))
    if given == "array":
        return k.array(("thresholds", "limits", "triggers"), type_, "rows", low=low, high=high)
    return k.scalar(("threshold", "limit", "trigger"), type_, low, high)


def _refused(k: KernelBuilder, table: Var, r: Var, outs: tuple[Var, Var]) -> str:
    least, mark = k.draw.value.integer(5, 15), -k.draw.value.integer(1, 9)
    with k.if_(table[r, 0] < least):
        k.store(outs[0], r, mark)
        k.store(outs[1], r, 0)
        k.return_()
    text = f"rows whose first entry is below {least} get {mark} in {outs[0].name}"
    return f"{text} and 0 in {outs[1].name}"


def _passed_over(k: KernelBuilder, scale: Scale, v: Var) -> str:
    if k.draw.shape.chance(0.5):
        bound = scale.at(0.85, 0.94)
        with k.if_(v > bound):
            k.break_()
        return f"the first v above {bound} ends its row"
    bound = scale.at(0.06, 0.15)
    with k.if_(v < bound):
        k.continue_()
    return f"each v below {bound} is ignored"


def _added(k: KernelBuilder, machine: Machine, scale: Scale, v: Var, total: Var) -> str:
    """Add up some values; says which."""
    joint = k.draw.shape.choice(("and", "or"))
    below = scale.at(0.78, 0.85) if joint == "and" else scale.at(0.16, 0.24)
    state, text = machine.state
    with k.if_(op(joint, state, v < below)):
        k.augment(total, "add", v)
    return f"{text} {joint} are below {below}"
