"""Where a kernel of a family's formulas runs, and how the quantities come to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor

from generators.build import KernelBuilder, cast
from generators.build import field as field_of
from generators.kit.sites import Names, over
from generators.kit.text import written
from generators.kit.words import plural, snake, words
from generators.math.cards import Family, Quantity
from generators.program.dtypes import Scalar, Struct, Type
from generators.program.expr import Const, Expr, Field, Var
from generators.program.ir import FieldInit

_SIZES = {1: ((48, 96),), 2: ((7, 10), (7, 11)), 3: ((3, 4), (4, 6), (4, 6)), 4: ((3, 4),) * 4}
_SYMBOLS = {
    1: ("n",),
    2: ("rows cols", "h w", "n m"),
    3: ("batch rows cols",),
    4: ("batch channels rows cols",),
}
_NEUTRAL = ("row col", "i j", "y x")
_PLANE = frozenset({"y x", "py px", "lat_idx lon_idx"})
"""Indices of planes: only where a family has such are two axes called height and width."""
_COUNTED: Mapping[str, str] = {
    "acct": "accounts",
    "batch": "batch",
    **{
        word: f"{word}s"
        for word in (
            *("book", "case", "cell", "day", "joint", "leg", "orbit", "pipe", "plate"),
            *("robot", "route", "run", "scenario", "station", "step", "trade", "well"),
        )
    },
}
"""What indices count, as a size is called."""
Axes = tuple[int, ...]


@dataclass
class Source:
    """A declared quantity: a literal, a parameter, an array over ``axes``, or a struct's field.

    ``part`` is the name of that field; ``full`` is what codes of 8 or 16 bits are divided by, 0
    where the values are no codes. ``shown`` is how a description writes what is computed.
    """

    quantity: Quantity
    value: Expr
    axes: Axes = ()
    part: str = ""
    full: float = 0.0
    shown: str = ""


@dataclass
class Scene:
    """A kernel in the making: its axes (the last one a loop's, perhaps) and its quantities.

    ``loop`` names that loop's index, ``place`` is the index at which quantities are read.
    ``styles`` says which candidate names this kernel takes, alone and in the plural. By key:
    ``sources`` is what was declared, ``held`` what was loaded before the loop; ``records`` are
    structs that were loaded at this place, by the name of their array.
    """

    k: KernelBuilder
    family: Family
    type: Scalar
    dims: tuple[str, ...]
    threads: tuple[Var, ...]
    loop: str
    styles: tuple[int, int]
    place: tuple[Expr, ...]
    sources: dict[str, Source] = field(default_factory=dict)
    records: dict[str, Var] = field(default_factory=dict)
    held: dict[str, Expr] = field(default_factory=dict)

    @property
    def everywhere(self) -> Axes:
        return tuple(range(len(self.dims)))

    @property
    def over(self) -> str:
        """What the loop runs over, and the name of its index."""
        size = self.dims[-1]
        return f"the {'last axis' if size in ('cols', 'depth') else size} ({self.loop})"

    def array(
        self, names: Names, type_: Type, axes: Axes, low: object, high: object, role: str = "in"
    ) -> Var:
        """An array over some of the axes."""
        dims = tuple(self.dims[axis] for axis in axes)
        return self.k.array(words(names), type_, dims, role=role, low=low, high=high)

    def flags(self) -> Var:
        """What says of each element whether it counts, as an integer."""
        type_ = Scalar(self.k.draw.shape.weighted({"int32": 4, "uint8": 4, "int8": 1, "uint32": 1}))
        return self.array(self.family.masks, type_, self.everywhere, 0, 1)

    def text(self, key: str) -> str:
        """How a description calls a quantity: with indices unless it has all of them."""
        source = self.sources[key]
        if source.shown:
            return source.shown
        if isinstance(source.value, Const):
            return written(source.value)
        assert isinstance(source.value, Var)
        text = source.value.name + self.indices(source.axes)
        if source.full:
            return f"{text} / {source.full:g}"
        return f"{text}.{source.part}" if source.part else text

    def indices(self, axes: Axes) -> str:
        """The indices of an array over these axes in words, none where it has all of them."""
        if not axes or axes == self.everywhere:
            return ""
        names = [*(thread.name for thread in self.threads), self.loop]
        return f"[{', '.join(names[axis] for axis in axes)}]"

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
        if source.shown:
            return self.k.let(self.style(source.quantity.names), source.value)
        if isinstance(source.value, Const):
            named = not once and shape.chance(0.7)
            names = self.style(source.quantity.names)
            return self.k.let(names, source.value) if named else source.value
        loaded: Expr
        if source.part:
            loaded = field_of(self._record(source), source.part)
        elif source.axes:
            loaded = self._element(source)
        else:
            return source.value
        bare = 0.5 if once or isinstance(loaded, Field) else 0.0
        return loaded if shape.chance(bare) else self.k.let(self.local_names(source), loaded)

    def _element(self, source: Source) -> Expr:
        """An element of an array, in the kernel's type; codes are divided by their range."""
        loaded = source.value[tuple(self.place[a] for a in source.axes)]
        value = cast(loaded, self.type)
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
    grids = dict(enumerate(family.grids, 1))
    choices = grids.get(ndim, "b c i j|n c y x").split("|")
    names = k.draw.word.choice(choices)
    indices = names.split()[:: -1 if table and names not in _NEUTRAL else 1]
    symbols = family.sizes.get(ndim) or _symbols(k, choices, indices)
    site = over(k, symbols, indices, _SIZES[ndim], inner=inner)
    threads = tuple(index for index in site.at if isinstance(index, Var))
    part, *loops = family.parts.split() or [""]
    loop = k.name(*(loops if inner == part else ("j", "s", "e", "c"))) if inner else ""
    dims = (*site.dims, inner) if inner else site.dims
    style = k.draw.word.integer(0, 5)
    return Scene(k, family, type_, dims, threads, loop, (style, style), threads)


def _symbols(k: KernelBuilder, choices: Sequence[str], indices: Sequence[str]) -> str:
    """Names of the sizes: what the indices count, where these are words of the subject."""
    if len(indices) > 1 and all(index in _COUNTED for index in indices):
        return " ".join(_COUNTED[index] for index in indices)
    plain = [s for s in _SYMBOLS[len(indices)] if s != "h w" or not _PLANE.isdisjoint(choices)]
    return k.draw.word.choice(plain)


def declare(
    s: Scene,
    keys: Sequence[str],
    axes: Axes,
    own: Axes,
    *,
    must: bool = False,
    plain: bool = False,
) -> None:
    """Declare quantities: inputs as arrays over ``axes``; the parameters that differ all as arrays
    over the axes ``own`` or, unless they ``must`` be, all as numbers.

    ``plain`` inputs are of the kernel's type.
    """
    inputs = [key for key in keys if key in s.family.inputs and key != s.family.ramp]
    if s.family.ramp in keys:
        s.sources[s.family.ramp] = _ramp(s)
    plain = plain or not s.family.coded or not s.k.draw.shape.chance(0.2)
    if s.k.draw.shape.chance(0.1) and len(inputs) > 1:
        _declare_struct(s, inputs, s.family.records, axes)
    else:
        for key in inputs:
            s.sources[key] = _input(s, s.family.inputs[key], axes, plain)
    _declare_params(s, [key for key in keys if key in s.family.params], own, must)


def _input(s: Scene, q: Quantity, axes: Axes, plain: bool) -> Source:
    """An input array, unless ``plain`` stored as codes of 8 or 16 bits."""
    names, low, high = s.style(q.arrays, plural=True), q.low, q.high
    if plain or s.type.name != "float32":
        return Source(q, s.array(names, s.type, axes, low, high), axes)
    if low >= 0.0 and high <= 1.0:
        codes, full = Scalar("uint8"), 255.0
    elif (low, high) == (-1.0, 1.0):
        codes, full = Scalar("int16"), 32768.0
    else:
        return Source(q, s.array(names, s.type, axes, low, high), axes)
    least, most = codes.int_range
    bounds = max(ceil(low * full), least), min(floor(high * full), most)
    return Source(q, s.array(names, codes, axes, *bounds), axes, full=full)


def _ramp(s: Scene) -> Source:
    """The place along the last axis over its length, from 0 or from the middle of each sample."""
    k, q, at = s.k, s.family.inputs[s.family.ramp], s.threads[-1]
    count = k.size_param(("num_samples", "length", "window_len"), s.dims[-1])
    middle = k.draw.shape.chance(0.4)
    place = cast(at, s.type) + 0.5 if middle else cast(at, s.type)
    shown = f"({at.name} + 0.5) / {count.name}" if middle else f"{at.name} / {count.name}"
    return Source(q, place / cast(count, s.type), shown=shown)


def _declare_params(s: Scene, keys: Sequence[str], own: Axes, must: bool = False) -> None:
    """Declare the parameters: numbers, or arrays of those that differ; several now and then in a
    struct."""
    shape = s.k.draw.shape
    differ = [key for key in keys if key in s.family.own]
    apart = not s.family.grouped_only and (s.family.lists or len(s.dims) > 1)
    arrays = bool(differ) and (must or (apart and shape.chance(0.25)))
    held = differ if arrays else list(keys)
    if len(held) > 1 and shape.chance(0.12):
        _declare_struct(s, held, s.family.struct, own if arrays else ())
        keys = [key for key in keys if key not in held]
    for key in keys:
        q = s.family.params[key]
        if arrays and key in differ:
            array = s.array(s.style(q.arrays, plural=True), s.type, own, q.low, q.high)
            s.sources[key] = Source(q, array, own)
        else:
            s.sources[key] = Source(q, s.k.scalar(s.style(q.names), s.type, q.low, q.high))


def _declare_struct(s: Scene, keys: Sequence[str], names: str, axes: Axes) -> None:
    """Declare quantities as the fields of a struct, by value or in an array over ``axes``."""
    k, used = s.k, dict[str, FieldInit]()
    for key in keys:
        q = s.family.quantity(key)
        free = [n for n in q.names if n not in used]
        chosen = s.style(q.names)[0]
        chosen = chosen if chosen in free else k.draw.word.choice(free)
        used[chosen] = FieldInit(chosen, s.type, "uniform", str(q.low), str(q.high))
        s.sources[key] = Source(q, k.lift(0.0, s.type), axes, chosen)
    fields = tuple(used.values())
    struct = k.struct(k.name(names), *((f.name, f.type) for f in fields))
    low = snake(struct.name)
    if axes:
        arrays = (low if low.endswith("s") else plural(low),)
        dims = tuple(s.dims[axis] for axis in axes)
        var = k.array(arrays, struct, dims, fields=fields)
    else:
        var = k.scalar((low, "params"), struct, fields=fields)
    for key in keys:
        s.sources[key].value = var
