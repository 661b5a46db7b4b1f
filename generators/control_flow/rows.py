"""State machines that go along the rows of a table."""

from __future__ import annotations

from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.control_flow.kit import function_of
from generators.control_flow.machines import MACHINES, Machine, Scale
from generators.control_flow.params import with_struct
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var, op


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
