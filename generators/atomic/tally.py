"""Kernels whose threads update shared elements: each atomic is issued and told in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from generators.build import KernelBuilder
from generators.build.registry import Title
from generators.kit.naming import applied
from generators.kit.sites import Names, Site, over
from generators.kit.text import written
from generators.kit.words import listed, words
from generators.program.dtypes import INT32, Scalar, scalar_of
from generators.program.expr import Call, Const, Expr, Load, Op, Operand, Var, op

INT64, UINT32, UINT64 = Scalar("int64"), Scalar("uint32"), Scalar("uint64")
INTS = {INT32: 9, INT64: 2, UINT32: 3, UINT64: 1}
GROUPS = "groups labels owner segment cluster"

_VERBS = {
    "add": "add {0} to {1}",
    "sub": "subtract {0} from {1}",
    "max": "raise {1} to {0} if that is larger",
    "min": "lower {1} to {0} if that is smaller",
    "or": "OR {0} into {1}",
    "and": "AND {0} into {1}",
    "xor": "XOR {0} into {1}",
    "exch": "set {1} to {0} by an atomic exchange",
    "cas": "set {1} to {0} by compare-and-swap if it is still 0",
}


def _start(how: str, type_: Scalar) -> object:
    """What an accumulator holds at first."""
    far = {"min": "", "max": "-"}.get(how)
    if far is None:
        return {"and": 2**type_.bits - 1}.get(how, 0)
    if type_.is_unsigned and how == "max":
        return 0
    return f"{far}1.0e6" if type_.is_float else int(f"{far}{10**9}")


def threads(
    k: KernelBuilder, size: str, low: int, high: int, indices: str = "i idx", dims: str = ""
) -> Site:
    """A thread for each of ``size``, or for each of ``dims`` that are made of that size."""
    k.size(size, low, high)
    names = [name for name in words(indices) if name != "tid"]
    return over(k, dims or size, k.draw.word.choice(names))


def indices(k: KernelBuilder, *names: str) -> str:
    """A name of each index of a grid, as one text."""
    return " ".join(k.draw.word.choice(words(each)) for each in names)


def amount(s: Site, names: Names, type_: Scalar, axes: Sequence[int] | None = None) -> Load:
    """This thread's element of signed floats, or of integers of moderate size."""
    span = (-2.0, 2.0) if type_.is_float else (0 if type_.is_unsigned else -20, 50)
    return s.read(names, type_, *span, axes=axes or range(s.rank))


def any_of(tests: Sequence[Expr]) -> Expr:
    """Whether one of the tests holds."""
    found = tests[0]
    for test in tests[1:]:
        found = op("or", found, test)
    return found


def whole(text: str) -> str:
    """A value in words that may stand within a sentence: a choice in parentheses."""
    return f"({text})" if ", else " in text and not text.startswith("(") else text


def joined(clauses: Sequence[str]) -> str:
    """Clauses of one sentence: what a kernel updates belongs together."""
    if len(clauses) < 3:
        return " and ".join(clauses)
    return f"{', '.join(clauses[:-1])}, and {clauses[-1]}"


