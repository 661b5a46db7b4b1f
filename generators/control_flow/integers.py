"""While loops on whole numbers, one for each thread or a few: divisors, digits, bits, powers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import Also, counter
from generators.control_flow.params import with_struct
from generators.control_flow.walks import WALKS, Walk
from generators.kit.naming import helper, local
from generators.kit.sites import Site, launch
from generators.kit.words import plurals, say, words
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Const, Expr, Load, Var, literal

_TYPES = {INT32: 4, Scalar("int64"): 2, Scalar("uint32"): 2}


def _type(k: KernelBuilder, walk: Walk, types: dict[Scalar, int]) -> Scalar:
    """A type that holds what a loop comes to."""
    fits = {t: n for t, n in types.items() if not (walk.signed and t.is_unsigned)}
    if walk.wide:
        fits = {t: n for t, n in fits.items() if t.bits == 64}
    return k.draw.shape.weighted(fits)


@dataclass
class _Step:
    """One loop with the numbers that it needs, written out or as a helper function."""

    k: KernelBuilder
    walk: Walk
    type: Scalar
    given: list[Expr]
    helped: bool
    turns: Var | None = None

    @property
    def text(self) -> str:
        return self.walk.text.format(*(say(self.k, v) for v in self.given))

    def result(self, x: Expr) -> Expr:
        """What the loop gives for a number, which it may use up."""
        if not self.helped:
            rest, given = self.k.let("x m rest", x), list(self.given)
            if self.walk.again and isinstance(given[-1], Load):
                given[-1] = self.k.let(words(self.walk.wants[-1][0]), given[-1])
            return self._run(self.k, rest, given)
        passed = [v for v in self.given if not isinstance(v, Const)]
        names = [words(wanted)[0] for wanted, _ in self.walk.wants]
        kept = [n for n, v in zip(names, self.given, strict=True) if v in passed]

        def body(b: BodyBuilder, number: Expr, *values: Expr) -> Expr:
            rest, left = b.let("rest m x", number), iter(values)
            given = [v if isinstance(v, Const) else next(left) for v in self.given]
            return self._run(b, rest, given)

        params = [("number", self.type), *((n, self.type) for n in kept)]
        return self.k.call(helper(self.k, self.walk.titles, params, body), x, *passed)

    def _run(self, b: BodyBuilder, x: Var, given: list[Expr]) -> Expr:
        @contextmanager
        def go(test: Expr) -> Iterator[None]:
            with b.while_(test):
                yield
                if self.turns is not None:
                    b.augment(self.turns, "add", 1)

        return self.walk.run(b, go, x, *given)


def _numbers(s: Site, walk: Walk, type_: Scalar, each: bool) -> list[Expr]:
    """What a loop needs: parameters, literals, or one per thread."""
    given: list[Expr] = []
    for names, values in walk.wants:
        ways = "array array parameter" if each else "parameter"
        if "base" in names:
            ways = "literal parameter"
        elif "max_steps" in names:
            ways = "parameter"
        kind = s.k.draw.shape.choice(ways.split())
        if kind == "literal":
            given.append(literal(s.k.draw.value.choice(values), type_))
        elif kind == "array":
            given.append(s.read(plurals(words(names)), type_, values[0], values[-1]))
        else:
            given.append(s.k.scalar(words(names), type_, values[0], values[-1]))
    return given


_LARGE = ("digit_sum", "reversed_digits", "bits_cleared", "highest_bit", "gray_decode")
_HIGHEST = {"gcd": 900, "modpow": 60, "root_by_newton": 9000, "prime_or_divisor": 400}
_HIGHEST |= {"binary_gcd": 900, "totient": 600, "modular_inverse": 2000, "jacobi": 2000}
_HIGHEST |= dict.fromkeys(_LARGE, 60000)
_HARDER = ("binary_gcd", "jacobi", "modpow", "modular_inverse", "prime_or_divisor", "totient")
"""Those that levels 4 and 5 prefer."""
"""The loops of ``number_theory``, and how large its numbers are."""


@idiom(depth=3)
@with_struct
def number_theory(k: KernelBuilder, level: int) -> Title:
    """Euclid, repeated squaring, trial division, digits and bits of whole numbers."""
    shape = k.draw.shape
    hard = level >= 4 and shape.chance(0.7)
    form = shape.choice(_HARDER if hard else sorted(_HIGHEST))
    walk, high = WALKS[form], _HIGHEST[form]
    type_ = _type(k, walk, {Scalar(t): 1 for t in ("int32", "int64", "uint32", "uint64")})
    s = launch(k, list=2, grid=1 if level >= 2 else 0)
    numbers = s.array("numbers values", type_, 2, high)
    out = s.out([f"{t.removesuffix('_of')}_out" for t in words(walk.titles)], type_)
    rounds = Also(s, 0.1 if level >= 2 else 0.0, "loop_counts num_iters")
    rounds.start("count turns")
    given = _numbers(s, walk, type_, each=True)
    step = _Step(k, walk, type_, given, level >= 3 and shape.chance(0.5), rounds.value)
    step.helped = step.helped and not rounds
    done = f"For each number x of {numbers.name}, {out.name} gets {step.text}."
    k.store(out, s.at, step.result(numbers[s.at]))
    done += rounds.told("how often the loop ran")
    return Title(k.name(*(f"{t}_kernel compute_{t}" for t in words(walk.titles))), done)


@idiom(depth=3)
@with_struct
def integer_walk(k: KernelBuilder, level: int) -> Title:
    """A while loop on integers, at higher levels in a helper, for a few numbers at once."""
    shape = k.draw.shape
    walk = WALKS[shape.choice(sorted(WALKS))]
    type_ = _type(k, walk, _TYPES)
    form = "one" if level < 4 else shape.choice(("window", "row", "row"))
    s = launch(k, rows=1, inner="cols") if form == "row" else launch(k, list=3, grid=1)
    numbers = s.array("numbers values inputs", type_, 1, 200, more=s.inner)
    given = _numbers(s, walk, type_, each=form == "one")
    out = s.out([f"{t.removesuffix('_of')}_out" for t in words(walk.titles)], type_)
    step = _Step(k, walk, type_, given, level >= 3 and shape.chance(0.6))
    if form == "one":
        value, done = step.result(numbers[s.at]), f"number x of {numbers.name}, {step.text}"
    else:
        value, done = _of_few(level, s, step, numbers)
    k.store(out, s.at, value)
    added = f"_of_{form}" if form != "one" else "_kernel" if step.helped else ""
    name = k.name(*(f"{t}{added}" for t in words(walk.titles)))
    return Title(name, f"Store in {out.name}, for each {done}.")


_KEPT = {"sum": "total acc", "maximum": "best largest", "count": "hits tally", "first": "best top"}


def _of_few(level: int, s: Site, step: _Step, numbers: Var) -> tuple[Expr, str]:
    """The sum, maximum or count of a few results: of a row, or of consecutive integers."""
    k, shape = s.k, s.k.draw.shape
    where = Also(s, 0.6 if s.inner else 0.0, "at_column which")
    span = k.draw.value.integer(3, 5)
    how = "first" if where else shape.choice(("sum", "maximum", "count"))
    first = numbers if s.inner else k.let("s first", numbers[s.at])
    kept = counter(k, _KEPT[how], step.type)
    goal = k.scalar("goal_value wanted", step.type, 2, 5) if how == "count" else kept
    where.start("best_col winner")
    looped = s.loop("j c col", "num_cols row_length") if s.inner else k.for_("step shift", span)
    with looped as at:
        near: Expr = numbers[at.at] if isinstance(at, Site) else first + cast(at, step.type)
        _take(k, how, kept, step.result(near), goal, where, at)
    what = f"number of f(x) that are at least {goal.name}" if how == "count" else f"{how} of f(x)"
    tail = f", where f(x) is {step.text}"
    if not s.inner:
        return kept, f"s of {numbers.name}, the {what} over the {span} integers x from s on{tail}"
    if where.out is None:
        return kept, f"row of {numbers.name}, the {what} over its numbers x{tail}"
    where.told("")
    done = f"row of {numbers.name}, the largest f(x) of its numbers x, and in {where.out.name} the "
    return kept, f"{done}first column that has it (0 and 0 where no f(x) is above 0){tail}"


def _take(
    k: KernelBuilder, how: str, kept: Var, value: Expr, goal: Expr, where: Also, at: Site | Var
) -> None:
    """Take one result into what is kept."""
    if how == "sum":
        k.augment(kept, "add", value)
    elif how == "maximum":
        k.assign(kept, fn("max", kept, value))
    elif how == "count":
        with k.if_(value >= goal):
            k.augment(kept, "add", 1)
    elif where.value is not None and isinstance(at, Site):
        value = local(k, "score value", value)
        with k.if_(value > kept):
            k.assign(kept, value)
            k.assign(where.value, at.at[-1])
