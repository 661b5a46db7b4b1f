"""Where a kernel of a family's formulas runs, and how the quantities come to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from generators.build import KernelBuilder, cast
from generators.build import field as field_of
from generators.math.cards import Family, Quantity
from generators.program.dtypes import Scalar, Struct
from generators.program.expr import Const, Expr, Field, Var

_SIZES = {1: ((48, 96),), 2: ((7, 10), (7, 11)), 3: ((3, 4), (4, 6), (4, 6)), 4: ((3, 4),) * 4}
_SYMBOLS = {
    1: (("n",),),
    2: (("rows", "cols"), ("h", "w"), ("n", "m")),
    3: (("batch", "rows", "cols"), ("nx", "ny", "nz")),
    4: (("batch", "channels", "rows", "cols"),),
}


_NEUTRAL = (("row", "col"), ("i", "j"), ("y", "x"))


def snake(name: str) -> str:
    """A struct's name as a variable is called."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


@dataclass
class Source:
    """A declared quantity: a literal, a parameter, an array over some axes, or a struct's field."""

    quantity: Quantity
    value: Expr
    axes: tuple[int, ...] = ()
    part: str = ""
    full: float = 0.0


@dataclass
class Scene:
    """A kernel in the making: its axes (the last one a loop's, perhaps) and its quantities."""

    k: KernelBuilder
    family: Family
    type: Scalar
    dims: tuple[str, ...]
    threads: tuple[Var, ...]
    loop: str
    sources: dict[str, Source] = field(default_factory=dict)
    input_axes: tuple[int, ...] = ()
    records: dict[str, Var] = field(default_factory=dict)
    place: tuple[Expr, ...] = ()
    held: dict[str, Expr] = field(default_factory=dict)
    styles: tuple[int, int] = (0, 0)

    @property
    def everywhere(self) -> tuple[int, ...]:
        return tuple(range(len(self.dims)))

    @property
    def over(self) -> str:
        """What the loop runs over, and the name of its index."""
        size = self.dims[-1]
        return f"the {'last axis' if size in ('cols', 'depth') else size} ({self.loop})"

    def shape(self, axes: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.dims[axis] for axis in axes)

    def text(self, source: Source) -> str:
        """How a description calls a quantity: with indices unless it has all of them."""
        if isinstance(source.value, Const):
            return str(source.value.value)
        assert isinstance(source.value, Var)
        text = source.value.name
        if source.axes and source.axes != self.everywhere:
            text += f"[{', '.join(self.index_name(axis) for axis in source.axes)}]"
        if source.full:
            return f"({text} / {source.full:g})"
        return f"{text}.{source.part}" if source.part else text

    def index_name(self, axis: int) -> str:
        return self.threads[axis].name if axis < len(self.threads) else self.loop

    def style(self, names: Sequence[str], plural: bool = False) -> tuple[str, ...]:
        """The name of this kernel's style among ``names``, or all of them when it is taken."""
        chosen = names[self.styles[plural] % len(names)]
        return tuple(names) if chosen in self.k.used else (chosen,)

    def local_names(self, source: Source) -> tuple[str, ...]:
        """What an element is called: as its field, or as the array in the singular."""
        names = source.quantity.names
        if source.part and source.part not in self.k.used:
            return (source.part,)
        if not source.part and isinstance(source.value, Var):
            array = source.value.name
            alike = [x for x in names if array in (f"{x}s", f"{x}es", f"{x[:-1]}ies")]
            if alike and alike[0] not in self.k.used:
                return (alike[0],)
        return self.style(names)

    def hoist(self, keys: Sequence[str], once: Sequence[str]) -> None:
        """Load before a loop over the last axis what does not change in it."""
        if self.k.draw.shape.chance(0.2):
            return
        last = len(self.dims) - 1
        for key in keys:
            source = self.sources[key]
            if last not in source.axes and (source.axes or source.part or key not in once):
                self.held[key] = self._value(key, False)

    def values(self, keys: Sequence[str], once: Sequence[str] = ()) -> dict[str, Expr]:
        """The quantities at this place, loaded into locals unless read only ``once``."""
        return {key: self._value(key, key in once) for key in keys}

    def _value(self, key: str, once: bool) -> Expr:
        if key in self.held:
            return self.held[key]
        source, shape = self.sources[key], self.k.draw.shape
        if isinstance(source.value, Const):
            named = not once and shape.chance(0.7)
            return (
                self.k.let(self.style(source.quantity.names), source.value)
                if named
                else source.value
            )
        if not source.part:
            if not source.axes:
                return source.value
            loaded = self._element(source)
        else:
            loaded = field_of(self._record(source), source.part)
        bare = 0.5 if once else 0.5 if isinstance(loaded, Field) else 0.0
        return loaded if shape.chance(bare) else self.k.let(self.local_names(source), loaded)

    def _element(self, source: Source) -> Expr:
        """An element of an array, in the kernel's type; codes are divided by their range."""
        loaded = source.value[tuple(self.place[a] for a in source.axes)]
        value = loaded if loaded.type == self.type else cast(loaded, self.type)
        return value / source.full if source.full else value

    def _record(self, source: Source) -> Expr:
        assert isinstance(source.value, Var)
        if not source.axes:
            return source.value
        found = self.records.get(source.value.name)
        if found is None:
            loaded = source.value[tuple(self.place[a] for a in source.axes)]
            assert isinstance(loaded.type, Struct)
            found = self.k.let((snake(loaded.type.name), "rec", "entry"), loaded)
            self.records[source.value.name] = found
        return found


def launch(
    k: KernelBuilder, family: Family, ndim: int, inner: str = "", table: bool = False
) -> Scene:
    """A launch over ``ndim`` axes; ``inner`` is the size of a loop within, 3 to 5.

    In a table the items are the rows and the settings the columns, not the other way about.
    """
    type_ = k.draw.wide_float_type()
    symbols = k.draw.word.choice(_SYMBOLS[ndim])
    dims = [k.size(s, *bounds) for s, bounds in zip(symbols, _SIZES[ndim], strict=True)]
    if inner:
        dims.append(k.size(inner, 3, 5))
    grids = dict(enumerate(family.grids, 1))
    names = k.draw.word.choice(grids.get(ndim, "b c i j|n c y x").split("|")).split()
    if table and tuple(names) not in _NEUTRAL:
        names.reverse()
    threads = k.thread(*dims[:ndim], names=[k.name(name) for name in names])
    parts = family.parts.split()
    of_parts = tuple(parts[1:]) if parts and inner == parts[0] else ("j", "s", "e", "c")
    loop = k.name(*of_parts) if inner else ""
    s = Scene(k, family, type_, tuple(dims), threads, loop)
    s.styles = (k.draw.word.integer(0, 5), k.draw.word.integer(0, 5))
    return s
