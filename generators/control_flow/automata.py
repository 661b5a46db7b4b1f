"""Cellular automata: one step of life-like, majority, fire, elementary and cyclic rules."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.old import also, function_of, shown
from generators.control_flow.params import with_struct
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Operand, Var, op


@idiom
@with_struct
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
    numbers = _NUMBERS.get(form)
    number = k.draw.value.choice(numbers) if numbers else 0
    ruled = function_of(
        k,
        level,
        ("next_state", f"{form}_rule", "updated_state"),
        [("state", INT32), ("near", INT32)],
        lambda b, own, near: _RULES[form](b, own, near, number),
        0.6,
    )
    result = ruled(state, found)
    return _TEXTS[form].format(number), result


_NUMBERS = {"life": (3, 2), "majority": (4, 5), "cyclic": (1, 2)}
"""The number of neighbours that matters to a rule."""

_TEXTS = {
    "life": "One step of a life-like automaton: a dead cell with {0} of its 8 neighbours alive "
    "comes alive, a living one stays with 2 or 3 alive, otherwise a cell dies.",
    "majority": "One step of a majority rule: 1 with more than {0} of 8 neighbours set, 0 with "
    "fewer, else as it is.",
    "fire": "One step of a forest fire: burning cells (2) become empty (0), trees (1) with more "
    "than two burning neighbours burn.",
    "cyclic": "One step of a cyclic automaton of 5 states: a cell with more than {0} neighbours "
    "one state ahead moves on.",
}


def _life(b: BodyBuilder, state: Expr, near: Expr, born: int) -> Expr:
    result = b.let(("result", "new_state"), b.lift(0, INT32))
    with b.if_(op("and", fn("eq", state, 0), fn("eq", near, born))):
        b.assign(result, 1)
    with b.elif_(op("and", state > 0, op("or", fn("eq", near, 2), fn("eq", near, 3)))):
        b.assign(result, 1)
    return result


def _majority(b: BodyBuilder, state: Expr, near: Expr, need: int) -> Expr:
    result = b.let(("result", "new_state"), state)
    with b.if_(near > need):
        b.assign(result, 1)
    with b.elif_(near < need):
        b.assign(result, 0)
    return result


def _fire(b: BodyBuilder, state: Expr, near: Expr, _: int) -> Expr:
    result = b.let(("result", "new_state"), state)
    with b.if_(fn("eq", state, 2)):
        b.assign(result, 0)
    with b.elif_(op("and", fn("eq", state, 1), near > 2)):
        b.assign(result, 2)
    return result


def _cyclic(b: BodyBuilder, state: Expr, near: Expr, need: int) -> Expr:
    result = b.let(("result", "new_state"), state)
    with b.if_(near > need):
        b.assign(result, (state + 1) % 5)
    return result


_RULES: dict[str, Callable[[BodyBuilder, Expr, Expr, int], Expr]] = {
    "life": _life,
    "majority": _majority,
    "fire": _fire,
    "cyclic": _cyclic,
}


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
