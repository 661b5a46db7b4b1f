"""While loops on integers: divisors, Collatz steps, digits and bits, growth; of one or of a few."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import also, shown
from generators.control_flow.params import with_struct
from generators.control_flow.walks import WALKS, Walk
from generators.kit.pieces import helper
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Load, Operand, Var, op

_TYPES = {INT32: 4, Scalar("int64"): 2, Scalar("uint32"): 1, Scalar("int16"): 1}


@dataclass
class _Step:
    """One walk with the numbers that it needs, written out or as a helper function."""

    k: KernelBuilder
    walk: Walk
    type: Scalar
    given: list[Operand]
    helped: bool

    @property
    def text(self) -> str:
        names = [v.array.name if isinstance(v, Load) else shown(v) for v in self.given]
        return self.walk.text.format(*names)

    def result(self, x: Expr) -> Expr:
        """What the walk gives for a number, which it may use up."""
        if not self.helped:
            start = self.k.let(("x", "m", "rest"), x)
            return self.walk.run(self.k, start, *self.given)
        shared = [v for v in self.given if isinstance(v, Expr)]
        names = [n for n, _ in self.walk.wants]
        kept = [n[0] for n, v in zip(names, self.given, strict=True) if isinstance(v, Expr)]

        def body(b: BodyBuilder, number: Expr, *passed: Expr) -> Expr:
            values = iter(passed)
            given = [next(values) if isinstance(v, Expr) else v for v in self.given]
            rest = b.let(("rest", "m", "x"), number)
            return self.walk.run(b, rest, *given)

        params = [("number", self.type), *((n, self.type) for n in kept)]
        called = helper(self.k, self.walk.titles, params, body)
        return self.k.call(called, x, *shared)


@idiom
@with_struct
def integer_walk(k: KernelBuilder, level: int) -> Title:
    """A while loop on integers, at higher levels in a helper, for a few numbers at once."""
    shape = k.draw.shape
    walk, type_ = WALKS[shape.choice(sorted(WALKS))], shape.weighted(_TYPES)
    if walk.wide and type_.bits == 16:
        type_ = INT32
    form = "one" if level < 4 else shape.choice(("window", "row", "row"))
    plane = form == "row" or shape.chance(0.25)
    dims = (k.size("rows", 8, 12), k.size("cols", 5, 8)) if plane else (k.size("n", 48, 64),)
    numbers = k.array(("numbers", "values", "ids", "seeds"), type_, dims, low=1, high=200)
    given = _numbers(k, walk, type_, dims, each=form == "one")
    launch = dims[:1] if form == "row" else dims
    out = k.out(("out", "result", "answers"), type_, launch)
    where = also(k, 0.6 if form == "row" else 0.0, ("at_column", "which"), INT32, launch)
    if form == "row":
        trips = k.trip_count(("num_cols", "row_length"), "cols")
    at = k.thread(*launch, names=_indices(k, form, len(launch)))
    given = [v[at] if isinstance(v, Var) and v.type != type_ else v for v in given]
    step = _Step(k, walk, type_, given, level >= 3 and shape.chance(0.6))
    if form == "row":
        value, done = _of_row(k, step, level, numbers, at[0], trips, where)
    elif form == "window":
        value, done = _window(k, level, step, k.let(("s", "first"), numbers[at]), numbers.name)
    else:
        value, done = _of_one(k, level, step, numbers, out, at)
    k.store(out, at, value)
    titles = tuple(f"{t}_{form}" for t in walk.titles) if form != "one" else walk.titles
    free = tuple(f"{t}_kernel" if step.helped and form == "one" else t for t in titles)
    return Title(k.name(*free), f"{done.format(out.name)}.")


def _indices(k: KernelBuilder, form: str, ndim: int) -> tuple[str, ...]:
    if ndim == 2:
        return k.draw.word.choice((("i", "j"), ("row", "col")))
    return (k.name("row", "r", "i") if form == "row" else k.name("i", "tid", "idx"),)


def _numbers(
    k: KernelBuilder, walk: Walk, type_: Scalar, dims: tuple[str, ...], each: bool
) -> list[Operand]:
    """What the walk needs: parameters, literals, or (as array variables) one per thread."""
    given: list[Operand] = []
    for names, values in walk.wants:
        kind = k.draw.shape.choice(("parameter", "literal", "array" if each else "parameter"))
        low, high = values[0], values[-1]
        if type_.bits == 16 or kind == "literal":
            given.append(k.draw.value.choice(values))
        elif kind == "array":
            many = tuple(f"{name}s" if name[-1] not in "sx" else f"{name}es" for name in names)
            given.append(k.array(many, type_, dims, low=low, high=high))
        else:
            given.append(k.scalar(names, type_, low, high))
    return given


def _of_one(
    k: KernelBuilder, level: int, step: _Step, numbers: Var, out: Var, at: tuple[Var, ...]
) -> tuple[Expr, str]:
    """The walk of one number; from level 2 on some numbers are left out."""
    shape, note = k.draw.shape, ""
    start: Expr = numbers[at]
    if level >= 2 and shape.chance(0.4 + 0.2 * level):
        start = k.let(("number", "n0", "given"), start)
        least = k.scalar(("min_value", "least"), step.type, 40, 90)
        odd = k.draw.value.choice((2, 3, 5))
        test, clause = start < least, f"is below {least.name}"
        if level >= 3 and shape.chance(0.5):
            test = op("or", test, fn("eq", start % odd, 0))
            clause += f" or a multiple of {odd}"
        with k.if_(test):
            k.store(out, at, 0)
            k.return_()
        note = f"; where x {clause}, {{0}} gets 0 instead"
    return step.result(start), f"Store in {{0}} for each x of {numbers.name} {step.text}{note}"


def _kept(k: KernelBuilder, step: _Step, skip: int) -> tuple[str, Var, str]:
    """The sum, maximum or minimum of a few results, where it begins, and who takes part."""
    how = k.draw.shape.choice(("sum", "maximum", "count"))
    names = {"sum": ("total", "acc"), "maximum": ("best", "largest"), "count": ("hits", "tally")}
    kept = k.let(names[how], k.lift(0, step.type))
    return how, kept, _left_out(skip)


def _left_out(skip: int) -> str:
    if not skip:
        return ""
    return f", leaving out {'even numbers' if skip == 2 else f'multiples of {skip}'}"


def _take(k: KernelBuilder, how: str, kept: Var, value: Expr, goal: Operand) -> None:
    if how == "sum":
        k.augment(kept, "add", value)
    elif how == "maximum":
        k.assign(kept, fn("max", kept, value))
    else:
        with k.if_(value >= goal):
            k.augment(kept, "add", 1)


def _window(k: KernelBuilder, level: int, step: _Step, s: Var, numbers: str) -> tuple[Expr, str]:
    """The sum or maximum of the results of a few consecutive integers, and what it is."""
    span = k.draw.value.integer(3, 5)
    skip = k.draw.value.choice((2, 3)) if level == 5 or k.draw.shape.chance(0.4) else 0
    how, kept, skipped = _kept(k, step, skip)
    goal = k.scalar(("goal_value", "wanted"), step.type, 2, 5) if how == "count" else 0
    with k.for_(("step", "offset", "shift"), span) as offset:
        near: Expr = s + cast(offset, step.type)
        if skip:
            near = k.let(("near", "candidate"), near)
            with k.if_(fn("eq", near % skip, 0)):
                k.continue_()
        _take(k, how, kept, step.result(near), goal)
    what = f"number of f(x) that are at least {shown(goal)}" if how == "count" else f"{how} of f(x)"
    done = f"Store in {{0}} for each s of {numbers} the {what} over the {span} integers x from s on"
    return kept, f"{done}{skipped}, where f(x) is {step.text}"


def _of_row(
    k: KernelBuilder,
    step: _Step,
    level: int,
    numbers: Var,
    row: Var,
    trips: Expr,
    where: Var | None,
) -> tuple[Expr, str]:
    """The sum or largest of the results of a row, and the column of the largest."""
    skip = k.draw.value.choice((2, 3)) if level == 5 or k.draw.shape.chance(0.4) else 0
    done = f"Store in {{0}} for each row of {numbers.name} "
    if where is None:
        how, kept, skipped = _kept(k, step, skip)
        goal = k.scalar(("goal_value", "wanted"), step.type, 2, 5) if how == "count" else 0
        what = f"number of f(x) that are at least {shown(goal)}"
        done += f"the {what if how == 'count' else f'{how} of f(x)'} over its numbers x{skipped}"
    else:
        how = "first"
        kept = k.let(("best", "largest"), k.lift(0, step.type))
        column = k.let(("best_col", "winner"), k.lift(0, INT32))
        done += f"the largest f(x) of its numbers x, and in {where.name} the first column that has "
        done += f"it (0 and 0 if none){_left_out(skip)}"
    with k.for_(("j", "c", "col"), trips) as j:
        near: Expr = numbers[row, j]
        if skip:
            near = k.let(("entry", "candidate"), near)
            with k.if_(fn("eq", near % skip, 0)):
                k.continue_()
        value = step.result(near)
        if where is None:
            _take(k, how, kept, value, goal)
        else:
            value = value if isinstance(value, Var) else k.let(("score", "value"), value)
            with k.if_(value > kept):
                k.assign(kept, value)
                k.assign(column, j)
    if where is not None:
        k.store(where, row, column)
    return kept, f"{done}, where f(x) is {step.text}"
