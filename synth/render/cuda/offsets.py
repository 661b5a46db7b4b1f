"""Flat indices that a kernel needs again and again: computed once, under a name.

``a[i, j]`` is ``a[i * n + j]`` in C++. Where three or more accesses share the whole sum or its row,
and the variables in it do not change, the text has ``const int idx = i * n + j;`` instead.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from generators.program import ir
from generators.program.dtypes import INT32
from generators.program.expr import Const, Expr, Load, Op, Var
from generators.program.walk import operands, parts, statements
from synth.render.cuda.scopes import Declarations

LEAST = 3
"""From how many accesses on a name is worth its line."""

Path = tuple[tuple[int, int], ...]
Key = tuple[tuple[str, ...], tuple[str, ...]]
"""Indices and the extents that they are multiplied by: one fewer, or as many for a row."""
Known = Mapping[Key, str]
NOTHING: Known = MappingProxyType({})


@dataclass
class Hoisted:
    """A sum with a name, and the indices that it is made of."""

    key: Key
    indices: tuple[Expr, ...]
    name: str


@dataclass
class _Found:
    """The accesses that one key has."""

    indices: tuple[Expr, ...]
    arrays: set[str] = field(default_factory=set)
    paths: list[Path] = field(default_factory=list)


def key_of(indices: Sequence[Expr], extents: Sequence[str]) -> Key | None:
    """The key of a sum, ``None`` where an index is more than a variable or a literal."""
    names = []
    for index in indices:
        if isinstance(index, Var) and index.type == INT32:
            names.append(index.name)
        elif isinstance(index, Const):
            names.append(str(index.value))
        else:
            return None
    return tuple(names), tuple(extents)


class Offsets:
    """What a kernel's body should compute once, by the statement that it must stand before."""

    def __init__(
        self,
        body: ir.Body,
        declared: Declarations,
        given: Sequence[str],
        shapes: Mapping[str, Sequence[str]],
        taken: frozenset[str],
        known: Known,
    ) -> None:
        self.before: dict[int, list[Hoisted]] = {}
        self.names: set[str] = set()
        self.named = {k: n for k, n in known.items() if declared.changed.isdisjoint(k[0])}
        if not any(len(shape) > 1 for shape in shapes.values()):
            return
        self._shapes = shapes
        self._taken = set(taken).union(
            *(re.findall(r"\w+", text) for shape in shapes.values() for text in shape)
        )
        self._at: dict[tuple[int, int], ir.Statement] = {}
        self._depths = {name: 1 for name in given if name not in declared.changed}
        self._declared = declared
        self._loops = Counter(s.name for s in statements(body) if isinstance(s, ir.For))
        self._whole: dict[Key, _Found] = {}
        self._rows: dict[Key, _Found] = {}
        self._walk(body, ())
        self._choose()

    def _walk(self, body: ir.Body, above: Path) -> None:
        for k, s in enumerate(body):
            path = (*above, (id(body), k))
            self._at[path[-1]] = s
            for array, indices in _accesses(s):
                self._note(array, indices, path)
            if isinstance(s, ir.Assign | ir.Sample) and id(s) in self._declared.at:
                if s.name not in self._declared.changed:
                    self._depths[s.name] = len(path)
            elif isinstance(s, ir.If):
                for inner in (*(b for _, b in s.branches), s.orelse):
                    self._walk(inner, path)
            elif isinstance(s, ir.For | ir.While):
                if isinstance(s, ir.For) and self._loops[s.name] == 1:
                    self._depths[s.name] = len(path) + 1
                self._walk(s.body, path)

    def _note(self, array: str, indices: tuple[Expr, ...], path: Path) -> None:
        shape = self._shapes.get(array, ())
        if len(indices) < 2:
            return
        key, among = key_of(indices, shape[1:]), self._whole
        if key is None:
            indices, among = indices[:-1], self._rows
            key = key_of(indices, shape[1:])
        if key is not None and key not in self.named:
            found = among.setdefault(key, _Found(indices))
            found.arrays.add(array)
            found.paths.append(path)

    def _choose(self) -> None:
        rows = {k: row for k, row in self._rows.items() if self._stable(row.indices)}
        chosen: list[tuple[Key, _Found]] = []
        for key, found in self._whole.items():
            *first, last = found.indices
            has_row = self._stable(first)
            # A literal place in a row, ``base + 2``, is said by itself.
            literal = has_row and isinstance(last, Const)
            whole = not literal and len(found.paths) >= LEAST and self._stable(found.indices)
            if whole:
                chosen.append((key, found))
            if has_row:
                row = rows.setdefault((key[0][:-1], key[1]), _Found(tuple(first)))
                row.arrays |= found.arrays
                row.paths += found.paths[:1] if whole else found.paths
        many = [(key, row) for key, row in rows.items() if len(row.paths) >= LEAST]
        wholes = dict(chosen)
        for (names, extents), row in many:
            if (names, extents[:-1]) in wholes:
                wholes[names, extents[:-1]].paths += row.paths[:1]
        for key, found in sorted((*many, *chosen), key=lambda x: (len(x[0][1]), len(x[0][0]))):
            self._put(key, found)

    def _stable(self, indices: Sequence[Expr]) -> bool:
        variables = [i.name for i in indices if isinstance(i, Var)]
        return bool(variables) and all(name in self._depths for name in variables)

    def _put(self, key: Key, found: _Found) -> None:
        """Before the first use, in the innermost block that holds all uses, but in no loop."""
        need = max(self._depths[i.name] for i in found.indices if isinstance(i, Var))
        level, paths = 0, found.paths
        while all(len(p) > level + 1 for p in paths):
            here = {p[level] for p in paths}
            inside = {p[level + 1][0] for p in paths}
            if len(here) > 1 or len(inside) > 1:
                break
            loop = isinstance(self._at[next(iter(here))], ir.For | ir.While)
            if loop and need <= level + 1:
                break
            level += 1
        first = min((p[level] for p in paths), key=lambda at: at[1])
        statement = self._at[first]
        name = self._fresh(key, found)
        self.before.setdefault(id(statement), []).append(Hoisted(key, found.indices, name))

    def _fresh(self, key: Key, found: _Found) -> str:
        row = len(key[0]) == len(key[1])
        array = next(iter(found.arrays)) if len(found.arrays) == 1 else ""
        wanted = ["base", "offset", "start"] if row else ["idx", "cell", "flat"]
        if array:
            wanted.insert(1, f"{array}_{wanted[0]}")
        wanted += [f"{wanted[0]}{k}" for k in range(2, 99)]
        name = next(w for w in wanted if w not in self._taken | self.names)
        self.names.add(name)
        return name


