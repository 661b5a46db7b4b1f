"""Where a kernel of a family's formulas runs, and how the quantities come to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, floor

from generators._math_cards import Card, Family, Quantity
from generators.build import KernelBuilder, cast
from generators.build import field as field_of
from generators.dtypes import Scalar, Struct
from generators.expr import Const, Expr, Field, Var
from generators.ir import FieldInit

_SIZES = {1: ((48, 96),), 2: ((7, 10), (7, 11)), 3: ((3, 4), (4, 6), (4, 6)), 4: ((3, 4),) * 4}
_SYMBOLS = {
    1: (("n",),),
    2: (("rows", "cols"), ("h", "w"), ("n", "m")),
    3: (("batch", "rows", "cols"), ("nx", "ny", "nz")),
    4: (("batch", "channels", "rows", "cols"),),
}


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
        return (
            loaded if shape.chance(bare) else self.k.let(self.style(source.quantity.names), loaded)
        )

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
            found = self.k.let((loaded.type.name.lower(), "rec", "entry"), loaded)
            self.records[source.value.name] = found
        return found


def launch(k: KernelBuilder, family: Family, ndim: int, inner: str = "") -> Scene:
    """A launch over ``ndim`` axes; ``inner`` is the size of a loop within, 3 to 5."""
    type_ = k.draw.wide_float_type()
    symbols = k.draw.word.choice(_SYMBOLS[ndim])
    dims = [k.size(s, *bounds) for s, bounds in zip(symbols, _SIZES[ndim], strict=True)]
    if inner:
        dims.append(k.size(inner, 3, 5))
    grids = dict(enumerate(family.grids, 1))
    names = k.draw.word.choice(grids.get(ndim, "b c i j|n c y x").split("|")).split()
    threads = k.thread(*dims[:ndim], names=[k.name(name) for name in names])
    loop = k.name("j", "s", "t", "m", *(family.parts.split()[1:])) if inner else ""
    s = Scene(k, family, type_, tuple(dims), threads, loop)
    s.styles = (k.draw.word.integer(0, 5), k.draw.word.integer(0, 5))
    return s


def declare_inputs(
    s: Scene, keys: Sequence[str], axes: tuple[int, ...], records: bool, plain: bool = False
) -> None:
    """Declare the inputs: one array each, or an array of structs."""
    s.input_axes = axes
    if records and len(keys) > 1:
        _declare_struct(s, keys, s.family.inputs, s.family.records, axes)
        return
    for key in keys:
        s.sources[key] = _input(s, s.family.inputs[key], axes, plain)


def _input(s: Scene, q: Quantity, axes: tuple[int, ...], plain: bool) -> Source:
    """An input array; now and then stored in half precision or as codes of 8 or 16 bits."""
    k, full, low, high = s.k, 0.0, q.low, q.high
    type_, names = s.type, s.style(q.arrays, plural=True)
    if not plain and type_.name == "float32" and k.draw.shape.chance(0.14):
        type_ = Scalar("float16")
        if low >= 0.0 and high <= 1.0:
            type_, full = Scalar("uint8"), 255.0
        elif (low, high) == (-1.0, 1.0):
            type_, full = Scalar("int16"), 32768.0
    if full:
        bounds = type_.int_range
        span = max(ceil(low * full), bounds[0]), min(floor(high * full), bounds[1])
        array = k.array(names, type_, s.shape(axes), low=span[0], high=span[1])
    else:
        array = k.array(names, type_, s.shape(axes), low=low, high=high)
    return Source(q, array, axes, full=full)


def declare_params(
    s: Scene, keys: Sequence[str], choices: dict[tuple[int, ...], int], must: bool = False
) -> None:
    """Declare the parameters: by value, as literals, as arrays, or all of them in a struct.

    With ``must`` one of them at least is an array.
    """
    shape = s.k.draw.shape
    if len(keys) > 1 and shape.chance(0.3):
        axes = shape.weighted(choices if must else {(): 3, **choices})
        _declare_struct(s, keys, s.family.params, s.family.struct, axes)
        return
    needed = shape.choice(keys) if must else ""
    for key in keys:
        q = s.family.params[key]
        how = shape.weighted({"literal": 3, "scalar": 4, "array": 4})
        if key == needed:
            how = "array"
        if how == "literal":
            s.sources[key] = Source(q, s.k.lift(_usual(s.k, q), s.type))
        elif how == "scalar":
            value = s.k.scalar(s.style(q.names), s.type, q.low, q.high)
            s.sources[key] = Source(q, value)
        else:
            axes = shape.weighted(choices)
            names = s.style(q.arrays, plural=True)
            array = s.k.array(names, s.type, s.shape(axes), low=q.low, high=q.high)
            s.sources[key] = Source(q, array, axes)


def _usual(k: KernelBuilder, q: Quantity) -> float:
    if q.usual:
        return k.draw.value.choice(q.usual)
    return float(k.draw.value.constant(q.low, q.high))


def _declare_struct(
    s: Scene, keys: Sequence[str], table: dict[str, Quantity], names: str, axes: tuple[int, ...]
) -> None:
    k = s.k
    used: list[FieldInit] = []
    for key in k.draw.shape.sample(list(keys), len(keys)):
        q = table[key]
        free = [n for n in q.names if n not in {f.name for f in used}]
        used.append(FieldInit(k.draw.word.choice(free), s.type, "uniform", str(q.low), str(q.high)))
        s.sources[key] = Source(q, k.lift(0.0, s.type), axes, used[-1].name)
    struct = k.struct(k.name(*names.split()), *((f.name, f.type) for f in used))
    low = re.sub(r"(?<!^)(?=[A-Z])", "_", struct.name).lower()
    if axes:
        plural = f"{low[:-1]}ies" if low.endswith("y") else f"{low.removesuffix('s')}s"
        var = k.array((plural, f"{plural}_in"), struct, s.shape(axes), fields=used)
    else:
        var = k.scalar((low, "params", f"{low}_in"), struct, fields=used)
    for key in keys:
        s.sources[key].value = var


def once_only(cards: Sequence[Card]) -> list[str]:
    """The keys that the formulas mention once in all."""
    keys = {key for card in cards for key in card.keys}
    return [k for k in keys if sum(card.text.count("{" + k + "}") for card in cards) == 1]