class Tally:
    """One kernel in the making: what its threads do, and what is said of it.

    ``done`` are the clauses of the description, one an update; ``notes`` the sentences after them,
    on entries that are left out; ``defined`` short names with their meaning. ``known`` is how
    locals are written.
    """

    def __init__(self, level: int, s: Site, entries: str = "Entries") -> None:
        self.k, self.level, self.s, self.called = s.k, level, s, entries
        self.known: dict[Expr, str | Expr] = {}
        self.done: list[str] = []
        self.notes: list[str] = []
        self.defined: list[str] = []

    def chance(self, share: float, least: int = 1) -> bool:
        """Whether this kernel has what kernels from a level on may have."""
        return self.level >= least and self.k.draw.shape.chance(share)

    def pick(self, *items: str) -> str:
        """One way of several."""
        return self.k.draw.shape.choice(items)

    def say(self, value: Operand) -> str:
        """A value in words: locals are written out, elements with their indices."""
        if not isinstance(value, Expr):
            return str(value).removesuffix(".0")

        def leaf(e: Expr) -> str | Expr | None:
            if e in self.known:
                return self.known[e]
            if isinstance(e, Var):
                return self.k.meaning(e) or e.name
            return None

        return written(value, leaf)

    def let(self, names: Names, value: Expr, share: float = 1.0) -> Expr:
        """A value under a name, with that chance."""
        if isinstance(value, Var | Const) or not self.k.draw.shape.chance(share):
            return value
        found = self.k.let(names, value)
        self.known[found] = value
        return found

    def scalar(
        self, names: str, type_: Scalar, floats: Sequence[float], ints: Sequence[int]
    ) -> Var:
        """A parameter within the range of its kind."""
        return self.k.scalar(names, type_, *(floats if type_.is_float else ints))

    def define(self, short: str, value: Expr) -> Expr:
        """A local that descriptions call by a short name, which they define."""
        self.defined.append(f"{short} = {self.say(value)}")
        self.known[value] = short
        return value

    def helped(self, share: float, names: Names, code: Callable[..., Expr], **args: Expr) -> Expr:
        """``code(**args)`` in place, or with that chance by a helper."""
        value = applied(self.k, share, names, args, lambda body, *values: code(*values))
        if isinstance(value, Call):
            self.known[value] = code(*args.values())
        return value

    def skip(
        self,
        test: Expr,
        text: str = "",
        leave: Callable[[], None] | None = None,
        counted: Names = (),
    ) -> None:
        """Entries for which the test holds do nothing more, or are counted."""
        note = f" {self.called} where {text or self.say(test)} are left out"
        with self.k.if_(test):
            if counted:
                dropped = self.k.accumulator(words(counted), INT32, "1")
                self.k.atomic("add", dropped, 0, 1)
                note += f" and counted in {dropped.name}[0]"
            (leave or self.k.return_)()
        self.notes.append(f"{note}.")

    def place(self, array: Var, at: Operand | tuple[Operand, ...]) -> str:
        """An element in words."""
        indices = at if isinstance(at, tuple) else (at,)
        return f"{array.name}[{', '.join(map(self.say, indices))}]"

    def update(
        self, how: str, array: Var, at: Operand | tuple[Operand, ...], value: Operand
    ) -> None:
        """Update an element atomically."""
        told, verb = value, how
        if isinstance(value, Op) and value.op == "neg" and how == "add":
            told, verb = value.args[0], "sub"
        self.done.append(_VERBS[verb].format(whole(self.say(told)), self.place(array, at)))
        if how == "cas":
            self.k.compare_and_swap(array, at, 0, value)
        else:
            self.k.atomic(how, array, at, value)

    def into(
        self,
        names: Names,
        dims: Sequence[str] | str,
        at: Operand | tuple[Operand, ...],
        value: Operand = 1,
        how: str = "add",
        start: object = None,
    ) -> Var:
        """Update an element of a new accumulator; counts where no value is named."""
        type_ = value.type if isinstance(value, Expr) else INT32
        first = _start(how, scalar_of(type_)) if start is None else start
        array = self.k.accumulator(words(names), type_, dims, first)
        self.update(how, array, at, value)
        return array

    @contextmanager
    def when(self, test: Expr) -> Iterator[None]:
        """What is done only where a test holds."""
        text, before = self.say(test), len(self.done)
        with self.k.if_(test):
            yield
        self.done[before:] = [f"where {text}, {' and '.join(self.done[before:])}"]

    @contextmanager
    def loop(self, names: Names, count: Operand) -> Iterator[Var]:
        """What is done for each step of a loop."""
        before = len(self.done)
        with self.k.for_(words(names), count) as j:
            yield j
        self.done[before:] = [f"for each {j.name}, {' and '.join(self.done[before:])}"]

    def title(self, names: Names, opening: str = "For each entry: ", closing: str = "") -> Title:
        """The kernel's name, and all that was done."""
        if self.defined:
            closing += f" Here {listed(self.defined)}."
        told = f"{opening}{joined(self.done)}.{closing}{''.join(self.notes)}"
        return Title(self.k.name(*words(names)), told)
