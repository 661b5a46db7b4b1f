"""Which elements count: flags, codes and thresholds, and threads that end early."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn
from generators.build.body import lift
from generators.kit.sites import Names, Site
from generators.kit.sources import setting
from generators.kit.words import say
from generators.program.dtypes import BOOL, FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Op, Operand, Var, op

FLAG_TYPES = {"int32": 5, "uint8": 3, "bool": 4, "int8": 1, "uint32": 1, "int64": 1}
FLAGS = "mask active valid selected enabled"


@dataclass(frozen=True)
class Test:
    """A condition, with words for when it holds (``on``) and when it does not (``off``)."""

    value: Expr
    on: str
    off: str

    @property
    def unless(self) -> Expr:
        """The opposite condition."""
        return opposite(self.value)


def flag(s: Site, names: Names = FLAGS, axes: tuple[int, ...] | None = None) -> Test:
    """Whether a flag of this thread is set: a bool, or an integer of some width that is 0 or 1."""
    type_ = Scalar(s.k.draw.shape.weighted(FLAG_TYPES))
    where = tuple(range(s.rank)) if axes is None else axes
    if type_ == BOOL:
        mark: Expr = s.read(names, BOOL, axes=where)
        return Test(mark, f"{say(s.k, mark)} is true", f"{say(s.k, mark)} is false")
    mark = s.read(names, type_, 0, 1, axes=where)
    name = say(s.k, mark)
    if s.k.draw.shape.chance(0.15) and not type_.is_unsigned:
        return Test(mark > 0, f"{name} is set", f"{name} is 0")
    return Test(fn("ne", mark, 0), f"{name} is not 0", f"{name} is 0")


def code(s: Site, names: Names = "status kind category quality", top: int = 4) -> Test:
    """Whether this thread's code, 0 to ``top``, is equal to, other than or at least some code."""
    how = s.k.draw.shape.choice(("eq", "ne", "ge"))
    codes = s.read(names, INT32, 0, top)
    limit = setting(s.k, "wanted target_kind least", INT32, 1, max(1, top - 2))
    name, wanted = say(s.k, codes), say(s.k, limit)
    on, off = {
        "eq": (f"is {wanted}", f"is not {wanted}"),
        "ne": (f"is not {wanted}", f"is {wanted}"),
        "ge": (f"is at least {wanted}", f"is below {wanted}"),
    }[how]
    return Test(fn(how, codes, limit), f"{name} {on}", f"{name} {off}")


def level(s: Site, names: Names = "confidence score level_set", type_: Scalar = FLOAT32) -> Test:
    """Whether a score of this thread exceeds a limit."""
    score = s.read(names, type_, 0.0, 1.0)
    limit = setting(s.k, "threshold cutoff limit", type_, 0.3, 0.7)
    name, text = say(s.k, score), say(s.k, limit)
    return Test(score > limit, f"{name} exceeds {text}", f"{name} is at most {text}")


def condition(s: Site, ways: Mapping[str, int] | None = None) -> Test:
    """Whether a thread takes part: by a flag, a code or a score."""
    way = s.k.draw.shape.weighted(ways or {"flag": 5, "code": 2, "level": 2})
    tests: dict[str, Callable[[Site], Test]] = {"flag": flag, "code": code, "level": level}
    return tests[way](s)


_OPPOSITES = {"ne": "eq", "eq": "ne", "gt": "le", "lt": "ge", "ge": "lt", "le": "gt"}


def opposite(condition: Expr) -> Expr:
    """The opposite of a flag or a comparison."""
    if isinstance(condition, Op) and condition.op in _OPPOSITES:
        return op(_OPPOSITES[condition.op], *condition.args)
    return op("not", condition)


def early_out(s: Site, test: Test, writes: Iterable[tuple[Var, Operand]]) -> None:
    """Threads for which the test does not hold store ``writes`` (output, value) and end."""
    with s.k.if_(test.unless):
        for out, value in writes:
            s.k.store(out, s.at, value)
        s.k.return_()


def flag_type(k: KernelBuilder) -> Scalar:
    """A drawn type for an output of flags: bool or an integer."""
    return Scalar(k.draw.shape.weighted({"int32": 4, "uint8": 2, "int8": 1, "bool": 3}))


def as_flag(value: Expr, type_: Scalar) -> Expr:
    """A bool as a value of a type that :func:`flag_type` drew."""
    return value if type_ == BOOL else cast(value, type_)


def one_if(test: Expr) -> Expr:
    """An int32: 1 where a test holds, else 0."""
    return fn("where", test, lift(1, INT32), lift(0, INT32))


def is_set(value: Expr) -> Expr:
    """Whether a flag is set."""
    return value if value.type == BOOL else fn("ne", value, 0)
