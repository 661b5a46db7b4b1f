"""Launches: a thread for each element of a list, batch, grid or cube, or for each row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from generators.build import KernelBuilder
from generators.kit.words import words
from generators.program.dtypes import Type
from generators.program.expr import Expr, Load, Operand, Var

Names = str | Sequence[str]
"""Candidates for a name, of which one is drawn: words in one text, or several texts."""

_FORMS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[int, int], ...]]] = {
    "list": (("n", "count"), ("i", "tid", "idx"), ((48, 96),)),
    "batch": (("b n", "batch count"), ("b i", "batch idx", "env i"), ((3, 5), (14, 18))),
    "grid": (("rows cols", "h w", "ny nx"), ("i j", "row col", "y x"), ((7, 10), (7, 11))),
    "cube": (
        ("batch rows cols", "nz ny nx", "d h w"),
        ("b i j", "batch row col", "iz iy ix"),
        ((3, 4), (4, 6), (4, 6)),
    ),
    "stack": (
        ("batch channels rows cols", "n0 n1 n2 n3"),
        ("b c i j", "b c y x"),
        ((3, 4), (3, 4), (3, 4), (3, 4)),
    ),
    "rows": (("rows", "num_items"), ("row", "r", "i"), ((24, 40),)),
}
"""Of each form: names of the sizes, names of the thread's indices, and the ranges of the sizes."""
_OFTEN = {"list": 12, "batch": 3, "grid": 2}
"""How much more often such a form is drawn than its weight says, of what can lie in a list."""


@dataclass(frozen=True)
class Site:
    """Where a thread works.

    ``dims`` are the sizes of the launch by name, ``at`` is the thread's index in each; ``inner`` is
    the size of a loop within each thread, empty where there is none.
    """

    k: KernelBuilder
    form: str
    dims: tuple[str, ...]
    at: tuple[Expr, ...]
    inner: str = ""

    @property
    def rank(self) -> int:
        return len(self.dims)

    @property
    def where(self) -> str:
        """The indices, as a description writes them."""
        return ", ".join(index.name for index in self.at if isinstance(index, Var))

    def axes(self, way: str) -> tuple[int, ...]:
        """Numbers of axes: ``first``, ``last`` or one that is drawn (``axis``), else all."""
        whole = tuple(range(self.rank))
        if way == "axis":
            return (self.k.draw.shape.choice(whole),)
        return {"first": whole[:1], "last": whole[-1:]}.get(way, whole)

    def array(
        self, names: Names, type_: Type, low: object = None, high: object = None, **how: Any
    ) -> Var:
        """Declare an array with an element for each thread.

        ``axes`` are the axes of the launch that it has (all by default), ``more`` names sizes of
        further axes behind them. ``low``, ``high``, ``role``, ``init`` and ``fields`` are those of
        :meth:`KernelBuilder.array`.
        """
        dims = tuple(self.dims[a] for a in how.pop("axes", range(self.rank)))
        dims += tuple(map(str, words(how.pop("more", ()))))
        return self.k.array(words(names), type_, dims, low=low, high=high, **how)

    def read(
        self, names: Names, type_: Type, low: object = None, high: object = None, **how: Any
    ) -> Load:
        """Declare an array as :meth:`array` does, without ``more``; gives this thread's element."""
        axes = tuple(how.get("axes", range(self.rank)))
        found = self.array(names, type_, low, high, **how)[tuple(self.at[a] for a in axes)]
        assert isinstance(found, Load)
        return found

    def out(self, names: Names, type_: Type) -> Var:
        """An output with an element for each thread."""
        return self.k.out(words(names), type_, self.dims)

    def put(self, names: Names, value: Expr) -> Var:
        """Store a value in a new output, which is given back."""
        out = self.out(names, value.type)
        self.k.store(out, self.at, value)
        return out

    def index(self, *more: Operand) -> tuple[Operand, ...]:
        """This thread's index in an array whose further axes are indexed by ``more``."""
        return (*self.at, *more)

    @contextmanager
    def loop(
        self, names: Names = "j s e", count: Names = "num_cols width length", start: Operand = 0
    ) -> Iterator[Site]:
        """A loop over the inner size; gives a site with the loop's index as its last one.

        ``count`` are names of the parameter that says how often it runs, where that is one.
        """
        stop = self.k.trip_count(words(count), self.inner)
        with self.k.for_(words(names), stop, start=start) as j:
            yield Site(self.k, self.form, (*self.dims, self.inner), (*self.at, j))


def launch(
    k: KernelBuilder,
    forms: Mapping[str, int] | None = None,
    indices: Names = (),
    inner: str = "",
    **weights: int,
) -> Site:
    """A launch of a form drawn by weight: ``launch(k, list=5, grid=4)``.

    ``indices`` are names for the single index of a list; ``inner`` is the size of a loop in each
    thread (3 to 5), of which :meth:`Site.loop` runs.
    """
    ways = dict(weights or forms or {"list": 5, "grid": 4, "cube": 2})
    if "list" in ways:
        ways = {form: n * _OFTEN.get(form, 1) for form, n in ways.items()}
    form = k.draw.shape.weighted(ways)
    symbols, threads, ranges = _FORMS[form]
    dims = k.draw.word.choice(symbols).split()
    names = k.draw.word.choice(words(indices) if indices and len(dims) == 1 else threads).split()
    return over(k, dims, names, ranges, form=form, inner=inner)


def over(
    k: KernelBuilder,
    dims: Names,
    indices: Names,
    ranges: Sequence[tuple[int, int]] = (),
    *,
    form: str = "",
    inner: str = "",
) -> Site:
    """A launch over named sizes: the first of them are declared, each with its range; those that
    ``ranges`` is too short for were declared before."""
    sizes = words(dims)
    for symbol, bounds in zip(sizes, ranges, strict=False):
        k.size(symbol, *bounds)
    if inner and inner not in k.sizes:
        k.size(inner, 3, 5)
    names = tuple(k.name(name) for name in words(indices))
    return Site(k, form or f"{len(sizes)}d", sizes, k.thread(*sizes, names=names), inner)
