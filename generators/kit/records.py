"""What belongs together: fields of structs, or elements of parallel arrays and parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from generators.build import field
from generators.kit.sites import Names, Site
from generators.kit.sources import given
from generators.kit.words import listed, plural, plurals, say, snake, words
from generators.program.dtypes import Struct, Type
from generators.program.expr import Expr, Load, Var
from generators.program.ir import FieldInit

_SETTINGS = ("params", "settings", "config", "options")
_STRUCTS = 0.5
"""What the likelihoods of structs, which idioms give, are multiplied by."""


@dataclass(frozen=True)
class Part:
    """One field of a record: names, type, how its values are drawn; names of an array of it.

    ``forms`` are the ways that it may come in where the record is no struct, else one each.
    """

    names: Names
    type: Type
    low: float | None = None
    high: float | None = None
    init: str = "uniform"
    many: Names = ()
    forms: Mapping[str, int] | None = None

    def field(self, name: str) -> FieldInit:
        low, high = (None if b is None else str(b) for b in (self.low, self.high))
        return FieldInit(name, self.type, self.init, low, high)


class Record:
    """The parts of what a thread works on, by key: ``r["mass"]``."""

    def __init__(self, s: Site, parts: Mapping[str, Part]) -> None:
        self.s, self.parts = s, dict(parts)
        self.values: dict[str, Expr] = {}
        self.struct: Struct | None = None
        self.fields: dict[str, FieldInit] = {}
        self.whole: Expr | None = None

    def __getitem__(self, key: str) -> Expr:
        return self.values[key]

    def say(self, key: str) -> str:
        """A part as a description calls it."""
        return say(self.s.k, self.values[key])

    def write(self, values: Mapping[str, Expr], outs: Mapping[str, Names], whole: Names) -> str:
        """Store new values of some parts: a changed struct in ``whole``, or arrays ``outs``."""
        s, k = self.s, self.s.k
        if self.struct is None:
            stored = {key: s.put(outs[key], value).name for key, value in values.items()}
            return f" {'; '.join(f'{name} gets the new {key}' for key, name in stored.items())}."
        assert isinstance(self.whole, Var)
        for key, value in values.items():
            k.set_field(self.whole, self.fields[key].name, value)
        fields = tuple(self.fields.values())
        out = s.array(whole, self.struct, role="out", fields=fields)
        k.store(out, s.at, self.whole)
        same = [self.fields[key].name for key in self.parts if key not in values]
        copied = f", {listed(same)} copied" if same else ""
        return f" The changed struct goes to {out.name}{copied}."


def _alone(s: Site, p: Part, shared: bool, axes: tuple[int, ...] | None) -> Expr:
    """A part as a parameter or an element of an array of its own."""
    if axes is None or shared:
        forms = p.forms or ({"shared": 1} if shared else {"each": 1})
        return given(s, p.names, p.type, p.low, p.high, many=p.many, init=p.init, forms=forms)
    many = words(p.many) or plurals(words(p.names))
    return s.read(many, p.type, p.low, p.high, init=p.init, axes=axes)


def record(
    s: Site,
    titles: Names,
    parts: Mapping[str, Part],
    struct: float = 0.15,
    *,
    shared: bool = False,
    axes: tuple[int, ...] | None = None,
) -> Record:
    """The parts as fields of a struct with that chance, else as arrays or parameters of their own.

    ``shared`` ones are the same for all threads: one struct, or parameters. ``axes`` are those
    of the launch that the arrays have, all if none are named.
    """
    found, k = Record(s, parts), s.k
    if len(parts) < 2 or not k.draw.shape.chance(_STRUCTS * struct):
        found.values = {key: _alone(s, p, shared, axes) for key, p in parts.items()}
        return found
    found.fields = _fields(s, parts)
    fields = tuple(found.fields.values())
    found.struct = k.struct(k.name(*words(titles)), *((f.name, f.type) for f in fields))
    name = snake(found.struct.name)
    if shared:
        # A thing goes by its own name; settings may be called so.
        called = (name, "params", "cfg") if name.endswith(_SETTINGS) else (name,)
        found.whole = k.scalar(called, found.struct, fields=fields)
    else:
        where = tuple(range(s.rank)) if axes is None else axes
        arrays = (plural(name),)
        item = s.read(arrays, found.struct, axes=where, fields=fields)
        found.whole = k.let((name, "item", "entry", "rec"), item)
    found.values = {key: field(found.whole, f.name) for key, f in found.fields.items()}
    return found


def _fields(s: Site, parts: Mapping[str, Part]) -> dict[str, FieldInit]:
    fields: dict[str, FieldInit] = {}
    for key, part in parts.items():
        taken = {f.name for f in fields.values()}
        free = [n for n in words(part.names) if n not in taken]
        fields[key] = part.field(s.k.draw.word.choice(free or [key]))
    return fields


def array_of(value: Expr) -> Var:
    """The array that an element was read from."""
    assert isinstance(value, Load)
    return value.array
