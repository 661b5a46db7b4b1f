"""Tables of a few entries that all threads share, read by index or one after another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from generators.build import KernelBuilder, field
from generators.kit.records import Part
from generators.kit.sites import Names
from generators.kit.words import plural, plurals, snake, words
from generators.program.dtypes import INT32, Struct
from generators.program.expr import Expr, Var


class Table:
    """Entries of several parts: an array of structs, or an array of each part.

    Descriptions write a part of entry ``j`` as ``walls[j].normal`` or ``normals[j]``.
    """

    def __init__(
        self,
        k: KernelBuilder,
        titles: Names,
        parts: Mapping[str, Part],
        struct: float = 0.6,
        sizes: tuple[int, int] = (3, 5),
    ) -> None:
        self.k = k
        k.size("m", *sizes)
        self.names: dict[str, str] = {}
        self.arrays: list[Var] = []
        self.struct: Struct | None = None
        if len(parts) > 1 and k.draw.shape.chance(struct):
            self._structs(titles, parts)
        else:
            self._apart(parts)
        name = snake(self.struct.name if self.struct else words(titles)[0])
        self.item = (name, "item", "entry")
        self.count = k.trip_count(f"{name}_count num_{plural(name)}", "m")

    def _structs(self, titles: Names, parts: Mapping[str, Part]) -> None:
        for key, part in parts.items():
            free = [n for n in words(part.names) if n not in self.names.values()]
            self.names[key] = self.k.draw.word.choice(free)
        inits = [part.field(self.names[key]) for key, part in parts.items()]
        self.struct = self.k.struct(self.k.name(*words(titles)), *((f.name, f.type) for f in inits))
        name = snake(self.struct.name)
        many = (plural(name), f"{name}_list", f"{name}_table")
        self.arrays = [self.k.array(many, self.struct, "m", fields=inits)]

    def _apart(self, parts: Mapping[str, Part]) -> None:
        for key, p in parts.items():
            many = words(p.many) or plurals([n for n in words(p.names) if len(n) > 1])
            array = self.k.array(many, p.type, "m", low=p.low, high=p.high, init=p.init)
            self.arrays.append(array)
            self.names[key] = array.name

    def said(self, key: str, index: str = "j") -> str:
        """A part of entry ``j`` as a description calls it."""
        name = self.names[key]
        return f"{self.arrays[0].name}[{index}].{name}" if self.struct else f"{name}[{index}]"

    def at(self, index: int | Expr) -> list[Expr]:
        """The parts of an entry."""
        j = self.k.lift(index, INT32)
        if self.struct is None:
            return [array[j] for array in self.arrays]
        whole = self.k.let(self.item, self.arrays[0][j])
        return [field(whole, name) for name in self.names.values()]

    @contextmanager
    def each(self, names: Names = "j s e", start: int = 0) -> Iterator[tuple[Var, list[Expr]]]:
        """A loop over the entries: the index and the parts of each."""
        with self.k.for_(names, self.count, start=start) as j:
            yield j, self.at(j)