def _accesses(s: ir.Statement) -> Iterator[tuple[str, tuple[Expr, ...]]]:
    """Arrays and indices that a statement itself reads or writes."""
    stack = list(operands(s))
    if isinstance(s, ir.Store | ir.Atomic):
        yield s.array.name, s.indices
        if isinstance(s, ir.Store) and isinstance(s.value, Op) and is_same(s.value.args[0], s):
            stack = [*s.indices, *s.value.args[1:]]
    while stack:
        e = stack.pop()
        if isinstance(e, Load):
            yield e.array.name, e.indices
        stack.extend(parts(e))


def is_same(e: Expr, s: ir.Store) -> bool:
    """Whether an expression reads the element that a statement writes."""
    return isinstance(e, Load) and e.array == s.array and e.indices == s.indices


def flat_index(threads: Sequence[str], extents: Sequence[str], name: str = "index") -> Known:
    """A thread's number, under a name, is the flat index of its place."""
    return {(tuple(threads), tuple(extents[1:])): name} if len(extents) > 1 else NOTHING


def without_unused(lines: list[str], body: list[str], name: str = "index") -> list[str]:
    """The lines that find a thread's place, less the coordinates that nothing asks for."""
    words = set(re.findall(r"\w+", "\n".join(body)))
    unpacked = (re.match(rf" *const int (\w+) = {name}\b", line) for line in lines)
    return [
        line
        for line, found in zip(lines, unpacked, strict=True)
        if found is None or found.group(1) in words
    ]


def without_unread(lines: list[str], names: Collection[str]) -> list[str]:
    """The lines without those that compute a flat index which tiles have made needless, nor those
    that only such a line has read."""
    kept, count = list(lines), -1
    while count != len(kept):
        count = len(kept)
        for name in names:
            uses = [k for k, line in enumerate(kept) if re.search(rf"\b{name}\b", line)]
            if len(uses) == 1 and re.match(rf" *(const )?int {name} = ", kept[uses[0]]):
                del kept[uses[0]]
    return kept


def without_idle(lines: list[str]) -> list[str]:
    """The lines less those that compute an index that nothing asks for."""
    kept: list[str] = []
    for k in range(len(lines) - 1, -1, -1):
        found = re.fullmatch(r" *(?:const )?int (\w+) = [^;]*;", lines[k])
        if found is None or re.search(rf"\b{found.group(1)}\b", "\n".join(kept)):
            kept.insert(0, lines[k])
    return kept
